/*
 * mysql.c: the store's table: a connection's life, its deadlines, and what goes
 * out.  Two rules: whatever happened, the end of process() and of flush() is
 * the same, let_out(); and before anything is called late or an old link is
 * used again, its socket is looked at.
 */
#include "backend/mysql/mysql.h"

#include <unistd.h>

#include "backend/mysql/job.h"
#include "backend/mysql/script.h"
#include "backend/mysql/session.h"
#include "backend/mysql/shedlock.h"
#include "backend/mysql/statement.h"
#include "backend/mysql/watch.h"
#include "base/error.h"
#include "base/math.h"

static const struct server_kind kind = {.scheme = "mysql",
                                        .port = MYSQL_STORE_PORT,
                                        .socket = "/path",
                                        .create = ""};

/* ---- deadlines ---- */

static int deadlines_run(struct backend_conn *c, int64_t now)
{
    if (now < hf__sql_core_deadline_us(c->core)) return 0;
    int done =
        hf__sql_queue_expire(&c->queue, now, c->server.endpoint, &c->link.err);
    if (now < hf__sql_core_deadline_us(c->core)) return 1;
    /* The answer may have arrived, but not been read. */
    if (hf__mysql_link_ready(&c->link)
        && now < hf__sql_core_deadline_us(c->core))
        return 1;
    if (c->link.state == LINK_UP && now >= hf__sql_core_deadline_us(c->core)) {
        hf__mysql_link_fail(&c->link, HF_UNAVAILABLE,
                            "no answer in time; the connection was given up");
        done = 1;
    }
    return done;
}

static void timer_set(struct backend_conn *c)
{
    int64_t due = min64(c->link.due_us, hf__sql_core_deadline_us(c->core));
    if (c->link.state == LINK_UP && !c->link.packet.is_sent)
        due = min64(due, min64(c->look_us, hf__sql_session_due_us(c->session)));
    if (due == c->timer_us) return;
    c->timer_us = due;
    c->env->timer(c->env, due);
}

/* ---- what goes out ---- */

static void packet_out(struct backend_conn *c)
{
    struct link *l = &c->link;
    int64_t now = c->env->now(c->env);
    int is_due = hf__mysql_watch_is_due(c, now);
    int is_ended = now >= hf__sql_session_due_us(c->session);
    if (l->state != LINK_UP || l->packet.is_sent) return;
    if (!c->queue.first && !is_due && !is_ended && !l->must_roll_back) return;
    hf__mysql_link_check(l);
    if (l->state != LINK_UP) return;
    hf__mysql_packet_begin(l);
    hf__mysql_script_clear(l);
    if (is_due) hf__mysql_watch_pack(c);
    (c->session ? hf__mysql_session_pack : hf__mysql_jobs_pack)(c);
    if (hf__mysql_packet_send(l) != 0)
        hf__mysql_link_fail(l, HF_NOMEM, "send: out of memory");
}

static void let_out(struct backend_conn *c)
{
    do {
        c->flush_wanted = 0;
        hf__sql_core_flush(c->core);
        packet_out(c);
        /* The answer was there already: no socket will tell. */
        if (c->link.wire.is_new)
            c->flush_wanted |= hf__mysql_link_ready(&c->link);
    } while (c->flush_wanted);
    timer_set(c);
}

/* ---- the table ---- */

/* Nothing can have changed as long as it only waits here. */
static void driver_start(struct backend_conn *c, struct sql_job *job)
{
    job->priv = job->may_have_changed ? JOB_WRITES : 0;
    job->may_have_changed = 0;
    hf__sql_queue_push(&c->queue, job);
    c->flush_wanted = 1;
}

static const struct sql_driver driver = {.engine = "mysql",
                                         .flags = SQL_HAS_FAST,
                                         .dialect = SQL_MYSQL,
                                         .start = driver_start};

static void shed_start(struct backend_conn *c, struct sql_job *job)
{
    if (!hf__sql_shed_refuses(job)) driver_start(c, job);
}

static const struct sql_driver shed_driver = {
    .engine = "mysql", .flags = SQL_HIDES_FENCE, .start = shed_start};

static const struct sql_driver *driver_of(const struct backend_conn *c)
{
    if (c->session) return &hf__mysql_session_driver;
    return c->is_shed ? &shed_driver : &driver;
}

static void mysql_submit(struct backend_conn *c, struct request *req)
{
    hf__sql_core_submit(c->core, req);
}

static void mysql_flush(struct backend_conn *c)
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
    return done | hf__mysql_link_timer(&c->link, now);
}

static int mysql_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    (void)ready;
    if (c->busy) return 0;
    c->busy = 1;
    if (fd < 0)
        done = timers_run(c);
    else if (fd == c->link.fd)
        done = hf__mysql_link_ready(&c->link);
    if (done || fd < 0) let_out(c);
    c->busy = 0;
    return done;
}

/* ---- life ---- */

static void conn_free(struct backend_conn *c)
{
    hf__mysql_link_close(&c->link);
    hf__mysql_text_free(&c->link.packet.text);
    hf__sql_session_free(c->session);
    hf__sql_server_free(&c->server);
    hf__free(c->env->alloc, c);
}

static int session_read(struct backend_conn *c, const struct url *url,
                        struct hf_error *err)
{
    int status = hf__sql_server_session(url, &c->is_session, err);
    if (status != HF_OK || !c->is_session) return status;
    c->session = hf__sql_session_open(c->env->alloc);
    if (c->session) return HF_OK;
    return hf__error_set(err, HF_NOMEM, "mysql: out of memory");
}

static int mysql_open(struct backend_env *env, const struct url *url,
                      struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "mysql: out of memory");
    c->env = env;
    c->timer_us = c->look_us = TIME_NEVER;
    hf__mysql_link_init(&c->link, c);
    int status = hf__sql_server_read(&c->server, env, url, &kind, err);
    if (status == HF_OK) status = session_read(c, url, err);
    if (status == HF_OK)
        status = hf__sql_shed_option(url, c->is_session, &c->is_shed, err);
    if (status == HF_OK) {
        c->core = hf__sql_core_open(env, c, driver_of(c), c->server.endpoint);
        if (!c->core)
            status = hf__error_set(err, HF_NOMEM, "mysql: out of memory");
    }
    if (status == HF_OK) status = hf__sql_member_read(c->core, url, err);
    if (status != HF_OK) {
        if (c->core) hf__sql_core_close(c->core);
        conn_free(c);
        return status;
    }
    hf__mysql_link_start(&c->link);
    timer_set(c);
    *out = c;
    return HF_OK;
}

static void mysql_shut(struct backend_conn *c)
{
    c->busy = 1;
    hf__sql_queue_drop(&c->queue);
    hf__mysql_link_close(&c->link);
    hf__sql_core_close(c->core);
    c->env->timer(c->env, TIME_NEVER);
    conn_free(c);
}

static void mysql_forked(struct backend_conn *c)
{
    /* No byte may go out on the parent's connection, and libmariadb would say
     * goodbye. */
    if (c->link.fd >= 0) close(c->link.fd);
    c->link.fd = -1;
}

#define ROW_CAPS                                                               \
    (HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH              \
     | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT | HF_CAP_VALUE               \
     | HF_CAP_GUARD | HF_CAP_RW | HF_CAP_QUEUE | HF_CAP_PERMIT | HF_CAP_TALLY  \
     | HF_CAP_LEDGER)

static unsigned mysql_caps(const struct backend_conn *c)
{
    if (c->is_shed) return SHED_CAPS;
    return c->session ? SESSION_CAPS : ROW_CAPS;
}

static const struct backend mysql_backend = {
    .abi = BACKEND_ABI,
    .scheme = "mysql mariadb",
    .caps = ROW_CAPS,
    .conn_caps = mysql_caps,
    .options = SERVER_OPTIONS " session layout " SQL_MEMBER_OPTION,
    .open = mysql_open,
    .submit = mysql_submit,
    .flush = mysql_flush,
    .process = mysql_process,
    .close = mysql_shut,
    .forked = mysql_forked,
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &mysql_backend;

__attribute__((visibility("default")))
const char *const *const hf_backend_schema = hf__mysql_schema;

__attribute__((visibility("default")))
const char *const *const hf_backend_schema_shedlock = hf__mysql_shed_schema;
