/*
 * use.c: reading cells for others than the core of sql: which kind has a name
 * in use, for proposals of plain locks, lists and watches; see cell.h.  Two
 * rules: nothing here changes a cell; and what is over is over by the clock
 * that is there now, not by one that was read before.
 */
#include "rules/use.h"

#include "backend/etcd/etcd.h"
#include "backend/sql/record.h"
#include "base/math.h"

/* ---- plain locks and other kinds ---- */

/* Load the cell of a name into c->cells.store.  0, or -1 if it cannot be
 * read. */
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
    struct key *cell = &c->scratch->keys[0], *clock = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    if (!hf__etcd_clock_need(c)) {
        hf__etcd_wait(c, req);
        return;
    }
    hf__etcd_key_cell(cell, c->prefix, req->name, req->name_len);
    hf__etcd_key_clock(clock, c->prefix);
    hf__etcd_txn_begin(t);
    hf__etcd_op_get(t, hf__etcd_txn_then(t), cell);
    hf__etcd_op_get(t, hf__etcd_txn_then(t), clock);
    if (hf__etcd_call(&c->link, CALL_CELL_USE, &t->txn.base, req,
                      req->deadline_us))
        return;
    hf__etcd_wait(c, req);
    hf__etcd_link_fail(&c->link, HF_NOMEM, "cell: out of memory");
}

/* The cell is no longer in use: delete PREFIX//used/NAME, if the cell is still
 * the one that was read. */
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
    } else if (!hf__etcd_clock_check(c, hf__etcd_told_first(txn, 1))) {
        hf__etcd_wait(c, req); /* with the time of the clock that is there */
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
