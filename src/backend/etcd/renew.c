/*
 * renew.c: renewals.  One rule: a hold is renewed when its lease covers the
 * request, and a look that was sent after the request says that its key is
 * still there.
 *
 * A look is one transaction that reads the keys of up to LOOK_KEYS holds.  A
 * longer lease, or another count of holds, is written into the key (an attach).
 */
#include <string.h>

#include "backend/etcd/etcd.h"

static void absent(struct backend_conn *c, struct request *req)
{
    struct reply rep = {.verdict = V_ABSENT, .ttl_us = -1, .waiters = -1};
    hf__etcd_reply(c, req, &rep);
}

static void granted(struct backend_conn *c, struct request *req,
                    const struct stake *s)
{
    struct reply rep = {
        .verdict = V_GRANTED, .fence = s->fence, .ttl_us = -1, .waiters = -1};
    hf__etcd_reply(c, req, &rep);
}

/* The hold's key is gone or was made anew: does another client have the
 * lock? */
static void taken(struct backend_conn *c, struct request *req, struct stake *s)
{
    struct key *lock = &c->scratch->keys[0], *end = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    hf__etcd_stake_drop(c, s);
    hf__etcd_key_lock(lock, c->prefix, req->name, req->name_len);
    hf__etcd_key_end(end, lock);
    hf__etcd_txn_begin(t);
    hf__etcd_op_first(t, hf__etcd_txn_then(t), lock, end, 1);
    /* Without memory the answer is only that the hold is gone. */
    if (!hf__etcd_call(&c->link, CALL_TAKEN, &t->txn.base, req,
                       req->deadline_us))
        absent(c, req);
}

void hf__etcd_taken_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    struct reply rep = {.verdict = V_ABSENT,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = "the key of the hold was deleted"};
    call->req = NULL;
    if (hf__etcd_told_first(txn, 0)) rep.verdict = V_OTHER;
    hf__etcd_reply(c, req, &rep);
}

/* Must the key be written?  Not for a shorter lease: then the server only keeps
 * the lock longer than the holder counts on it. */
static int is_to_write(const struct stake *s, const struct request *req)
{
    return s->count != req->count
           || req->lease_us > s->lease->seconds * US_PER_S
           || req->lease_us < s->lease_us / 2;
}

/* ---- attach ---- */

static void attach_send(struct backend_conn *c, struct request *req,
                        struct stake *s, struct lease *x)
{
    struct key *own = &c->scratch->keys[0], *gen = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    char *value = c->scratch->value;
    hf__etcd_stake_key(c, s, own);
    hf__etcd_key_gen(gen, c->prefix, c->gen_id);
    hf__etcd_stake_move(s, x);
    s->count = req->count;
    s->lease_us = req->lease_us;
    size_t len = hf__etcd_stake_value(s, value);
    hf__etcd_txn_begin(t);
    hf__etcd_txn_changed(t, gen, c->link.gen);
    hf__etcd_txn_created(t, own, NULL, s->fence);
    hf__etcd_op_put(t, hf__etcd_txn_then(t), own, value, len, x->id);
    hf__etcd_op_get(t, hf__etcd_txn_else(t), gen);
    hf__etcd_op_get(t, hf__etcd_txn_else(t), own);
    if (!hf__etcd_call(&c->link, CALL_ATTACH, &t->txn.base, req,
                       req->deadline_us)) {
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "renew: out of memory");
        return;
    }
    s->moving = 1;
    req->priv |= REQ_WAS_SENT;
}

void hf__etcd_renew_cut(struct backend_conn *c, const struct request *req)
{
    struct stake *s = hf__etcd_stake(c, req);
    if (s) s->moving = 0;
}

/* Write the key, with a lease of the wanted length. */
static void attach(struct backend_conn *c, struct request *req, struct stake *s)
{
    struct lease *x = s->lease;
    if (!c->link.gen || s->moving) {
        hf__etcd_wait(c, req);
        return;
    }
    int is_long = req->lease_us > x->seconds * US_PER_S;
    if (is_long || req->lease_us < s->lease_us / 2) {
        int is_there = hf__etcd_lease_need(c, req, &x);
        if (is_there == 0) hf__etcd_wait(c, req);
        if (is_there <= 0) return;
    }
    if (hf__etcd_lease_may_cover(c, x, req->sent_us)) {
        attach_send(c, req, s, x);
        return;
    }
    hf__etcd_lease_keep(c, x);
    hf__etcd_wait(c, req);
}

static void attached(struct backend_conn *c, struct request *req,
                     struct stake *s)
{
    if (hf__etcd_lease_covers(s->lease, req->sent_us)) {
        granted(c, req, s);
        return;
    }
    /* Keep the lease alive, then look at the hold again. */
    hf__etcd_lease_keep(c, s->lease);
    hf__etcd_wait(c, req);
}

void hf__etcd_attach_answer(struct backend_conn *c, struct call *call,
                            const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    struct stake *s = hf__etcd_stake(c, req);
    call->req = NULL;
    c->stirred = 1;
    if (s) s->moving = 0;
    if (!s) {
        absent(c, req);
    } else if (!txn && call->status == GRPC_NOT_FOUND) {
        hf__etcd_lease_end(c, s->lease);
        absent(c, req);
    } else if (!txn) {
        hf__etcd_refuse_by(c, req, call, "renew");
    } else if (txn->succeeded) {
        attached(c, req, s);
    } else {
        const Pb__KeyValue *gen = hf__etcd_told_first(txn, 0);
        const Pb__KeyValue *own = hf__etcd_told_first(txn, 1);
        if (own && own->create_revision == s->fence) {
            if (!gen || gen->mod_revision != c->link.gen)
                hf__etcd_greet_again(&c->link);
            s->count = 0; /* so that the key is written again */
            hf__etcd_wait(c, req);
            return;
        }
        taken(c, req, s);
    }
}

/* ---- looks ---- */

void hf__etcd_renew(struct backend_conn *c, struct request *req)
{
    struct stake *s = hf__etcd_stake(c, req);
    if (req->flags & REQ_ATTACH && (!s || !(req->priv & REQ_IS_ADOPTED))) {
        hf__etcd_adopt(c, req);
        return;
    }
    if (!s || !s->fence || (req->fence && req->fence != s->fence)) {
        absent(c, req);
        return;
    }
    if (s->moving) {
        hf__etcd_wait(c, req);
    } else if (is_to_write(s, req)) {
        attach(c, req, s);
    } else if (hf__etcd_lease_may_cover(c, s->lease, req->sent_us)) {
        req->next = c->looks;
        c->looks = req;
    } else {
        hf__etcd_lease_keep(c, s->lease);
        hf__etcd_wait(c, req);
    }
}

/* Put up to LOOK_KEYS of the waiting looks into one transaction. */
static struct request *looks_take(struct backend_conn *c, struct txn *t,
                                  struct key keys[], int64_t *due_us)
{
    struct request *list = NULL, **end = &list;
    for (size_t n = 0; n < LOOK_KEYS && c->looks;) {
        struct request *req = c->looks;
        const struct stake *s = hf__etcd_stake(c, req);
        c->looks = req->next;
        req->next = NULL;
        if (!s) {
            hf__etcd_wait(c, req); /* the stake went with its lease just now */
            c->stirred = 1;
            continue;
        }
        *end = req;
        end = &req->next;
        if (req->deadline_us < *due_us) *due_us = req->deadline_us;
        hf__etcd_stake_key(c, s, &keys[n]);
        hf__etcd_op_get(t, hf__etcd_txn_then(t), &keys[n++]);
    }
    return list;
}

static void looks_wait(struct backend_conn *c, struct request *list)
{
    while (list) {
        struct request *req = list;
        list = req->next;
        hf__etcd_wait(c, req);
    }
}

void hf__etcd_renew_hold(struct backend_conn *c)
{
    looks_wait(c, c->looks);
    c->looks = NULL;
}

void hf__etcd_renew_send(struct backend_conn *c)
{
    while (c->looks) {
        struct txn *t = &c->scratch->t;
        int64_t due_us = TIME_NEVER;
        hf__etcd_txn_begin(t);
        struct request *list = looks_take(c, t, c->scratch->keys, &due_us);
        if (!list) continue;
        if (hf__etcd_call(&c->link, CALL_RENEW, &t->txn.base, list, due_us))
            continue;
        looks_wait(c, list);
        hf__etcd_renew_hold(c);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "renew: out of memory");
    }
}

static void look_answer(struct backend_conn *c, struct request *req,
                        const Pb__KeyValue *own)
{
    struct stake *s = hf__etcd_stake(c, req);
    if (!s) {
        absent(c, req);
    } else if (!own || own->create_revision != s->fence) {
        taken(c, req, s);
    } else if (own->lease != s->lease->id) {
        /* An attach had no answer: write the key again. */
        s->count = 0;
        hf__etcd_wait(c, req);
    } else {
        attached(c, req, s);
    }
}

void hf__etcd_renew_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn)
{
    struct request *list = call->req;
    call->req = NULL;
    c->stirred = 1;
    for (size_t i = 0; list; i++) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        if (txn && hf__etcd_told_range(txn, i))
            look_answer(c, req, hf__etcd_told_first(txn, i));
        else if (txn)
            hf__etcd_refuse(c, req, HF_UNAVAILABLE,
                            "renew: the server's answer cannot be read");
        else
            hf__etcd_refuse_by(c, req, call, "renew");
    }
}
