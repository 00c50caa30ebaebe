/*
 * holdfast/hold.h: what a call has acquired.
 *
 *     hf_hold *hold;
 *     if (hf_lock_acquire(lock, NULL, &hold, &err) == HF_OK) {
 *         write_with_token(hf_hold_fence(hold));
 *         hf_hold_release(hold, &err);
 *     }
 *
 * Every call that acquires something returns a handle of its own: for a lock,
 * for permits of a semaphore, or for a set of locks.  The calls below are the
 * same for all of them.  Any thread may use and release a handle.  A handle is
 * released once.
 *
 * Lifetime of a handle
 *   - It lasts until hf_hold_release(), whatever that returns, until
 *     hf_hold_ticket() returns HF_OK, or until its client is closed.
 *   - A lost hold keeps its handle: hf_hold_state() returns HF_STATE_LOST until
 *     the handle is released.
 *   - Closing the lock object, semaphore or set does not affect its holds.
 *   - A holder that acquires again what it already holds gets a second handle
 *     of the same hold, with the same fence.  The lock is released in the store
 *     when the last handle is released.
 *   - Some handles are borrowed, and released with what they are part of.  A
 *     part of a set (hf_hold_part()) is released with the set; the handle of a
 *     leadership (hf_election_campaign(), hf_election_hold()) by
 *     hf_election_resign(), the next campaign or hf_election_close(); the
 *     handle of a run (hf_once_hold()) by hf_once_end() or hf_once_abandon().
 *     hf_hold_release() on such a handle gives up the lock, and nothing else.
 *     The set keeps its other parts, and its release returns HF_INVALID.  The
 *     candidate no longer leads: hf_election_resign() returns HF_NOT_OWNER, and
 *     its published value is not deleted.  The run is not ended: to other
 *     callers it is a run that died, until hf_once_end() records its end.
 *   - In the child after fork(), calls on handles of the parent return
 *     HF_FORKED.
 *   - A handle is *invalid* if it is NULL, was released before, or belongs to a
 *     client that was closed or is being closed.  Calls on an invalid handle
 *     return HF_INVALID, or 0, "" or NULL where no status is returned.  They
 *     send nothing and change no other hold.  (A released handle is recognised
 *     until the program has acquired four billion times since; four thousand
 *     times where a pointer has 32 bits.)
 */
#ifndef HOLDFAST_HOLD_H
#define HOLDFAST_HOLD_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_TICKET_MAX 192 /* bytes in a ticket, with the NUL */

/* Which other holders a hold excludes. */
enum hf_guarantee {
    HF_GUARANTEE_STORE = 0, /* what the client's store promises */
    HF_GUARANTEE_LOCAL = 1  /* this host only: the store could not be reached,
                             * and HF_FALLBACK_LOCAL was chosen.  It excludes
                             * holders of this host that cannot reach the store
                             * either.  When the store answers again, other
                             * holders, also of this host, may be granted the
                             * store's lock while this hold lasts.  The hold
                             * has no fencing token */
};

/* Receives the result of an asynchronous call on a hold.  `err` is borrowed.
 * `hold` is the handle; after a release it is invalid, and can only be
 * compared. */
typedef void (*hf_hold_fn)(hf_hold *hold, int status,
                           const struct hf_error *err, void *user);

/* Receives a change of state of one hold.  `ev` is borrowed for the call. */
typedef void (*hf_hold_state_fn)(hf_hold *hold, const struct hf_event *ev,
                                 void *user);

/**
 * Return the fencing token.  Send it with every write.
 *
 * @param hold  borrowed
 * @return the token, also of a lost hold.  0 if the hold has none: with
 *         fence=off, with HF_GUARANTEE_LOCAL, for an invalid handle, and for a
 *         set of several parts, where each part has its own: hf_hold_part()
 *
 * Threads: any; nothing is sent.
 */
HF_API uint64_t hf_hold_fence(const hf_hold *hold);

/**
 * Return how long the hold is still valid, by the local clock alone.  Check it
 * before each protected write, and send the fence with the write.
 *
 * @param hold  borrowed
 * @return milliseconds; 0 if the hold is lost or the handle is invalid;
 *         INT64_MAX if the hold lasts as long as the process.  For a set, the
 *         lowest value of its parts
 *
 * Threads: any; nothing is sent.
 */
HF_API int64_t hf_hold_valid_ms(const hf_hold *hold);

/**
 * Return the state of the hold, by the local clock alone.
 *
 * @param hold  borrowed
 * @return enum hf_state; HF_STATE_NONE if the handle is invalid.  For a set,
 *         the worst state of its parts
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_state(const hf_hold *hold);

/**
 * Write the reason why the hold is not renewed, or was lost: the last answer of
 * the store.
 *
 * @param hold  borrowed
 * @param text  HF_ERROR_TEXT_MAX bytes, owned by the caller; filled with one
 *              sentence; "" if the hold is valid and its last renewal
 *              succeeded, and if the handle is invalid
 *
 * Threads: any; nothing is sent.
 */
HF_API void hf_hold_why(const hf_hold *hold, char text[HF_ERROR_TEXT_MAX]);

/**
 * Return how many handles share this hold: 1 unless its holder acquired it
 * again.  For permits, return how many permits this handle has; for a set, how
 * many parts.
 *
 * @param hold  borrowed
 * @return 1 or more; 0 if the handle is invalid
 *
 * Threads: any; nothing is sent.
 */
HF_API int64_t hf_hold_count(const hf_hold *hold);

/**
 * Return the length of the hold's lease, whether or not it is renewed.
 *
 * @param hold  borrowed
 * @return milliseconds; 0 if the handle is invalid.  For a set, the shortest
 *         lease of its parts
 *
 * Threads: any; nothing is sent.
 */
HF_API int64_t hf_hold_lease_ms(const hf_hold *hold);

/**
 * Return the name of the lock or semaphore that is held.
 *
 * @param hold  borrowed
 * @return borrowed until the handle is released, NUL-terminated; "" if the
 *         handle is invalid.  For a set, the name of its first part
 *
 * Threads: any; nothing is sent.
 */
HF_API const char *hf_hold_name(const hf_hold *hold);

/**
 * Return which other holders the hold excludes.
 *
 * @param hold  borrowed
 * @return enum hf_guarantee.  For a set, HF_GUARANTEE_LOCAL if any of its parts
 *         has that
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_guarantee(const hf_hold *hold);

/**
 * Return the number of replicas that confirmed the grant.
 *
 * @param hold  borrowed
 * @return 0 unless the URL has wait= or waitaof=1,K.  For a set, the lowest
 *         number of its parts
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_replicas(const hf_hold *hold);

/**
 * Return how many parts a hold has.  The parts are the locks of a set, or
 * permits where each permit is a lock.  Any other hold has one part: itself.
 *
 * @param hold  borrowed
 * @return 1 or more; 0 if the handle is invalid
 *
 * Threads: any; nothing is sent.
 */
HF_API size_t hf_hold_parts(const hf_hold *hold);

/**
 * Return one part of a hold.  The parts of a set are in the order of
 * hf_multi_open().
 *
 * @param hold  borrowed
 * @param i     0 to hf_hold_parts() - 1
 * @return borrowed until `hold` is released.  A part may be queried, fed and
 *         extended; it is released with the set.  NULL if there is no such part
 *
 * Threads: any; nothing is sent.
 */
HF_API hf_hold *hf_hold_part(hf_hold *hold, size_t i);

/**
 * Start the lease again from now, optionally with a new length.
 *
 * @param hold      borrowed
 * @param lease_ms  the new length; 0: unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           extended
 *         HF_LOST         another holder has it now
 *         HF_EXPIRED      its lease has ended
 *         HF_NOT_OWNER    another thread or handle has ended it: by a release
 *                         that came first, hf_lock_release() or a ticket
 *         HF_UNAVAILABLE  the store did not answer; the hold stays valid for
 *                         hf_hold_valid_ms()
 *         HF_DENIED       the store refuses the request; the hold stays valid
 *                         for hf_hold_valid_ms()
 *         HF_INVALID      the lease is out of range, or the handle is invalid
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * For a set, every part is extended even if another part fails; the status is
 * that of the first part that failed.
 *
 * Threads: any.
 */
HF_API int hf_hold_extend(hf_hold *hold, int64_t lease_ms,
                          struct hf_error *err);

/**
 * Extend the lease, asynchronously.
 *
 * @param hold      borrowed
 * @param lease_ms  the new length; 0: unchanged
 * @param cb        called exactly once if, and only if, this returns HF_OK; its
 *                  status is one that hf_hold_extend() returns; may be NULL
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK       the request has been started
 *         HF_INVALID  the lease is out of range, or the handle is invalid
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_hold_extend_start(hf_hold *hold, int64_t lease_ms, hf_hold_fn cb,
                                void *user, struct hf_error *err);

/**
 * Report that the work behind this hold makes progress.  A hold that was
 * acquired with `feed_ms` is renewed only while this is called at least that
 * often.  Without feeding, its state becomes AT_RISK and later LOST; feeding it
 * before it is lost saves it.
 *
 * @param hold  borrowed
 *
 * @return HF_OK       fed; feed_ms counts from now
 *         HF_EXPIRED  too late: the lease has ended
 *         HF_LOST     too late: the hold was lost
 *         HF_INVALID  the hold was acquired without feed_ms, or the handle is
 *                     invalid
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *
 * For a set, every part is fed; the status is that of the first part that
 * failed.
 *
 * Threads: any; a renewal that was due is sent at once.
 */
HF_API int hf_hold_feed(hf_hold *hold);

/**
 * Release the hold.  The handle is invalid afterwards, whatever this returns.
 *
 * @param hold  taken
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK           released; if other handles share the hold, the store
 *                         keeps the lock until the last of them is released
 *         HF_EXPIRED      its lease had ended; no other hold was changed
 *         HF_LOST         another holder has it now; nothing was changed
 *         HF_NOT_OWNER    hf_lock_release() or another handle's ticket has
 *                         ended it before; nothing was sent
 *         HF_UNAVAILABLE  no answer; the release is repeated until the lease
 *                         ends, which frees the lock at the latest
 *         HF_DENIED       the store refuses the request; the lock is free when
 *                         the lease ends
 *         HF_CONFLICT     released, but a lock of another layout remains under
 *                         the same name (a group of Redisson locks:
 *                         docs/redis-layout.md); or something other than a lock
 *                         was stored there meanwhile, and remains
 *         HF_INVALID      the handle is invalid; nothing was sent
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *
 * For a set, every part is released; the status is that of the first part that
 * failed.
 *
 * Threads: any.
 */
HF_API int hf_hold_release(hf_hold *hold, struct hf_error *err);

/**
 * Release the hold, asynchronously.
 *
 * @param hold  taken unless this returns HF_NOMEM
 * @param cb    called exactly once if, and only if, this returns HF_OK; its
 *              status is one that hf_hold_release() returns; may be NULL
 * @param user  passed to `cb` unchanged
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK       the release has been started
 *         HF_INVALID  the handle is invalid
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory; not released, and the handle stays valid
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_hold_release_start(hf_hold *hold, hf_hold_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Set the function that receives the changes of state of this hold: AT_RISK,
 * LOST, and HELD when it is safe again.  A change before this call is not
 * reported: check hf_hold_state() after it.
 *
 * @param hold  borrowed
 * @param fn    called on the thread that pumps, with this handle.  It is never
 *              called twice at a time for one hold.  No call begins after the
 *              handle was released, or `fn` was replaced; but a call that began
 *              before may still be running on another thread then, and only
 *              hf_client_close() waits for it.  It may call any function,
 *              including hf_hold_release().  NULL: no more calls
 * @param user  passed to `fn` unchanged.  Because of a call that may still be
 *              running, what it points to must exist until hf_client_close(),
 *              unless the handle is released by `fn` itself or, in own-loop
 *              mode, by the thread that calls hf_client_process()
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK       set
 *         HF_INVALID  the handle is invalid, or it is a set: use its parts
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_NOMEM    out of memory; an earlier function stays
 *
 * Threads: any.
 */
HF_API int hf_hold_on_state(hf_hold *hold, hf_hold_state_fn fn, void *user,
                            struct hf_error *err);

/**
 * Detach the hold: write a ticket with which another process can renew or
 * release it, and give up the handle without releasing the hold.  The ticket is
 * a secret: every process that has it can release the lock.  It cannot be made
 * from anything that a store shows or keeps.  A hold that several handles share
 * is detached from all of them.
 *
 * @param hold    taken if this returns HF_OK; acquired with HF_ACQUIRE_DETACHED
 * @param ticket  owned by the caller; filled
 * @param size    bytes in `ticket`, at least HF_TICKET_MAX
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           detached
 *         HF_EXPIRED      its lease has ended
 *         HF_LOST         another holder has it now
 *         HF_UNSUPPORTED  the hold was not acquired detached, or is a set
 *         HF_NOT_OWNER    another call on this hold is still running, or it
 *                         was ended otherwise
 *         HF_INVALID      `size` is too small, or the handle is invalid
 *         HF_FORKED       the client was opened by the parent of this process
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_ticket(hf_hold *hold, char *ticket, size_t size,
                          struct hf_error *err);

/**
 * Duplicate the descriptor that carries a kernel lock, for child processes and
 * exec().  The lock stays held while any duplicate is open in any process, even
 * after this process has ended.  Releasing the hold releases it for all
 * duplicates.
 *
 * @param hold    borrowed
 * @param out_fd  filled on HF_OK with a duplicate without FD_CLOEXEC, owned by
 *                the caller: close().  The library does not track it, and does
 *                not close it in a forked child
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           `out_fd` is filled
 *         HF_EXPIRED      the hold has ended
 *         HF_LOST         the hold was lost
 *         HF_UNSUPPORTED  the hold is not a kernel lock (another backend, or
 *                         acquired with HF_ACQUIRE_DETACHED), or is a set
 *         HF_INVALID      the handle is invalid
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_INTERNAL     the system has no descriptor left
 *
 * Threads: any; nothing is sent.
 */
HF_API int hf_hold_inherit(hf_hold *hold, int *out_fd, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
