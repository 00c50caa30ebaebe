/*
 * once/record.c: the record of a run as text, and the decision that follows
 * from it.
 *
 * The rule: when in doubt it is not run: at most once, not at least once.
 */
#include <stdio.h>
#include <string.h>

#include "api/once/once.h"
#include "base/limits.h"
#include "base/math.h"
#include "base/url.h"
#include "holdfast/value.h"

/* ---- text --------------------------------------------------------------- */

/* The host's name as one word, without blanks. */
static void host_word(const char *host, char out[HF_HOST_MAX])
{
    size_t n = 0;
    for (; n + 1 < HF_HOST_MAX && host[n]; n++) {
        unsigned char b = (unsigned char)host[n];
        out[n] = b <= 0x20 || b == 0x7f ? '?' : host[n];
    }
    if (n == 0) out[n++] = '-';
    out[n] = '\0';
}

size_t hf__once_format(const struct once_record *r, char *out)
{
    char host[HF_HOST_MAX];
    char id[24] = "";
    host_word(r->host, host);
    if (r->id) snprintf(id, sizeof id, " %llu", (unsigned long long)r->id);
    int n = snprintf(out, ONCE_HEAD_MAX, "v1 %s %d %llu %lld %lld %lld %s%s\n",
                     r->is_ended ? "ended" : "running", r->status,
                     (unsigned long long)r->fence, (long long)r->began_ms,
                     (long long)r->ended_ms, (long long)r->pid, host, id);
    return (size_t)n;
}

/* What is left of the first line; `at` is NULL once something did not fit. */
struct words {
    const char *at, *end;
};

/* The next word, up to a blank or the end of the line. */
static const char *word_take(struct words *w, size_t *len)
{
    const char *from = w->at;
    if (!from || from == w->end) goto bad;
    const char *blank = memchr(from, ' ', (size_t)(w->end - from));
    const char *to = blank ? blank : w->end;
    if (to == from) goto bad;
    *len = (size_t)(to - from);
    w->at = blank ? blank + 1 : w->end;
    return from;
bad:
    w->at = NULL;
    return NULL;
}

static int word_is(struct words *w, const char *wanted)
{
    size_t len = 0;
    const char *word = word_take(w, &len);
    return word && len == strlen(wanted) && !memcmp(word, wanted, len);
}

static uint64_t number_take(struct words *w, uint64_t max)
{
    size_t len = 0;
    uint64_t n = 0;
    const char *word = word_take(w, &len);
    if (word && hf__digits_parse(word, len, max, &n) != 0) w->at = NULL;
    return n;
}

static int status_take(struct words *w)
{
    int is_minus = w->at && w->at < w->end && *w->at == '-';
    if (is_minus) w->at++;
    int64_t n =
        (int64_t)number_take(w, (uint64_t)INT32_MAX + (uint64_t)is_minus);
    return (int)(is_minus ? -n : n);
}

static void host_take(struct words *w, char out[HF_HOST_MAX])
{
    size_t len = 0;
    const char *word = word_take(w, &len);
    if (!word || len >= HF_HOST_MAX || memchr(word, '\0', len)) {
        w->at = NULL;
        return;
    }
    memcpy(out, word, len);
    out[len] = '\0';
    if (!strcmp(out, "-")) out[0] = '\0';
}

static int state_take(struct words *w, struct once_record *r)
{
    struct words again = *w;
    r->is_ended = word_is(w, "ended");
    if (r->is_ended) return 1;
    *w = again;
    return word_is(w, "running");
}

int hf__once_parse(const char *text, size_t len, struct once_record *r)
{
    memset(r, 0, sizeof *r);
    size_t look = len < ONCE_HEAD_MAX ? len : ONCE_HEAD_MAX;
    const char *newline = look ? memchr(text, '\n', look) : NULL;
    struct words w = {text, newline};
    if (!newline || !word_is(&w, "v1") || !state_take(&w, r)) goto bad;
    r->status = status_take(&w);
    r->fence = number_take(&w, UINT64_MAX);
    r->began_ms = (int64_t)number_take(&w, INT64_MAX);
    r->ended_ms = (int64_t)number_take(&w, INT64_MAX);
    r->pid = (int64_t)number_take(&w, INT64_MAX);
    host_take(&w, r->host);
    if (w.at && w.at != w.end) r->id = number_take(&w, UINT64_MAX);
    if (!w.at || w.at != w.end) goto bad;
    r->head_len = (size_t)(newline - text) + 1;
    return 0;
bad:
    memset(r, 0, sizeof *r);
    return -1;
}

/* Runs are compared by their ids, and old records, which have none, by the
 * rest: the fence alone is not enough, because not every store has one. */
int hf__once_is_same(const struct once_record *a, const struct once_record *b)
{
    if (a->id || b->id) return a->id == b->id;
    char host[HF_HOST_MAX], other[HF_HOST_MAX];
    host_word(a->host, host);
    host_word(b->host, other);
    return a->fence == b->fence && a->began_ms == b->began_ms
           && a->pid == b->pid && !strcmp(host, other);
}

/* ---- decisions ---------------------------------------------------------- */

/* 1 if the run counts for the current period.  The period is the caller's,
 * which may differ from that of the run; a run of a later period counts too. */
static int is_of_now(const struct once_record *r,
                     const struct hf_once_options *o, int64_t now_ms)
{
    if (r->began_ms > now_ms - o->min_hold_ms) return 1;
    if (o->period_ms == 0) return 1;
    return r->began_ms / o->period_ms >= now_ms / o->period_ms;
}

int hf__once_decide(const struct once_record *r,
                    const struct hf_once_options *o, int64_t now_ms)
{
    if (!r || r->is_void || !is_of_now(r, o, now_ms)) return HF_ONCE_MINE;
    /* The caller has the lock, so a run that is recorded as running is not: its
     * process died or lost the lock. */
    int outcome = r->is_ended ? HF_ONCE_DONE : HF_ONCE_DIED;
    int is_good = r->is_ended && r->status == 0;
    if (is_good || !(o->flags & HF_ONCE_RETRY)) return outcome;
    return r->began_ms > now_ms - o->min_hold_ms ? outcome : HF_ONCE_MINE;
}

int hf__once_is_ahead(const struct once_record *r,
                      const struct hf_once_options *o, int64_t now_ms)
{
    return o->period_ms > 0 && r->began_ms - now_ms > o->period_ms;
}

int64_t hf__once_keep_ms(const struct hf_once_options *o, int64_t began_ms,
                         int64_t now_ms, int is_ended)
{
    int64_t keep = o->keep_ms;
    if (keep == 0) keep = max64(ONCE_KEEP_MS_DEFAULT, 2 * o->period_ms);
    keep = max64(keep, began_ms + o->min_hold_ms - now_ms);
    if (o->period_ms > 0)
        keep = max64(keep, o->period_ms - now_ms % o->period_ms);
    /* A record that ends during a long run is written anew at its end. */
    if (!is_ended) keep += max64(o->max_hold_ms, HF_LEASE_MS_MAX);
    return max64(1, min64(keep, HF_VALUE_TTL_MS_MAX));
}

void hf__once_key(const char *name, char *out)
{
    /* The lock and its record are in one hash slot, by Redisson's rule for
     * tags.  "a" and "{a}" are two names, so they get different keys. */
    if (strchr(name, '{'))
        snprintf(out, NAME_LEN_MAX + 1, "holdfast_once_tagged:%s", name);
    else
        snprintf(out, NAME_LEN_MAX + 1, "holdfast_once:{%s}", name);
}
