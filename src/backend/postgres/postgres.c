/*
 * postgres.c: the store's table: a connection's life, its deadlines, and what
 * goes out.  Two rules: whatever happened, the end of process() and of flush()
 * is the same, let_out(); and before anything is called late or an old link is
 * used again, its socket is looked at.
 */
#include "backend/postgres/postgres.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/postgres/job.h"
#include "backend/postgres/session.h"
#include "backend/postgres/shedlock.h"
#include "backend/postgres/statement.h"
#include "base/error.h"
#include "base/math.h"

/* ---- deadlines ---- */

static int deadlines_run(struct backend_conn *c, int64_t now)
{
    if (now < hf__sql_core_deadline_us(c->core)) return 0;
    int done =
        hf__sql_queue_expire(&c->queue, now, c->server.endpoint, &c->link.err);
    if (now < hf__sql_core_deadline_us(c->core)) return 1;
    /* The answer may have arrived, but not been read. */
    if (hf__postgres_link_ready(&c->link, AWAIT_READ)
        && now < hf__sql_core_deadline_us(c->core))
        return 1;
    if (c->link.state == LINK_UP && now >= hf__sql_core_deadline_us(c->core)) {
        hf__postgres_link_fail(&c->link, HF_UNAVAILABLE,
                               "no answer in time; the connection was given "
                               "up");
        done = 1;
    }
    return done;
}

static void timer_set(struct backend_conn *c)
{
    int64_t due = min64(c->link.due_us, hf__sql_core_deadline_us(c->core));
    due = min64(due, hf__sql_session_due_us(c->session));
    if (due == c->timer_us) return;
    c->timer_us = due;
    c->env->timer(c->env, due);
}

/* ---- what goes out ---- */

static void let_out(struct backend_conn *c)
{
    do {
        c->flush_wanted = 0;
        hf__sql_core_flush(c->core);
        if (c->queue.first) hf__postgres_link_check(&c->link);
        if (c->queue.first && c->link.state == LINK_UP)
            (c->session ? hf__session_jobs_send : hf__postgres_jobs_send)(c);
        hf__postgres_link_write(&c->link);
    } while (c->flush_wanted);
    timer_set(c);
}

/* ---- the table ---- */

/* Nothing can have changed as long as it only waits here. */
static void driver_start(struct backend_conn *c, struct sql_job *job)
{
    job->priv &= JOB_SKIPS;
    if (job->may_have_changed) job->priv |= JOB_WRITES;
    job->may_have_changed = 0;
    hf__sql_queue_push(&c->queue, job);
    c->flush_wanted = 1;
}

static const struct sql_driver driver = {.engine = "postgres",
                                         .flags = SQL_HAS_FAST,
                                         .dialect = SQL_POSTGRES,
                                         .start = driver_start};

static void shed_start(struct backend_conn *c, struct sql_job *job)
{
    if (!hf__sql_shed_refuses(job)) driver_start(c, job);
}

static const struct sql_driver shed_driver = {
    .engine = "postgres", .flags = SQL_HIDES_FENCE, .start = shed_start};

static const struct sql_driver *driver_of(const struct backend_conn *c)
{
    if (c->is_session) return &hf__session_driver;
    return c->is_shed ? &shed_driver : &driver;
}

static void postgres_submit(struct backend_conn *c, struct request *req)
{
    hf__sql_core_submit(c->core, req);
}

static void postgres_flush(struct backend_conn *c)
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
    done |= hf__session_expire(c);
    return done | hf__postgres_link_timer(&c->link, now);
}

static int postgres_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    if (c->busy) return 0;
    c->busy = 1;
    if (fd < 0)
        done = timers_run(c);
    else if (fd == c->link.fd)
        done = hf__postgres_link_ready(&c->link, ready);
    if (done || fd < 0) let_out(c);
    c->busy = 0;
    return done;
}

/* ---- life ---- */

static void conn_free(struct backend_conn *c)
{
    hf__postgres_link_close(&c->link);
    hf__sql_session_free(c->session);
    hf__postgres_url_free(c);
    hf__free(c->env->alloc, c);
}

static int postgres_open(struct backend_env *env, const struct url *url,
                         struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "postgres: out of memory");
    c->env = env;
    c->timer_us = TIME_NEVER;
    hf__postgres_link_init(&c->link, c);
    int status = hf__postgres_url_read(c, url, err);
    if (status == HF_OK) {
        c->core = hf__sql_core_open(env, c, driver_of(c), c->server.endpoint);
        if (c->is_session) c->session = hf__sql_session_open(env->alloc);
        if (!c->core || (c->is_session && !c->session))
            status = hf__error_set(err, HF_NOMEM, "postgres: out of memory");
    }
    if (status == HF_OK) status = hf__sql_member_read(c->core, url, err);
    if (status != HF_OK) {
        if (c->core) hf__sql_core_close(c->core);
        conn_free(c);
        return status;
    }
    hf__postgres_link_start(&c->link);
    timer_set(c);
    *out = c;
    return HF_OK;
}

static void postgres_close(struct backend_conn *c)
{
    c->busy = 1;
    hf__sql_queue_drop(&c->queue);
    hf__postgres_link_close(&c->link);
    hf__sql_core_close(c->core);
    c->env->timer(c->env, TIME_NEVER);
    conn_free(c);
}

static void postgres_forked(struct backend_conn *c)
{
    /* No byte may go out on the parent's connection, and libpq would say
     * goodbye. */
    if (c->link.fd >= 0) close(c->link.fd);
    c->link.fd = -1;
}

#define ROW_CAPS                                                               \
    (HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH              \
     | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT | HF_CAP_VALUE               \
     | HF_CAP_GUARD | HF_CAP_RW | HF_CAP_QUEUE | HF_CAP_PERMIT | HF_CAP_TALLY  \
     | HF_CAP_LEDGER)

static unsigned postgres_caps(const struct backend_conn *c)
{
    if (c->is_shed) return SHED_CAPS;
    return c->session ? SESSION_CAPS : ROW_CAPS;
}

static const struct backend postgres_backend = {
    .abi = BACKEND_ABI,
    .scheme = "postgres postgresql",
    .caps = ROW_CAPS,
    .conn_caps = postgres_caps,
    .options = POSTGRES_OPTIONS,
    .open = postgres_open,
    .submit = postgres_submit,
    .flush = postgres_flush,
    .process = postgres_process,
    .close = postgres_close,
    .forked = postgres_forked,
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &postgres_backend;

__attribute__((visibility("default")))
const char *const *const hf_backend_schema = hf__postgres_schema;

__attribute__((visibility("default")))
const char *const *const hf_backend_schema_shedlock = hf__postgres_shed_schema;
