/*
 * store.c: the rules of one node.  One rule above all: every answer
 * depends on the store, the request and the time that is passed in, and on
 * nothing else.
 */
#include <assert.h>
#include <string.h>

#include "rules/boot.h"
#include "rules/gate.h"
#include "rules/guard.h"
#include "rules/hold.h"
#include "rules/model.h"
#include "rules/permit.h"
#include "rules/queue.h"
#include "rules/report.h"
#include "rules/rw.h"
#include "rules/store.h"
#include "rules/stock.h"
#include "rules/table.h"
#include "rules/use.h"
#include "rules/value.h"

/* The record of the name with an ended lease cleared away, or NULL. */
static struct entry *entry_now(struct store *s, int64_t now_us,
                               const struct request *req)
{
    struct entry *e = hf__rules_table_find(&s->table, req->name, req->name_len);
    if (!e || !e->held || !held_is_over(e->held, now_us)) return e;
    if (req->verb == VERB_RENEW && MUTATED(s, EXPIRED_RENEWED)) return e;
    hf__rules_hold_free(s, e);
    return e;
}

static int held_is_owners(const struct held *held, const struct request *req)
{
    return !strncmp(held->owner, req->owner, sizeof held->owner);
}

static int held_is_ours(const struct held *held, const struct request *req)
{
    return held_is_owners(held, req) && held->attempt == req->attempt;
}

/* Is it the hold that a renewal is about? */
static int held_is_renewed(const struct store *s, const struct held *held,
                           const struct request *req)
{
    if (!held_is_owners(held, req)) return 0;
    if (!held_is_ours(held, req) && !MUTATED(s, RENEW_ATTEMPT)) return 0;
    return !req->fence || req->fence == held->fence || MUTATED(s, RENEW_FENCE);
}

static void held_set_count(const struct store *s, struct held *held,
                           int64_t count)
{
    held->count = MUTATED(s, COUNT_ADDED) ? held->count + count : count;
}

static void counter_raise(struct entry *e, int64_t number)
{
    if (e->counter < number) e->counter = number;
}

/* ---- propose ---------------------------------------------------------- */

static int ballot_is_stale(const struct store *s, const struct entry *e,
                           int64_t now_us, const struct request *req)
{
    if (req->ballot == e->counter && MUTATED(s, EQUAL_BALLOT)) return 0;
    if (e->counter < now_us - US_PER_S && MUTATED(s, COUNTER_AGED))
        return req->ballot < now_us - req->window_us;
    if (req->ballot <= e->counter) return 1;
    return req->ballot < now_us - req->window_us && !MUTATED(s, NO_WINDOW);
}

static void propose_grant(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int64_t fence = req->ballot;
    if ((req->flags & REQ_SERVER_FENCE) && fence < now_us) fence = now_us;
    if (hf__rules_hold_give(s, e, now_us, req, fence) != HF_OK) {
        reply_refuse(rep, HF_NOMEM, "propose: out of memory");
        return;
    }
    int64_t block = MUTATED(s, BLOCK_FORGOTTEN) ? 0 : req->block;
    if (!MUTATED(s, COUNTER_KEPT)) e->counter = fence + block;
    rep->verdict = V_GRANTED;
    rep->fence = fence;
    rep->counter = e->counter;
}

static void propose_repeat(struct store *s, struct entry *e, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    if (MUTATED(s, REPEAT_MOVES))
        hf__rules_hold_lease(s, e->held, now_us, req->lease_us);
    rep->verdict = V_GRANTED;
    rep->fence = e->held->fence;
    rep->counter = e->counter;
}

static int propose_is_barred(const struct store *s, const struct held *held,
                             const struct request *req)
{
    if (held_is_ours(held, req)) return 0;
    if (held_is_owners(held, req) && MUTATED(s, PROPOSE_ATTEMPT)) return 0;
    return !MUTATED(s, GRANT_HELD);
}

/* Another client may have begun a quarantine that this one has not heard of. */
static int marker_is_missed(const struct store *s, int64_t now_us,
                            const struct request *req)
{
    int is_ours = s->marker.group[0]
                  && (!req->group || !strcmp(s->marker.group, req->group));
    if (!(req->flags & REQ_QUORUM)) return 0;
    if (is_ours && s->marker.settled_us <= now_us) return 0;
    return !MUTATED(s, NO_MARKER);
}

/* Others queue for it: any request finds it given to the first of them.  Not
 * in a quorum, where no member keeps a queue. */
static int queue_is_ahead(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req)
{
    if (!(req->flags & REQ_SERVER_FENCE) || MUTATED(s, QUEUE_BARGED)) return 0;
    return hf__rules_queue_give(s, e, now_us, 0);
}

static void apply_propose(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    struct entry *e = entry_now(s, now_us, req);
    if (!e) e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (!e) {
        reply_refuse(rep, HF_NOMEM, "propose: out of memory");
        return;
    }
    struct held *held = e->held;
    rep->counter = e->counter;
    if (held && held_is_ours(held, req) && held->ballot == req->ballot) {
        propose_repeat(s, e, now_us, req, rep);
    } else if (req->flags & REQ_QUEUE
               && hf__rules_queue_propose(s, e, now_us, req, rep)) {
        return;
    } else if (held && propose_is_barred(s, held, req)) {
        rep->verdict = V_BUSY;
        rep->ttl_us = hf__rules_hold_ttl_us(held, now_us);
    } else if (!held && queue_is_ahead(s, e, now_us, req)) {
        rep->verdict = V_BUSY;
        rep->counter = e->counter;
        rep->ttl_us = hf__rules_hold_ttl_us(e->held, now_us);
    } else if (marker_is_missed(s, now_us, req)) {
        rep->verdict = V_UNSETTLED;
    } else if (ballot_is_stale(s, e, now_us, req)) {
        rep->verdict = V_STALE;
    } else {
        propose_grant(s, e, now_us, req, rep);
    }
}

/* ---- renew, release, break -------------------------------------------- */

static void apply_renew(struct store *s, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    struct entry *e = entry_now(s, now_us, req);
    struct held *held = e ? e->held : NULL;
    if (!held) {
        rep->verdict =
            e && hf__rules_rw_is_held(e, now_us) ? V_OTHER : V_ABSENT;
        return;
    }
    if (!held_is_renewed(s, held, req)) {
        rep->verdict = V_OTHER;
        return;
    }
    rep->ttl_us = hf__rules_hold_ttl_us(held, now_us);
    held_set_count(s, held, req->count);
    hf__rules_hold_lease(s, held, now_us, req->lease_us);
    rep->verdict = V_GRANTED;
    rep->counter = e->counter;
}

static void apply_release(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    struct entry *e = entry_now(s, now_us, req);
    struct held *held = e ? e->held : NULL;
    int is_handed_on = req->flags & REQ_QUEUE || (held && held->is_marked);
    rep->verdict =
        held || (e && hf__rules_rw_is_held(e, now_us)) ? V_OTHER : V_ABSENT;
    if (held && held_is_owners(held, req)
        && (held_is_ours(held, req) || MUTATED(s, RELEASE_ATTEMPT))) {
        hf__rules_hold_free(s, e);
        rep->verdict = V_GRANTED;
    }
    if (req->ballot > 0 && !MUTATED(s, NO_TOMBSTONE)) {
        if (!e) e = hf__rules_table_need(&s->table, req->name, req->name_len);
        if (!e) {
            reply_refuse(rep, HF_NOMEM, "release: out of memory");
            return;
        }
        counter_raise(e, req->ballot);
    }
    if (!e) return;
    /* An owner that had it, with no request unanswered, has nothing there. */
    if (req->flags & REQ_QUEUE
        && (rep->verdict != V_GRANTED || req->flags & REQ_UNSURE))
        hf__rules_queue_leave(s, e, now_us, req);
    if (is_handed_on && !e->held)
        (void)hf__rules_queue_give(s, e, now_us, rep->verdict == V_GRANTED);
    rep->counter = e->counter;
}

static void apply_break(struct store *s, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    struct entry *e = entry_now(s, now_us, req);
    if (!e) e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (!e) {
        reply_refuse(rep, HF_NOMEM, "break: out of memory");
        return;
    }
    hf__rules_report_info(e, now_us, req, &s->info);
    e->counter++;
    counter_raise(e, now_us);
    hf__rules_queue_break(s, e);
    hf__rules_hold_free(s, e);
    hf__rules_rw_break(s, e, now_us);
    rep->verdict = V_GRANTED;
    rep->counter = e->counter;
    rep->info = &s->info;
}

static void apply_inspect(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    struct entry *e = entry_now(s, now_us, req);
    rep->fence = hf__rules_report_info(e, now_us, req, &s->info);
    rep->verdict = V_GRANTED;
    rep->counter = e ? e->counter : 0;
    rep->info = &s->info;
}

/* ---- boot ------------------------------------------------------------- */

static void apply_boot(struct store *s, int64_t now_us,
                       const struct request *req, struct reply *rep)
{
    hf__rules_boot_apply(s, now_us, req, rep);
    if (!MUTATED(s, NO_QUARANTINE) || rep->verdict != V_GRANTED) return;
    s->boot.left_us = 0;
    if (s->marker.settled_us > now_us) s->marker.settled_us = now_us;
}

/* What no node would look at. */
static int request_is_refused(const struct request *req, struct reply *rep)
{
    int takes = req->verb == VERB_PROPOSE || req->verb == VERB_RENEW;
    if (req->verb == VERB_PROPOSE && req->ballot < 1)
        reply_refuse(rep, HF_INVALID, "propose: no number");
    else if (req->ballot < 0 || req->ballot > BALLOT_MAX)
        reply_refuse(rep, HF_INVALID, "number out of range");
    else if (takes && req->lease_us < 1)
        reply_refuse(rep, HF_INVALID, "no lease");
    else
        return 0;
    return 1;
}

static void apply_facts(struct store *s, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    static const char facts[] = "engine:memory\n";
    (void)s;
    (void)now_us;
    (void)req;
    rep->verdict = V_GRANTED;
    rep->data = facts;
    rep->data_len = sizeof facts - 1;
}

static void apply_stock(struct store *s, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    struct entry *e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (e && !e->stock) e->stock = hf__rules_stock_open(s->alloc);
    if (e && e->stock
        && hf__rules_stock_apply(e->stock, us_to_ms(now_us), req->stock)
               == HF_OK)
        rep->verdict = V_GRANTED;
    else
        reply_refuse(rep, HF_NOMEM, "stock: out of memory");
}

/* What is not of another kind; not here: VERB_WATCH and VERB_UNWATCH, which are
 * the space's, VERB_TALLY, and VERB_PRIMARY, which only a Sentinel knows. */
static void (*const plain[])(struct store *s, int64_t now_us,
                             const struct request *req, struct reply *rep) = {
    [VERB_PROPOSE] = apply_propose,
    [VERB_RENEW] = apply_renew,
    [VERB_RELEASE] = apply_release,
    [VERB_BREAK] = apply_break,
    [VERB_INSPECT] = apply_inspect,
    [VERB_LIST] = hf__rules_report_list,
    [VERB_VALUE_READ] = hf__rules_value_read,
    [VERB_VALUE_WRITE] = hf__rules_value_write,
    [VERB_GUARD] = hf__rules_guard_apply,
    [VERB_BOOT] = apply_boot,
    [VERB_FACTS] = apply_facts,
    [VERB_STOCK] = apply_stock,
    [VERB_PRIMARY] = NULL,
};

void hf__rules_store_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    assert(now_us >= 0);
    assert((size_t)req->verb < sizeof plain / sizeof *plain);
    *rep = (struct reply){
        .verdict = V_ERROR, .node_us = now_us, .ttl_us = -1, .waiters = -1};
    s->handoff = (struct handoff){0};
    s->has_news = 0;
    if (request_is_refused(req, rep)) return;
    const char *use = hf__rules_use_conflict(s, now_us, req);
    if (use)
        reply_refuse(rep, HF_CONFLICT, use);
    else if (hf__rules_gate_apply(s, now_us, req, rep)
             || hf__rules_permit_apply(s, now_us, req, rep))
        return;
    else if (request_is_rw(req) && req->verb <= VERB_RELEASE)
        hf__rules_rw_apply(s, now_us, req, rep);
    else if (plain[req->verb])
        plain[req->verb](s, now_us, req, rep);
    else
        reply_refuse(rep, HF_UNSUPPORTED, "not asked of a store");
}

#ifdef HF_MUTATIONS
void hf__rules_store_mutate(struct store *s, enum store_mutation mutation)
{
    s->mutation = mutation;
}
#endif
