/*
 * lease.c: see lease.h.  One rule: validity counts from the send of a
 * keep-alive, and only once it is proved.
 *
 * A leader that was cut off, or stopped for a while, answers keep-alives until
 * it notices that there is another one; the new leader knows nothing of them.
 * So an answer counts when a later one, to a transaction that a majority has
 * confirmed, comes on the same connection in the same term: then there was no
 * other leader when the lease was renewed.  The server takes the term that it
 * tells before it renews.
 */
#include "backend/etcd/lease.h"

#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "base/math.h"

#define SESSION_S 60
#define SLACK_PART 8 /* slack: 1/8 of the length, at least a second */

/* ---- the table ---- */

static struct lease *lease_make(struct backend_conn *c, int64_t seconds,
                                int64_t ttl_s)
{
    struct lease *x = hf__alloc_zero(c->env->alloc, sizeof *x);
    if (!x) return NULL;
    x->seconds = seconds;
    x->ttl_us = ttl_s * US_PER_S;
    x->slack_us = (ttl_s - seconds) * US_PER_S;
    x->next = c->leases.first;
    c->leases.first = x;
    return x;
}

static void lease_free(struct backend_conn *c, struct lease *x)
{
    struct lease **at = &c->leases.first;
    while (*at != x) at = &(*at)->next;
    *at = x->next;
    hf__free(c->env->alloc, x);
}

static void grant_send(struct backend_conn *c, struct lease *x)
{
    Pb__LeaseGrantRequest ask = PB__LEASE_GRANT_REQUEST__INIT;
    x->id = (int64_t)(c->env->random(c->env) >> 1) | 1;
    x->state = LEASE_NEW;
    ask.id = x->id;
    ask.ttl = x->ttl_us / US_PER_S;
    struct call *call =
        hf__etcd_call(&c->link, CALL_GRANT, &ask.base, NULL,
                      hf__etcd_now(c) + c->env->conf->timeout_us);
    if (call)
        call->lease = x;
    else
        x->state = LEASE_GONE;
}

/* May the lease have ended by now? */
static int is_over(const struct backend_conn *c, const struct lease *x)
{
    return hf__etcd_now(c) >= x->confirmed_us + x->ttl_us;
}

/* Leases that carry nothing are no longer kept alive, and end by themselves. */
static void leases_sweep(struct backend_conn *c)
{
    struct lease *next;
    for (struct lease *x = c->leases.first; x; x = next) {
        next = x->next;
        /* No client keeps this lease alive, and its key may have another
         * client's lease now. */
        if (x->is_own && x->state == LEASE_ALIVE && is_over(c, x))
            hf__etcd_lease_end(c, x);
        if (x->state == LEASE_GONE && !x->refs && !x->is_asked
            && x != c->leases.session)
            lease_free(c, x);
    }
}

/* A lease of that length that can be used or is being granted, or NULL. */
static struct lease *lease_find(struct backend_conn *c, int64_t seconds,
                                int is_own, uint64_t attempt)
{
    for (struct lease *x = c->leases.first; x; x = x->next) {
        if (x->seconds != seconds || x->state == LEASE_GONE
            || x->is_own != is_own || x->attempt != attempt)
            continue;
        if (x->state == LEASE_REFUSED && x->refused_life != c->link.life) {
            x->why[0] = '\0';
            grant_send(c, x);
            return x;
        }
        /* The holds of an ended lease are lost; a new hold gets another
         * lease. */
        if (x->state == LEASE_ALIVE && is_over(c, x)) {
            hf__etcd_lease_end(c, x);
            continue;
        }
        return x;
    }
    return NULL;
}

static int64_t seconds_of(int64_t lease_us)
{
    return max64((lease_us + US_PER_S - 1) / US_PER_S, 1);
}

struct lease *hf__etcd_lease(struct backend_conn *c, int64_t lease_us)
{
    int64_t seconds = seconds_of(lease_us);
    int64_t slack_s = max64((seconds + SLACK_PART - 1) / SLACK_PART, 1);
    leases_sweep(c);
    struct lease *x = lease_find(c, seconds, 0, 0);
    if (x) return x;
    x = lease_make(c, seconds, seconds + slack_s);
    if (x) grant_send(c, x);
    return x;
}

struct lease *hf__etcd_lease_for(struct backend_conn *c,
                                 const struct request *req)
{
    int64_t seconds = seconds_of(req->lease_us);
    if (!(req->flags & REQ_DETACHED)) return hf__etcd_lease(c, req->lease_us);
    leases_sweep(c);
    struct lease *x = lease_find(c, seconds, 1, req->attempt);
    if (x) return x;
    x = lease_make(c, seconds, seconds);
    if (!x) return NULL;
    x->is_own = 1;
    x->attempt = req->attempt;
    grant_send(c, x);
    return x;
}

struct lease *hf__etcd_lease_session(struct backend_conn *c)
{
    struct lease *x = c->leases.session;
    if (!x) c->leases.session = x = lease_make(c, 0, SESSION_S);
    if (!x) return NULL;
    if (x->state == LEASE_ALIVE && !is_over(c, x)) return x;
    if (x->state != LEASE_NEW || !x->id) grant_send(c, x);
    return NULL;
}

/* ---- which holds a lease covers ---- */

int hf__etcd_lease_covers(const struct lease *x, int64_t sent_us)
{
    return x->state == LEASE_ALIVE
           && x->confirmed_us >= sent_us - x->slack_us / 2;
}

int hf__etcd_lease_may_cover(const struct backend_conn *c,
                             const struct lease *x, int64_t sent_us)
{
    int64_t heard_us = x->confirmed_us;
    if (x->heard_life == c->link.life) heard_us = max64(heard_us, x->heard_us);
    return x->state == LEASE_ALIVE && heard_us >= sent_us - x->slack_us / 2;
}

void hf__etcd_lease_keep(struct backend_conn *c, struct lease *x)
{
    Pb__LeaseRequest ask = PB__LEASE_REQUEST__INIT;
    if (x->is_asked || x->state != LEASE_ALIVE) return;
    ask.id = x->id;
    struct call *call =
        hf__etcd_call(&c->link, CALL_ALIVE, &ask.base, NULL,
                      hf__etcd_now(c) + c->env->conf->timeout_us);
    if (!call) return;
    call->lease = x;
    x->is_asked = 1;
}

void hf__etcd_lease_nudge(struct backend_conn *c, struct lease *x)
{
    if (x->is_own) return;
    int64_t soon = hf__etcd_now(c) + min64(x->slack_us, x->ttl_us / 2) / 4;
    if (!hf__etcd_lease_may_cover(c, x, soon)) hf__etcd_lease_keep(c, x);
}

/* ---- answers ---- */

void hf__etcd_leases_proved(struct backend_conn *c, uint64_t seq,
                            const Pb__Header *header)
{
    if (!header) return;
    for (struct lease *x = c->leases.first; x; x = x->next)
        if (x->state == LEASE_ALIVE && x->heard_life == c->link.life
            && seq > x->heard_seq && x->heard_term == header->raft_term)
            x->confirmed_us = max64(x->confirmed_us, x->heard_us);
}

/* A grant is an entry of the Raft log: it needs no further proof. */
void hf__etcd_lease_granted(struct backend_conn *c, struct call *call,
                            const Pb__LeaseResponse *said)
{
    struct lease *x = call->lease;
    int is_granted = call->status == GRPC_OK && said && said->id == x->id;
    c->stirred = 1;
    x->state = is_granted ? LEASE_ALIVE : LEASE_GONE;
    x->confirmed_us = call->sent_us;
    if (is_granted && said->ttl < x->ttl_us / US_PER_S) x->state = LEASE_GONE;
    if (call->status != GRPC_OK && x->seconds) {
        x->state = LEASE_REFUSED;
        x->refused_life = c->link.life;
        x->least_s = 0;
        x->status = call->status == GRPC_EXHAUSTED ? HF_UNAVAILABLE : HF_DENIED;
        if (call->status != GRPC_OUT_OF_RANGE)
            snprintf(x->why, sizeof x->why, "the server refused: %.70s",
                     call->message);
    } else if (is_granted && said->ttl > x->ttl_us / US_PER_S && x->seconds
               && !c->short_leases) {
        x->state = LEASE_REFUSED;
        x->refused_life = c->link.life;
        x->least_s = said->ttl;
    }
}

void hf__etcd_lease_kept(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *said)
{
    struct lease *x = call->lease;
    x->is_asked = 0;
    c->stirred = 1;
    if (call->status != GRPC_OK || !said || x->state != LEASE_ALIVE) return;
    if (said->ttl <= 0) {
        hf__etcd_lease_end(c, x);
        return;
    }
    x->heard_us = call->sent_us;
    x->heard_seq = ++c->seq;
    x->heard_term = said->header ? said->header->raft_term : 0;
    x->heard_life = c->link.life;
}

void hf__etcd_lease_end(struct backend_conn *c, struct lease *x)
{
    x->state = LEASE_GONE;
    c->stirred = 1;
    hf__etcd_stakes_drop(c, x);
}

void hf__etcd_leases_cut(struct backend_conn *c)
{
    for (struct lease *x = c->leases.first; x; x = x->next) {
        x->is_asked = 0;
        if (x->state == LEASE_NEW) x->state = LEASE_GONE;
    }
}

void hf__etcd_leases_free(struct backend_conn *c)
{
    while (c->leases.first) lease_free(c, c->leases.first);
    c->leases.session = NULL;
}
