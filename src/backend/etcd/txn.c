/*
 * txn.c: building a transaction, and reading its answer; see etcd.h.  One rule:
 * nothing is allocated here; the keys are borrowed until the transaction is
 * sent.
 */
#include <assert.h>
#include <string.h>

#include "backend/etcd/etcd.h"

#define COMPARE_CREATE 1
#define COMPARE_MOD 2
#define SORT_ASCEND 1
#define SORT_BY_CREATE 2

static ProtobufCBinaryData bytes_of(const struct key *k)
{
    return (ProtobufCBinaryData){k->len, (uint8_t *)(uintptr_t)k->at};
}

void hf__etcd_txn_begin(struct txn *t)
{
    pb__txn_request__init(&t->txn);
    t->txn.compare = t->compares;
    t->txn.success = t->then;
    t->txn.failure = t->otherwise;
    t->ops = t->ranges = t->puts = 0;
}

static Pb__RequestOp *op_make(struct txn *t)
{
    assert(t->ops < sizeof t->op / sizeof t->op[0]);
    Pb__RequestOp *op = &t->op[t->ops++];
    pb__request_op__init(op);
    return op;
}

Pb__RequestOp *hf__etcd_txn_then(struct txn *t)
{
    return t->then[t->txn.n_success++] = op_make(t);
}

Pb__RequestOp *hf__etcd_txn_else(struct txn *t)
{
    return t->otherwise[t->txn.n_failure++] = op_make(t);
}

static Pb__Compare *compare_make(struct txn *t, const struct key *k)
{
    Pb__Compare *compare = &t->compare[t->txn.n_compare];
    t->compares[t->txn.n_compare++] = compare;
    pb__compare__init(compare);
    compare->key = bytes_of(k);
    return compare;
}

void hf__etcd_txn_created(struct txn *t, const struct key *k,
                          const struct key *end, int64_t revision)
{
    Pb__Compare *compare = compare_make(t, k);
    if (end) compare->range_end = bytes_of(end);
    compare->target = COMPARE_CREATE;
    compare->target_union_case = PB__COMPARE__TARGET_UNION_CREATE_REVISION;
    compare->create_revision = revision;
}

void hf__etcd_txn_changed(struct txn *t, const struct key *k, int64_t revision)
{
    Pb__Compare *compare = compare_make(t, k);
    compare->target = COMPARE_MOD;
    compare->target_union_case = PB__COMPARE__TARGET_UNION_MOD_REVISION;
    compare->mod_revision = revision;
}

static Pb__RangeRequest *range_make(struct txn *t, Pb__RequestOp *op,
                                    const struct key *k)
{
    Pb__RangeRequest *range = &t->range[t->ranges++];
    pb__range_request__init(range);
    range->key = bytes_of(k);
    op->request_case = PB__REQUEST_OP__REQUEST_RANGE;
    op->range = range;
    return range;
}

void hf__etcd_op_get(struct txn *t, Pb__RequestOp *op, const struct key *k)
{
    (void)range_make(t, op, k);
}

void hf__etcd_op_first(struct txn *t, Pb__RequestOp *op, const struct key *k,
                       const struct key *end, int64_t limit)
{
    Pb__RangeRequest *range = range_make(t, op, k);
    range->range_end = bytes_of(end);
    range->limit = limit;
    range->sort_order = SORT_ASCEND;
    range->sort_target = SORT_BY_CREATE;
}

void hf__etcd_op_put(struct txn *t, Pb__RequestOp *op, const struct key *k,
                     const char *value, size_t len, int64_t lease)
{
    assert(t->puts < sizeof t->put / sizeof t->put[0]);
    Pb__PutRequest *put = &t->put[t->puts++];
    pb__put_request__init(put);
    put->key = bytes_of(k);
    put->value = (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)value};
    put->lease = lease;
    op->request_case = PB__REQUEST_OP__REQUEST_PUT;
    op->put = put;
}

void hf__etcd_op_delete(struct txn *t, Pb__RequestOp *op, const struct key *k)
{
    pb__delete_request__init(&t->del);
    t->del.key = bytes_of(k);
    op->request_case = PB__REQUEST_OP__REQUEST_DELETE_RANGE;
    op->delete_range = &t->del;
}

/* ---- the answer ---- */

static const Pb__ResponseOp *told(const Pb__TxnResponse *t, size_t i)
{
    return t && i < t->n_responses ? t->responses[i] : NULL;
}

const Pb__RangeResponse *hf__etcd_told_range(const Pb__TxnResponse *t, size_t i)
{
    const Pb__ResponseOp *op = told(t, i);
    return op && op->response_case == PB__RESPONSE_OP__RESPONSE_RANGE
               ? op->range
               : NULL;
}

const Pb__DeleteResponse *hf__etcd_told_delete(const Pb__TxnResponse *t,
                                               size_t i)
{
    const Pb__ResponseOp *op = told(t, i);
    return op && op->response_case == PB__RESPONSE_OP__RESPONSE_DELETE_RANGE
               ? op->delete_range
               : NULL;
}

const Pb__KeyValue *hf__etcd_told_first(const Pb__TxnResponse *t, size_t i)
{
    const Pb__RangeResponse *range = hf__etcd_told_range(t, i);
    return range && range->n_kvs > 0 ? range->kvs[0] : NULL;
}

int hf__etcd_is_key(const Pb__KeyValue *kv, const struct key *k)
{
    return kv && kv->key.len == k->len && !memcmp(kv->key.data, k->at, k->len);
}
