/*
 * release.c: giving back a lock, or a place in its queue.  One rule: only the
 * key of the attempt itself is deleted; no other attempt has a key of that
 * name.
 */
#include <string.h>

#include "backend/etcd/etcd.h"

static void absent(struct backend_conn *c, struct request *req)
{
    struct reply rep = {.verdict = V_ABSENT, .ttl_us = -1, .waiters = -1};
    hf__etcd_reply(c, req, &rep);
}

static int is_of_attempt(const struct request *old, const struct request *req)
{
    return old->verb == VERB_PROPOSE && old->attempt == req->attempt
           && old->name_len == req->name_len
           && !memcmp(old->name, req->name, req->name_len)
           && !strcmp(old->owner, req->owner);
}

/* Take the first proposal of the same attempt from a list, or NULL. */
static struct request *proposal_take(struct request **at,
                                     const struct request *req)
{
    while (*at && !is_of_attempt(*at, req)) at = &(*at)->next;
    struct request *old = *at;
    if (old) *at = old->next;
    return old;
}

/* A waiting proposal of the same attempt must not be sent after the release. */
static void proposals_end(struct backend_conn *c, const struct request *req)
{
    struct hf_error over = {.status = HF_CANCELLED, .text = "released"};
    struct request *old;
    while ((old = proposal_take(&c->running, req)) != NULL
           || (old = proposal_take(&c->waiting, req)) != NULL) {
        c->waiting_end = &c->waiting;
        while (*c->waiting_end) c->waiting_end = &(*c->waiting_end)->next;
        old->next = NULL;
        hf__etcd_doubt(c, old, &over);
    }
}

void hf__etcd_release(struct backend_conn *c, struct request *req)
{
    struct key *own = &c->scratch->keys[0], *lock = &c->scratch->keys[1],
               *end = &c->scratch->keys[2];
    struct txn *t = &c->scratch->t;
    struct stake *s = hf__etcd_stake(c, req);
    struct lane *lane = hf__etcd_lane(c, req);
    proposals_end(c, req);
    if (lane->proposals > 0 || !c->link.gen) {
        lane->blocked = c->runs;
        hf__etcd_wait(c, req);
        return;
    }
    if (!s && req->flags & REQ_DETACHED) {
        hf__etcd_adopt(c, req);
        return;
    }
    if (!s) {
        absent(c, req);
        return;
    }
    hf__etcd_stake_key(c, s, own);
    hf__etcd_key_lock(lock, c->prefix, s->name, s->name_len);
    hf__etcd_key_end(end, lock);
    hf__etcd_txn_begin(t);
    hf__etcd_op_delete(t, hf__etcd_txn_then(t), own);
    hf__etcd_op_first(t, hf__etcd_txn_then(t), lock, end, 1);
    if (!hf__etcd_call(&c->link, CALL_RELEASE, &t->txn.base, req,
                       req->deadline_us)) {
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "release: out of memory");
        return;
    }
    req->priv |= REQ_WAS_SENT;
    lane->releases++;
}

void hf__etcd_release_answer(struct backend_conn *c, struct call *call,
                             const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    struct stake *s = hf__etcd_stake(c, req);
    const Pb__DeleteResponse *gone = hf__etcd_told_delete(txn, 0);
    struct reply rep = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    call->req = NULL;
    hf__etcd_lane(c, req)->releases--;
    c->stirred = 1;
    if (!txn || !gone) {
        hf__etcd_refuse_by(c, req, call, "release");
        return;
    }
    if (gone->deleted == 0)
        rep.verdict = hf__etcd_told_first(txn, 1) ? V_OTHER : V_ABSENT;
    if (s) hf__etcd_stake_drop(c, s);
    hf__etcd_reply(c, req, &rep);
}
