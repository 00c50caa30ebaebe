/*
 * sqlite.c: locks in a file of SQLite, for the processes of one host.
 *
 * A direct backend: flush() carries out and answers.  One rule: a job that
 * finds the file locked waits at the head of a queue, and all that come behind
 * it wait behind it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/sqlite/db.h"
#include "backend/sqlite/error.h"
#include "backend/sqlite/notify.h"
#include "backend/sqlite/query.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

#define BUSY_US_MIN 50
#define BUSY_US_MAX (5 * US_PER_MS)
#define OPEN_US (10 * US_PER_MS) /* before a file is opened again */
/* Pages of the log: the log is copied back when nothing happens, or at once. */
#define CHECKPOINT_PAGES 100
#define CHECKPOINT_PAGES_MAX 1000
#define CHECKPOINT_IDLE_US US_PER_S

/* ---- jobs that wait ----------------------------------------------------- */

static void queue_append(struct backend_conn *c, struct sql_job *job)
{
    job->next_queued = NULL;
    *c->last = job;
    c->last = &job->next_queued;
}

static void queue_prepend(struct backend_conn *c, struct sql_job *job)
{
    job->next_queued = c->first;
    c->first = job;
    if (!job->next_queued) c->last = &job->next_queued;
}

static struct sql_job *queue_take(struct backend_conn *c)
{
    struct sql_job *job = c->first;
    if (!job) return NULL;
    c->first = job->next_queued;
    if (!c->first) c->last = &c->first;
    return job;
}

/* 50 to 250 us, then longer. */
static void retry_later(struct backend_conn *c)
{
    unsigned shift = c->busy_len < 7 ? c->busy_len : 7;
    int64_t most_us = min64((int64_t)BUSY_US_MIN << shift, BUSY_US_MAX);
    uint64_t random = c->env->random(c->env);
    c->busy_len++;
    c->retry_us =
        hf__clock_us() + most_us + (int64_t)(random % (uint64_t)(4 * most_us));
}

/* Nothing was changed by a statement that found the file locked. */
static void job_give_up(struct backend_conn *c, struct sql_job *job)
{
    int is_refused = !c->is_ready && c->err.status != HF_OK;
    job->may_have_changed = 0;
    hf__sql_fail(job, is_refused ? c->err.status : HF_UNAVAILABLE,
                 is_refused ? c->err.text
                            : "another process keeps the database locked");
}

/* A little earlier than the engine gives up, which knows no reason. */
static int is_late(const struct sql_job *job)
{
    const struct request *req = job->req;
    int64_t us = req->deadline_us;
    if (us <= 0 || us == TIME_NEVER) return 0;
    if (req->sent_us > 0 && req->sent_us < us) us -= (us - req->sent_us) / 8;
    return hf__clock_us() >= us;
}

/* Copies what no reader needs any more; never waits for others. */
static void checkpoint(struct backend_conn *c)
{
    c->checkpoint_us = TIME_NEVER;
    c->checked_pages = c->wal_pages;
    if (c->is_ready)
        sqlite3_wal_checkpoint_v2(c->db, "main", SQLITE_CHECKPOINT_PASSIVE,
                                  NULL, NULL);
}

/* On a full disk the log cannot grow; one that was copied back begins anew. */
static int job_try(struct backend_conn *c, struct sql_job *job)
{
    if (!c->is_ready) return SQLITE_BUSY;
    int rc = hf__sqlite_query_run(c, job);
    if ((rc & 0xff) != SQLITE_FULL) return rc;
    checkpoint(c);
    return hf__sqlite_query_run(c, job);
}

static void job_start(struct backend_conn *c, struct sql_job *job)
{
    if (c->again != job && c->first) {
        queue_append(c, job);
        return;
    }
    if (c->is_ready && hf__sql_member_refuses(job)) return;
    int rc = job_try(c, job);
    if (rc == SQLITE_OK) {
        c->busy_len = 0;
        return;
    }
    if (hf__sqlite_error_is_busy(rc)) {
        if (is_late(job)) {
            job_give_up(c, job);
            return;
        }
        queue_prepend(c, job);
        if (c->is_ready) retry_later(c);
        return;
    }
    int status = hf__sqlite_error_set(c, rc, "statement");
    if (hf__sqlite_error_is_clean(rc))
        hf__sql_refuse(job, status, c->err.text);
    else
        hf__sql_fail(job, status, c->err.text);
}

/* Each is answered where it stands, so that the list stays in order. */
static void queue_expire(struct backend_conn *c)
{
    struct sql_job *list = c->first, *next;
    c->first = NULL;
    c->last = &c->first;
    struct sql_job *late = NULL, **end = &late;
    for (; list; list = next) {
        next = list->next_queued;
        if (!is_late(list)) {
            queue_append(c, list);
            continue;
        }
        list->next_queued = NULL;
        *end = list;
        end = &list->next_queued;
    }
    for (; late; late = next) {
        next = late->next_queued;
        job_give_up(c, late);
    }
}

static void queue_run(struct backend_conn *c)
{
    c->retry_us = TIME_NEVER;
    queue_expire(c);
    while (c->first && c->retry_us == TIME_NEVER && c->is_ready) {
        c->again = queue_take(c);
        hf__sql_job_again(c->again);
        c->again = NULL;
    }
    if (!c->is_ready && !c->is_probe) c->retry_us = hf__clock_us() + OPEN_US;
}

/* ---- the file ----------------------------------------------------------- */

static void announce(struct backend_conn *c, int up)
{
    struct hf_error err;
    if (up == LINK_IS_DOWN) {
        hf__error_set(&err, c->err.status, "sqlite:%.150s: %.90s", c->path,
                      c->err.text);
        c->env->link(c->env, LINK_IS_DOWN, 0, &err);
    } else {
        hf__sql_member_met(c->core, c->marker);
        c->env->link(c->env, up, hf__clock_wall_us(), NULL);
    }
    if (up != LINK_IS_DOWN) c->was_up = 1;
}

/* It was open before, and another file or none is in its place. */
static void file_follow(struct backend_conn *c)
{
    if (!c->is_ready || !hf__sqlite_db_is_replaced(c)) return;
    hf__sqlite_notify_stop(c);
    hf__sqlite_db_close(c);
    int rc = hf__sqlite_db_open(c);
    if (rc == SQLITE_OK) {
        announce(c, LINK_IS_OTHER);
        hf__sqlite_notify_listen(c);
        hf__sql_watch_wake_all(c->core);
        return;
    }
    if (hf__sqlite_error_is_busy(rc)) hf__sqlite_error_set(c, rc, "open");
    announce(c, LINK_IS_DOWN);
    c->retry_us = hf__clock_us() + OPEN_US;
}

static void file_retry(struct backend_conn *c)
{
    if (c->is_ready || c->is_probe) return;
    int rc = hf__sqlite_db_open(c);
    if (rc == SQLITE_OK) {
        announce(c, c->was_up ? LINK_IS_OTHER : LINK_IS_UP);
        hf__sqlite_notify_listen(c);
        hf__sql_watch_wake_all(c->core);
    }
}

/* ---- the log ------------------------------------------------------------ */

static void checkpoint_plan(struct backend_conn *c)
{
    /* Begun anew since, unless a reader was in the way. */
    if (c->wal_pages < c->checked_pages) c->checked_pages = 0;
    int more = c->wal_pages - c->checked_pages;
    if (more < CHECKPOINT_PAGES) return;
    if (more >= CHECKPOINT_PAGES_MAX) {
        checkpoint(c);
        return;
    }
    if (c->checkpoint_us != TIME_NEVER) return;
    /* Not all processes at the same time. */
    c->checkpoint_us = hf__clock_us() + CHECKPOINT_IDLE_US
                       + (int64_t)(c->env->random(c->env) % CHECKPOINT_IDLE_US);
    c->planned_pages = c->wal_pages;
}

/* The time that was planned has come: is nothing going on? */
static void checkpoint_due(struct backend_conn *c)
{
    c->checkpoint_us = TIME_NEVER;
    if (c->wal_pages == c->planned_pages) checkpoint(c);
}

/* ---- the vtable --------------------------------------------------------- */

static const struct sql_driver driver = {
    .engine = "sqlite", .dialect = SQL_SQLITE, .start = job_start};

static void timer_set(struct backend_conn *c)
{
    if (c->echo_us == TIME_NEVER)
        (void)hf__sqlite_notify_due(c, hf__clock_us());
    int64_t due_us = min64(min64(c->retry_us, c->echo_us), c->checkpoint_us);
    if (due_us == c->timer_us) return;
    c->timer_us = due_us;
    c->env->timer(c->env, due_us);
}

static void boot_id_read(struct backend_conn *c)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, c->boot_id, sizeof c->boot_id - 1);
    if (fd >= 0) close(fd);
    c->boot_id[n > 0 ? n : 0] = '\0';
    c->boot_id[strcspn(c->boot_id, "\n")] = '\0';
}

static void conn_free(struct backend_conn *c)
{
    hf__sqlite_db_close(c);
    if (c->inotify_fd >= 0) close(c->inotify_fd);
    hf__free(c->env->alloc, c);
}

/* The file, and what is made of it.  A file that is locked is opened later. */
static int conn_begin(struct backend_conn *c, const struct url *url,
                      struct hf_error *err)
{
    char where[SQLITE_PATH_MAX + 8];
    snprintf(where, sizeof where, "sqlite:%s", c->path);
    int rc = c->is_probe ? SQLITE_OK : hf__sqlite_db_open(c);
    if (rc != SQLITE_OK && !hf__sqlite_error_is_busy(rc))
        return hf__error_set(err, c->err.status, "sqlite:%.150s: %.100s",
                             c->path, c->err.text);
    c->core = hf__sql_core_open(c->env, c, &driver, where);
    if (!c->core) return hf__error_set(err, HF_NOMEM, "sqlite: out of memory");
    int status = hf__sql_member_read(c->core, url, err);
    if (status != HF_OK) {
        hf__sql_core_close(c->core);
        return status;
    }
    if (rc != SQLITE_OK) {
        c->retry_us = hf__clock_us() + OPEN_US;
        timer_set(c);
    }
    return HF_OK;
}

static int sqlite_open(struct backend_env *env, const struct url *url,
                       struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "sqlite: out of memory");
    c->env = env;
    c->last = &c->first;
    c->inotify_fd = c->wd = -1;
    c->seen = -1;
    c->retry_us = c->echo_us = c->checkpoint_us = c->timer_us = TIME_NEVER;
    boot_id_read(c);
    int status = hf__sqlite_db_choose(c, url, err);
    if (status == HF_OK) status = conn_begin(c, url, err);
    if (status != HF_OK) {
        conn_free(c);
        return status;
    }
    *out = c;
    if (c->is_ready || c->is_probe) announce(c, LINK_IS_UP);
    return HF_OK;
}

static void sqlite_submit(struct backend_conn *c, struct request *req)
{
    hf__sql_core_submit(c->core, req);
}

static void conn_settle(struct backend_conn *c)
{
    if (hf__sql_watch_first(c->core))
        hf__sqlite_notify_listen(c);
    else
        hf__sqlite_notify_stop(c);
    if (c->has_news) hf__sqlite_notify_look(c);
    checkpoint_plan(c);
    timer_set(c);
}

static void sqlite_flush(struct backend_conn *c)
{
    file_follow(c);
    hf__sql_core_flush(c->core);
    conn_settle(c);
}

static int timer_due(struct backend_conn *c)
{
    int64_t now_us = hf__clock_us();
    c->timer_us = TIME_NEVER; /* it is used up: set it anew */
    int done = c->echo_us <= now_us && hf__sqlite_notify_due(c, now_us);
    if (c->retry_us <= now_us) {
        c->retry_us = TIME_NEVER;
        file_retry(c);
        queue_run(c);
        done = 1;
    }
    if (c->checkpoint_us <= now_us) {
        checkpoint_due(c);
        done = 1;
    }
    return done;
}

static int sqlite_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    (void)ready;
    if (fd < 0) {
        done = timer_due(c);
    } else if (fd == c->inotify_fd) {
        done = hf__sqlite_notify_read(c);
        if (done) (void)hf__sqlite_notify_due(c, hf__clock_us());
    }
    if (done || fd < 0) conn_settle(c);
    return done;
}

static void sqlite_shut(struct backend_conn *c)
{
    c->first = NULL;
    c->last = &c->first;
    hf__sql_core_close(c->core);
    if (c->inotify_fd >= 0) c->env->await_fd(c->env, c->inotify_fd, 0);
    if (c->timer_us != TIME_NEVER) c->env->timer(c->env, TIME_NEVER);
    conn_free(c);
}

/* Nothing of SQLite may be called for a connection that the parent opened, not
 * even to close it. */
static void sqlite_forked(struct backend_conn *c)
{
    hf__sqlite_db_forked(c);
    if (c->inotify_fd >= 0) close(c->inotify_fd);
    c->inotify_fd = -1;
}

static const struct backend sqlite_backend = {
    .abi = BACKEND_ABI,
    .scheme = "sqlite",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH
            | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT | HF_CAP_VALUE
            | HF_CAP_GUARD | HF_CAP_RW | HF_CAP_PERMIT | HF_CAP_TALLY
            | HF_CAP_QUEUE | HF_CAP_LEDGER,
    .options = "sync schema " SQL_MEMBER_OPTION,
    .open = sqlite_open,
    .submit = sqlite_submit,
    .flush = sqlite_flush,
    .process = sqlite_process,
    .close = sqlite_shut,
    .forked = sqlite_forked,
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &sqlite_backend;
