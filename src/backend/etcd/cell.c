/*
 * cell.c: see cell.h.  One rule: a row is answered only with a time that can be
 * told, and swapped only if its times are still by the same clock.
 */
#include "backend/etcd/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "backend/sql/record.h"
#include "base/math.h"
#include "rules/use.h"

/* job->priv of a SWAP: the row is to be read again first. */
#define JOB_READS 1u

/* Of scratch.keys, and the places of what is told of them. */
enum { GEN, CELL, CLOCK, LOCK, END, USED, TIME };
enum { TOLD_GEN, TOLD_CELL, TOLD_CLOCK, TOLD_LOCK };

/* ---- life ---- */

static void job_start(struct backend_conn *c, struct sql_job *job)
{
    job->may_have_changed = 0; /* not sent yet */
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
    s->core = hf__sql_core_open(c->env, c, &driver, c->place.endpoint);
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

/* ---- which requests ---- */

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
        return !is_lock; /* a lock's keys are looked at first */
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

/* ---- what is sent ---- */

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

/* The same for a read, and for a swap that matches nothing. */
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
    if (job->is_used) hf__etcd_txn_created(t, &k[LOCK], &k[END], 0);
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

/* ---- what is told ---- */

/* Once more, with the row that is there by then. */
static void again(struct backend_conn *c, struct sql_job *job)
{
    job->priv |= JOB_READS;
    job->may_have_changed = 0;
    hf__sql_queue_push(&c->cells.queue, job);
    c->stirred = 1;
}

/* A plain lock has the name. */
static int is_barred(const struct request *req)
{
    int is_lock = req->kind == KIND_PLAIN || request_is_rw(req);
    if (req->verb == VERB_INSPECT || req->verb == VERB_BREAK) return !is_lock;
    return req->verb == VERB_PROPOSE || req->verb == VERB_TALLY
           || req->verb == VERB_GUARD;
}

/* No time in the cell is later than the one by which it was decided on. */
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
    /* The time by which it is decided goes into the record. */
    row.waits_us = now_us;
    job->priv = 0;
    job->slow_us = max64(hf__etcd_clock_high(c) - low_us, 0);
    hf__sql_answer_row(job, &row, now_us, NULL);
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
    else if (lock && is_barred(job->req))
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

/* ---- what fails ---- */

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
    return hf__sql_queue_expire(&c->cells.queue, now_us, c->place.endpoint,
                                &c->link.err);
}

/* ---- plain locks and other kinds ---- */

/* The cell of a name, loaded.  0, or -1: it cannot be read. */
static int cell_load(struct backend_conn *c, const Pb__KeyValue *kv,
                     const char *name, size_t name_len, int64_t *now_us)
{
    struct sql_row row;
    if (hf__sql_record_read(kv->value.data, kv->value.len, &row, now_us)
            != HF_OK
        || hf__rules_cell_load(c->cells.store, name, name_len, &row.plain,
                               row.state, row.state_len)
               != HF_OK)
        return -1;
    if (c->clock.has_bounds) *now_us = max64(*now_us, hf__etcd_clock_low(c));
    return 0;
}

void hf__etcd_use_ask(struct backend_conn *c, struct request *req)
{
    struct key *cell = &c->scratch->keys[0];
    struct txn *t = &c->scratch->t;
    if (!hf__etcd_clock_need(c)) {
        hf__etcd_wait(c, req);
        return;
    }
    hf__etcd_key_cell(cell, c->prefix, req->name, req->name_len);
    hf__etcd_txn_begin(t);
    hf__etcd_op_get(t, hf__etcd_txn_then(t), cell);
    if (hf__etcd_call(&c->link, CALL_CELL_USE, &t->txn.base, req,
                      req->deadline_us))
        return;
    hf__etcd_wait(c, req);
    hf__etcd_link_fail(&c->link, HF_NOMEM, "cell: out of memory");
}

/* It is in use no more: say so, if it is still what was read. */
static void unuse_send(struct backend_conn *c, struct request *req,
                       const Pb__KeyValue *kv)
{
    struct key *cell = &c->scratch->keys[0], *used = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    hf__etcd_key_cell(cell, c->prefix, req->name, req->name_len);
    hf__etcd_key_used(used, c->prefix, req->name, req->name_len);
    hf__etcd_txn_begin(t);
    hf__etcd_txn_changed(t, cell, kv ? kv->mod_revision : 0);
    hf__etcd_op_delete(t, hf__etcd_txn_then(t), used);
    if (hf__etcd_call(&c->link, CALL_CELL_UNUSE, &t->txn.base, req,
                      req->deadline_us))
        return;
    hf__etcd_wait(c, req);
    hf__etcd_link_fail(&c->link, HF_NOMEM, "cell: out of memory");
}

static void use_refuse(struct backend_conn *c, struct request *req, int status,
                       const char *why)
{
    struct stake *s = hf__etcd_stake(c, req);
    if (s && !s->fence && !s->is_unsure) hf__etcd_stake_drop(c, s);
    hf__etcd_refuse(c, req, status, "%s", why);
}

void hf__etcd_use_answer(struct backend_conn *c, struct call *call,
                         const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    const Pb__KeyValue *kv = hf__etcd_told_first(txn, 0);
    int64_t now_us;
    call->req = NULL;
    c->stirred = 1;
    if (!txn) {
        hf__etcd_refuse_by(c, req, call, "propose");
    } else if (!kv) {
        unuse_send(c, req, NULL);
    } else if (cell_load(c, kv, req->name, req->name_len, &now_us) != 0) {
        use_refuse(c, req, HF_CONFLICT,
                   "what is stored under the name is damaged, or of a newer "
                   "holdfast");
    } else {
        const char *why = hf__rules_use_conflict(c->cells.store, now_us, req);
        if (why)
            use_refuse(c, req, HF_CONFLICT, why);
        else
            unuse_send(c, req, kv);
    }
}

void hf__etcd_unuse_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    call->req = NULL;
    c->stirred = 1;
    if (!txn) {
        hf__etcd_refuse_by(c, req, call, "propose");
        return;
    }
    req->priv &= ~REQ_IS_BARRED;
    hf__etcd_wait(c, req);
}

/* ---- lists and watches ---- */

int hf__etcd_cell_list(struct backend_conn *c, const Pb__KeyValue *kv,
                       const char *name, size_t name_len, struct list_row *row)
{
    const struct request like = {.verb = VERB_LIST};
    struct reply rep;
    int64_t now_us;
    if (cell_load(c, kv, name, name_len, &now_us) != 0) return 0;
    hf__rules_store_apply(c->cells.store, now_us, &like, &rep);
    if (rep.verdict != V_GRANTED || rep.rows_len != 1) return 0;
    *row = rep.rows[0];
    return 1;
}

int64_t hf__etcd_cell_news(const Pb__KeyValue *kv)
{
    struct sql_row row;
    int64_t now_us;
    if (!kv
        || hf__sql_record_read(kv->value.data, kv->value.len, &row, &now_us)
               != HF_OK
        || !row.is_there)
        return -1;
    return row.news;
}
