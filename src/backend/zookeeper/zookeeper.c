/*
 * zookeeper.c: the store's table: a connection's life, its deadlines, and what
 * goes out.  Two rules: whatever happened, the end of process() and of flush()
 * is the same, let_out(); and before anything is called late, the socket is
 * looked at.
 */
#include "backend/zookeeper/zookeeper.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/math.h"

#define ZOOKEEPER_CAPS                                                         \
    (HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_WATCH | HF_CAP_BREAK | HF_CAP_LIST   \
     | HF_CAP_QUEUE | HF_CAP_IN_ORDER | HF_CAP_VALUE | HF_CAP_GUARD            \
     | HF_CAP_TALLY)

/* ---- deadlines ---- */

static int64_t due_us(const struct backend_conn *c)
{
    return min64(hf__zookeeper_jobs_due_us(c), hf__zookeeper_cells_due_us(c));
}

static int expire(struct backend_conn *c, int64_t now)
{
    int is_late = hf__zookeeper_jobs_expire(c, now);
    return hf__zookeeper_cells_expire(c, now) | is_late;
}

static int deadlines_run(struct backend_conn *c, int64_t now)
{
    if (now < due_us(c)) return 0;
    if (!expire(c, now)) return 1;
    /* The answer may have arrived, but not been read. */
    (void)hf__zookeeper_link_ready(c, AWAIT_READ);
    if (expire(c, now))
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "no answer in time; the connection was given "
                                "up");
    return 1;
}

static void timer_set(struct backend_conn *c)
{
    int64_t due = min64(c->link.due_us, due_us(c));
    due = min64(due, hf__zookeeper_session_due_us(c));
    due = min64(due, hf__zookeeper_places_due_us(c));
    if (due == c->timer_us) return;
    c->timer_us = due;
    c->env->timer(c->env, due);
}

/* ---- what goes out ---- */

static void let_out(struct backend_conn *c)
{
    do {
        c->flush_wanted = 0;
        hf__zookeeper_places_tell(c);
        hf__zookeeper_jobs_flush(c);
        hf__zookeeper_cells_run(c);
        if (c->is_starved)
            hf__zookeeper_link_fail(c, HF_NOMEM, "out of memory");
        hf__zookeeper_link_write(c);
    } while (c->flush_wanted || c->submitted || c->places.is_lost);
    timer_set(c);
}

/* ---- the table ---- */

static void zookeeper_submit(struct backend_conn *c, struct request *req)
{
    hf__zookeeper_jobs_submit(c, req);
}

static void zookeeper_flush(struct backend_conn *c)
{
    if (c->busy) {
        c->flush_wanted = 1;
        return;
    }
    c->busy = 1;
    let_out(c);
    c->busy = 0;
}

static int timers_run(struct backend_conn *c)
{
    int64_t now = c->env->now(c->env);
    c->timer_us = TIME_NEVER;
    int done = deadlines_run(c, now);
    done |= hf__zookeeper_places_expire(c, now);
    done |= hf__zookeeper_session_timer(c, now);
    return done | hf__zookeeper_link_timer(c, now);
}

static int zookeeper_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    if (c->busy) return 0;
    c->busy = 1;
    if (fd < 0)
        done = timers_run(c);
    else if (fd == c->link.fd)
        done = hf__zookeeper_link_ready(c, ready);
    if (done || fd < 0) let_out(c);
    c->busy = 0;
    return done;
}

/* ---- life ---- */

static void conn_free(struct backend_conn *c)
{
    hf__zookeeper_link_free(c);
    hf__zookeeper_calls_free(c);
    hf__zookeeper_cells_close(c);
    hf__zookeeper_places_free(c);
    hf__zookeeper_list_free(c);
    hf__zookeeper_url_free(c);
    hf__wipe(&c->session, sizeof c->session);
    hf__free(c->env->alloc, c);
}

static int zookeeper_open(struct backend_env *env, const struct url *url,
                          struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "zookeeper: out of memory");
    c->env = env;
    c->timer_us = c->link.due_us = c->places.ends_us = TIME_NEVER;
    c->session.beat_due_us = TIME_NEVER;
    c->link.fd = -1;
    c->link.out.alloc = env->alloc;
    int status = hf__zookeeper_url_read(c, url, err);
    if (status == HF_OK && hf__zookeeper_cells_open(c) != 0)
        status = hf__error_set(err, HF_NOMEM, "zookeeper: out of memory");
    if (status != HF_OK) {
        conn_free(c);
        return status;
    }
    hf__zookeeper_link_start(c);
    timer_set(c);
    *out = c;
    return HF_OK;
}

/* The end of the session is said, and not waited for: the server then deletes
 * all its nodes at once.  What has come is read before, for a socket that is
 * closed with bytes unread takes back what it has sent. */
static void goodbye(struct backend_conn *c)
{
    if (c->link.state != LINK_UP) return;
    (void)hf__zookeeper_link_ready(c, AWAIT_READ);
    if (c->link.state != LINK_UP) return;
    hf__zookeeper_close(c);
    hf__zookeeper_link_write(c);
}

static void zookeeper_close(struct backend_conn *c)
{
    char text[HF_ERROR_TEXT_MAX];
    c->busy = 1;
    goodbye(c);
    snprintf(text, sizeof text, "%.200s: closed", c->endpoint);
    hf__zookeeper_link_close(c);
    hf__zookeeper_places_free(c);
    hf__zookeeper_jobs_flush(c);
    hf__zookeeper_jobs_fail(c, HF_CLOSED, text);
    hf__zookeeper_cells_close(c);
    c->env->timer(c->env, TIME_NEVER);
    conn_free(c);
}

static void zookeeper_forked(struct backend_conn *c)
{
    /* In a forked child: no byte may go out on the parent's connection. */
    if (c->link.fd >= 0) close(c->link.fd);
    c->link.fd = -1;
}

static const struct backend zookeeper_backend = {
    .abi = BACKEND_ABI,
    .scheme = "zookeeper zk",
    .caps = ZOOKEEPER_CAPS,
    .options = ZOOKEEPER_OPTIONS,
    .open = zookeeper_open,
    .submit = zookeeper_submit,
    .flush = zookeeper_flush,
    .process = zookeeper_process,
    .close = zookeeper_close,
    .forked = zookeeper_forked,
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &zookeeper_backend;
