/*
 * cell.c: see cell.h.  One rule: a row is given to the rules only together with
 * a known time, and is swapped only while its times still belong to the same
 * clock.
 */
#include "backend/etcd/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "backend/sql/record.h"
#include "base/math.h"

/* job->priv of a SWAP: read the row again first. */
#define JOB_READS 1u

/* Indexes into scratch.keys; and the index of each key's answer. */
enum { GEN, CELL, CLOCK, LOCK, END, USED, TIME };
enum { TOLD_GEN, TOLD_CELL, TOLD_CLOCK, TOLD_LOCK };

/* ---- life ---- */

static void job_start(struct backend_conn *c, struct sql_job *job)
{
    job->may_have_changed = 0; /* nothing was sent yet */
    job->priv = 0;
    hf__sql_queue_push(&c->cells.queue, job);
    c->stirred = 1;
}

static const struct sql_driver driver = {.engine = "etcd", .start = job_start};

int hf__etcd_cells_open(struct backend_conn *c)
{
    struct cells *s = &c->cells;
    s->record.alloc = c->env->alloc;
    s->store = hf__rules_store_open(c->env->alloc);
    s->core = hf__sql_core_open(c->env, c, &driver, c->server.endpoint);
    return s->store && s->core ? 0 : -1;
}

void hf__etcd_cells_close(struct backend_conn *c)
{
    struct cells *s = &c->cells;
    hf__sql_queue_drop(&s->queue);
    if (s->core) hf__sql_core_close(s->core);
    if (s->store) hf__rules_store_close(s->store);
    if (s->record.alloc) hf__rules_cell_free(&s->record);
    *s = (struct cells){0};
}

/* ---- which requests are for cells ---- */

int hf__etcd_cell_is_asked(const struct request *req)
{
    int is_lock = req->kind == KIND_PLAIN || request_is_rw(req);
    switch (req->verb) {
    case VERB_PROPOSE:
    case VERB_RENEW:
    case VERB_RELEASE:
        return req->kind != KIND_PLAIN;
    case VERB_INSPECT:
    case VERB_BREAK:
        return !is_lock; /* a lock's keys are read first */
    case VERB_TALLY:
    case VERB_VALUE_READ:
    case VERB_VALUE_WRITE:
    case VERB_GUARD:
        return 1;
    default:
        return 0;
    }
}

void hf__etcd_cell(struct backend_conn *c, struct request *req)
{
    hf__sql_core_submit(c->cells.core, req);
    c->stirred = 1;
}

/* ---- sending ---- */

static struct key *keys_make(struct backend_conn *c, const struct request *req)
{
    struct key *k = c->scratch->keys;
    hf__etcd_key_gen(&k[GEN], c->prefix, c->gen_id);
    hf__etcd_key_cell(&k[CELL], c->prefix, req->name, req->name_len);
    hf__etcd_key_clock(&k[CLOCK], c->prefix);
    hf__etcd_key_lock(&k[LOCK], c->prefix, req->name, req->name_len);
    hf__etcd_key_end(&k[END], &k[LOCK]);
    hf__etcd_key_used(&k[USED], c->prefix, req->name, req->name_len);
    hf__etcd_key_time(&k[TIME], c->prefix);
    return k;
}

/* Add the reads that a CELL_READ makes, and a CELL_SWAP whose compares fail. */
static void looks_add(struct txn *t, const struct key *k,
                      Pb__RequestOp *(*add)(struct txn *t))
{
    hf__etcd_op_get(t, add(t), &k[GEN]);
    hf__etcd_op_get(t, add(t), &k[CELL]);
    hf__etcd_op_get(t, add(t), &k[CLOCK]);
    hf__etcd_op_first(t, add(t), &k[LOCK], &k[END], 1);
}

static void sent(struct backend_conn *c, struct sql_job *job, struct call *call)
{
    if (call) {
        call->job = job;
        return;
    }
    hf__sql_queue_push(&c->cells.queue, job);
    hf__etcd_link_fail(&c->link, HF_NOMEM, "cell: out of memory");
}

static int64_t due_us(const struct backend_conn *c, const struct sql_job *job)
{
    int64_t us = job->req->deadline_us;
    return us > 0 ? us : hf__etcd_now(c) + c->env->conf->timeout_us;
}

static void read_send(struct backend_conn *c, struct sql_job *job)
{
    struct txn *t = &c->scratch->t;
    const struct key *k = keys_make(c, job->req);
    hf__etcd_txn_begin(t);
    looks_add(t, k, hf__etcd_txn_then);
    sent(c, job,
         hf__etcd_call(&c->link, CALL_CELL_READ, &t->txn.base, NULL,
                       due_us(c, job)));
}

/* Does the request put the name to use, or keep it in use? */
static int takes(const struct request *req)
{
    return req->verb == VERB_PROPOSE || req->verb == VERB_TALLY
           || req->verb == VERB_RENEW;
}

static void swap_send(struct backend_conn *c, struct sql_job *job)
{
    struct txn *t = &c->scratch->t;
    struct cell_bytes *record = &c->cells.record;
    const struct key *k = keys_make(c, job->req);
    struct sql_row row = job->next;
    char time[32];
    row.news += job->tell != SQL_TELL_NONE;
    if (hf__sql_record_write(&row, row.waits_us, record) != HF_OK) {
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
        return;
    }
    int time_len =
        snprintf(time, sizeof time, "%" PRId64, hf__etcd_clock_low(c));
    hf__etcd_txn_begin(t);
    hf__etcd_txn_changed(t, &k[GEN], c->link.gen);
    hf__etcd_txn_changed(t, &k[CELL], row.version);
    hf__etcd_txn_changed(t, &k[CLOCK], c->clock.revision);
    if (job->is_used && takes(job->req))
        hf__etcd_txn_created(t, &k[LOCK], &k[END], 0);
    hf__etcd_op_put(t, hf__etcd_txn_then(t), &k[CELL], (const char *)record->at,
                    record->len, 0);
    hf__etcd_op_put(t, hf__etcd_txn_then(t), &k[TIME], time, (size_t)time_len,
                    0);
    if (job->is_used)
        hf__etcd_op_put(t, hf__etcd_txn_then(t), &k[USED], "", 0, 0);
    else
        hf__etcd_op_delete(t, hf__etcd_txn_then(t), &k[USED]);
    looks_add(t, k, hf__etcd_txn_else);
    job->may_have_changed = 1;
    sent(c, job,
         hf__etcd_call(&c->link, CALL_CELL_SWAP, &t->txn.base, NULL,
                       due_us(c, job)));
}

static void job_send(struct backend_conn *c, struct sql_job *job)
{
    if (job->step == SQL_SWAP && !(job->priv & JOB_READS))
        swap_send(c, job);
    else
        read_send(c, job);
}

void hf__etcd_cells_run(struct backend_conn *c)
{
    unsigned life = c->link.life;
    struct sql_job *job;
    hf__sql_core_flush(c->cells.core);
    while (c->cells.queue.first && c->link.state == LINK_UP && c->link.gen
           && c->link.life == life && hf__etcd_clock_need(c)) {
        job = hf__sql_queue_take(&c->cells.queue);
        job_send(c, job);
    }
}

/* ---- answers ---- */

/* Read the row again, and swap that one. */
static void again(struct backend_conn *c, struct sql_job *job)
{
    job->priv |= JOB_READS;
    job->may_have_changed = 0;
    hf__sql_queue_push(&c->cells.queue, job);
    c->stirred = 1;
}

/* Does a plain lock under this name rule out the request? */
static int is_barred(const struct request *req)
{
    int is_lock = req->kind == KIND_PLAIN || request_is_rw(req);
    if (req->verb == VERB_INSPECT || req->verb == VERB_BREAK) return !is_lock;
    return req->verb == VERB_PROPOSE || req->verb == VERB_TALLY
           || req->verb == VERB_GUARD;
}

/* The rules decide at `now_us`, which is not before the time in the record: so
 * no time in a cell is later than that of its last change. */
static void row_answer(struct backend_conn *c, struct sql_job *job,
                       const Pb__KeyValue *kv)
{
    struct sql_row row;
    int64_t told_us, low_us = hf__etcd_clock_low(c);
    int status = hf__sql_record_read(kv ? kv->value.data : NULL,
                                     kv ? kv->value.len : 0, &row, &told_us);
    if (kv && (status != HF_OK || !row.is_there)) {
        hf__sql_refuse(job, HF_CONFLICT,
                       "what is stored under the name is damaged, or of a "
                       "newer holdfast");
        return;
    }
    int64_t now_us = max64(low_us, told_us);
    row.version = kv ? kv->mod_revision : 0;
    /* The record will say at what time this was decided. */
    row.waits_us = now_us;
    job->priv = 0;
    job->slow_us = max64(hf__etcd_clock_high(c) - low_us, 0);
    hf__sql_answer_row(job, &row, now_us, NULL);
}

/* A swap that would put the name to use, or keep it in use, has found a plain
 * lock. */
static int is_too_late(const struct sql_job *job)
{
    return job->step == SQL_SWAP && job->is_used
           && job->req->verb == VERB_RENEW;
}

static void row_told(struct backend_conn *c, struct sql_job *job,
                     const Pb__TxnResponse *txn)
{
    const Pb__KeyValue *gen = hf__etcd_told_first(txn, TOLD_GEN);
    const Pb__KeyValue *lock = hf__etcd_told_first(txn, TOLD_LOCK);
    int is_timed =
        hf__etcd_clock_check(c, hf__etcd_told_first(txn, TOLD_CLOCK));
    if (!gen || gen->mod_revision != c->link.gen)
        hf__etcd_greet_again(&c->link);
    if (!is_timed)
        again(c, job);
    else if (lock && (is_barred(job->req) || is_too_late(job)))
        hf__sql_refuse(job, HF_CONFLICT, "it is in use as a plain lock");
    else
        row_answer(c, job, hf__etcd_told_first(txn, TOLD_CELL));
}

static void job_refuse(struct sql_job *job, const struct call *call,
                       const char *what)
{
    char why[HF_ERROR_TEXT_MAX];
    int status = hf__etcd_refusal(call, what, why, sizeof why);
    job->may_have_changed = 0;
    hf__sql_refuse(job, status, why);
}

void hf__etcd_cell_read_answer(struct backend_conn *c, struct call *call,
                               const Pb__TxnResponse *txn)
{
    struct sql_job *job = call->job;
    call->job = NULL;
    c->stirred = 1;
    if (txn)
        row_told(c, job, txn);
    else
        job_refuse(job, call, "read");
}

void hf__etcd_cell_swap_answer(struct backend_conn *c, struct call *call,
                               const Pb__TxnResponse *txn)
{
    struct sql_job *job = call->job;
    call->job = NULL;
    c->stirred = 1;
    if (!txn)
        job_refuse(job, call, "swap");
    else if (txn->succeeded)
        hf__sql_answer_swapped(job);
    else
        row_told(c, job, txn);
}

/* ---- failures ---- */

void hf__etcd_cells_refuse(struct backend_conn *c, const struct call *call,
                           const char *what)
{
    struct sql_queue late = c->cells.queue;
    struct sql_job *job;
    hf__sql_queue_drop(&c->cells.queue);
    while ((job = hf__sql_queue_take(&late))) job_refuse(job, call, what);
}

void hf__etcd_cells_conflict(struct backend_conn *c, const char *why)
{
    struct sql_queue late = c->cells.queue;
    struct sql_job *job;
    hf__sql_queue_drop(&c->cells.queue);
    while ((job = hf__sql_queue_take(&late)))
        hf__sql_refuse(job, HF_CONFLICT, why);
}

void hf__etcd_cells_cut(struct backend_conn *c, const struct hf_error *why)
{
    const char *text = strstr(why->text, ": ");
    if (!c->cells.core) return;
    hf__sql_queue_drop(&c->cells.queue);
    hf__sql_core_lost(c->cells.core,
                      why->status != HF_OK ? why->status : HF_UNAVAILABLE,
                      text ? text + 2 : why->text);
}

int64_t hf__etcd_cells_due(const struct backend_conn *c)
{
    int64_t due = TIME_NEVER;
    for (const struct sql_job *job = c->cells.queue.first; job;
         job = job->next_queued)
        if (job->req->deadline_us > 0) due = min64(due, job->req->deadline_us);
    return due;
}

int hf__etcd_cells_expire(struct backend_conn *c, int64_t now_us)
{
    return hf__sql_queue_expire(&c->cells.queue, now_us, c->server.endpoint,
                                &c->link.err);
}
