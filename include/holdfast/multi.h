/*
 * holdfast/multi.h: acquire several locks at once, all or none.
 *
 *     hf_lock *locks[2] = {account_a, account_b};
 *     hf_multi *multi;
 *     hf_hold *hold;
 *     if (hf_multi_open(locks, 2, &multi, &err) == HF_OK) {
 *         if (hf_multi_acquire(multi, NULL, &hold, &err) == HF_OK) {
 *             do_work();
 *             hf_hold_release(hold, &err);
 *         }
 *         hf_multi_close(multi);
 *     }
 *
 * A set consists of lock objects of one client or of several clients: other
 * servers, quorums, files.  An acquire of the set acquires all its locks.  If
 * it fails, the holder holds none that it did not hold before.
 *
 *   - One round trip: the requests for all names of a client are sent in one
 *     write, those of several clients at the same time.
 *   - If one of the locks is taken, the others are released, and the call waits
 *     for the taken lock by its ordinary wake-up.  A long wait holds no other
 *     lock of the set.  When that lock is acquired, the call tries the others.
 *   - Two sets may keep taking each other's next lock.  After two such rounds a
 *     set is acquired lock by lock in the fixed order below, and waits while it
 *     holds the earlier locks.  Such sets cannot wait for each other in a
 *     circle, because all use the same order, and none waits without end,
 *     because each wait is an ordinary one.  Such a wait is limited (a random
 *     part of 200 ms, doubled each time), because two processes may name the
 *     same server differently and so use different orders: then both release
 *     their locks and start again.
 *   - The fixed order: by the client's URL without its password and options
 *     (hf_client_url() up to the '?'), then by the bytes of the name.  The
 *     order of the locks in hf_multi_open() does not matter.
 *   - One deadline for the whole set: options->wait_ms.
 *
 * One holder holds all locks of a set, and the set is one hold: its state is
 * the worst state of its locks, and it is extended and released as a whole.
 * Each lock has its own fence and is renewed by its own client: hf_hold_part()
 * returns its hold.  A lock that the holder held before is entered again; a
 * release of the set, or an acquire of the set that fails, leaves it once.
 */
#ifndef HOLDFAST_MULTI_H
#define HOLDFAST_MULTI_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_multi hf_multi;

#define HF_MULTI_MAX 64 /* locks in a set */

/* Receives the result of hf_multi_acquire_start().  `hold` is owned by the
 * caller: hf_hold_release(); it is NULL unless `status` is HF_OK.  `err` is
 * borrowed. */
typedef void (*hf_multi_acquired_fn)(hf_multi *multi, int status, hf_hold *hold,
                                     const struct hf_error *err, void *user);

/**
 * Create a set of locks.  Sends nothing.
 *
 * @param locks  borrowed; the lock objects must outlive the set, and the set
 *               must not be used after one of their clients was closed
 * @param len    1 to HF_MULTI_MAX
 * @param out    owned by the caller: hf_multi_close(); closed with the client
 *               of locks[0]
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK       created
 *         HF_INVALID  no locks, or too many; or a name occurs twice on one
 *                     client, or on two clients whose URLs differ only in
 *                     options other than the database, so that the set would
 *                     exclude itself: the text gives the name
 *         HF_FORKED   a client was opened by the parent of this process
 *         HF_NOMEM    out of memory
 *
 * Threads: any.
 */
HF_API int hf_multi_open(hf_lock *const *locks, size_t len, hf_multi **out,
                         struct hf_error *err);

/**
 * Free a set.  Its holds stay held.
 *
 * @param multi  taken; NULL does nothing; the client of its first lock must be
 *               open, and no call may be using it
 *
 * Threads: any.
 */
HF_API void hf_multi_close(hf_multi *multi);

/**
 * Acquire all locks of the set, and wait for them as long as `options` allow.
 *
 * @param multi    borrowed
 * @param options  copied; as for hf_lock_acquire(), used for each lock; wait_ms
 *                 is for the whole set, and `cancel` may belong to any client;
 *                 NULL means all defaults
 * @param hold     filled on HF_OK, owned by the caller: hf_hold_release().
 *                 hf_hold_part() returns its locks in the order of
 *                 hf_multi_open()
 * @param err      filled when this fails: its text names the lock; and when a
 *                 lock of this host was acquired instead of a store's; may be
 *                 NULL
 *
 * @return HF_OK           all locks are held
 *         HF_TAKEN        HF_ACQUIRE_TRY is set, and another holder has one of
 *                         the locks
 *         HF_TIMEOUT      not all locks were acquired within wait_ms
 *         HF_EXPIRED      a fixed lease was too short: it ended, or the whole
 *                         wait did, before all locks were acquired
 *         HF_INVALID      an option is not valid, or `hold` is NULL
 *         HF_CLOSED       one of the clients is being closed
 *         HF_CANCELLED, HF_UNAVAILABLE, HF_CONFLICT, HF_DENIED,
 *         HF_UNSUPPORTED, HF_LOST, HF_FORKED, HF_NOMEM
 *                         as for hf_lock_acquire(), for one of the locks
 *
 * After any status but HF_OK no lock is held that was not held before.  If an
 * answer was lost, the client sends a release.
 *
 * Threads: any; many at a time on one set, each with its own holder.
 */
HF_API int hf_multi_acquire(hf_multi *multi,
                            const struct hf_acquire_options *options,
                            hf_hold **hold, struct hf_error *err);

/**
 * Try once to acquire the set: hf_multi_acquire() with HF_ACQUIRE_TRY and no
 * other option.
 *
 * @param multi  borrowed
 * @param hold   as for hf_multi_acquire()
 * @param err    as for hf_multi_acquire()
 *
 * @return as hf_multi_acquire(); HF_TAKEN if another holder has one of the
 *         locks
 *
 * Threads: any.
 */
HF_API int hf_multi_try(hf_multi *multi, hf_hold **hold, struct hf_error *err);

/**
 * Acquire all locks of the set, asynchronously.  Uses a new holder unless
 * options->holder is set.
 *
 * @param multi    borrowed until `cb` is called
 * @param options  copied; as for hf_multi_acquire()
 * @param cb       called exactly once if, and only if, this returns HF_OK; its
 *                 status is one that hf_multi_acquire() returns; it may close
 *                 the set
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the acquire has been started
 *         HF_INVALID      an option is not valid, or `cb` is NULL, so that
 *                         nothing could release the locks
 *         HF_UNSUPPORTED  a flag needs a capability that a store lacks
 *         HF_FORKED       a client was opened by the parent of this process
 *         HF_CLOSED       one of the clients is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on a thread that pumps one of the clients (client.h).
 */
HF_API int hf_multi_acquire_start(hf_multi *multi,
                                  const struct hf_acquire_options *options,
                                  hf_multi_acquired_fn cb, void *user,
                                  struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
