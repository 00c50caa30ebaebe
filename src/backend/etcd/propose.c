/*
 * propose.c: taking a lock.
 *
 *   without a queue  if no key of the lock is there, put the client's own
 *   in a queue       if the client's key is not there, put it; the first key
 *                    has the lock
 *
 * Both are one transaction, which also compares the connection's generation,
 * and fails if the name is in use as another kind (cell.h).  One rule: a lock
 * is granted when the transaction's answer says that the client's key is the
 * first, and its lease covers the request.
 */
#include "backend/etcd/etcd.h"
#include "base/math.h"

/* A waiter asks again, which keeps its lease alive. */
#define POLL_US_MOST (2 * US_PER_S)

/* Indexes into scratch.keys. */
enum { OWN, LOCK, END, GEN, USED };

static struct key *keys_make(struct backend_conn *c, const struct stake *s)
{
    struct key *k = c->scratch->keys;
    hf__etcd_stake_key(c, s, &k[OWN]);
    hf__etcd_key_lock(&k[LOCK], c->prefix, s->name, s->name_len);
    hf__etcd_key_end(&k[END], &k[LOCK]);
    hf__etcd_key_gen(&k[GEN], c->prefix, c->gen_id);
    hf__etcd_key_used(&k[USED], c->prefix, s->name, s->name_len);
    return k;
}

static void txn_send(struct backend_conn *c, struct request *req,
                     const struct stake *s)
{
    const struct key *k = keys_make(c, s);
    struct txn *t = &c->scratch->t;
    char *value = c->scratch->value;
    size_t len = hf__etcd_stake_value(s, value);
    hf__etcd_txn_begin(t);
    hf__etcd_txn_changed(t, &k[GEN], c->link.gen);
    if (req->flags & REQ_QUEUE)
        hf__etcd_txn_created(t, &k[OWN], NULL, 0);
    else
        hf__etcd_txn_created(t, &k[LOCK], &k[END], 0);
    hf__etcd_txn_created(t, &k[USED], NULL, 0);
    hf__etcd_op_put(t, hf__etcd_txn_then(t), &k[OWN], value, len, s->lease->id);
    hf__etcd_op_first(t, hf__etcd_txn_then(t), &k[LOCK], &k[END], 1);
    hf__etcd_op_get(t, hf__etcd_txn_else(t), &k[GEN]);
    hf__etcd_op_get(t, hf__etcd_txn_else(t), &k[OWN]);
    hf__etcd_op_first(t, hf__etcd_txn_else(t), &k[LOCK], &k[END], 1);
    hf__etcd_op_get(t, hf__etcd_txn_else(t), &k[USED]);
    if (!hf__etcd_call(&c->link, CALL_PROPOSE, &t->txn.base, req,
                       req->deadline_us)) {
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "propose: out of memory");
        return;
    }
    req->priv |= REQ_WAS_SENT;
    hf__etcd_lane(c, req)->proposals++;
}

/* Answer that the server has refused the lease. */
static void lease_refuse(struct backend_conn *c, struct request *req,
                         struct lease *x)
{
    long long ms = (long long)(req->lease_us / US_PER_MS);
    if (x->why[0]) {
        hf__etcd_refuse(c, req, x->status, "lease: %s", x->why);
        x->state = LEASE_GONE; /* the next request asks the server again */
    } else if (x->least_s)
        hf__etcd_refuse(c, req, HF_INVALID,
                        "lease of %lld ms: too short for this server, whose "
                        "least is %lld s: ask for a longer one, or give the "
                        "server a smaller --election-timeout",
                        ms, (long long)x->least_s);
    else
        hf__etcd_refuse(c, req, HF_INVALID,
                        "lease of %lld ms: longer than this server takes", ms);
}

/* 0, or -1 if the request was answered. */
static int lease_check(struct backend_conn *c, struct request *req,
                       struct lease **out)
{
    if (req->lease_us < US_PER_S && !c->short_leases) {
        hf__etcd_refuse(c, req, HF_INVALID,
                        "lease of %lld ms: etcd counts in seconds: ask for "
                        "1000 ms or more",
                        (long long)(req->lease_us / US_PER_MS));
        return -1;
    }
    *out = hf__etcd_lease_for(c, req);
    if (!*out)
        hf__etcd_refuse(c, req, HF_NOMEM, "lease: out of memory");
    else if ((*out)->state == LEASE_REFUSED)
        lease_refuse(c, req, *out);
    else
        return 0;
    return -1;
}

int hf__etcd_lease_need(struct backend_conn *c, struct request *req,
                        struct lease **out)
{
    if (lease_check(c, req, out) != 0) return -1;
    return (*out)->state == LEASE_ALIVE;
}

/* May a proposal be sent in this lane now? */
static int lane_is_free(struct backend_conn *c, const struct request *req)
{
    const struct lane *lane = hf__etcd_lane(c, req);
    return lane->releases == 0 && lane->blocked != c->runs;
}

void hf__etcd_propose(struct backend_conn *c, struct request *req)
{
    struct stake *s = hf__etcd_stake(c, req);
    struct lease *x = s ? s->lease : NULL;
    if (!lane_is_free(c, req) || !c->link.gen) {
        hf__etcd_wait(c, req);
        return;
    }
    if (req->priv & REQ_IS_BARRED) {
        hf__etcd_use_ask(c, req);
        return;
    }
    if (!s) {
        int is_there = hf__etcd_lease_need(c, req, &x);
        if (is_there == 0) hf__etcd_wait(c, req);
        if (is_there <= 0) return;
        s = hf__etcd_stake_make(c, req, x);
    }
    if (!s) {
        hf__etcd_refuse(c, req, HF_NOMEM, "propose: out of memory");
        return;
    }
    /* If the key is there already, do not ask before its lease can cover the
     * request. */
    if (s->fence && !hf__etcd_lease_may_cover(c, x, req->sent_us)) {
        hf__etcd_lease_keep(c, x);
        hf__etcd_wait(c, req);
        return;
    }
    if (c->leases.session) hf__etcd_lease_nudge(c, c->leases.session);
    txn_send(c, req, s);
    hf__etcd_lease_nudge(c, x);
}

/* ---- answers ---- */

void hf__etcd_propose_cut(struct backend_conn *c, const struct request *req)
{
    struct stake *s = hf__etcd_stake(c, req);
    if (s) s->is_unsure = 1;
    hf__etcd_lane(c, req)->proposals--;
}

/* When to ask again: after the whole length of the holder's lease.  To ask what
 * is left of it would cost a call. */
static int64_t head_ttl_us(const Pb__KeyValue *head)
{
    struct key_value v;
    if (!head
        || !hf__etcd_value_read((const char *)head->value.data, head->value.len,
                                &v))
        return -1;
    return v.lease_us >= US_PER_MS ? v.lease_us : -1;
}

static void busy(struct backend_conn *c, struct request *req, struct stake *s,
                 const Pb__KeyValue *head)
{
    struct reply rep = {
        .verdict = V_BUSY, .ttl_us = head_ttl_us(head), .waiters = -1};
    if (req->flags & REQ_QUEUE)
        rep.poll_us = min64(POLL_US_MOST, max64(req->lease_us, US_PER_S) / 4);
    else
        hf__etcd_stake_drop(c, s);
    hf__etcd_reply(c, req, &rep);
}

static void first(struct backend_conn *c, struct request *req,
                  const struct stake *s)
{
    struct reply rep = {
        .verdict = V_GRANTED, .fence = s->fence, .ttl_us = -1, .waiters = -1};
    if (hf__etcd_lease_covers(s->lease, req->sent_us)) {
        hf__etcd_reply(c, req, &rep);
        return;
    }
    hf__etcd_lease_keep(c, s->lease);
    hf__etcd_wait(c, req);
    c->stirred = 1;
}

static void refused(struct backend_conn *c, struct request *req,
                    struct stake *s, const struct call *call)
{
    struct lease *x = s ? s->lease : NULL;
    if (call->status == GRPC_NOT_FOUND && x) {
        hf__etcd_lease_end(c, x);
        hf__etcd_wait(c, req);
        return;
    }
    if (s && !s->fence && !s->is_unsure) hf__etcd_stake_drop(c, s);
    hf__etcd_refuse_by(c, req, call, "propose");
}

/* Read the answer of a transaction whose compares have failed: nothing was
 * changed. */
static void other(struct backend_conn *c, struct request *req, struct stake *s,
                  const Pb__TxnResponse *txn)
{
    const Pb__KeyValue *gen = hf__etcd_told_first(txn, 0);
    const Pb__KeyValue *own = hf__etcd_told_first(txn, 1);
    const Pb__KeyValue *head = hf__etcd_told_first(txn, 2);
    int is_first = own && hf__etcd_is_key(head, &keys_make(c, s)[OWN]);
    int is_current = gen && gen->mod_revision == c->link.gen;
    if (!is_current) hf__etcd_greet_again(&c->link);
    if (own && own->lease != s->lease->id) {
        /* The key has a lease that this client has given up: it will end by
         * itself. */
        busy(c, req, s, head);
        return;
    }
    if (own) s->fence = own->create_revision;
    if (is_first) {
        first(c, req, s);
        return;
    }
    if (!own && hf__etcd_told_first(txn, 3)) {
        req->priv |= REQ_IS_BARRED;
        hf__etcd_wait(c, req);
        return;
    }
    if (is_current && (own || !(req->flags & REQ_QUEUE)) && head) {
        busy(c, req, s, head);
        return;
    }
    /* Send the proposal again, in the new generation. */
    hf__etcd_wait(c, req);
    c->stirred = 1;
}

void hf__etcd_propose_answer(struct backend_conn *c, struct call *call,
                             const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    struct stake *s = hf__etcd_stake(c, req);
    call->req = NULL;
    hf__etcd_lane(c, req)->proposals--;
    c->stirred = 1;
    if (!s) {
        /* The stake's lease has ended meanwhile. */
        hf__etcd_wait(c, req);
    } else if (!txn) {
        refused(c, req, s, call);
    } else {
        const struct key *k = keys_make(c, s);
        if (!txn->succeeded) {
            other(c, req, s, txn);
            return;
        }
        s->fence = txn->header ? txn->header->revision : 0;
        if (hf__etcd_is_key(hf__etcd_told_first(txn, 1), &k[OWN]))
            first(c, req, s);
        else
            busy(c, req, s, hf__etcd_told_first(txn, 1));
    }
}
