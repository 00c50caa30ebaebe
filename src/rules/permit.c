/*
 * permit.c: permits of a semaphore and plain counters; it follows the
 * scripts permit_*.lua and count_*.lua, reply for reply.
 *
 * One rule: an attempt is known by its owner and its number, so that a copy of
 * a request finds what the first one left.
 */
#include <stdio.h>
#include <string.h>

#include "rules/mark.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/permit.h"
#include "rules/report.h"
#include "rules/store.h"
#include "rules/table.h"
#include "rules/tally.h"
#include "rules/value.h"
#include "base/math.h"

/* ---- what has ended ----------------------------------------------------- */

static void out_sweep(struct store *s, struct permits *p, int64_t now_ms)
{
    struct permit **at = &p->out;
    while (*at) {
        struct permit *one = *at;
        if (one->expires_ms > now_ms) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        p->free += one->count;
        hf__free(s->alloc, one);
    }
}

static void queue_sweep(struct store *s, struct permits *p, int64_t now_ms,
                        const char *leaver)
{
    struct place **at = &p->queue;
    while (*at) {
        struct place *one = *at;
        int leaves = leaver && !strcmp(one->owner, leaver);
        if (one->expires_ms > now_ms && !leaves) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        hf__free(s->alloc, one);
    }
}

static void permits_sweep(struct store *s, struct permits *p, int64_t now_ms)
{
    out_sweep(s, p, now_ms);
    queue_sweep(s, p, now_ms, NULL);
    hf__rules_mark_sweep(s, &p->marks, now_ms);
}

/* ---- records ------------------------------------------------------------ */

static int is_in_use(const struct permits *p)
{
    return p->is_set || p->out || p->queue;
}

int hf__rules_permit_is_used(struct store *s, const struct entry *e,
                             int64_t now_us)
{
    if (!e || !e->permits) return 0;
    permits_sweep(s, e->permits, us_to_ms(now_us));
    return is_in_use(e->permits);
}

struct permits *hf__rules_permit_need(struct store *s, int64_t now_us,
                                      const struct request *req,
                                      struct reply *rep, struct entry **out)
{
    struct entry *e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (e && hf__rules_value_is_there(s, e, now_us)) {
        reply_refuse(rep, HF_CONFLICT,
                     req->kind == KIND_COUNT
                         ? "counter: something that is no counter "
                           "is stored there"
                         : "semaphore: something that is no "
                           "semaphore is stored there");
        return NULL;
    }
    if (e && !e->permits)
        e->permits = hf__alloc_zero(s->alloc, sizeof *e->permits);
    if (!e || !e->permits) {
        reply_refuse(rep, HF_NOMEM, "semaphore: out of memory");
        return NULL;
    }
    struct permits *p = e->permits;
    permits_sweep(s, p, us_to_ms(now_us));
    if (!is_in_use(p)) p->kind = req->kind;
    *out = e;
    return p;
}

int64_t hf__rules_permit_taken(const struct permits *p)
{
    int64_t n = 0;
    for (const struct permit *one = p->out; one; one = one->next)
        n += one->count;
    return n;
}

static struct permit **permit_find(struct permits *p, const struct request *req)
{
    struct permit **at = &p->out;
    while (*at
           && ((*at)->attempt != req->attempt
               || strcmp((*at)->owner, req->owner) != 0))
        at = &(*at)->next;
    return at;
}

static int64_t lease_ends_ms(int64_t now_us, const struct request *req)
{
    return us_to_ms(now_us) + 1 + (req->lease_us + US_PER_MS - 1) / US_PER_MS;
}

/* ---- propose ------------------------------------------------------------ */

/* Nobody has said how many there are, and the caller knows: as TALLY_OPEN, in
 * the same step.  Others may have waited for it. */
static void number_settle(struct store *s, struct permits *p,
                          const struct request *req)
{
    if (p->is_set || req->capacity <= 0) return;
    p->free = req->capacity - hf__rules_permit_taken(p);
    p->is_set = 1;
    s->has_news = 1;
}

static int is_stale(const struct permits *p, int64_t now_us,
                    const struct request *req, struct reply *rep)
{
    int is_gone = hf__rules_mark_find(&p->marks, MARK_GONE, req) != NULL;
    if (!is_gone && req->ballot >= now_us - req->window_us) return 0;
    rep->verdict = V_STALE;
    rep->counter = is_gone ? req->ballot : 0;
    return 1;
}

static void place_keep(struct store *s, struct permits *p, int64_t now_us,
                       const struct request *req, struct reply *rep)
{
    struct place **at = &p->queue;
    while (*at && strcmp((*at)->owner, req->owner) != 0) at = &(*at)->next;
    if (!*at) {
        *at = hf__alloc_zero(s->alloc, sizeof **at);
        if (!*at) {
            reply_refuse(rep, HF_NOMEM, "queue: out of memory");
            return;
        }
        memcpy((*at)->owner, req->owner, sizeof req->owner);
    }
    (*at)->expires_ms = us_to_ms(now_us + PLACE_US);
    rep->poll_us = PLACE_POLL_US;
}

static void permit_busy(struct store *s, struct permits *p, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    int64_t first_ms = INT64_MAX;
    rep->verdict = V_BUSY;
    for (const struct permit *one = p->out; one; one = one->next)
        first_ms = min64(first_ms, one->expires_ms);
    if (p->free >= req->permits) first_ms = p->queue->expires_ms;
    if (first_ms != INT64_MAX)
        rep->ttl_us = (first_ms - us_to_ms(now_us)) * US_PER_MS;
    if (req->flags & REQ_QUEUE) place_keep(s, p, now_us, req, rep);
}

static void permit_grant(struct store *s, struct entry *e, int64_t now_us,
                         const struct request *req, struct reply *rep)
{
    struct permits *p = e->permits;
    struct permit *one = hf__alloc_zero(s->alloc, sizeof *one);
    if (!one) {
        reply_refuse(rep, HF_NOMEM, "semaphore: out of memory");
        return;
    }
    memcpy(one->owner, req->owner, sizeof one->owner);
    one->attempt = req->attempt;
    one->count = req->permits;
    one->fence = e->counter = max64(e->counter + 1, now_us);
    one->since_us = now_us;
    one->expires_ms = lease_ends_ms(now_us, req);
    snprintf(one->info, sizeof one->info, "%s", req->info ? req->info : "");
    one->next = p->out;
    p->out = one;
    p->free -= req->permits;
    queue_sweep(s, p, us_to_ms(now_us), req->owner);
    rep->verdict = V_GRANTED;
    rep->fence = rep->counter = one->fence;
}

static void permit_propose(struct store *s, struct entry *e, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct permits *p = e->permits;
    struct permit *had =
        MUTATED(s, PERMIT_REPEATED) ? NULL : *permit_find(p, req);
    int is_next = !p->queue || !strcmp(p->queue->owner, req->owner)
                  || MUTATED(s, PERMIT_BARGED);
    if (!had && is_stale(p, now_us, req, rep)) return;
    number_settle(s, p, req);
    if (had) {
        /* A waiter that was not told of it asks again, and counts from then.
         */
        had->expires_ms = max64(had->expires_ms, lease_ends_ms(now_us, req));
        rep->verdict = V_GRANTED;
        rep->fence = rep->counter = had->fence;
    } else if (p->is_set
               && req->permits > p->free + hf__rules_permit_taken(p)) {
        reply_refuse(rep, HF_INVALID,
                     "semaphore: more permits wanted than there "
                     "are");
    } else if ((p->free < req->permits && !MUTATED(s, PERMIT_OVERDRAWN))
               || !is_next) {
        permit_busy(s, p, now_us, req, rep);
    } else {
        permit_grant(s, e, now_us, req, rep);
    }
}

static void count_propose(struct store *s, struct permits *p, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    if (hf__rules_mark_find(&p->marks, MARK_TOOK, req)) {
        rep->verdict = V_GRANTED;
        return;
    }
    if (is_stale(p, now_us, req, rep)) return;
    number_settle(s, p, req);
    if (p->free < req->permits) {
        rep->verdict = V_BUSY;
        return;
    }
    if (!hf__rules_mark_add(s, &p->marks, MARK_TOOK, req,
                            us_to_ms(now_us) + req->lease_us / US_PER_MS)) {
        reply_refuse(rep, HF_NOMEM, "counter: out of memory");
        return;
    }
    p->free -= req->permits;
    rep->verdict = V_GRANTED;
}

/* ---- renew, release ----------------------------------------------------- */

static void permit_renew(struct permits *p, int64_t now_us,
                         const struct request *req, struct reply *rep)
{
    struct permit *one = *permit_find(p, req);
    if (one && req->fence && req->fence != one->fence) one = NULL;
    rep->verdict = one ? V_GRANTED : V_ABSENT;
    if (!one) return;
    rep->ttl_us = (one->expires_ms - us_to_ms(now_us)) * US_PER_MS;
    one->expires_ms = lease_ends_ms(now_us, req);
}

/* Copies of the attempt that arrive later find that it was given up. */
static void attempt_bury(struct store *s, struct permits *p, int64_t now_us,
                         const struct request *req)
{
    int64_t left_us = max64(req->ballot - now_us, 0) + req->window_us;
    (void)hf__rules_mark_add(s, &p->marks, MARK_GONE, req,
                             us_to_ms(now_us + left_us) + 1000);
}

static void permit_release(struct store *s, struct permits *p, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct permit **at = permit_find(p, req), *one = *at;
    if (req->flags & REQ_QUEUE) queue_sweep(s, p, us_to_ms(now_us), req->owner);
    rep->verdict = one ? V_GRANTED : V_ABSENT;
    if (one) {
        *at = one->next;
        if (!MUTATED(s, PERMIT_LOST)) p->free += one->count;
        hf__free(s->alloc, one);
    }
    if (MUTATED(s, PERMIT_GONE)) return;
    if (!one || req->flags & REQ_UNSURE) attempt_bury(s, p, now_us, req);
}

static void count_release(struct store *s, struct permits *p, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    struct mark *took = hf__rules_mark_find(&p->marks, MARK_TOOK, req);
    rep->verdict = took ? V_GRANTED : V_ABSENT;
    if (took) {
        if (p->is_set) p->free += req->permits;
        hf__rules_mark_drop(s, &p->marks, took);
    } else {
        attempt_bury(s, p, now_us, req);
    }
}

/* ---- looking ------------------------------------------------------------ */

static void queue_describe(const struct permits *p, const char *owner,
                           struct hf_info *info)
{
    for (const struct place *at = p->queue; at; at = at->next) {
        info->queued++;
        if (!strcmp(at->owner, owner)) info->position = info->queued;
    }
}

/* Shows one of the holders: the owner that asks, if it holds. */
static void permit_inspect(struct store *s, struct entry *e, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct permits *p = e->permits;
    const struct permit *shown = p->out, *one;
    struct hf_info *info = &s->info;
    int64_t first_ms = INT64_MAX;
    for (one = p->out; one; one = one->next) {
        first_ms = min64(first_ms, one->expires_ms);
        if (!strcmp(one->owner, req->owner)) shown = one;
    }
    one = *permit_find(p, req);
    if (one) shown = one;
    if (one) first_ms = one->expires_ms;
    struct held held = {.count = 1};
    if (shown) {
        held.attempt = shown->attempt;
        memcpy(held.owner, shown->owner, sizeof held.owner);
        memcpy(held.info, shown->info, sizeof held.info);
        held.since_us = shown->since_us;
        held.expires_ms = first_ms;
    }
    struct entry alone = {.counter = e->counter, .held = shown ? &held : NULL};
    hf__rules_report_info(&alone, now_us, req, info);
    info->available = p->free;
    info->permits = p->free + hf__rules_permit_taken(p);
    queue_describe(p, req->owner, info);
    rep->verdict = V_GRANTED;
    rep->counter = e->counter;
    rep->info = info;
}

static int permit_view(const struct entry *e, const struct permit *one,
                       struct store_share *out)
{
    *out = (struct store_share){
        .permits = one->count,
        .view = {.name = e->name,
                 .name_len = e->name_len,
                 .counter = e->counter,
                 .locked = 1,
                 .owner = one->owner,
                 .attempt = one->attempt,
                 .fence = one->fence,
                 .count = 1,
                 .expires_us = one->expires_ms * US_PER_MS}};
    return 1;
}

int hf__rules_permit_share(const struct entry *e, int64_t now_us, size_t place,
                           struct store_share *out)
{
    int64_t now_ms = us_to_ms(now_us);
    for (const struct permit *at = e->permits->out; at; at = at->next)
        if (at->expires_ms > now_ms && place-- == 0)
            return permit_view(e, at, out);
    for (const struct place *at = e->permits->queue; at; at = at->next)
        if (at->expires_ms > now_ms && place-- == 0) {
            *out = (struct store_share){.waits = 1,
                                        .view = {.name = e->name,
                                                 .name_len = e->name_len,
                                                 .owner = at->owner}};
            return 1;
        }
    return 0;
}

/* ---- the way in --------------------------------------------------------- */

static void count_apply(struct store *s, struct entry *e, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    if (req->verb == VERB_PROPOSE)
        count_propose(s, e->permits, now_us, req, rep);
    else if (req->verb == VERB_RELEASE)
        count_release(s, e->permits, now_us, req, rep);
    else
        reply_refuse(rep, HF_UNSUPPORTED,
                     "semaphore: it has no such operation");
}

static void permit_apply(struct store *s, struct entry *e, int64_t now_us,
                         const struct request *req, struct reply *rep)
{
    switch (req->verb) {
    case VERB_PROPOSE:
        permit_propose(s, e, now_us, req, rep);
        break;
    case VERB_RENEW:
        permit_renew(e->permits, now_us, req, rep);
        break;
    case VERB_RELEASE:
        permit_release(s, e->permits, now_us, req, rep);
        break;
    case VERB_INSPECT:
        permit_inspect(s, e, now_us, req, rep);
        break;
    default:
        reply_refuse(rep, HF_UNSUPPORTED,
                     "semaphore: it has no such operation");
        break;
    }
}

int hf__rules_permit_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct entry *e;
    if (req->kind != KIND_PERMIT && req->kind != KIND_COUNT) return 0;
    if (req->verb == VERB_WATCH || req->verb == VERB_UNWATCH) return 0;
    s->has_news = 0;
    struct permits *p = hf__rules_permit_need(s, now_us, req, rep, &e);
    if (!p) return 1;
    if (req->verb == VERB_TALLY)
        hf__rules_tally_apply(s, p, now_us, req, rep);
    else if (req->kind == KIND_COUNT)
        count_apply(s, e, now_us, req, rep);
    else
        permit_apply(s, e, now_us, req, rep);
    return 1;
}

int hf__rules_store_owes_permits(const struct store *s,
                                 const struct request *req)
{
    if (req->kind != KIND_PERMIT) return 0;
    const struct entry *e =
        hf__rules_table_find(&s->table, req->name, req->name_len);
    const struct permits *p = e ? e->permits : NULL;
    return p && p->queue && p->free > 0
           && (req->verb == VERB_PROPOSE || req->verb == VERB_RELEASE);
}

void hf__rules_permit_free_all(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        struct permits *p = s->table.entries[i]->permits;
        if (!p) continue;
        permits_sweep(s, p, INT64_MAX);
        hf__rules_mark_free_all(s, &p->marks);
        hf__free(s->alloc, p);
        s->table.entries[i]->permits = NULL;
    }
}

/* ---- as bytes ------------------------------------------------------------ */

static void out_save(const struct permits *p, int64_t now_ms,
                     struct cell_bytes *b)
{
    uint64_t len = 0;
    for (const struct permit *one = p->out; one; one = one->next)
        len += one->expires_ms > now_ms;
    hf__rules_pack_unsigned(b, len);
    for (const struct permit *one = p->out; one; one = one->next) {
        if (one->expires_ms <= now_ms) continue;
        hf__rules_pack_text(b, one->owner);
        hf__rules_pack_unsigned(b, one->attempt);
        hf__rules_pack_signed(b, one->count);
        hf__rules_pack_signed(b, one->fence);
        hf__rules_pack_signed(b, one->since_us);
        hf__rules_pack_signed(b, one->expires_ms);
        hf__rules_pack_text(b, one->info);
    }
}

static void places_save(const struct permits *p, int64_t now_ms,
                        struct cell_bytes *b)
{
    uint64_t len = 0;
    for (const struct place *at = p->queue; at; at = at->next)
        len += at->expires_ms > now_ms;
    hf__rules_pack_unsigned(b, len);
    for (const struct place *at = p->queue; at; at = at->next) {
        if (at->expires_ms <= now_ms) continue;
        hf__rules_pack_text(b, at->owner);
        hf__rules_pack_signed(b, at->expires_ms);
    }
}

/* The permits that come back because their leases are over. */
static int64_t ended_of(const struct permits *p, int64_t now_ms)
{
    int64_t n = 0;
    for (const struct permit *one = p->out; one; one = one->next)
        if (one->expires_ms <= now_ms) n += one->count;
    return n;
}

static int is_kept(const struct permits *p, int64_t now_ms)
{
    if (p->is_set || p->free) return 1;
    for (const struct permit *one = p->out; one; one = one->next)
        if (one->expires_ms > now_ms) return 1;
    for (const struct place *at = p->queue; at; at = at->next)
        if (at->expires_ms > now_ms) return 1;
    return hf__rules_mark_count(&p->marks, now_ms) > 0;
}

void hf__rules_permit_save(const struct store *s, int64_t now_us,
                           const struct entry *e, unsigned tag,
                           struct cell_bytes *b)
{
    const struct permits *p = e->permits;
    int64_t now_ms = us_to_ms(now_us);
    (void)s;
    if (!p || !is_kept(p, now_ms)) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_signed(b, (int64_t)p->kind);
    hf__rules_pack_signed(b, p->is_set);
    hf__rules_pack_signed(b, p->free + ended_of(p, now_ms));
    out_save(p, now_ms, b);
    places_save(p, now_ms, b);
    hf__rules_mark_save(&p->marks, now_ms, b);
}

static void out_load(struct store *s, struct permits *p, struct unpack *u)
{
    struct permit **end = &p->out;
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0; len--) {
        struct permit *one = hf__rules_unpack_make(u, s, sizeof *one);
        if (!one) return;
        hf__rules_unpack_text(u, one->owner, sizeof one->owner);
        one->attempt = hf__rules_unpack_unsigned(u);
        one->count = hf__rules_unpack_range(u, 0, INT32_MAX);
        one->fence = hf__rules_unpack_range(u, 0, PACK_MAX);
        one->since_us = hf__rules_unpack_range(u, 0, PACK_MAX);
        one->expires_ms = hf__rules_unpack_range(u, 0, PACK_MAX / US_PER_MS);
        hf__rules_unpack_text(u, one->info, sizeof one->info);
        *end = one;
        end = &one->next;
    }
}

static void places_load(struct store *s, struct permits *p, struct unpack *u)
{
    struct place **end = &p->queue;
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0; len--) {
        struct place *at = hf__rules_unpack_make(u, s, sizeof *at);
        if (!at) return;
        hf__rules_unpack_text(u, at->owner, sizeof at->owner);
        at->expires_ms = hf__rules_unpack_range(u, 0, PACK_MAX / US_PER_MS);
        *end = at;
        end = &at->next;
    }
}

void hf__rules_permit_load(struct store *s, struct entry *e, struct unpack *u)
{
    struct permits *p = hf__rules_unpack_make(u, s, sizeof *p);
    e->permits = p;
    if (!p) return;
    p->kind =
        (enum lock_kind)hf__rules_unpack_range(u, KIND_PERMIT, KIND_COUNT);
    p->is_set = (int)hf__rules_unpack_range(u, 0, 1);
    p->free = hf__rules_unpack_signed(u);
    out_load(s, p, u);
    places_load(s, p, u);
    hf__rules_mark_load(s, &p->marks, u);
}
