/*
 * acquire.c: acquiring a lock: its options are checked and planned, and one
 * operation is handed to the engine.
 *
 * The rule: what cannot be kept as it is asked for is refused with a sentence,
 * never quietly changed; and a hold is given only on success.
 */
#include <string.h>

#include "api/client/client.h"
#include "api/hold/handle.h"
#include "base/error.h"
#include "base/math.h"
#include "engine/locks.h"
#include "holdfast/lock.h"
#include "holdfast/semaphore.h"
#include "kind/kind.h"

#define FACTOR_MAX 1000
#define PAUSE_MS_FIRST 1
#define PAUSE_MS_CONSTANT 64
#define PAUSE_MS_MOST 128

/* ---- what may be asked for ---------------------------------------------- */

int hf__wait_check(int64_t wait_ms, int is_try, struct hf_error *err)
{
    if (wait_ms < 0)
        return hf__error_set(err, HF_INVALID,
                             "wait of %lld ms: negative: 0 is no limit, and "
                             "one try is a flag",
                             (long long)wait_ms);
    if (wait_ms > INT64_MAX / US_PER_MS / 4)
        return hf__error_set(err, HF_INVALID, "wait of %lld ms: out of range",
                             (long long)wait_ms);
    if (is_try && wait_ms)
        return hf__error_set(err, HF_INVALID,
                             "one try and a wait of %lld ms: give one of them",
                             (long long)wait_ms);
    return HF_OK;
}

int hf__lease_check(int64_t lease_ms, struct hf_error *err)
{
    if (lease_ms == 0) return HF_OK;
    if (lease_ms >= HF_LEASE_MS_MIN && lease_ms <= HF_LEASE_MS_MAX)
        return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "lease of %lld ms: out of range: %d ms to 24 h",
                         (long long)lease_ms, HF_LEASE_MS_MIN);
}

static int flags_check(const hf_lock *lock, uint32_t flags,
                       struct hf_error *err)
{
    unsigned caps = lock->client->pump.engine.caps;
    uint32_t known = HF_ACQUIRE_FIXED | HF_ACQUIRE_DETACHED
                     | HF_ACQUIRE_NO_REENTRY | HF_ACQUIRE_UPGRADE
                     | HF_ACQUIRE_TRY;
    const struct kind *k = hf__kind(lock->entry->kind);
    if (flags & ~known)
        return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                             flags & ~known);
    if (flags & HF_ACQUIRE_UPGRADE && lock->entry->kind != KIND_WRITE)
        return hf__error_set(err, HF_INVALID, "upgrade: not for %s", k->word);
    if (flags & HF_ACQUIRE_DETACHED && !k->is_detachable)
        return hf__error_set(err, HF_UNSUPPORTED, "detached: not with %s",
                             k->word);
    if (flags & HF_ACQUIRE_DETACHED && !(caps & HF_CAP_DETACHED))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "detached: holds of %s end with their process",
                             lock->client->url);
    return HF_OK;
}

static int permits_check(const hf_lock *lock,
                         const struct hf_acquire_options *o,
                         struct hf_error *err)
{
    if (o->flags & HF_ACQUIRE_UPGRADE && !(o->flags & HF_ACQUIRE_TRY))
        return hf__error_set(err, HF_INVALID,
                             "upgrade: only as one try (HF_ACQUIRE_TRY): two "
                             "upgrades would wait for each other");
    enum lock_kind kind = lock->entry->kind;
    if (o->permits && kind != KIND_PERMIT && kind != KIND_COUNT)
        return hf__error_set(err, HF_INVALID, "permits: %s has none",
                             hf__kind(kind)->word);
    int most = kind == KIND_COUNT ? HF_SEMAPHORE_MAX : HF_PERMITS_MAX;
    if (o->permits < 0 || o->permits > most)
        return hf__error_set(err, HF_INVALID,
                             "%lld permits: out of range: 1 to %d",
                             (long long)o->permits, most);
    return HF_OK;
}

/* ---- the plan: renewals, the longest hold, feeding, pauses --------------- */

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

/* Fill `out` from `o` for a lock whose lease will be `lease_us`.  HF_OK, or
 * HF_INVALID with `err` filled and `out` untouched. */
static int plan_make(struct hold_plan *out, const struct hf_acquire_options *o,
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

/* ---- the calls ----------------------------------------------------------- */

int hf__acquire_prepare(struct op *op, const hf_lock *lock,
                        const struct hf_acquire_options *given,
                        uint64_t default_holder, struct hf_error *err)
{
    struct hf_acquire_options own = HF_ACQUIRE_OPTIONS_INIT, *o = &own;
    struct hold_plan plan;
    int status = hf__client_check(lock->client, err);
    if (status == HF_OK && given)
        status = hf__options_copy(o, sizeof *o, given, given->struct_size, err);
    if (status != HF_OK) return status;
    int is_try = (o->flags & HF_ACQUIRE_TRY) != 0;
    status = hf__wait_check(o->wait_ms, is_try, err);
    if (status == HF_OK) status = hf__lease_check(o->lease_ms, err);
    if (status == HF_OK) status = flags_check(lock, o->flags, err);
    if (status == HF_OK) status = permits_check(lock, o, err);
    if (status != HF_OK) return status;
    int64_t lease_us = o->lease_ms ? o->lease_ms * US_PER_MS
                                   : lock->client->pump.engine.lease_us;
    status = plan_make(&plan, o, lease_us, err);
    if (status != HF_OK) return status;
    hf__call_init(op, OP_TYPE_ACQUIRE, lock,
                  o->holder ? o->holder : default_holder);
    op->flags = o->flags;
    op->order = lock->order;
    op->permits = o->permits ? o->permits : 1;
    op->plan = plan;
    op->cancel = o->cancel;
    op->lease_us = lease_us;
    op->lease_any = !o->lease_ms && !lock->client->pump.engine.lease_given;
    if (!is_try) op->wait_us = o->wait_ms ? o->wait_ms * US_PER_MS : -1;
    return HF_OK;
}

int hf__call_reserve(const hf_lock *lock, struct op *op, struct hf_error *err)
{
    if (hf__handle_reserve(lock->client, &op->handle) == HF_OK) return HF_OK;
    return hf__error_set(err, HF_NOMEM, "out of memory");
}

int hf_lock_acquire(hf_lock *lock, const struct hf_acquire_options *options,
                    hf_hold **hold, struct hf_error *err)
{
    struct op op;
    int status = hf__acquire_prepare(&op, lock, options, hf_holder_self(), err);
    if (status == HF_OK && hold) status = hf__call_reserve(lock, &op, err);
    if (status != HF_OK) return status;
    status = hf__call_wait(lock->client, &op, err);
    if (status == HF_OK && hold) *hold = op.hold;
    return status;
}

int hf_lock_try(hf_lock *lock, hf_hold **hold, struct hf_error *err)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = HF_ACQUIRE_TRY;
    return hf_lock_acquire(lock, &o, hold, err);
}

static void acquire_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_acquired_fn fn = (hf_acquired_fn)op->complete_fn;
    hf__call_give(c, op);
    if (fn)
        fn(lock, op->status, op->status == HF_OK ? op->hold : NULL, &op->err,
           op->complete_user);
    hf__free(&c->alloc, op);
}

int hf__told_check(int is_told, struct hf_error *err)
{
    if (is_told) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "cb is NULL: what is granted could not be released");
}

int hf__out_check(hf_hold **out, struct hf_error *err)
{
    if (out) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "hold is NULL: what is granted could not be "
                         "released");
}

int hf_lock_acquire_start(hf_lock *lock,
                          const struct hf_acquire_options *options,
                          hf_acquired_fn cb, void *user, struct hf_error *err)
{
    struct op op;
    int status = hf__told_check(cb != NULL, err);
    if (status == HF_OK)
        status = hf__acquire_prepare(&op, lock, options, hf_holder_new(), err);
    if (status == HF_OK) status = hf__call_reserve(lock, &op, err);
    if (status != HF_OK) return status;
    status = hf__call_start(lock->client, &op, acquire_complete, lock,
                            (void (*)(void))cb, user, err);
    if (status != HF_OK && op.handle)
        hf__handle_cancel(op.handle, lock->client);
    return status;
}
