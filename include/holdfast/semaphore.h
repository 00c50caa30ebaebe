/*
 * holdfast/semaphore.h: a limited number of holders at a time.
 *
 *     hf_semaphore *semaphore;
 *     hf_hold *hold;
 *     struct hf_semaphore_options options = HF_SEMAPHORE_OPTIONS_INIT;
 *     options.permits = 4;
 *     if (hf_semaphore_open(client, "exports", &options, &semaphore, &err)
 *         == HF_OK) {
 *         if (hf_semaphore_acquire(semaphore, NULL, &hold, &err) == HF_OK) {
 *             do_work();
 *             hf_hold_release(hold, &err);
 *         }
 *         hf_semaphore_close(semaphore);
 *     }
 *
 * An acquire returns a hold (hold.h), which is leased and renewed like a lock.
 * Its permits are free again when its holder dies.  hf_hold_on_state() reports
 * before the hold is lost.  Its fence is higher than those of all permits
 * granted before.  hf_hold_count() returns how many permits it has; they are
 * released together.
 *
 * A program that opens a semaphore with `permits` need not know which store it
 * uses.  A store that keeps permits (HF_CAP_PERMIT) also keeps their number.
 * On Redis both are stored as in Redisson's RPermitExpirableSemaphore, and with
 * HF_SEMAPHORE_PLAIN as in its RSemaphore.  On every other store, and so on a
 * quorum, each permit is one lock, called a slot: "name#1" to "name#N".  Fences
 * then belong to those locks: compare them only within one slot.
 */
#ifndef HOLDFAST_SEMAPHORE_H
#define HOLDFAST_SEMAPHORE_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_semaphore hf_semaphore;

#define HF_PERMITS_MAX 1000         /* permits in one acquire */
#define HF_SEMAPHORE_MAX 1000000000 /* permits of a semaphore */
#define HF_SEMAPHORE_SLOTS_MAX 64   /* permits where each is a lock */

/* A plain counter.  The store does not know which holders have its permits;
 * they are not renewed, do not become free when a holder dies, and have no
 * fences.  Use it only to share a counter with programs that use one; needs
 * HF_CAP_TALLY. */
#define HF_SEMAPHORE_PLAIN 1u

/* With this flag hf_semaphore_state(), _try_set(), _set(), _add(), _drain() and
 * _delete() fail with HF_CONFLICT if the number under the name was not written
 * by holdfast.  While no permit is acquired, an RSemaphore, an
 * RPermitExpirableSemaphore, an RCountDownLatch and a counter of another
 * program look the same.  So does a holdfast semaphore that granted no permit
 * and was not changed for 30 days, and a plain counter of holdfast that was not
 * used for 30 days.  Without this flag such a number is treated as a semaphore,
 * for programs that share one with Redisson. */
#define HF_SEMAPHORE_OURS 2u

/* How to open a semaphore.  Zero is every field's default. */
struct hf_semaphore_options {
    uint32_t struct_size; /* set by HF_SEMAPHORE_OPTIONS_INIT */
    uint32_t flags;       /* HF_SEMAPHORE_PLAIN, HF_SEMAPHORE_OURS */
    int32_t order;        /* HF_ORDER_ANY; HF_ORDER_FAIR: the waiter that has
                           * waited longest is first, so that waiters for few
                           * permits do not overtake a waiter for many; needs
                           * HF_CAP_QUEUE */
    /* Number of permits: 1 to HF_SEMAPHORE_MAX.  On a store that keeps no
     * permits: at most HF_SEMAPHORE_SLOTS_MAX, and the same number in every
     * program.
     *
     * To a store that keeps permits, every acquire sends the number, in the
     * same request.  If the store has no number under the name, because the
     * name was not used yet, was deleted, or the store has lost its data, the
     * request sets it like hf_semaphore_try_set().  If the store has another
     * number, the stored number counts: hf_semaphore_state() returns it, and
     * hf_semaphore_set() changes it.  For a plain counter this is the initial
     * value.
     *
     * 0: not given.  The stored number counts, and an acquire waits until there
     * is a number; HF_INVALID on a store that keeps no permits. */
    int64_t permits;
};
#define HF_SEMAPHORE_OPTIONS_INIT                                              \
    {                                                                          \
        sizeof(struct hf_semaphore_options), 0, 0, 0                           \
    }
static inline void hf_semaphore_options_init(
    struct hf_semaphore_options *options)
{
    const struct hf_semaphore_options init = HF_SEMAPHORE_OPTIONS_INIT;
    *options = init;
}

/* The state of a semaphore. */
struct hf_semaphore_state {
    /* Set by HF_SEMAPHORE_STATE_INIT. */
    uint32_t struct_size;
    int is_set;        /* 1 if the number of permits is set */
    int is_done;       /* 1 if the change was made; 0 if hf_semaphore_try_set()
                        * found a number, or HF_SEMAPHORE_IF_SET found none */
    int64_t available; /* free permits; negative if more are acquired than there
                        * are now */
    int64_t capacity;  /* number of permits; 0 for a plain counter */
    int64_t taken;     /* acquired permits; for a plain counter: what
                        * hf_semaphore_drain() took */
};
#define HF_SEMAPHORE_STATE_INIT                                                \
    {                                                                          \
        sizeof(struct hf_semaphore_state), 0, 0, 0, 0, 0                       \
    }
static inline void hf_semaphore_state_init(struct hf_semaphore_state *state)
{
    const struct hf_semaphore_state init = HF_SEMAPHORE_STATE_INIT;
    *state = init;
}

/* hf_semaphore_set(), hf_semaphore_add(): make the change even if more permits
 * are acquired than there will be; their holders keep them. */
#define HF_SEMAPHORE_ANYWAY 1u
/* hf_semaphore_add(): make the change only if the number is set. */
#define HF_SEMAPHORE_IF_SET 2u

/* Receives the result of hf_semaphore_acquire_start().  `hold` is owned by the
 * caller: hf_hold_release(); it is NULL unless `status` is HF_OK, and always
 * NULL for a plain counter.  `err` is borrowed. */
typedef void (*hf_semaphore_acquired_fn)(hf_semaphore *sem, int status,
                                         hf_hold *hold,
                                         const struct hf_error *err,
                                         void *user);
/* Receives the result of hf_semaphore_change_start().  `state` is borrowed, and
 * NULL unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_semaphore_fn)(hf_semaphore *sem, int status,
                                const struct hf_semaphore_state *state,
                                const struct hf_error *err, void *user);

/**
 * Create a semaphore object.  Sends nothing to the store.
 *
 * @param client   borrowed
 * @param name     1 to 512 bytes, copied; a few bytes fewer where permits are
 *                 slots
 * @param options  copied; NULL means all defaults: the stored number of permits
 * @param out      the new object, owned by the caller: hf_semaphore_close();
 *                 closed with its client
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           created
 *         HF_INVALID      the name or an option is not valid; or the store
 *                         keeps no permits, and `permits` is 0 or above
 *                         HF_SEMAPHORE_SLOTS_MAX
 *         HF_UNSUPPORTED  the store has no plain counters, or no queue
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_semaphore_open(hf_client *client, const char *name,
                             const struct hf_semaphore_options *options,
                             hf_semaphore **out, struct hf_error *err);

/**
 * Free a semaphore object.  Permits that were acquired through it stay
 * acquired until their handles are released.  No call on the object may be
 * running; the callback of the last call may close it.
 *
 * @param sem  taken; NULL does nothing; its client must be open
 *
 * Threads: any.
 */
HF_API void hf_semaphore_close(hf_semaphore *sem);

/**
 * Return the lock object of a semaphore, for hf_lock_inspect().
 *
 * @param sem  borrowed
 * @return borrowed until hf_semaphore_close(); where permits are slots, the
 *         lock of the first slot
 *
 * Threads: any.
 */
HF_API hf_lock *hf_semaphore_lock(hf_semaphore *sem);

/**
 * Acquire permits, all that are asked for or none.  If the semaphore was opened
 * with `permits` and the store has no number yet, the same request sets it.
 *
 * @param sem      borrowed
 * @param options  copied; NULL means all defaults: one permit, no limit on the
 *                 wait, renewed.  Each acquire has its own holder; a holder
 *                 that is given must not have permits yet
 * @param hold     filled on HF_OK, owned by the caller: hf_hold_release().
 *                 For a plain counter there is no hold: it is filled with NULL,
 *                 and hf_semaphore_add() returns the permits
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           acquired
 *         HF_TAKEN        HF_ACQUIRE_TRY is set, and too few permits are free
 *         HF_TIMEOUT      too few permits were free until wait_ms were over
 *         HF_INVALID      an option is not valid; more permits are asked for
 *                         than there are; the holder has permits already;
 *                         `hold` is NULL and this is not a plain counter
 *         HF_CONFLICT     the name is in use as another kind
 *         HF_CANCELLED    the cancel token was fired
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_UNSUPPORTED  a flag needs a capability that the store lacks
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_semaphore_acquire(hf_semaphore *sem,
                                const struct hf_acquire_options *options,
                                hf_hold **hold, struct hf_error *err);

/**
 * Acquire one permit if one is free: hf_semaphore_acquire() with HF_ACQUIRE_TRY
 * and no other option.
 *
 * @param sem   borrowed
 * @param hold  as for hf_semaphore_acquire()
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_semaphore_acquire(); HF_TAKEN if no permit is free
 *
 * Threads: any.
 */
HF_API int hf_semaphore_try(hf_semaphore *sem, hf_hold **hold,
                            struct hf_error *err);

/**
 * Acquire permits, asynchronously.
 *
 * @param sem      borrowed until `cb` is called
 * @param options  copied; as for hf_semaphore_acquire()
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never from inside this function; its status is one
 *                 that hf_semaphore_acquire() returns
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an option is not valid, or `cb` is NULL, so that
 *                         nothing could release the permits
 *         HF_UNSUPPORTED  a flag needs a capability that the store lacks
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_semaphore_acquire_start(hf_semaphore *sem,
                                      const struct hf_acquire_options *options,
                                      hf_semaphore_acquired_fn cb, void *user,
                                      struct hf_error *err);

/**
 * Take over permits that another process has detached.  Asks the store, and
 * starts the lease again with the given length.  The hold is not renewed here:
 * extend it, release it, or detach it again.
 *
 * @param sem       borrowed; has the name that the ticket was made for
 * @param ticket    copied; what hf_hold_ticket() wrote
 * @param lease_ms  length of the lease; 0: the client's
 * @param hold      filled on HF_OK, owned by the caller: hf_hold_release() or
 *                  hf_hold_ticket()
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           held by this process
 *         HF_EXPIRED      the lease has ended, or the permits were released
 *         HF_LOST         the permits were taken away
 *         HF_INVALID      not a ticket of permits, or the lease is out of range
 *         HF_UNSUPPORTED  this is a plain counter, or permits are slots
 *         HF_CONFLICT     the name is in use as another kind
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_semaphore_attach(hf_semaphore *sem, const char *ticket,
                               int64_t lease_ms, hf_hold **hold,
                               struct hf_error *err);

/**
 * Take over permits that another process has detached, asynchronously.
 *
 * @param sem       borrowed until `cb` has returned; has the name that the
 *                  ticket was made for
 * @param ticket    copied; what hf_hold_ticket() wrote
 * @param lease_ms  length of the lease; 0: the client's
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never from inside this function; its status is one
 *                  that hf_semaphore_attach() returns
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      not a ticket of permits, the lease is out of range,
 *                         or `cb` is NULL
 *         HF_UNSUPPORTED  this is a plain counter, or permits are slots
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_semaphore_attach_start(hf_semaphore *sem, const char *ticket,
                                     int64_t lease_ms,
                                     hf_semaphore_acquired_fn cb, void *user,
                                     struct hf_error *err);

/**
 * Ask the store how many permits there are, and how many are acquired.  This
 * sets nothing: if a semaphore was opened with `permits` and never acquired,
 * is_set is 0 where the store keeps the number.
 *
 * @param sem  borrowed
 * @param out  owned by the caller; HF_SEMAPHORE_STATE_INIT; filled on HF_OK
 * @param err  filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is filled
 *         HF_INVALID      struct_size of `out` is not set
 *         HF_CONFLICT     the name is in use as another kind, or see
 *                         HF_SEMAPHORE_OURS
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_semaphore_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);

/**
 * Set the number of permits if it is not set.  A semaphore that was opened with
 * `permits` does not need this call: its first acquire does the same.
 *
 * @param sem     borrowed
 * @param number  0 to HF_SEMAPHORE_MAX
 * @param out     HF_SEMAPHORE_STATE_INIT; filled on HF_OK; is_done tells
 *                whether this call set the number; may be NULL
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           set, now or before
 *         HF_INVALID      the number is out of range
 *         HF_CONFLICT     the name is in use as another kind, or see
 *                         HF_SEMAPHORE_OURS
 *         HF_UNSUPPORTED  permits are slots: their number is given at open
 *         HF_UNAVAILABLE  no answer; the change may have been made, or may
 *                         still be made
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_semaphore_try_set(hf_semaphore *sem, int64_t number,
                                struct hf_semaphore_state *out,
                                struct hf_error *err);

/**
 * Set the number of permits, including the acquired ones.  For a plain counter,
 * set its value.
 *
 * @param sem     borrowed
 * @param number  0 to HF_SEMAPHORE_MAX
 * @param flags   HF_SEMAPHORE_ANYWAY or 0
 * @param out     HF_SEMAPHORE_STATE_INIT; filled on HF_OK; may be NULL
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_semaphore_try_set(); HF_INVALID also if more permits than
 *         `number` are acquired and HF_SEMAPHORE_ANYWAY is not set: nothing is
 *         changed then
 *
 * Threads: any.
 */
HF_API int hf_semaphore_set(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);

/**
 * Add permits, or remove them.  For a plain counter, return permits to it,
 * whichever holder acquired them.
 *
 * @param sem     borrowed
 * @param number  -HF_SEMAPHORE_MAX to HF_SEMAPHORE_MAX
 * @param flags   HF_SEMAPHORE_ANYWAY, HF_SEMAPHORE_IF_SET
 * @param out     HF_SEMAPHORE_STATE_INIT; filled on HF_OK; may be NULL
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_semaphore_set()
 *
 * Threads: any.
 */
HF_API int hf_semaphore_add(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);

/**
 * Take all permits that a plain counter has.
 *
 * @param sem  borrowed; opened with HF_SEMAPHORE_PLAIN
 * @param out  HF_SEMAPHORE_STATE_INIT; filled on HF_OK: `taken` is the number
 *             of permits taken; may be NULL
 * @param err  filled when this fails; may be NULL
 *
 * @return as hf_semaphore_try_set(); HF_UNSUPPORTED also if this is not a plain
 *         counter
 *
 * Threads: any.
 */
HF_API int hf_semaphore_drain(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);

/**
 * Delete the semaphore with all its permits: their holders lose them.
 *
 * @param sem  borrowed
 * @param out  HF_SEMAPHORE_STATE_INIT; filled on HF_OK: is_done is 1 if there
 *             was a semaphore; may be NULL
 * @param err  filled when this fails; may be NULL
 *
 * @return as hf_semaphore_try_set()
 *
 * Threads: any.
 */
HF_API int hf_semaphore_delete(hf_semaphore *sem,
                               struct hf_semaphore_state *out,
                               struct hf_error *err);

/* The calls above, for hf_semaphore_change_start(). */
enum hf_semaphore_change {
    HF_SEMAPHORE_LOOK = 0, /* hf_semaphore_state() */
    HF_SEMAPHORE_SET = 1,
    HF_SEMAPHORE_TRY_SET = 2,
    HF_SEMAPHORE_ADD = 3,
    HF_SEMAPHORE_DRAIN = 4,
    HF_SEMAPHORE_DELETE = 5
};

/**
 * Make one of the calls above, asynchronously.
 *
 * @param sem     borrowed until `cb` is called
 * @param change  enum hf_semaphore_change
 * @param number  as for that call; 0 if it has no number
 * @param flags   as for that call; 0 if it has no flags
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that the blocking call returns; may be NULL
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      `change`, `number` or `flags` is not valid
 *         HF_UNSUPPORTED  as for that call
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_semaphore_change_start(hf_semaphore *sem, int change,
                                     int64_t number, uint32_t flags,
                                     hf_semaphore_fn cb, void *user,
                                     struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
