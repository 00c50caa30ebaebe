/*
 * rw.c: read/write locks: readers, writers, and their queue.
 *
 * A share is one holder's side of the lock, or its place in the queue; each has
 * an end of its own.  One rule: what is over is swept before anything is
 * decided, so a dead reader keeps no other out.
 *
 * A proposal is stale if its number was given back (the floor), not if another
 * one was granted: many readers are let in at the same time, in whatever order
 * their numbers arrive.
 */
#include <string.h>

#include "rules/hold.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/permit.h"
#include "rules/report.h"
#include "rules/rw.h"
#include "rules/store.h"
#include "rules/table.h"
#include "base/math.h"

struct share {
    struct share *next; /* in the order in which they came */
    int writes;
    int waits; /* a place in the queue */
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot;
    int64_t fence;
    int64_t count;
    int64_t since_us; /* granted then; waits: came then */
    int64_t ends_ms;
    char info[HELD_INFO_MAX];
};

/* ---- shares ------------------------------------------------------------ */

static void share_remove(const struct allocator *alloc, struct share **at)
{
    struct share *share = *at;
    *at = share->next;
    hf__free(alloc, share);
}

void hf__rules_rw_free(const struct allocator *alloc, struct share **shares)
{
    while (*shares) share_remove(alloc, shares);
}

static int is_over(const struct share *share, int64_t now_us)
{
    return us_to_ms(now_us) > share->ends_ms;
}

static void shares_sweep(struct store *s, struct entry *e, int64_t now_us)
{
    struct share **at = &e->shares;
    while (*at)
        if (is_over(*at, now_us))
            share_remove(s->alloc, at);
        else
            at = &(*at)->next;
}

static int is_owners(const struct share *share, const struct request *req)
{
    return !strncmp(share->owner, req->owner, sizeof share->owner);
}

/* Where the asker's own hold, or place, on this side is linked; or the end. */
static struct share **own_find(struct entry *e, const struct request *req,
                               int writes, int waits)
{
    struct share **at = &e->shares;
    while (*at
           && ((*at)->writes != writes || (*at)->waits != waits
               || !is_owners(*at, req)))
        at = &(*at)->next;
    return at;
}

static struct share *share_add(struct store *s, struct entry *e,
                               const struct request *req, int writes, int waits)
{
    struct share **at = own_find(e, req, writes, waits);
    if (*at) return *at;
    struct share *share = hf__alloc_zero(s->alloc, sizeof *share);
    if (!share) return NULL;
    share->writes = writes;
    share->waits = waits;
    memcpy(share->owner, req->owner, sizeof share->owner);
    *at = share;
    return share;
}

static int64_t lease_ends_ms(int64_t now_us, int64_t lease_us)
{
    return us_to_ms(now_us) + (lease_us + US_PER_MS - 1) / US_PER_MS;
}

int hf__rules_rw_is_held(const struct entry *e, int64_t now_us)
{
    const struct share *share = e->shares;
    while (share && (share->waits || is_over(share, now_us)))
        share = share->next;
    return share != NULL;
}

/* ---- propose ------------------------------------------------------------ */

/* Does this hold keep the asker out?  A writer may read, and the only reader
 * may be made the writer. */
static int bars(const struct store *s, const struct share *share,
                const struct request *req)
{
    int writes = req->kind == KIND_WRITE;
    if (share->waits) return 0;
    if (!writes && MUTATED(s, RW_READ_BARGED)) return 0;
    if (!share->writes && MUTATED(s, RW_WRITE_BARGED)) return 0;
    if (!is_owners(share, req)) return writes || share->writes;
    return writes && !share->writes && !(req->flags & REQ_UPGRADE);
}

/* How long others may hold it yet; -1: no other owner does. */
static int64_t barred_ms(const struct store *s, struct entry *e, int64_t now_us,
                         const struct request *req)
{
    int64_t left_ms = -1;
    if (req->kind == KIND_WRITE && *own_find(e, req, 1, 0)) return -1;
    for (const struct share *share = e->shares; share; share = share->next)
        if (bars(s, share, req))
            left_ms = max64(left_ms, share->ends_ms - us_to_ms(now_us));
    return left_ms;
}

/* Is this place before the asker's?  Without a place it comes last; readers
 * stay behind all writers unless their order is the fair one. */
static int is_before(const struct share *share, const struct share *own,
                     const struct request *req)
{
    int is_fair = (req->flags & REQ_QUEUE) && !(req->flags & REQ_WRITERS);
    if (!share->waits || share == own) return 0;
    if (req->kind == KIND_READ)
        return share->writes
               && (!is_fair || !own || share->since_us <= own->since_us);
    if (!share->writes && req->flags & REQ_WRITERS) return 0;
    if (!own || share->since_us < own->since_us) return 1;
    return share->writes && share->since_us == own->since_us
           && strcmp(share->owner, own->owner) < 0;
}

/* How long the first reader and the first writer before the asker keep their
 * places, unless they ask again; -1: it is the asker's turn. */
static int64_t queued_ms(struct entry *e, int64_t now_us,
                         const struct request *req)
{
    const struct share *first[2] = {NULL, NULL};
    const struct share *own = *own_find(e, req, req->kind == KIND_WRITE, 1);
    for (const struct share *share = e->shares; share; share = share->next) {
        const struct share **at = &first[share->writes];
        if (is_before(share, own, req)
            && (!*at || share->since_us < (*at)->since_us))
            *at = share;
    }
    int64_t ends_ms = INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (first[i]) ends_ms = min64(ends_ms, first[i]->ends_ms);
    return ends_ms == INT64_MAX ? -1 : ends_ms - us_to_ms(now_us);
}

static void propose_queue(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int writes = req->kind == KIND_WRITE;
    if (!(req->flags & REQ_QUEUE)) return;
    if (!writes && req->flags & REQ_WRITERS) return;
    struct share *place = share_add(s, e, req, writes, 1);
    if (!place) {
        reply_refuse(rep, HF_NOMEM, "propose: out of memory");
        return;
    }
    if (!place->since_us) place->since_us = now_us;
    place->attempt = req->attempt;
    place->ends_ms = lease_ends_ms(now_us, s->queue_live_us);
    rep->poll_us = s->queue_poll_us;
}

static void propose_grant(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int writes = req->kind == KIND_WRITE;
    struct share *share = share_add(s, e, req, writes, 0);
    if (!share) {
        reply_refuse(rep, HF_NOMEM, "propose: out of memory");
        return;
    }
    struct share **place = own_find(e, req, writes, 1);
    if (*place && !MUTATED(s, RW_PLACE_STAYS)) share_remove(s->alloc, place);
    share->attempt = req->attempt;
    share->ballot = req->ballot;
    share->fence = max64(max64(req->ballot, now_us), e->counter + 1);
    if (MUTATED(s, RW_TOKEN_OLD)) share->fence = max64(req->ballot, now_us);
    share->count = 1;
    share->since_us = now_us;
    share->ends_ms = lease_ends_ms(now_us, req->lease_us);
    const char *info = req->info ? req->info : "0 - -";
    size_t len = strlen(info);
    if (len >= sizeof share->info) len = sizeof share->info - 1;
    memcpy(share->info, info, len);
    share->info[len] = '\0';
    e->counter = share->fence;
    rep->verdict = V_GRANTED;
    rep->fence = rep->counter = share->fence;
}

static int64_t floor_of(const struct entry *e, int64_t now_us)
{
    return us_to_ms(now_us) > e->floor_ends_ms ? 0 : e->floor;
}

/* Overtaken by a later number, for a client's numbers rise; or given back, or
 * too old. */
static int is_stale(const struct entry *e, const struct share *own,
                    int64_t now_us, const struct request *req)
{
    if (own && own->ballot > req->ballot) return 1;
    return req->ballot <= floor_of(e, now_us)
           || req->ballot < now_us - req->window_us;
}

static void apply_propose(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    const struct share *own = *own_find(e, req, req->kind == KIND_WRITE, 0);
    if (own && own->attempt == req->attempt && own->ballot == req->ballot) {
        rep->verdict = V_GRANTED;
        rep->fence = rep->counter = own->fence;
        return;
    }
    if (is_stale(e, own, now_us, req)) {
        rep->verdict = V_STALE;
        rep->counter = floor_of(e, now_us);
        return;
    }
    int64_t left_ms = barred_ms(s, e, now_us, req);
    int64_t turn_ms = -1;
    /* Also a holder that was not told that it has it. */
    int is_same = own && own->attempt == req->attempt;
    int has_it =
        req->flags & REQ_UPGRADE || is_same || *own_find(e, req, 1, 0) != NULL;
    if (!has_it) turn_ms = queued_ms(e, now_us, req);
    if (left_ms < 0 && turn_ms < 0) {
        propose_grant(s, e, now_us, req, rep);
        return;
    }
    rep->verdict = V_BUSY;
    rep->ttl_us =
        US_PER_MS
        * (left_ms < 0 || (turn_ms >= 0 && turn_ms < left_ms) ? turn_ms
                                                              : left_ms);
    propose_queue(s, e, now_us, req, rep);
}

/* ---- renew, release, break --------------------------------------------- */

/* Is it the hold that a renewal is about? */
static int is_renewed(const struct store *s, const struct share *own,
                      const struct request *req)
{
    if (!own || own->attempt != req->attempt) return 0;
    return !req->fence || req->fence == own->fence
           || MUTATED(s, RW_RENEW_FENCE);
}

static void apply_renew(const struct store *s, struct entry *e, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    struct share *own = *own_find(e, req, req->kind == KIND_WRITE, 0);
    int is_there = hf__rules_rw_is_held(e, now_us)
                   || (e->held && !held_is_over(e->held, now_us));
    if (!is_renewed(s, own, req)) {
        rep->verdict = is_there ? V_OTHER : V_ABSENT;
        return;
    }
    rep->verdict = V_GRANTED;
    rep->ttl_us = (own->ends_ms - us_to_ms(now_us)) * US_PER_MS;
    own->count = req->count;
    own->ends_ms = lease_ends_ms(now_us, req->lease_us);
}

/* A waiter has to know when it is free, when there are readers instead of a
 * writer, and when what it waits for ends earlier than it was told. */
static int is_news(const struct entry *e, int writes, int64_t ends_ms)
{
    if (writes) return 1;
    for (const struct share *share = e->shares; share; share = share->next)
        if (!share->waits && share->ends_ms >= ends_ms) return 0;
    return 1;
}

static void place_give_up(struct store *s, struct entry *e,
                          const struct request *req)
{
    struct share **place = own_find(e, req, req->kind == KIND_WRITE, 1);
    if (!(req->flags & REQ_QUEUE) || !*place) return;
    if ((*place)->attempt != req->attempt) return;
    share_remove(s->alloc, place);
    s->has_news = 1;
}

static void floor_raise(struct entry *e, int64_t now_us, int64_t number,
                        int64_t window_us)
{
    if (number <= floor_of(e, now_us)) return;
    e->floor = number;
    /* For as long as a proposal under that number would be young enough. */
    e->floor_ends_ms = us_to_ms(max64(now_us, number) + 2 * window_us);
}

static void apply_release(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int writes = req->kind == KIND_WRITE;
    struct share **own = own_find(e, req, writes, 0);
    s->has_news = 0;
    if (*own && (*own)->attempt == req->attempt) {
        int64_t ends_ms = (*own)->ends_ms;
        share_remove(s->alloc, own);
        s->has_news = is_news(e, writes, ends_ms);
        rep->verdict = V_GRANTED;
    } else {
        int is_plain = e->held && !held_is_over(e->held, now_us);
        rep->verdict =
            is_plain || hf__rules_rw_is_held(e, now_us) ? V_OTHER : V_ABSENT;
    }
    place_give_up(s, e, req);
    if (!MUTATED(s, RW_RELEASE_FLOOR))
        floor_raise(e, now_us, req->ballot, req->window_us);
}

void hf__rules_rw_apply(struct store *s, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    struct entry *e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (!e) {
        reply_refuse(rep, HF_NOMEM, "out of memory");
        return;
    }
    shares_sweep(s, e, now_us);
    if (req->verb == VERB_PROPOSE)
        apply_propose(s, e, now_us, req, rep);
    else if (req->verb == VERB_RENEW)
        apply_renew(s, e, now_us, req, rep);
    else
        apply_release(s, e, now_us, req, rep);
}

/* Places in the queue stay.  What a broken holder proposed may arrive yet, and
 * must not be granted again: the counter is above all of it. */
void hf__rules_rw_break(struct store *s, struct entry *e, int64_t now_us)
{
    struct share **at = &e->shares;
    if (hf__rules_rw_is_held(e, now_us) && !MUTATED(s, RW_BREAK_FLOOR))
        floor_raise(e, now_us, e->counter, BALLOT_WINDOW_US);
    while (*at)
        if ((*at)->waits)
            at = &(*at)->next;
        else
            share_remove(s->alloc, at);
}

/* ---- describe ----------------------------------------------------------- */

/* The writer, or else the reader that came first. */
static const struct share *first_of(const struct entry *e, int64_t now_us)
{
    const struct share *first = NULL;
    for (const struct share *share = e->shares; share; share = share->next) {
        if (share->waits || is_over(share, now_us)) continue;
        if (share->writes) return share;
        if (!first) first = share;
    }
    return first;
}

static void describe_queue(const struct entry *e, int64_t now_us,
                           const struct request *req, struct hf_info *info)
{
    const struct share *own =
        *own_find((struct entry *)e, req, req->kind == KIND_WRITE, 1);
    if (own && is_over(own, now_us)) own = NULL;
    for (const struct share *share = e->shares; share; share = share->next) {
        if (!share->waits || is_over(share, now_us)) continue;
        info->queued++;
        if (own && share->since_us < own->since_us) info->position++;
    }
    if (own) info->position++;
}

static void describe_share(const struct share *share, int64_t now_us,
                           const struct request *req, struct hf_info *info)
{
    info->ttl_ms = max64(info->ttl_ms, share->ends_ms - us_to_ms(now_us));
    info->readers += !share->writes;
    info->shared &= !share->writes;
    if (share->writes != (req->kind == KIND_WRITE) || !req->owner[0]
        || !is_owners(share, req)
        || (req->attempt && req->attempt != share->attempt))
        return;
    info->mine = 1;
    info->count = share->count;
}

int64_t hf__rules_rw_info(const struct entry *e, int64_t now_us,
                          const struct request *req, struct hf_info *info)
{
    const struct share *first = first_of(e, now_us);
    describe_queue(e, now_us, req, info);
    if (!first) return 0;
    info->locked = info->shared = 1;
    memcpy(info->layout, "holdfast", sizeof "holdfast");
    for (const struct share *share = e->shares; share; share = share->next)
        if (!share->waits && !is_over(share, now_us))
            describe_share(share, now_us, req, info);
    /* Asked for one attempt, tell how long that lasts. */
    const struct share *own =
        *own_find((struct entry *)e, req, req->kind == KIND_WRITE, 0);
    if (own && info->mine && req->attempt)
        info->ttl_ms = own->ends_ms - us_to_ms(now_us);
    info->owner_count = first->count;
    info->since_ms = us_to_ms(first->since_us);
    memcpy(info->owner, first->owner, sizeof first->owner);
    hf__rules_report_holder(first->info, info);
    return first->fence;
}

/* ---- views -------------------------------------------------------------- */

static void share_view(const struct entry *e, const struct share *share,
                       struct store_share *out)
{
    *out = (struct store_share){
        .writes = share->writes,
        .waits = share->waits,
        .view = {.name = e->name,
                 .name_len = e->name_len,
                 .counter = e->counter,
                 .locked = !share->waits,
                 .owner = share->owner,
                 .attempt = share->attempt,
                 .ballot = share->ballot,
                 .fence = share->fence,
                 .count = share->count,
                 .expires_us = (share->ends_ms + 1) * US_PER_MS}};
}

int hf__rules_store_share(const struct store *s, int64_t now_us,
                          const char *name, size_t name_len, size_t place,
                          struct store_share *out)
{
    const struct entry *e = hf__rules_table_find(&s->table, name, name_len);
    const struct share *share = e ? e->shares : NULL;
    if (e && e->permits) return hf__rules_permit_share(e, now_us, place, out);
    for (; share; share = share->next)
        if (!is_over(share, now_us) && place-- == 0) break;
    if (!share) return 0;
    share_view(e, share, out);
    return 1;
}

/* ---- as bytes ------------------------------------------------------------ */

static void share_save(const struct share *share, struct cell_bytes *b)
{
    hf__rules_pack_signed(b, share->writes);
    hf__rules_pack_signed(b, share->waits);
    hf__rules_pack_text(b, share->owner);
    hf__rules_pack_unsigned(b, share->attempt);
    hf__rules_pack_signed(b, share->ballot);
    hf__rules_pack_signed(b, share->fence);
    hf__rules_pack_signed(b, share->count);
    hf__rules_pack_signed(b, share->since_us);
    hf__rules_pack_signed(b, share->ends_ms);
    hf__rules_pack_text(b, share->info);
}

void hf__rules_rw_save(const struct store *s, int64_t now_us,
                       const struct entry *e, unsigned tag,
                       struct cell_bytes *b)
{
    int64_t floor = floor_of(e, now_us);
    uint64_t len = 0;
    (void)s;
    for (const struct share *share = e->shares; share; share = share->next)
        len += !is_over(share, now_us);
    if (len == 0 && !floor) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_signed(b, floor);
    hf__rules_pack_signed(b, floor ? e->floor_ends_ms : 0);
    hf__rules_pack_unsigned(b, len);
    for (const struct share *share = e->shares; share; share = share->next)
        if (!is_over(share, now_us)) share_save(share, b);
}

static void share_load(struct share *share, struct unpack *u)
{
    share->writes = (int)hf__rules_unpack_range(u, 0, 1);
    share->waits = (int)hf__rules_unpack_range(u, 0, 1);
    hf__rules_unpack_text(u, share->owner, sizeof share->owner);
    share->attempt = hf__rules_unpack_unsigned(u);
    share->ballot = hf__rules_unpack_range(u, 0, BALLOT_MAX);
    share->fence = hf__rules_unpack_range(u, 0, PACK_MAX);
    share->count = hf__rules_unpack_range(u, 0, PACK_MAX);
    share->since_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    share->ends_ms = hf__rules_unpack_range(u, 0, PACK_MAX / US_PER_MS);
    hf__rules_unpack_text(u, share->info, sizeof share->info);
}

void hf__rules_rw_load(struct store *s, struct entry *e, struct unpack *u)
{
    struct share **end = &e->shares;
    e->floor = hf__rules_unpack_range(u, 0, PACK_MAX);
    e->floor_ends_ms = hf__rules_unpack_range(u, 0, PACK_MAX);
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0; len--) {
        struct share *share = hf__rules_unpack_make(u, s, sizeof *share);
        if (!share) return;
        share_load(share, u);
        *end = share;
        end = &share->next;
    }
}
