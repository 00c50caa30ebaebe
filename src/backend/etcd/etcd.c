/*
 * etcd.c: the store's table: a connection's life, its deadlines, and its
 * output.  One rule: process() and flush() both end with let_out().
 */
#include "backend/etcd/etcd.h"

#include <unistd.h>

#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

/* ---- output ---- */

static void timer_set(struct backend_conn *c)
{
    int64_t due = min64(hf__etcd_link_due(&c->link), hf__etcd_waiting_due(c));
    if (c->link.state == LINK_UP) due = min64(due, hf__etcd_watches_due(c));
    due = min64(due, hf__etcd_cells_due(c));
    if (due == c->timer_us) return;
    c->timer_us = due;
    c->env->timer(c->env, due);
}

static void let_out(struct backend_conn *c, void (*write)(struct link *link))
{
    hf__etcd_link_check(&c->link);
    do {
        hf__etcd_run(c);
        write(&c->link);
    } while (c->stirred);
    timer_set(c);
}

/* ---- the table ---- */

static void etcd_submit(struct backend_conn *c, struct request *req)
{
    req->priv = 0;
    /* Other holds keep the lease of the key alive, and a new leader starts a
     * lease anew.  So a release is repeated until the key is known to be
     * gone. */
    if (req->verb == VERB_RELEASE && hf__etcd_stake(c, req))
        req->until_us = TIME_NEVER;
    hf__etcd_wait(c, req);
    c->stirred = 1;
}

static void etcd_flush(struct backend_conn *c)
{
    if (c->busy) {
        c->stirred = 1;
        return;
    }
    c->busy = 1;
    let_out(c, hf__etcd_link_write);
    c->busy = 0;
}

static int timers_run(struct backend_conn *c)
{
    int64_t now = hf__etcd_now(c);
    c->timer_us = TIME_NEVER;
    int done = 0;
    if (now >= hf__etcd_waiting_due(c)) {
        /* The answer may have arrived, and not have been read yet. */
        (void)hf__etcd_link_ready(&c->link, AWAIT_READ);
        hf__etcd_run(c);
        done = hf__etcd_waiting_expire(c, now);
    }
    done |= hf__etcd_cells_expire(c, now);
    if (c->link.state == LINK_UP && now >= hf__etcd_watches_due(c)
        && !hf__etcd_link_ready(&c->link, AWAIT_READ)
        && c->link.state == LINK_UP)
        hf__etcd_link_fail(&c->link, HF_UNAVAILABLE, "watch: no answer");
    return done | hf__etcd_link_timer(&c->link, now);
}

static int etcd_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    if (c->busy) return 0;
    c->busy = 1;
    if (fd < 0)
        done = timers_run(c);
    else if (fd == c->link.fd)
        done = hf__etcd_link_ready(&c->link, ready);
    if (done || fd < 0 || c->stirred)
        let_out(c, fd >= 0 && ready == AWAIT_READ ? hf__etcd_link_write_calls
                                                  : hf__etcd_link_write);
    c->busy = 0;
    return done;
}

/* ---- life ---- */

static void conn_free(struct backend_conn *c)
{
    hf__etcd_link_close(&c->link);
    hf__etcd_stakes_drop(c, NULL);
    hf__etcd_leases_free(c);
    hf__etcd_watches_free(c);
    hf__etcd_cells_close(c);
    hf__etcd_url_free(c);
    hf__free(c->env->alloc, c->scratch);
    hf__free(c->env->alloc, c);
}

static int etcd_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "etcd: out of memory");
    c->env = env;
    c->timer_us = TIME_NEVER;
    c->waiting_end = &c->waiting;
    c->wall_us = hf__clock_wall_us() - hf__clock_us();
    c->gen_id = env->random(env);
    hf__etcd_link_init(&c->link, c);
    c->scratch = hf__alloc_zero(env->alloc, sizeof *c->scratch);
    int status = c->scratch
                     ? hf__etcd_url_read(c, url, err)
                     : hf__error_set(err, HF_NOMEM, "etcd: out of memory");
    if (status == HF_OK && hf__etcd_cells_open(c) != 0)
        status = hf__error_set(err, HF_NOMEM, "etcd: out of memory");
    if (status != HF_OK) {
        conn_free(c);
        return status;
    }
    hf__etcd_link_start(&c->link);
    timer_set(c);
    *out = c;
    return HF_OK;
}

static void etcd_close(struct backend_conn *c)
{
    struct hf_error over;
    hf__error_set(&over, HF_CLOSED, "%.100s: closed", c->server.endpoint);
    c->busy = 1;
    hf__etcd_link_drop(&c->link, &over);
    c->env->timer(c->env, TIME_NEVER);
    conn_free(c);
}

static void etcd_forked(struct backend_conn *c)
{
    if (c->link.fd >= 0) close(c->link.fd);
    c->link.fd = -1;
}

static const struct backend etcd_backend = {
    .abi = BACKEND_ABI,
    .scheme = "etcd etcds",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_WATCH | HF_CAP_BREAK
            | HF_CAP_LIST | HF_CAP_QUEUE | HF_CAP_IN_ORDER | HF_CAP_VALUE
            | HF_CAP_GUARD | HF_CAP_DETACHED | HF_CAP_RW | HF_CAP_PERMIT
            | HF_CAP_TALLY,
    .options = ETCD_OPTIONS,
    .open = etcd_open,
    .submit = etcd_submit,
    .flush = etcd_flush,
    .process = etcd_process,
    .close = etcd_close,
    .forked = etcd_forked,
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &etcd_backend;
