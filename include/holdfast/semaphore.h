/*
 * holdfast/semaphore.h: so many at once, and no more.
 *
 *     hf_semaphore *s;  hf_hold *hold;
 *     struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
 *     o.permits = 4;
 *     hf_semaphore_open(c, "exports", &o, &s, &err);
 *     if (hf_semaphore_acquire(s, NULL, &hold, &err) == HF_OK) {
 *         ...
 *         hf_hold_release(hold, &err);
 *     }
 *
 * What an acquire got is a hold (hold.h), leased and renewed as a lock is: it
 * comes back when its holder dies, the holder is told before it is lost
 * (hf_hold_on_state()), and its fence is higher than those of all permits given
 * before.  hf_hold_count() says how many permits it has; it is released as a
 * whole.
 *
 * A program that opens a semaphore with `permits` need not know which store it
 * is on.  Where the store keeps permits (HF_CAP_PERMIT), it keeps their number,
 * too; on Redis both are what Redisson's RPermitExpirableSemaphore uses, and
 * with HF_SEMAPHORE_PLAIN what its RSemaphore does.  On every other store, a
 * quorum above all, there is one lock for each permit, a slot: "name#1" to
 * "name#N".  Fences are those locks' own then: compare them slot by slot.
 */
#ifndef HOLDFAST_SEMAPHORE_H
#define HOLDFAST_SEMAPHORE_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_semaphore hf_semaphore;

#define HF_PERMITS_MAX 1000         /* in one acquire */
#define HF_SEMAPHORE_MAX 1000000000 /* permits that there may be */
#define HF_SEMAPHORE_SLOTS_MAX 64   /* of one lock each */

/* A counter, and nothing else: who has taken from it is not known, nothing is
 * renewed or comes back by itself, there are no fences.  Only to share it with
 * programs that do so; needs HF_CAP_TALLY. */
#define HF_SEMAPHORE_PLAIN 1u

/* Counting and changing (hf_semaphore_state(), _try_set(), _set(), _add(),
 * _drain(), _delete()) fail with HF_CONFLICT if the number under the name was
 * not made by holdfast: without any permit that is out, an RSemaphore, an
 * RPermitExpirableSemaphore, an RCountDownLatch and a counter of another
 * program look alike, and so does a semaphore of ours that gave no permit and
 * was not changed for 30 days, or a plain counter of ours that was not used for
 * 30 days.  Without this flag such a number is taken for a semaphore, as a
 * program wants that shares one with Redisson. */
#define HF_SEMAPHORE_OURS 2u

/* How to open one.  Zero is every field's default. */
struct hf_semaphore_options {
    uint32_t struct_size; /* set by HF_SEMAPHORE_OPTIONS_INIT */
    uint32_t flags;       /* HF_SEMAPHORE_PLAIN, HF_SEMAPHORE_OURS */
    int32_t order;        /* HF_ORDER_ANY; HF_ORDER_FAIR: who has waited longest
                           * is first, so that one who wants many is not passed
                           * by those who want few; needs HF_CAP_QUEUE */
    /* How many permits there are: 1 to HF_SEMAPHORE_MAX; on a store that keeps
     * no permits at most HF_SEMAPHORE_SLOTS_MAX, and the same number in every
     * program.
     *
     * A store that keeps permits is told the number by every acquire, in the
     * same request.  If it has no number under the name, because nobody has
     * used it yet, it was deleted, or the store has lost its data, the number
     * is set as by hf_semaphore_try_set().  If it has another one, the stored
     * number counts: hf_semaphore_state() tells it, hf_semaphore_set() changes
     * it.  Of a plain counter: what it begins with.
     *
     * 0: not given.  The stored number counts, and an acquire waits until there
     * is one; HF_INVALID on a store that keeps no permits. */
    int64_t permits;
};
#define HF_SEMAPHORE_OPTIONS_INIT                                              \
    {                                                                          \
        sizeof(struct hf_semaphore_options), 0, 0, 0                           \
    }

/* How many there are. */
struct hf_semaphore_state {
    int is_set;        /* somebody has said how many there are */
    int is_done;       /* the change was made; 0: try_set() found it set, or
                        * HF_SEMAPHORE_IF_SET found that it is not */
    int64_t available; /* free now.  Below 0: more are out than there are */
    int64_t capacity;  /* all there are; of a plain counter: 0 */
    int64_t taken;     /* out; of a plain counter: what drain() took */
};

/* hf_semaphore_set(), hf_semaphore_add(): also if more are out than there will
 * be; they are not taken from their holders. */
#define HF_SEMAPHORE_ANYWAY 1u
#define HF_SEMAPHORE_IF_SET 2u /* hf_semaphore_add(): only if it is set */

/* `hold` is owned by the caller: hf_hold_release(); NULL unless `status` is
 * HF_OK, and of a plain counter.  `err` is borrowed. */
typedef void (*hf_semaphore_acquired_fn)(hf_semaphore *sem, int status,
                                         hf_hold *hold,
                                         const struct hf_error *err,
                                         void *user);
typedef void (*hf_semaphore_fn)(hf_semaphore *sem, int status,
                                const struct hf_semaphore_state *state,
                                const struct hf_error *err, void *user);

/**
 * Make an object for a semaphore.  Nothing is asked of the store.
 *
 * @param client   borrowed; must outlive the object
 * @param name     1 to 512 bytes, copied; where there are slots, some fewer
 * @param options  copied; NULL means all defaults: the number of permits is the
 *                 one that is stored
 * @param out      the new object, owned by the caller: hf_semaphore_close(),
 *                 before its client is closed
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK, HF_INVALID (name or options; the store keeps no permits, and
 *         `permits` is 0 or above HF_SEMAPHORE_SLOTS_MAX), HF_UNSUPPORTED (the
 *         store has no plain counters, or no queue), HF_FORKED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_semaphore_open(hf_client *client, const char *name,
                             const struct hf_semaphore_options *options,
                             hf_semaphore **out, struct hf_error *err);

/**
 * Forget the object.  Permits taken through it stay out: release them first, or
 * through another object of the same name.  No call on it may be under way; the
 * function that is told of the last one may do it.
 *
 * @param sem  taken; NULL is fine
 *
 * Threads: any.
 */
HF_API void hf_semaphore_close(hf_semaphore *sem);

/**
 * The lock object behind it, for hf_lock_inspect().
 *
 * @param sem  borrowed
 * @return borrowed from `sem`; where permits are a lock each, the first
 *
 * Threads: any.
 */
HF_API hf_lock *hf_semaphore_lock(hf_semaphore *sem);

/**
 * Take permits, all that are asked for or none.  If the semaphore was opened
 * with `permits` and the store has no number yet, the same request sets it.
 *
 * @param sem      borrowed
 * @param options  copied; NULL means all defaults: one permit, wait for ever,
 *                 renewed.  Each acquire is a holder of its own; one that is
 *                 given must have none yet
 * @param hold     filled on HF_OK; owned by the caller: hf_hold_release().  Of
 *                 a plain counter nothing is held: NULL, and
 *                 hf_semaphore_add() gives the permits back
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK
 *         HF_TAKEN        too few are free (HF_ACQUIRE_TRY)
 *         HF_TIMEOUT      the same, until the wait was over
 *         HF_INVALID      a bad option; more permits than there are; the
 *                         holder has some
 *         HF_CONFLICT     the name is in use as something else
 *         HF_CANCELLED, HF_UNAVAILABLE, HF_DENIED, HF_UNSUPPORTED, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_semaphore_acquire(hf_semaphore *sem,
                                const struct hf_acquire_options *options,
                                hf_hold **hold, struct hf_error *err);

/** Take one permit if one is free: hf_semaphore_acquire() with HF_ACQUIRE_TRY.
 *
 * Threads: any. */
HF_API int hf_semaphore_try(hf_semaphore *sem, hf_hold **hold,
                            struct hf_error *err);

/**
 * Take permits, asynchronously.
 *
 * @param sem      borrowed until `cb` has been called
 * @param options  copied; as for hf_semaphore_acquire()
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never before this function has returned
 * @param user     passed to `cb`, never looked at
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK (the request is on its way), HF_INVALID (also: no callback, so
 *         that nothing could release the permits), HF_UNSUPPORTED, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as hf_semaphore_acquire() returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_semaphore_acquire_start(hf_semaphore *sem,
                                      const struct hf_acquire_options *options,
                                      hf_semaphore_acquired_fn cb, void *user,
                                      struct hf_error *err);

/**
 * Take over permits that another process has detached.  The store is asked, and
 * the lease begins anew with the given length.
 *
 * @param sem       borrowed; of the name the ticket was made for
 * @param ticket    copied; what hf_hold_ticket() wrote
 * @param lease_ms  0: the client's
 * @param hold      filled on HF_OK; owned by the caller.  Not renewed here:
 *                  extend it, release it or take its ticket
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK, HF_EXPIRED (the lease has ended, or it was released), HF_LOST,
 *         HF_INVALID (not a ticket of permits, or a bad lease), HF_UNSUPPORTED
 *         (a plain counter; slots), HF_CONFLICT, HF_UNAVAILABLE, HF_DENIED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_semaphore_attach(hf_semaphore *sem, const char *ticket,
                               int64_t lease_ms, hf_hold **hold,
                               struct hf_error *err);

/**
 * How many there are, and how many are out.  Asks the store, and sets nothing:
 * of a semaphore that was opened with `permits` and never acquired, is_set is 0
 * where the store keeps the number.
 *
 * @param sem  borrowed
 * @param out  filled on HF_OK
 * @param err  filled when this fails; may be NULL
 *
 * @return HF_OK, HF_CONFLICT, HF_UNAVAILABLE, HF_DENIED, HF_FORKED, HF_CLOSED,
 *         HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_semaphore_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);

/**
 * Say how many permits there are, unless somebody has.  A semaphore that was
 * opened with `permits` does not need it: its first acquire does the same.
 *
 * @param sem     borrowed
 * @param number  0 to HF_SEMAPHORE_MAX
 * @param out     filled on HF_OK, with is_done; may be NULL
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK (also if it was set), HF_INVALID, HF_CONFLICT, HF_UNSUPPORTED
 *         (slots are counted when it is opened), HF_UNAVAILABLE (it may have
 *         been made, or may yet be), HF_DENIED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_semaphore_try_set(hf_semaphore *sem, int64_t number,
                                struct hf_semaphore_state *out,
                                struct hf_error *err);

/**
 * Say how many permits there are: those that are out count.  Of a plain
 * counter: what it is.
 *
 * @param sem     borrowed
 * @param number  0 to HF_SEMAPHORE_MAX
 * @param flags   HF_SEMAPHORE_ANYWAY or 0
 * @param out     filled on HF_OK; may be NULL
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_semaphore_try_set(); HF_INVALID also if more are out than that:
 *         nothing is changed then
 *
 * Threads: any.
 */
HF_API int hf_semaphore_set(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);

/**
 * So many more permits, or fewer.  Of a plain counter: give so many back,
 * whoever took them.
 *
 * @param sem     borrowed
 * @param number  -HF_SEMAPHORE_MAX to HF_SEMAPHORE_MAX
 * @param flags   HF_SEMAPHORE_ANYWAY, HF_SEMAPHORE_IF_SET
 * @param out     filled on HF_OK; may be NULL
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
 * Take all that a plain counter has.
 *
 * @param sem  borrowed; HF_SEMAPHORE_PLAIN
 * @param out  filled on HF_OK: `taken` is what there was; may be NULL
 * @param err  filled when this fails; may be NULL
 *
 * @return as hf_semaphore_try_set(); HF_UNSUPPORTED: it is no plain counter
 *
 * Threads: any.
 */
HF_API int hf_semaphore_drain(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);

/**
 * Remove the semaphore with all its permits: who has one has lost it.
 *
 * @param sem  borrowed
 * @param out  filled on HF_OK: is_done if there was one; may be NULL
 * @param err  filled when this fails; may be NULL
 *
 * @return as hf_semaphore_try_set()
 *
 * Threads: any.
 */
HF_API int hf_semaphore_delete(hf_semaphore *sem,
                               struct hf_semaphore_state *out,
                               struct hf_error *err);

/* For hf_semaphore_change_start(): which of the calls above. */
enum hf_semaphore_change {
    HF_SEMAPHORE_LOOK = 0, /* hf_semaphore_state() */
    HF_SEMAPHORE_SET = 1,
    HF_SEMAPHORE_TRY_SET = 2,
    HF_SEMAPHORE_ADD = 3,
    HF_SEMAPHORE_DRAIN = 4,
    HF_SEMAPHORE_DELETE = 5
};

/**
 * Any of them, asynchronously.
 *
 * @param sem     borrowed until `cb` has been called
 * @param change  enum hf_semaphore_change
 * @param number  where it takes one
 * @param flags   the same
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never before this function has returned; its state and error
 *                are borrowed, the state is NULL unless HF_OK; may be NULL
 * @param user    passed to `cb`, never looked at
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK (the request is on its way), HF_INVALID, HF_UNSUPPORTED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as the call itself returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_semaphore_change_start(hf_semaphore *sem, int change,
                                     int64_t number, uint32_t flags,
                                     hf_semaphore_fn cb, void *user,
                                     struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
