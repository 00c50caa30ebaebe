/*
 * ticket.c: holds that outlive their client: a ticket gives one to another.
 *
 * Such a hold has a lease of its own, of exactly its length, which no client
 * keeps alive.  A client that attaches finds the key by owner and attempt, and
 * writes it anew with a lease of this client; a client that releases by ticket
 * deletes the key.  One rule: the key that was found is the only one that is
 * written or deleted: its create revision is compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"

#define QUEUE_LOOK 1 /* keys that are read: only the first is a hold */

/* The key that was found, while what is left of its lease is asked for. */
struct adopted {
    struct key key;
    int64_t revision;
    struct key_value value;
};

static void short_of(struct backend_conn *c, struct request *req)
{
    hf__etcd_wait(c, req);
    hf__etcd_link_fail(&c->link, HF_NOMEM, "ticket: out of memory");
}

void hf__etcd_adopt(struct backend_conn *c, struct request *req)
{
    struct key *lock = &c->scratch->keys[0], *end = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    struct lease *x;
    if (req->verb == VERB_RENEW) {
        int is_there = hf__etcd_lease_need(c, req, &x);
        if (is_there == 0) hf__etcd_wait(c, req);
        if (is_there <= 0) return;
    }
    hf__etcd_key_lock(lock, c->prefix, req->name, req->name_len);
    hf__etcd_key_end(end, lock);
    hf__etcd_txn_begin(t);
    hf__etcd_op_first(t, hf__etcd_txn_then(t), lock, end, QUEUE_LOOK);
    if (!hf__etcd_call(&c->link, CALL_ADOPT, &t->txn.base, req,
                       req->deadline_us))
        short_of(c, req);
}

static void gone(struct backend_conn *c, struct request *req,
                 enum verdict verdict)
{
    struct reply rep = {.verdict = verdict, .ttl_us = -1, .waiters = -1};
    hf__etcd_reply(c, req, &rep);
}

/* Is this the key of the hold that the request is about? */
static int is_ours(const Pb__KeyValue *kv, const struct request *req,
                   struct adopted *out)
{
    struct key_value *v = &out->value;
    if (kv->key.len > sizeof out->key.at
        || !hf__etcd_value_read((const char *)kv->value.data, kv->value.len, v))
        return 0;
    if (v->attempt != req->attempt || strcmp(v->owner, req->owner) != 0)
        return 0;
    out->revision = kv->create_revision;
    out->key.len = kv->key.len;
    memcpy(out->key.at, kv->key.data, kv->key.len);
    return req->verb != VERB_RENEW || !req->fence
           || req->fence == kv->create_revision;
}

/* Ask what is left of the lease of the hold. */
static void left_send(struct backend_conn *c, struct request *req,
                      const struct adopted *found, int64_t lease)
{
    Pb__LeaseRequest ask = PB__LEASE_REQUEST__INIT;
    struct adopted *copy = hf__alloc(c->env->alloc, sizeof *copy);
    ask.id = lease;
    struct call *call = copy ? hf__etcd_call(&c->link, CALL_ADOPT_LEFT,
                                             &ask.base, req, req->deadline_us)
                             : NULL;
    if (!call) {
        hf__free(c->env->alloc, copy);
        short_of(c, req);
        return;
    }
    *copy = *found;
    call->adopted = copy;
}

void hf__etcd_adopt_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    const Pb__KeyValue *kv = hf__etcd_told_first(txn, 0);
    struct adopted found = {.revision = 0};
    call->req = NULL;
    c->stirred = 1;
    if (!txn)
        hf__etcd_refuse_by(c, req, call, "ticket");
    else if (!kv)
        gone(c, req, V_ABSENT);
    else if (!is_ours(kv, req, &found))
        gone(c, req, V_OTHER);
    else
        left_send(c, req, &found, kv->lease);
}

/* The lease that is in the name of the key. */
static int64_t key_lease(const struct backend_conn *c, const struct key *k,
                         const struct request *req)
{
    struct key lock;
    char tail[KEY_TAIL_MAX];
    uint64_t lease = 0;
    hf__etcd_key_lock(&lock, c->prefix, req->name, req->name_len);
    size_t len = k->len > lock.len ? k->len - lock.len : 0;
    if (len == 0 || len >= sizeof tail) return 0;
    memcpy(tail, k->at + lock.len, len);
    tail[len] = '\0';
    return sscanf(tail, "%16" SCNx64 "-", &lease) == 1 ? (int64_t)lease : 0;
}

/* Make the hold this client's.  The renewal goes on and writes the key with the
 * new lease. */
static void take(struct backend_conn *c, struct request *req,
                 const struct adopted *found)
{
    struct stake *s = hf__etcd_stake(c, req);
    struct request like = *req;
    struct lease *x = NULL;
    if (s) hf__etcd_stake_drop(c, s);
    int is_there = hf__etcd_lease_need(c, req, &x);
    if (is_there < 0) return;
    like.info = found->value.info;
    s = is_there ? hf__etcd_stake_make(c, &like, x) : NULL;
    if (!is_there) {
        hf__etcd_wait(c, req);
        return;
    }
    if (!s) {
        hf__etcd_refuse(c, req, HF_NOMEM, "ticket: out of memory");
        return;
    }
    s->key_lease = key_lease(c, &found->key, req);
    s->fence = found->revision;
    s->since_us = found->value.since_us;
    s->count = 0; /* so that the renewal writes the key */
    req->priv |= REQ_IS_ADOPTED;
    hf__etcd_wait(c, req);
}

static void end_send(struct backend_conn *c, struct request *req,
                     struct adopted *found, int is_over)
{
    struct txn *t = &c->scratch->t;
    hf__etcd_txn_begin(t);
    hf__etcd_txn_created(t, &found->key, NULL, found->revision);
    hf__etcd_op_delete(t, hf__etcd_txn_then(t), &found->key);
    struct call *call = hf__etcd_call(&c->link, CALL_ADOPT_END, &t->txn.base,
                                      req, req->deadline_us);
    if (!call) {
        short_of(c, req);
        return;
    }
    call->fence = is_over;
    req->priv |= REQ_WAS_SENT;
}

/* The server rounds down to whole seconds.  With less than a second left the
 * hold counts as over for a client that attaches; a release goes on in any
 * case. */
void hf__etcd_adopt_left(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *lease)
{
    struct request *req = call->req;
    int is_known = call->status == GRPC_OK || call->status == GRPC_NOT_FOUND;
    int is_over = !lease || lease->ttl <= 0;
    call->req = NULL;
    c->stirred = 1;
    if (!is_known)
        hf__etcd_refuse_by(c, req, call, "ticket");
    else if (req->verb == VERB_RELEASE)
        end_send(c, req, call->adopted, is_over);
    else if (is_over)
        gone(c, req, V_ABSENT);
    else
        take(c, req, call->adopted);
}

void hf__etcd_adopt_end(struct backend_conn *c, struct call *call,
                        const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    int is_over = call->fence != 0;
    call->req = NULL;
    c->stirred = 1;
    if (!txn)
        hf__etcd_refuse_by(c, req, call, "ticket");
    else
        gone(c, req, txn->succeeded && !is_over ? V_GRANTED : V_ABSENT);
}
