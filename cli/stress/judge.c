/*
 * stress/judge.c: the resource that stress protects, and the judge of what the
 * locks let through.
 *
 * A violation is only called one when it is proven.  Two holders: one of them
 * was found valid, by its own library, after the other had been found valid
 * and had been noted; a hold that was lost never becomes valid again, so both
 * were at the moment of that note.  Tokens: the higher one had been noted
 * before the lower one was asked for.
 */
#include "stress/stress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void violation_add(
    struct stress *s, const struct stress_lock *l, const char *format, ...)
{
    va_list args;
    stress_mutex_lock(&s->mutex);
    if (s->violations < STRESS_LINES_MAX) {
        char *line = s->lines[s->violations];
        int n = snprintf(line, STRESS_LINE_MAX, "%.100s: ", l->shown);
        va_start(args, format);
        vsnprintf(line + n, STRESS_LINE_MAX - (size_t)n, format, args);
        va_end(args);
    }
    s->violations++;
    pthread_mutex_unlock(&s->mutex);
}

/* ---- tokens ---- */

/* Where `token` is or would be among the recent ones. */
static unsigned recent_find(const struct stress_lock *l, uint64_t token)
{
    unsigned at = l->recent_len; /* mostly it is the highest */
    while (at > 0 && l->recent[at - 1] >= token) at--;
    return at;
}

/* Remember it; 1 if it was there already.  When there is no room the lowest is
 * forgotten: an equal one would have to come after a thousand higher ones. */
static int recent_add(struct stress_lock *l, uint64_t token)
{
    unsigned at = recent_find(l, token);
    if (at < l->recent_len && l->recent[at] == token) return 1;
    if (l->recent_len == STRESS_RECENT_MAX) {
        if (at == 0) return 0;
        at--;
        memmove(l->recent, l->recent + 1, at * sizeof(l->recent[0]));
        l->recent[at] = token;
        return 0;
    }
    memmove(l->recent + at + 1, l->recent + at,
            (l->recent_len - at) * sizeof(l->recent[0]));
    l->recent[at] = token;
    l->recent_len++;
    return 0;
}

static void token_judge(struct stress *s, const struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    if (recent_add(l, h->token))
        violation_add(s, l,
                      "token %" PRIu64 " was granted twice, at %" PRId64
                      " ns to client %u",
                      h->token, stress_now_ns(), h->client);
    else if (h->token <= h->low)
        violation_add(s, l,
                      "tokens fall: client %u got %" PRIu64 " at %" PRId64
                      " ns, but %" PRIu64 " had been granted before it asked",
                      h->client, h->token, stress_now_ns(), h->low);
    if (h->token > l->top) l->top = h->token;
}

void judge_called(struct stress *s, struct stress_hold *h)
{
    (void)s;
    h->token = h->entry = h->value = 0;
    stress_mutex_lock(&h->lock->mutex);
    h->low = h->lock->top;
    pthread_mutex_unlock(&h->lock->mutex);
}

/* ---- holders ---- */

/* If `h` is not the last hold that entered, but is still valid, another client
 * entered that must not have: a violation, counted once. */
static void alone_judge(struct stress *s, struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    if (!h->entry || l->entries == h->entry) return;
    if (hf_hold_valid_ms(h->hold) > 0)
        violation_add(s, l,
                      "two holders: client %u (token %" PRIu64
                      ") is valid at %" PRId64
                      " ns, but client %u (token %" PRIu64
                      ") was valid at %" PRId64 " ns",
                      h->client, h->token, stress_now_ns(), l->entered_client,
                      l->entered_token, l->entered_ns);
    h->entry = 0;
}

void judge_granted(struct stress *s, struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    stress_mutex_lock(&l->mutex);
    if (s->fenced) token_judge(s, h);
    if (hf_hold_valid_ms(h->hold) > 0) {
        h->entry = ++l->entries;
        l->entered_client = h->client;
        l->entered_token = h->token;
        l->entered_ns = stress_now_ns();
    }
    pthread_mutex_unlock(&l->mutex);
}

void judge_leaving(struct stress *s, struct stress_hold *h)
{
    stress_mutex_lock(&h->lock->mutex);
    alone_judge(s, h);
    pthread_mutex_unlock(&h->lock->mutex);
}

/* ---- the register ---- */

/* One atomic step: refuse a lower token, remember a higher one. */
static int token_passes(struct stress *s, struct stress_hold *h)
{
    alone_judge(s, h);
    int passes = h->token >= h->lock->highest;
    if (passes) h->lock->highest = h->token;
    stress_count(s, passes ? FIGURE_WRITTEN : FIGURE_REFUSED);
    return passes;
}

int register_claim(struct stress *s, struct stress_hold *h)
{
    stress_mutex_lock(&h->lock->mutex);
    int passes = token_passes(s, h);
    if (passes) h->value = h->lock->value;
    pthread_mutex_unlock(&h->lock->mutex);
    return passes;
}

int register_write(struct stress *s, struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    stress_mutex_lock(&l->mutex);
    int passes = token_passes(s, h);
    if (passes) {
        if (l->value != h->value)
            violation_add(
                s, l,
                "a write is lost: client %u (token %" PRIu64 ") read %" PRIu64
                " and writes over %" PRIu64 " at %" PRId64 " ns",
                h->client, h->token, h->value, l->value, stress_now_ns());
        l->value = h->value + 1;
        l->accepted++;
    }
    pthread_mutex_unlock(&l->mutex);
    return passes;
}

void judge_counters(struct stress *s)
{
    for (unsigned i = 0; i < s->locks_len; i++) {
        const struct stress_lock *l = &s->locks[i];
        if (l->value != l->accepted)
            violation_add(s, l,
                          "the counter is %" PRIu64 " after %" PRIu64
                          " accepted writes",
                          l->value, l->accepted);
    }
}
