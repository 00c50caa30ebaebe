/*
 * mark.c: what late copies of requests about permits find.
 *
 * Of a busy counter there are as many as there were requests in a lease.  One
 * rule: no request costs more because there were many before it.
 */
#include <string.h>

#include "backend/memory/mark.h"
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

void hf__memory_mark_sweep(struct store *s, struct marks *marks, int64_t now_ms)
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

void hf__memory_mark_free_all(struct store *s, struct marks *marks)
{
    for (size_t i = 0; i < marks->size; i++)
        while (marks->buckets[i]) mark_free(s, marks, &marks->buckets[i]);
    hf__free(s->alloc, marks->buckets);
    *marks = (struct marks){0};
}

struct mark *hf__memory_mark_find(const struct marks *marks,
                                  enum mark_kind kind,
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

struct mark *hf__memory_mark_add(struct store *s, struct marks *marks,
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

void hf__memory_mark_drop(struct store *s, struct marks *marks,
                          struct mark *mark)
{
    struct mark **at = bucket_of(marks, mark->attempt);
    while (*at != mark) at = &(*at)->next;
    mark_free(s, marks, at);
}
