/*
 * holdfast/hold.h: what was acquired.
 *
 *     hf_hold *hold;
 *     if (hf_lock_acquire(lock, NULL, &hold, &err) == HF_OK) {
 *         write_with_token(hf_hold_fence(hold));
 *         hf_hold_release(hold, &err);
 *     }
 *
 * Every call that acquires something gives a handle of its own: a lock, permits
 * of a semaphore, a set of locks.  The calls below are the same for all of
 * them.  A handle may be used and released by any thread; it is released once.
 *
 * Life of a handle
 *   - It lasts until hf_hold_release() or hf_hold_ticket(), whatever they
 *     return, or until its client is closed.
 *   - A hold that was lost keeps its handle: hf_hold_state() says LOST until
 *     the handle is released.
 *   - Closing the lock object, semaphore or set changes nothing for its holds.
 *   - A thread that acquires again what it holds gets a second handle of the
 *     same hold, with the same fence; the store's lock goes with the last one.
 *   - After fork() the child's copies of all handles are FORKED.
 *   - NULL, a handle that was released before and one whose client was closed
 *     are HF_INVALID, or 0 where no status is returned.  Nothing is sent, and
 *     no other hold is touched.  (A handle is found out as long as the program
 *     has not acquired four billion times since.)
 */
#ifndef HOLDFAST_HOLD_H
#define HOLDFAST_HOLD_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_TICKET_MAX 192 /* bytes in a ticket, with the NUL */

/* How far a hold reaches. */
enum hf_guarantee {
    HF_GUARANTEE_STORE = 0, /* what the client's store promises */
    HF_GUARANTEE_LOCAL = 1  /* this host only: the store could not be reached,
                             * and HF_FALLBACK_LOCAL was chosen.  It excludes
                             * holders that cannot reach the store either; when
                             * the store answers again, others, also of this
                             * host, may be granted its lock while this hold
                             * lasts.  It has no fencing token */
};

/* An operation on a hold is over.  `err` is borrowed.  `hold` is the handle; of
 * a release it is gone, and only good for comparing. */
typedef void (*hf_hold_fn)(hf_hold *hold, int status,
                           const struct hf_error *err, void *user);

/* The state of one hold has changed.  `ev` is borrowed for the call. */
typedef void (*hf_hold_state_fn)(hf_hold *hold, const struct hf_event *ev,
                                 void *user);

/**
 * The fencing token: send it with every write.
 *
 * @param hold  borrowed
 * @return the token; a lost hold still tells its token.  0 if there is none:
 *         with fence=off, HF_GUARANTEE_LOCAL, and for a set of several, where
 *         each part has its own: hf_hold_part()
 *
 * Threads: any; nothing is sent.
 */
HF_API uint64_t hf_hold_fence(const hf_hold *hold);

/**
 * How long the hold is still valid, by the local clock alone.  Check it before
 * each protected write, and send the fence with the write.
 *
 * @param hold  borrowed
 * @return milliseconds; 0 if it is lost; INT64_MAX if it lasts as long as the
 *         process.  Of a set, the least of its parts
 *
 * Threads: any; nothing is sent.
 */
HF_API int64_t hf_hold_valid_ms(const hf_hold *hold);

/**
 * The state of the hold, by the local clock alone.
 *
 * @param hold  borrowed
 * @return enum hf_state; HF_STATE_NONE if the handle stands for nothing.  Of a
 *         set, the worst of its parts
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_state(const hf_hold *hold);

/**
 * Why the hold is not renewed, or was lost: what the store last said about it.
 *
 * @param hold  borrowed
 * @param text  HF_ERROR_TEXT_MAX bytes, filled: one sentence, or "" if the last
 *              renewal succeeded
 *
 * Threads: any; nothing is sent.
 */
HF_API void hf_hold_why(const hf_hold *hold, char text[HF_ERROR_TEXT_MAX]);

/**
 * How many handles share this hold: 1 unless its holder acquired it again.  Of
 * permits, how many this handle has.
 *
 * @param hold  borrowed
 * @return 1 or more; 0 if the handle stands for nothing
 *
 * Threads: any; nothing is sent.
 */
HF_API int64_t hf_hold_count(const hf_hold *hold);

/**
 * The lease that the hold has, renewed or not.
 *
 * @param hold  borrowed
 * @return milliseconds
 *
 * Threads: any; nothing is sent.
 */
HF_API int64_t hf_hold_lease_ms(const hf_hold *hold);

/**
 * The name of what is held.
 *
 * @param hold  borrowed
 * @return borrowed until the handle is released, with a NUL behind it; "" if
 *         the handle stands for nothing.  Of a set, that of its first part
 *
 * Threads: any; nothing is sent.
 */
HF_API const char *hf_hold_name(const hf_hold *hold);

/**
 * How far the hold reaches.
 *
 * @param hold  borrowed
 * @return enum hf_guarantee.  Of a set, LOCAL if one of its parts is
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_guarantee(const hf_hold *hold);

/**
 * Number of replicas that confirmed the grant.
 *
 * @param hold  borrowed
 * @return 0 unless the URL says wait= or waitaof=1,k
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_replicas(const hf_hold *hold);

/**
 * How many parts a hold has: the locks of a set, or several permits that are a
 * lock each.  A hold that is not a set has one part: itself.
 *
 * @param hold  borrowed
 * @return 1 or more; 0 if the handle stands for nothing
 *
 * Threads: any; nothing is sent.
 */
HF_API size_t hf_hold_parts(const hf_hold *hold);

/**
 * One part of a hold; of a set in the order of hf_multi_open().
 *
 * @param hold  borrowed
 * @param i     0 to hf_hold_parts() - 1
 * @return borrowed until `hold` is released; it may be asked, fed and extended,
 *         and is released with the set.  NULL if there is no such part
 *
 * Threads: any; nothing is sent.
 */
HF_API hf_hold *hf_hold_part(hf_hold *hold, size_t i);

/**
 * Start the lease anew, with another length if one is given.
 *
 * @param hold      borrowed
 * @param lease_ms  0: as it was
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK
 *         HF_LOST, HF_EXPIRED   it is not held any more
 *         HF_UNAVAILABLE, HF_DENIED  the lease goes on as it was: it stays
 *                         valid for hf_hold_valid_ms()
 *         HF_INVALID (also: the handle stands for nothing), HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * Of a set every part is extended, whatever becomes of the others, and this
 * tells of the first that failed.
 *
 * Threads: any.
 */
HF_API int hf_hold_extend(hf_hold *hold, int64_t lease_ms,
                          struct hf_error *err);

/**
 * Extend, asynchronously.  Statuses as hf_hold_extend().
 *
 * @param cb    called exactly once if, and only if, this returns HF_OK; may be
 *              NULL
 * @param user  passed to `cb`, never looked at
 *
 * @return HF_OK (the request is on its way), HF_INVALID, HF_FORKED, HF_CLOSED,
 *         HF_NOMEM
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_hold_extend_start(hf_hold *hold, int64_t lease_ms, hf_hold_fn cb,
                                void *user, struct hf_error *err);

/**
 * Say that the work behind this hold is alive.  A hold that was acquired with
 * `feed_ms` is renewed only while this is called often enough; starved, it is
 * told AT_RISK and then LOST in its time, and a feed before that saves it.
 *
 * @param hold  borrowed
 *
 * @return HF_OK         fed: feed_ms counts from now
 *         HF_EXPIRED, HF_LOST  it came too late: the hold is over
 *         HF_INVALID    it was acquired without feed_ms, or the handle stands
 *                       for nothing
 *         HF_FORKED, HF_CLOSED
 *
 * Threads: any; a renewal that was held back is sent at once.
 */
HF_API int hf_hold_feed(hf_hold *hold);

/**
 * Give it back.  The handle is gone, whatever this returns.
 *
 * @param hold  taken
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK           given back; if other handles share the hold, the
 *                         store's lock stays until the last of them
 *         HF_EXPIRED      its lease had ended; nothing of another holder was
 *                         touched
 *         HF_LOST         another holder has it now; nothing was touched
 *         HF_UNAVAILABLE  no answer; it is free when the lease ends at the
 *                         latest, and the release is repeated until then
 *         HF_DENIED       the store refuses; the lease ends it
 *         HF_CONFLICT     released, but a lock of another layout under the
 *                         same name stays (Redisson's group of locks:
 *                         docs/redis-layout.md); or something that is no lock
 *                         was stored there meanwhile, and stays
 *         HF_INVALID      the handle stands for nothing: nothing was sent
 *         HF_FORKED, HF_CLOSED
 *
 * Of a set every part is released, and this tells of the first that failed.
 *
 * Threads: any.
 */
HF_API int hf_hold_release(hf_hold *hold, struct hf_error *err);

/**
 * Release, asynchronously.  Statuses as hf_hold_release().
 *
 * @param hold  taken unless this returns HF_NOMEM
 * @param cb    as for hf_hold_extend_start(); may be NULL
 *
 * @return HF_OK, HF_INVALID, HF_FORKED, HF_CLOSED, HF_NOMEM (not released: the
 *         handle is as it was)
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_hold_release_start(hf_hold *hold, hf_hold_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Be told of the changes of state of this hold: HELD (again), AT_RISK, LOST.
 * A change that came before this call is not told: look at hf_hold_state()
 * after it.
 *
 * @param hold  borrowed
 * @param fn    called on the thread that pumps, with this handle; never twice
 *              at a time for one hold, and not after the handle is gone, but
 *              for a call that is already under way on another thread.  It may
 *              call anything, release included.  NULL: be told no more
 * @param user  passed to `fn`, never looked at
 *
 * @return HF_OK, HF_INVALID (also: of a set; ask for its parts), HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_hold_on_state(hf_hold *hold, hf_hold_state_fn fn, void *user);

/**
 * Write down what another process needs to renew or release the hold, and let
 * go of it here without releasing it.  The ticket is a secret: every process
 * that has it can release the lock.  It cannot be made from anything that a
 * store shows or keeps.
 *
 * @param hold    taken if this returns HF_OK; acquired with HF_ACQUIRE_DETACHED
 * @param ticket  filled, owned by the caller
 * @param size    bytes in `ticket`: HF_TICKET_MAX are enough
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_EXPIRED or HF_LOST (it is not held any more),
 *         HF_UNSUPPORTED (it was not acquired detached), HF_INVALID (also:
 *         `size` is too small), HF_FORKED, HF_CLOSED
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_ticket(hf_hold *hold, char *ticket, size_t size,
                          struct hf_error *err);

/**
 * A copy of the descriptor that carries a kernel lock, for children and for
 * exec(): the lock stays held while any copy of it is open anywhere, even when
 * this process has ended.  Releasing the hold ends it for all copies.
 *
 * @param hold    borrowed
 * @param out_fd  filled on HF_OK: a duplicate, without FD_CLOEXEC, that the
 *                library forgets at once (a fork leaves it alone); owned by
 *                the caller: close()
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_EXPIRED or HF_LOST, HF_UNSUPPORTED (this hold is not a
 *         kernel lock: another backend, or acquired with HF_ACQUIRE_DETACHED),
 *         HF_INVALID, HF_FORKED, HF_CLOSED, HF_INTERNAL (the system has no
 *         descriptor left)
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_inherit(hf_hold *hold, int *out_fd, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
