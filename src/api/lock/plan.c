/*
 * plan.c: what an acquire may ask for beyond lease and wait: renewals, the
 * longest hold, feeding, pauses.
 *
 * The rule: what cannot be kept as it is asked for is refused with a sentence,
 * never quietly changed.
 */
#include "api/lock/plan.h"

#include "base/error.h"
#include "base/math.h"

#define FACTOR_MAX 1000
#define PAUSE_MS_FIRST 1
#define PAUSE_MS_CONSTANT 64
#define PAUSE_MS_MOST 128

static int range_check(const char *what, int64_t ms, int64_t least,
                       int64_t most, struct hf_error *err)
{
    if (ms == 0 || (ms >= least && ms <= most)) return HF_OK;
    return hf__error_set(
        err, HF_INVALID, "%s of %lld ms: out of range: %lld ms to %lld ms",
        what, (long long)ms, (long long)least, (long long)most);
}

static int watchdog_check(const struct hf_acquire_options *o, int64_t lease_us,
                          struct hf_error *err)
{
    unsigned fixed = HF_ACQUIRE_FIXED | HF_ACQUIRE_DETACHED;
    if (o->flags & fixed && (o->renew_ms || o->feed_ms))
        return hf__error_set(err, HF_INVALID,
                             "%s: the lease is fixed: nothing renews it",
                             o->renew_ms ? "renew_ms" : "feed_ms");
    if (o->renew_ms < 0 || o->renew_ms > lease_us / US_PER_MS / 2)
        return hf__error_set(
            err, HF_INVALID,
            "renewal every %lld ms: at most half of the lease: %lld ms",
            (long long)o->renew_ms, (long long)(lease_us / US_PER_MS / 2));
    return range_check("feed_ms", o->feed_ms, 1, TIME_OPTION_MS_MAX, err);
}

static int cap_check(const struct hf_acquire_options *o, struct hf_error *err)
{
    if (o->max_hold_ms && o->flags & HF_ACQUIRE_DETACHED)
        return hf__error_set(err, HF_INVALID,
                             "max_hold_ms: the hold is detached: its lease is "
                             "its end");
    return range_check("max_hold_ms", o->max_hold_ms, HF_LEASE_MS_MIN,
                       INT64_MAX / US_PER_MS / 4, err);
}

static int backoff_check(const struct hf_acquire_options *o,
                         struct hf_error *err)
{
    if (o->backoff < HF_BACKOFF_NONE || o->backoff > HF_BACKOFF_JITTER)
        return hf__error_set(err, HF_INVALID, "backoff %d: unknown",
                             (int)o->backoff);
    if (o->backoff == HF_BACKOFF_NONE
        && (o->backoff_ms || o->backoff_max_ms || o->backoff_factor))
        return hf__error_set(err, HF_INVALID, "pauses: no backoff is chosen");
    int status =
        range_check("backoff_ms", o->backoff_ms, 1, TIME_OPTION_MS_MAX, err);
    if (status == HF_OK)
        status = range_check("backoff_max_ms", o->backoff_max_ms, 1,
                             TIME_OPTION_MS_MAX, err);
    if (status != HF_OK) return status;
    if (o->backoff_max_ms && o->backoff_max_ms < o->backoff_ms)
        return hf__error_set(
            err, HF_INVALID,
            "backoff_max_ms of %lld: less than the first pause, %lld ms",
            (long long)o->backoff_max_ms, (long long)o->backoff_ms);
    if (o->backoff_factor >= 0 && o->backoff_factor <= FACTOR_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "backoff_factor of %d: out of range: 1 to %d",
                         (int)o->backoff_factor, FACTOR_MAX);
}

static void backoff_fill(struct hold_backoff *b,
                         const struct hf_acquire_options *o)
{
    int64_t first_ms =
        o->backoff == HF_BACKOFF_CONSTANT ? PAUSE_MS_CONSTANT : PAUSE_MS_FIRST;
    int64_t most_ms = o->backoff_max_ms ? o->backoff_max_ms : PAUSE_MS_MOST;
    if (o->backoff_ms)
        first_ms = o->backoff_ms;
    else
        first_ms = min64(first_ms, most_ms);
    b->kind = o->backoff;
    b->factor = o->backoff_factor ? o->backoff_factor : 2;
    b->first_us = first_ms * US_PER_MS;
    b->most_us = max64(most_ms, first_ms) * US_PER_MS;
}

int hf__plan_make(struct hold_plan *out, const struct hf_acquire_options *o,
                  int64_t lease_us, struct hf_error *err)
{
    int status = watchdog_check(o, lease_us, err);
    if (status == HF_OK) status = cap_check(o, err);
    if (status == HF_OK) status = backoff_check(o, err);
    if (status != HF_OK) return status;
    out->renew_us = o->renew_ms * US_PER_MS;
    out->max_hold_us = o->max_hold_ms * US_PER_MS;
    out->feed_us = o->feed_ms * US_PER_MS;
    backoff_fill(&out->backoff, o);
    return HF_OK;
}
