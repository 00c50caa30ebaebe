/*
 * cell.c: see cell.h.  One rule: a cell is read behind a write of our own, so
 * that what is answered from it was true after it was asked for: a server that
 * is cut off, or whose leader was deposed, carries out no write.
 */
#include "backend/zookeeper/cell.h"

#include <stdio.h>
#include <string.h>

#include "backend/sql/record.h"
#include "backend/zookeeper/zookeeper.h"
#include "base/math.h"
#include "rules/use.h"

/* ---- life ---- */

static void job_start(struct backend_conn *c, struct sql_job *job)
{
    job->may_have_changed = 0; /* not sent yet */
    hf__sql_queue_push(&c->cells.queue, job);
    c->flush_wanted = 1;
}

static const struct sql_driver driver = {.engine = "zookeeper",
                                         .start = job_start};

int hf__zookeeper_cells_open(struct backend_conn *c)
{
    struct cells *s = &c->cells;
    s->record.alloc = c->env->alloc;
    s->store = hf__rules_store_open(c->env->alloc);
    s->core = hf__sql_core_open(c->env, c, &driver, c->endpoint);
    return s->store && s->core ? 0 : -1;
}

void hf__zookeeper_cells_close(struct backend_conn *c)
{
    struct cells *s = &c->cells;
    hf__sql_queue_drop(&s->queue);
    if (s->core) hf__sql_core_close(s->core);
    hf__zookeeper_watches_free(c);
    if (s->store) hf__rules_store_close(s->store);
    if (s->record.alloc) hf__rules_cell_free(&s->record);
    *s = (struct cells){.core = NULL};
}

const char *hf__zookeeper_cell_path(struct backend_conn *c, const char *name,
                                    size_t len)
{
    char node[NODE_NAME_MAX + 1];
    hf__zookeeper_name_escape(name, len, node);
    snprintf(c->path, sizeof c->path, "%s" CELLS_NODE "/%s", c->root, node);
    return c->path;
}

/* ---- which requests are for cells ---- */

static int is_of_cells(enum lock_kind kind)
{
    return kind == KIND_COUNT || kind == KIND_LATCH || kind == KIND_BARRIER;
}

int hf__zookeeper_cell_is_asked(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
    case VERB_RENEW:
    case VERB_RELEASE:
    case VERB_INSPECT:
    case VERB_BREAK:
    case VERB_WATCH:
    case VERB_UNWATCH:
    case VERB_TALLY:
        return is_of_cells(req->kind);
    case VERB_VALUE_READ:
    case VERB_VALUE_WRITE:
    case VERB_GUARD:
        return 1;
    default:
        return 0;
    }
}

/* Does a lock under this name rule out the request? */
static int is_barred(const struct request *req)
{
    switch (req->verb) {
    case VERB_VALUE_READ:
    case VERB_VALUE_WRITE:
        return 0;
    case VERB_GUARD:
        return (req->flags & (REQ_GUARD_VALUE | REQ_DELETE)) != 0;
    default:
        return 1;
    }
}

/* ---- reading ---- */

void hf__zookeeper_cell_refuse(struct sql_job *job, const char *what,
                               int32_t err)
{
    const char *why;
    char text[HF_ERROR_TEXT_MAX];
    int status = hf__zookeeper_error(err, &why);
    snprintf(text, sizeof text, "%s: %s (error %d)", what, why, err);
    job->may_have_changed = 0;
    hf__sql_refuse(job, status, text);
}

void hf__zookeeper_cell_again(struct backend_conn *c, struct sql_job *job)
{
    job->priv |= CELL_READS;
    job->may_have_changed = 0;
    hf__sql_queue_push(&c->cells.queue, job);
    c->flush_wanted = 1;
}

static const char damaged[] =
    "what is stored under the name is damaged, or of a newer holdfast";

/* A sentence that says as which kind the cell has the name in use; NULL if it
 * does not. */
static const char *used_as(struct backend_conn *c, const char *name, size_t len,
                           const struct sql_row *row, int64_t now_us)
{
    const struct request like = {.verb = VERB_PROPOSE,
                                 .kind = KIND_PLAIN,
                                 .name = name,
                                 .name_len = len};
    if (!row->is_there) return NULL;
    if (hf__rules_cell_load(c->cells.store, name, len, &row->plain, row->state,
                            row->state_len)
        != HF_OK)
        return damaged;
    return hf__rules_use_conflict(c->cells.store, now_us, &like);
}

/* The rules decide at a time that is not before the one in the record: so no
 * time in a cell is later than that of its last change. */
static void row_answer(struct backend_conn *c, struct sql_job *job,
                       const char *data, size_t len, int64_t version)
{
    struct sql_row row;
    int64_t told_us, low_us = hf__zookeeper_clock_low_us(c, &job->slow_us);
    int status = hf__sql_record_read(data, len, &row, &told_us);
    if (status != HF_OK || (version > 0 && !row.is_there)) {
        hf__sql_refuse(job, HF_CONFLICT, damaged);
        return;
    }
    row.version = version;
    /* The record will say at what time this was decided. */
    row.waits_us = max64(low_us, told_us);
    if (is_barred(job->req)
        && used_as(c, job->req->name, job->req->name_len, &row, row.waits_us))
        job->priv |= CELL_IS_USED;
    /* A lock that sees it there leaves again. */
    if ((job->priv & (CELL_IS_LOCKED | CELL_IS_USED)) == CELL_IS_LOCKED) {
        hf__sql_refuse(job, HF_CONFLICT, "it is in use as a plain lock");
        return;
    }
    hf__sql_answer_row(job, &row, row.waits_us, NULL);
}

static void cell_told(struct backend_conn *c, const struct call *call,
                      struct answer *a)
{
    struct sql_job *job = call->cell;
    struct jute_stat stat = {0};
    const char *data = NULL;
    size_t len = 0;
    int64_t version = 0;
    if (a->err == ZK_OK) {
        data = hf__zookeeper_in_text(&a->body, &len);
        hf__zookeeper_in_stat(&a->body, &stat);
        version = (int64_t)stat.version + 1;
    }
    if (a->err != ZK_OK && a->err != ZK_NO_NODE)
        hf__zookeeper_cell_refuse(job, "read", a->err);
    else if (a->body.is_bad && a->err == ZK_OK)
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "read: a strange answer");
    else
        row_answer(c, job, data, len, version);
}

static void lock_told(struct backend_conn *c, const struct call *call,
                      struct answer *a)
{
    struct jute_stat stat = {0};
    (void)c;
    if (a->err == ZK_OK) hf__zookeeper_in_stat(&a->body, &stat);
    struct sql_job *job = call->cell;
    if (stat.children > 0) job->priv |= CELL_IS_LOCKED;
    if (stat.data_len > 0) job->priv |= CELL_IS_BARRED;
    if (a->err == ZK_NO_NODE) job->priv |= CELL_IS_ALONE;
    job->priv_ptr = (void *)(intptr_t)stat.version; /* for the swap */
}

static void read_put(struct backend_conn *c, enum zk_op op, const char *path,
                     answer_fn done, struct sql_job *job)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, op);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_bool(o, 0);
    hf__zookeeper_call_end_for(c, done, job, NULL);
}

static void read_send(struct backend_conn *c, struct sql_job *job)
{
    const struct request *req = job->req;
    job->priv = 0;
    if (is_barred(req))
        read_put(c, ZK_EXISTS, hf__zookeeper_path(c, req->name, req->name_len),
                 lock_told, job);
    read_put(c, ZK_GET_DATA,
             hf__zookeeper_cell_path(c, req->name, req->name_len), cell_told,
             job);
}

/* ---- sending ---- */

/* The write behind which the reads are sent was answered.  It is a heartbeat,
 * too. */
static void proved(struct backend_conn *c, const struct call *call,
                   struct answer *a)
{
    struct jute_stat stat;
    if (a->err != ZK_OK) {
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "heartbeat: error %d of the server", a->err);
        return;
    }
    hf__zookeeper_in_stat(&a->body, &stat);
    hf__zookeeper_clock_read(c, call->sent_us, stat.mtime_ms);
    hf__zookeeper_session_proved(c, call->sent_us);
}

static int reads(const struct sql_job *job)
{
    return job->step == SQL_READ
           || (job->step == SQL_SWAP && (job->priv & CELL_READS));
}

static void proof_send(struct backend_conn *c)
{
    const struct sql_job *job = c->cells.queue.first;
    while (job && !reads(job)) job = job->next_queued;
    if (job)
        hf__zookeeper_set(c, hf__zookeeper_session_path(c), "", proved, NULL,
                          NULL);
}

static void job_send(struct backend_conn *c, struct sql_job *job)
{
    if (reads(job))
        read_send(c, job);
    else if (job->step == SQL_SWAP)
        hf__zookeeper_swap_send(c, job);
    else
        hf__zookeeper_watch_begin(c, job);
}

/* The end of a watch asks nothing of the server, so it must not fail without
 * one: what is watched would be freed behind the watch. */
static void watches_end(struct backend_conn *c)
{
    struct sql_queue jobs = c->cells.queue;
    struct sql_job *job;
    hf__sql_queue_drop(&c->cells.queue);
    while ((job = hf__sql_queue_take(&jobs)))
        if (job->step == SQL_UNWATCH)
            hf__zookeeper_watch_end(c, job);
        else
            hf__sql_queue_push(&c->cells.queue, job);
}

void hf__zookeeper_cells_run(struct backend_conn *c)
{
    struct sql_job *job;
    hf__sql_core_flush(c->cells.core);
    watches_end(c);
    if (c->link.state != LINK_UP) return;
    proof_send(c);
    while ((job = hf__sql_queue_take(&c->cells.queue))) job_send(c, job);
}

/* ---- failures ---- */

void hf__zookeeper_cells_fail(struct backend_conn *c, int status,
                              const char *text)
{
    const char *why = strstr(text, ": ");
    char copy[HF_ERROR_TEXT_MAX];
    if (!c->cells.core) return;
    snprintf(copy, sizeof copy, "%s", why ? why + 2 : text);
    hf__sql_queue_drop(&c->cells.queue);
    hf__zookeeper_watches_cut(c);
    hf__sql_core_lost(c->cells.core, status, copy);
}

int64_t hf__zookeeper_cells_due_us(const struct backend_conn *c)
{
    return hf__sql_core_deadline_us(c->cells.core);
}

int hf__zookeeper_cells_expire(struct backend_conn *c, int64_t now_us)
{
    (void)hf__sql_queue_expire(&c->cells.queue, now_us, c->endpoint,
                               &c->link.err);
    return c->link.state == LINK_UP && hf__zookeeper_cells_due_us(c) <= now_us;
}

/* ---- locks of the name ---- */

static void bar_told(struct backend_conn *c, const struct call *call,
                     struct answer *a)
{
    struct place *p = call->place;
    struct sql_row row;
    int64_t told_us, slow_us;
    size_t len;
    if (p->is_dropped || a->err == ZK_NO_NODE) return;
    if (a->err != ZK_OK) {
        struct job *unknown = p->job;
        p->job = NULL;
        hf__zookeeper_refuse_error(c, unknown, a->err);
        hf__zookeeper_place_leave(c, p);
        return;
    }
    const char *data = hf__zookeeper_in_text(&a->body, &len);
    int status = hf__sql_record_read(data, len, &row, &told_us);
    const char *why =
        status == HF_OK
            ? used_as(c, p->name, p->name_len, &row,
                      max64(hf__zookeeper_clock_low_us(c, &slow_us), told_us))
            : damaged;
    if (!why) return;
    struct job *job = p->job;
    p->job = NULL;
    hf__zookeeper_refuse(c, job, HF_CONFLICT, "propose: %s", why);
    hf__zookeeper_place_leave(c, p);
}

void hf__zookeeper_cell_bars(struct backend_conn *c, struct place *p)
{
    hf__zookeeper_read(c, ZK_GET_DATA,
                       hf__zookeeper_cell_path(c, p->name, p->name_len), 0,
                       bar_told, NULL, p);
}
