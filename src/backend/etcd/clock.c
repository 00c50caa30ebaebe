/*
 * clock.c: see clock.h.  One rule: a bound that was proved stays true, whatever
 * happens to the link or the leader; it only gets wider, as clocks drift, until
 * a later reading contradicts it.
 */
#include "backend/etcd/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "base/math.h"
#include "sys/clock.h"

#define CLOCK_MARK "holdfast-clock1 "
#define CLOCK_S INT64_C(2592000)     /* length of a clock's lease: 30 days */
#define CLOCK_AGE_US (60 * US_PER_S) /* how long a reading is used */
#define DRIFT_PART 512 /* two clocks drift apart by less than 1/512 */

/* ---- bounds ---- */

int64_t hf__etcd_bounds_low(const struct clock_bounds *b, int64_t at_us)
{
    int64_t by = max64(at_us - b->low_at_us, 0);
    return b->low_us + by - by / DRIFT_PART;
}

int64_t hf__etcd_bounds_high(const struct clock_bounds *b, int64_t at_us)
{
    int64_t by = max64(at_us - b->high_at_us, 0);
    return b->high_us + by + by / DRIFT_PART + 1;
}

/* The server rounds down to whole seconds. */
int hf__etcd_clock_bounds(const struct clock *k, int64_t left_s,
                          int64_t sent_us, int64_t heard_us,
                          struct clock_bounds *out)
{
    if (left_s < 0 || left_s > k->seconds) return 0;
    int64_t gone_us = (k->seconds - left_s) * US_PER_S;
    *out = (struct clock_bounds){.low_us =
                                     k->base_us + max64(gone_us - US_PER_S, 0),
                                 .low_at_us = heard_us,
                                 .high_us = k->base_us + gone_us,
                                 .high_at_us = sent_us};
    return 1;
}

void hf__etcd_bounds_take(struct clock_bounds *b,
                          const struct clock_bounds *heard, int64_t at_us)
{
    int64_t low = hf__etcd_bounds_low(b, at_us);
    int64_t high = hf__etcd_bounds_high(b, at_us);
    int64_t heard_low = hf__etcd_bounds_low(heard, at_us);
    int64_t heard_high = hf__etcd_bounds_high(heard, at_us);
    if (heard_high < low || heard_low > high) {
        *b = *heard;
        return;
    }
    if (heard_low > low) {
        b->low_us = heard->low_us;
        b->low_at_us = heard->low_at_us;
    }
    if (heard_high < high) {
        b->high_us = heard->high_us;
        b->high_at_us = heard->high_at_us;
    }
}

static void bounds_take(struct clock *k)
{
    if (k->has_bounds)
        hf__etcd_bounds_take(&k->bounds, &k->heard, hf__clock_us());
    else
        k->bounds = k->heard;
    k->has_bounds = 1;
}

int64_t hf__etcd_clock_low(const struct backend_conn *c)
{
    return hf__etcd_bounds_low(&c->clock.bounds, hf__clock_us());
}

int64_t hf__etcd_clock_high(const struct backend_conn *c)
{
    return hf__etcd_bounds_high(&c->clock.bounds, hf__clock_us());
}

/* ---- PREFIX//clock ---- */

int hf__etcd_clock_read(const char *at, size_t len, struct clock *out)
{
    char text[128];
    size_t mark = strlen(CLOCK_MARK);
    if (len >= sizeof text || len < mark || memcmp(at, CLOCK_MARK, mark) != 0)
        return 0;
    memcpy(text, at, len);
    text[len] = '\0';
    uint64_t lease, term;
    int64_t seconds, base_us;
    if (sscanf(text + mark,
               "%16" SCNx64 " %19" SCNu64 " %10" SCNd64 " %17" SCNd64, &lease,
               &term, &seconds, &base_us)
            != 4
        || seconds < 1 || base_us < 0)
        return 0;
    out->lease = (int64_t)lease;
    out->term = term;
    out->seconds = seconds;
    out->base_us = base_us;
    return 1;
}

static int64_t due_us(const struct backend_conn *c)
{
    return hf__etcd_now(c) + c->env->conf->timeout_us;
}

/* A call was made, or there was no memory for it: then the link ends. */
static void asked(struct backend_conn *c, const struct call *call)
{
    c->clock.is_asked = call != NULL;
    if (!call) hf__etcd_link_fail(&c->link, HF_NOMEM, "clock: out of memory");
}

static void look_send(struct backend_conn *c)
{
    struct key *clock = &c->scratch->keys[0], *time = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    hf__etcd_key_clock(clock, c->prefix);
    hf__etcd_key_time(time, c->prefix);
    hf__etcd_txn_begin(t);
    hf__etcd_op_get(t, hf__etcd_txn_then(t), clock);
    hf__etcd_op_get(t, hf__etcd_txn_then(t), time);
    asked(c, hf__etcd_call(&c->link, CALL_CLOCK_LOOK, &t->txn.base, NULL,
                           due_us(c)));
}

static void reading_send(struct backend_conn *c)
{
    Pb__LeaseRequest ask = PB__LEASE_REQUEST__INIT;
    ask.id = c->clock.lease;
    struct call *call =
        hf__etcd_call(&c->link, CALL_CLOCK_LEFT, &ask.base, NULL, due_us(c));
    if (call) call->sent_us = hf__clock_us();
    asked(c, call);
}

/* Ask for the lease of a new clock.  It begins at the latest time that was
 * surely reached: `reached_us`, or what is known of the old clock. */
static void grant_send(struct backend_conn *c, int64_t reached_us)
{
    struct clock *k = &c->clock;
    Pb__LeaseGrantRequest ask = PB__LEASE_GRANT_REQUEST__INIT;
    reached_us = max64(reached_us, max64(k->base_us, k->floor_us));
    if (k->has_bounds) reached_us = max64(reached_us, hf__etcd_clock_low(c));
    k->next_base_us = reached_us;
    k->next_lease = (int64_t)(c->env->random(c->env) >> 1) | 1;
    ask.id = k->next_lease;
    ask.ttl = CLOCK_S;
    asked(c, hf__etcd_call(&c->link, CALL_CLOCK_GRANT, &ask.base, NULL,
                           due_us(c)));
}

int hf__etcd_clock_need(struct backend_conn *c)
{
    struct clock *k = &c->clock;
    if (k->is_asked || !c->link.gen) return 0;
    if (k->state == CLOCK_READY && hf__clock_us() - k->asked_us >= CLOCK_AGE_US)
        k->state = CLOCK_KNOWN;
    switch (k->state) {
    case CLOCK_READY:
        return 1;
    case CLOCK_KNOWN:
        reading_send(c);
        return 0;
    case CLOCK_UNKNOWN:
    case CLOCK_HEARD:
        break;
    }
    look_send(c);
    return 0;
}

/* ---- answers ---- */

static void answered(struct backend_conn *c)
{
    c->clock.is_asked = 0;
    c->stirred = 1;
}

/* The server refuses a call: refuse the waiting jobs with the server's
 * words. */
static void refused(struct backend_conn *c, const struct call *call)
{
    c->clock.state = CLOCK_UNKNOWN;
    hf__etcd_cells_refuse(c, call, "clock");
}

static void floor_read(struct clock *k, const Pb__KeyValue *kv)
{
    char text[32];
    if (!kv || kv->value.len >= sizeof text) return;
    memcpy(text, kv->value.data, kv->value.len);
    text[kv->value.len] = '\0';
    int64_t us = 0;
    if (sscanf(text, "%17" SCNd64, &us) == 1) k->floor_us = max64(us, 0);
}

/* Take over what PREFIX//clock says.  If that is another clock, the readings of
 * the old one are dropped. */
static int clock_adopt(struct backend_conn *c, const Pb__KeyValue *kv)
{
    struct clock *k = &c->clock;
    k->has_bounds = 0;
    k->revision = 0;
    if (!hf__etcd_clock_read((const char *)kv->value.data, kv->value.len, k))
        return -1;
    k->revision = kv->mod_revision;
    return 0;
}

void hf__etcd_clock_looked(struct backend_conn *c, const struct call *call,
                           const Pb__TxnResponse *txn)
{
    struct clock *k = &c->clock;
    const Pb__KeyValue *kv = hf__etcd_told_first(txn, 0);
    answered(c);
    if (!txn || !txn->header) {
        refused(c, call);
        return;
    }
    uint64_t term = txn->header->raft_term;
    floor_read(k, hf__etcd_told_first(txn, 1));
    if (!kv) {
        /* A clock that was deleted may have been behind the wall clock. */
        *k = (struct clock){.floor_us = k->floor_us};
        grant_send(c, k->floor_us ? 0 : hf__clock_wall_us());
        return;
    }
    int is_same = k->revision && kv->mod_revision == k->revision;
    if (!is_same && clock_adopt(c, kv) != 0) {
        k->state = CLOCK_UNKNOWN;
        hf__etcd_cells_conflict(
            c, "PREFIX//clock is not a clock of holdfast: delete it");
        return;
    }
    if (term != k->term) {
        grant_send(c, 0);
    } else if (is_same && k->state == CLOCK_HEARD) {
        bounds_take(k);
        k->state = CLOCK_READY;
    } else {
        k->state = CLOCK_KNOWN;
    }
}

/* The answer to CALL_CLOCK_LEFT: what is left of the lease. */
void hf__etcd_clock_told(struct backend_conn *c, const struct call *call,
                         const Pb__LeaseResponse *lease)
{
    struct clock *k = &c->clock;
    int64_t heard_us = hf__clock_us();
    answered(c);
    if (call->status != GRPC_OK && call->status != GRPC_NOT_FOUND) {
        refused(c, call);
        return;
    }
    int64_t left_s = lease && call->status == GRPC_OK ? lease->ttl : -1;
    /* The leader does not know the lease: it has ended, or the leader has not
     * heard of it yet.  That proves nothing. */
    if (!hf__etcd_clock_bounds(k, left_s, call->sent_us, heard_us, &k->heard)) {
        grant_send(c, 0);
        return;
    }
    /* Less than half of the lease is left: make the next clock in time. */
    if (left_s < k->seconds / 2) {
        grant_send(c, k->heard.low_us);
        return;
    }
    k->asked_us = call->sent_us;
    k->state = CLOCK_HEARD;
}

void hf__etcd_clock_granted(struct backend_conn *c, const struct call *call,
                            const Pb__LeaseResponse *lease)
{
    struct clock *k = &c->clock;
    struct key *clock = &c->scratch->keys[0], *gen = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    char text[128];
    answered(c);
    k->state = CLOCK_UNKNOWN;
    if (call->status != GRPC_OK || !lease || !lease->header) {
        refused(c, call);
        return;
    }
    int len =
        snprintf(text, sizeof text,
                 CLOCK_MARK "%" PRIx64 " %" PRIu64 " %" PRId64 " %" PRId64,
                 (uint64_t)k->next_lease, lease->header->raft_term, CLOCK_S,
                 k->next_base_us);
    hf__etcd_key_clock(clock, c->prefix);
    hf__etcd_key_gen(gen, c->prefix, c->gen_id);
    hf__etcd_txn_begin(t);
    hf__etcd_txn_changed(t, gen, c->link.gen);
    hf__etcd_txn_changed(t, clock, k->revision);
    hf__etcd_op_put(t, hf__etcd_txn_then(t), clock, text, (size_t)len, 0);
    asked(c, hf__etcd_call(&c->link, CALL_CLOCK_MAKE, &t->txn.base, NULL,
                           due_us(c)));
}

/* No other client knows of this lease, which would stay for 30 days.  The
 * answer is not needed. */
static void lease_end(struct backend_conn *c)
{
    Pb__LeaseRequest ask = PB__LEASE_REQUEST__INIT;
    ask.id = c->clock.next_lease;
    if (!hf__etcd_call(&c->link, CALL_CLOCK_END, &ask.base, NULL, due_us(c)))
        hf__etcd_link_fail(&c->link, HF_NOMEM, "clock: out of memory");
}

/* The key may be this client's or another client's now: read it again. */
void hf__etcd_clock_made(struct backend_conn *c, const struct call *call,
                         const Pb__TxnResponse *txn)
{
    answered(c);
    c->clock.state = CLOCK_UNKNOWN;
    if (!txn) refused(c, call);
    if (!txn || !txn->succeeded) lease_end(c);
}

int hf__etcd_clock_check(struct backend_conn *c, const Pb__KeyValue *kv)
{
    struct clock *k = &c->clock;
    if (kv && k->has_bounds && kv->mod_revision == k->revision) return 1;
    if (k->state == CLOCK_READY) k->state = CLOCK_UNKNOWN;
    return 0;
}

void hf__etcd_clock_cut(struct backend_conn *c, int is_other)
{
    struct clock *k = &c->clock;
    k->is_asked = 0;
    if (is_other)
        *k = (struct clock){.state = CLOCK_UNKNOWN};
    else if (k->state != CLOCK_READY)
        k->state = CLOCK_UNKNOWN;
}
