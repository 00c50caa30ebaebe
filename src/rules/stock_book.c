/*
 * stock_book.c: the users of a segment with their reservations, its events, and
 * the sweep.
 *
 * The rule: units leave a hold once: only hold_end() ends one, and the sweep
 * looks at each event once.
 */
#include "rules/stock_book.h"

#include <string.h>

#include "base/limits.h"
#include "base/math.h"

#define BUCKETS_FIRST 64

/* ---- users and reservations ---- */

int hf__rules_book_is_held(const struct stock_hold *h)
{
    return h->stage == STAGE_HELD || h->stage == STAGE_EXTENDED;
}

static struct stock_buyer *bucket_find(const struct stock_segment *s,
                                       uint64_t hash, const char *user)
{
    if (!s->buckets_len) return NULL;
    struct stock_buyer *b = s->buckets[hash & (s->buckets_len - 1)];
    while (b && (b->hash != hash || strcmp(b->name, user) != 0)) b = b->next;
    return b;
}

struct stock_buyer *hf__rules_book_buyer_find(const struct stock_segment *s,
                                              const char *user)
{
    return bucket_find(s, hash64(user, strlen(user)), user);
}

/* Double the buckets when there are as many users as buckets. */
static int buckets_grow(struct stock_segment *s)
{
    uint64_t len = s->buckets_len ? s->buckets_len * 2 : BUCKETS_FIRST;
    if (s->buyers_len < s->buckets_len) return HF_OK;
    struct stock_buyer **made =
        hf__alloc_zero(s->alloc, len * sizeof(struct stock_buyer *));
    if (!made) return HF_NOMEM;
    for (uint64_t i = 0; i < s->buckets_len; i++) {
        struct stock_buyer *b = s->buckets[i];
        while (b) {
            struct stock_buyer *next = b->next;
            b->next = made[b->hash & (len - 1)];
            made[b->hash & (len - 1)] = b;
            b = next;
        }
    }
    hf__free(s->alloc, s->buckets);
    s->buckets = made;
    s->buckets_len = len;
    return HF_OK;
}

struct stock_buyer *hf__rules_book_buyer_need(struct stock_segment *s,
                                              const char *user)
{
    size_t len = strlen(user);
    uint64_t hash = hash64(user, len);
    struct stock_buyer *b = bucket_find(s, hash, user);
    if (b) return b;
    if (buckets_grow(s) != HF_OK) return NULL;
    b = hf__alloc_zero(s->alloc, sizeof *b + len + 1);
    if (!b) return NULL;
    memcpy(b->name, user, len + 1);
    b->hash = hash;
    b->next = s->buckets[hash & (s->buckets_len - 1)];
    s->buckets[hash & (s->buckets_len - 1)] = b;
    s->buyers_len++;
    return b;
}

struct stock_hold *hf__rules_book_hold_by_id(const struct stock_buyer *b,
                                             const char *id)
{
    struct stock_hold *h = b ? b->holds : NULL;
    while (h && strcmp(h->id, id) != 0) h = h->next;
    return h;
}

struct stock_hold *hf__rules_book_hold_by_order(const struct stock_buyer *b,
                                                int64_t order)
{
    struct stock_hold *h = b ? b->holds : NULL;
    while (h && h->order != order) h = h->next;
    return h;
}

struct stock_hold *hf__rules_book_hold_add(struct stock_segment *s,
                                           struct stock_buyer *b,
                                           const struct stock_job *job)
{
    size_t len = strlen(job->id);
    struct stock_hold *h = hf__alloc_zero(s->alloc, sizeof *h + len + 1);
    struct stock_hold **end = &b->holds;
    if (!h) return NULL;
    memcpy(h->id, job->id, len + 1);
    memcpy(h->nonce, job->nonce, sizeof h->nonce);
    h->buyer = b;
    h->units = job->units;
    h->stage = STAGE_HELD;
    while (*end) end = &(*end)->next;
    *end = h;
    b->records++;
    return h;
}

static int is_ended(const struct stock_hold *h)
{
    return !hf__rules_book_is_held(h) && h->stage != STAGE_SOLD;
}

/* Free the user's oldest reservation that has ended. */
static void ended_forget(struct stock_segment *s, struct stock_buyer *b)
{
    struct stock_hold **at = &b->holds;
    while (!is_ended(*at)) at = &(*at)->next;
    struct stock_hold *h = *at;
    *at = h->next;
    s->events[h->order - 1].hold = NULL;
    hf__free(s->alloc, h);
    b->records--;
    b->ended--;
}

void hf__rules_book_stage_set(struct stock_segment *s, struct stock_hold *h,
                              char stage)
{
    s->extended += (stage == STAGE_EXTENDED) - (h->stage == STAGE_EXTENDED);
    h->stage = stage;
}

void hf__rules_book_hold_end(struct stock_segment *s, struct stock_hold *h,
                             char stage)
{
    hf__rules_book_stage_set(s, h, stage);
    if (++h->buyer->ended > STOCK_ENDED_MAX) ended_forget(s, h->buyer);
}

void hf__rules_book_give_back(struct stock_segment *s, struct stock_hold *h)
{
    s->held -= h->units;
    s->avail += h->units;
    h->buyer->units -= h->units;
    s->dry_ms = s->gone_ms = 0;
}

/* ---- events ---- */

int hf__rules_book_events_need(struct stock_segment *s, int64_t more)
{
    int64_t room = max64(s->events_room * 2, s->events_len + more + 64);
    if (s->events_len + more <= s->events_room) return HF_OK;
    struct stock_event_row *rows =
        hf__realloc(s->alloc, s->events, (size_t)room * sizeof *rows);
    if (!rows) return HF_NOMEM;
    s->events = rows;
    s->events_room = room;
    return HF_OK;
}

void hf__rules_book_event_add(struct stock_segment *s, int64_t now_ms,
                              char kind, struct stock_hold *h)
{
    s->last_ms = max64(now_ms, s->last_ms);
    s->events[s->events_len++] = (struct stock_event_row){
        .kind = kind,
        .ms = s->last_ms,
        .units = h->units,
        .order = kind == STOCK_EVENT_RESERVED ? s->events_len : h->order,
        .hold = kind == STOCK_EVENT_RESERVED ? h : NULL};
}

/* ---- the sweep ---- */

static void expire(struct stock_segment *s, int64_t now_ms,
                   struct stock_hold *h)
{
    hf__rules_book_give_back(s, h);
    if (STOCK_BUG(s, LIMIT_STAYS)) h->buyer->units += h->units;
    hf__rules_book_event_add(s, now_ms, STOCK_EVENT_EXPIRED, h);
    hf__rules_book_hold_end(s, h, STAGE_EXPIRED);
}

/* The extended hold that ends first, by time and order, or NULL. */
static struct stock_hold *extended_first(const struct stock_segment *s)
{
    struct stock_hold *first = NULL;
    if (!s->extended) return NULL;
    for (int64_t i = 0; i < s->events_len; i++) {
        struct stock_hold *h = s->events[i].hold;
        if (h && h->stage == STAGE_EXTENDED
            && (!first || h->until_ms < first->until_ms))
            first = h;
    }
    return first;
}

static int is_to_expire(const struct stock_segment *s,
                        const struct stock_hold *h)
{
    if (!h) return 0;
    return h->stage == STAGE_HELD
           || (h->stage == STAGE_SOLD && STOCK_BUG(s, EXPIRE_SOLD));
}

void hf__rules_book_sweep(struct stock_segment *s, int64_t now_ms, int64_t most)
{
    int64_t end = min64(s->swept + most, s->events_len), left = most;
    if (now_ms < s->due_ms) return;
    s->due_ms = end - s->swept == most ? 0 : TIME_NEVER;
    struct stock_hold *h;
    while ((h = extended_first(s)) != NULL && h->until_ms <= now_ms
           && left-- > 0)
        expire(s, now_ms, h);
    if (h) s->due_ms = min64(s->due_ms, h->until_ms);
    for (; s->swept < end; s->swept++) {
        struct stock_event_row *row = &s->events[s->swept];
        if (row->kind != STOCK_EVENT_RESERVED) continue;
        if (row->ms + s->terms.hold_ms > now_ms) {
            s->due_ms = h ? min64(h->until_ms, row->ms + s->terms.hold_ms)
                          : row->ms + s->terms.hold_ms;
            return;
        }
        if (is_to_expire(s, row->hold)) expire(s, now_ms, row->hold);
    }
}

/* ---- memory ---- */

static void buyer_free(struct stock_segment *s, struct stock_buyer *b)
{
    while (b->holds) {
        struct stock_hold *h = b->holds;
        b->holds = h->next;
        hf__free(s->alloc, h);
    }
    hf__free(s->alloc, b);
}

void hf__rules_book_free(struct stock_segment *s)
{
    for (uint64_t i = 0; i < s->buckets_len; i++)
        while (s->buckets[i]) {
            struct stock_buyer *b = s->buckets[i];
            s->buckets[i] = b->next;
            buyer_free(s, b);
        }
    hf__free(s->alloc, s->buckets);
    hf__free(s->alloc, s->events);
    while (s->restocks) {
        struct stock_restock *r = s->restocks;
        s->restocks = r->next;
        hf__free(s->alloc, r);
    }
}
