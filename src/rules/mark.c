/*
 * mark.c: what late copies of requests about permits find.
 *
 * Of a busy counter there are as many as there were requests in a lease.  One
 * rule: no request costs more because there were many before it.
 */
#include <string.h>

#include "rules/mark.h"
#include "rules/pack.h"
#include "base/math.h"

#define BUCKETS_MIN 16u

static struct mark **bucket_of(const struct marks *marks, uint64_t attempt)
{
    uint64_t hash = hash64((const char *)&attempt, sizeof attempt);
    return &marks->buckets[hash & (marks->size - 1)];
}

/* Take it out of the list, which goes on with the next. */
static void mark_free(struct store *s, struct marks *marks, struct mark **at)
{
    struct mark *one = *at;
    *at = one->next;
    marks->len--;
    hf__free(s->alloc, one);
}

static int is_over(const struct marks *marks, const struct mark *m)
{
    return m->expires_ms <= marks->now_ms;
}

void hf__rules_mark_sweep(struct store *s, struct marks *marks, int64_t now_ms)
{
    marks->now_ms = now_ms;
    if (marks->len < marks->full) return;
    for (size_t i = 0; i < marks->size; i++) {
        struct mark **at = &marks->buckets[i];
        while (*at)
            if (is_over(marks, *at))
                mark_free(s, marks, at);
            else
                at = &(*at)->next;
    }
    marks->full = 2 * marks->len + BUCKETS_MIN;
}

void hf__rules_mark_free_all(struct store *s, struct marks *marks)
{
    for (size_t i = 0; i < marks->size; i++)
        while (marks->buckets[i]) mark_free(s, marks, &marks->buckets[i]);
    hf__free(s->alloc, marks->buckets);
    *marks = (struct marks){0};
}

struct mark *hf__rules_mark_find(const struct marks *marks, enum mark_kind kind,
                                 const struct request *req)
{
    struct mark *m = marks->size ? *bucket_of(marks, req->attempt) : NULL;
    while (m
           && (m->kind != kind || m->attempt != req->attempt
               || strcmp(m->owner, req->owner) != 0 || is_over(marks, m)))
        m = m->next;
    return m;
}

/* 0, or -1 if there is no room at all. */
static int marks_grow(struct store *s, struct marks *marks)
{
    if (marks->len < marks->size) return 0;
    struct marks more = *marks;
    more.size = marks->size ? marks->size * 2 : BUCKETS_MIN;
    more.buckets = hf__alloc_zero(s->alloc, more.size * sizeof *more.buckets);
    if (!more.buckets) return marks->size ? 0 : -1;
    for (size_t i = 0; i < marks->size; i++)
        while (marks->buckets[i]) {
            struct mark *m = marks->buckets[i];
            struct mark **at = bucket_of(&more, m->attempt);
            marks->buckets[i] = m->next;
            m->next = *at;
            *at = m;
        }
    hf__free(s->alloc, marks->buckets);
    *marks = more;
    return 0;
}

struct mark *hf__rules_mark_add(struct store *s, struct marks *marks,
                                enum mark_kind kind, const struct request *req,
                                int64_t expires_ms)
{
    if (marks_grow(s, marks) != 0) return NULL;
    struct mark *m = hf__alloc_zero(s->alloc, sizeof *m);
    if (!m) return NULL;
    m->kind = kind;
    m->attempt = req->attempt;
    m->expires_ms = expires_ms;
    memcpy(m->owner, req->owner, sizeof m->owner);
    struct mark **at = bucket_of(marks, m->attempt);
    m->next = *at;
    *at = m;
    marks->len++;
    return m;
}

void hf__rules_mark_drop(struct store *s, struct marks *marks,
                         struct mark *mark)
{
    struct mark **at = bucket_of(marks, mark->attempt);
    while (*at != mark) at = &(*at)->next;
    mark_free(s, marks, at);
}

/* ---- as bytes ------------------------------------------------------------ */

uint64_t hf__rules_mark_count(const struct marks *marks, int64_t now_ms)
{
    uint64_t n = 0;
    for (size_t i = 0; i < marks->size; i++)
        for (const struct mark *m = marks->buckets[i]; m; m = m->next)
            n += m->expires_ms > now_ms;
    return n;
}

static void mark_save(const struct mark *m, struct cell_bytes *b)
{
    hf__rules_pack_signed(b, (int64_t)m->kind);
    hf__rules_pack_text(b, m->owner);
    hf__rules_pack_unsigned(b, m->attempt);
    hf__rules_pack_signed(b, m->taken);
    hf__rules_pack_signed(b, m->expires_ms);
}

void hf__rules_mark_save(const struct marks *marks, int64_t now_ms,
                         struct cell_bytes *b)
{
    hf__rules_pack_unsigned(b, hf__rules_mark_count(marks, now_ms));
    for (size_t i = 0; i < marks->size; i++)
        for (const struct mark *m = marks->buckets[i]; m; m = m->next)
            if (m->expires_ms > now_ms) mark_save(m, b);
}

void hf__rules_mark_load(struct store *s, struct marks *marks, struct unpack *u)
{
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0 && !u->is_bad; len--) {
        struct request like = {0};
        int64_t kind = hf__rules_unpack_range(u, MARK_GONE, MARK_MADE);
        hf__rules_unpack_text(u, like.owner, sizeof like.owner);
        like.attempt = hf__rules_unpack_unsigned(u);
        int64_t taken = hf__rules_unpack_signed(u);
        int64_t expires_ms = hf__rules_unpack_range(u, 0, PACK_MAX);
        struct mark *m =
            u->is_bad ? NULL
                      : hf__rules_mark_add(s, marks, (enum mark_kind)kind,
                                           &like, expires_ms);
        if (!m) {
            u->is_short |= !u->is_bad;
            return;
        }
        m->taken = taken;
    }
}
