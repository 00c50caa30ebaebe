/*
 * holdfast/multi.h: several locks at once, all or nothing.
 *
 * A set is made of lock objects, of one client or of several: other servers,
 * quorums, files.  Whoever acquires it has every one of them, or, after any
 * failure, none that he did not have before.
 *
 *   - One round trip: the tries of all names of one client go out in one write,
 *     those of several clients at the same time.
 *   - If one of them is taken, the others are given back, and the wait is for
 *     that one, by its ordinary wake-up, with *nothing held*: who waits for a
 *     long time stands in nobody's way.  Once he has it, he tries the rest.
 *   - Two sets that keep taking the first from each other do not do so for
 *     ever: after two such rounds a set is taken name by name in the fixed
 *     order below, waiting with the earlier ones held.  Sets that do so cannot
 *     wait for each other in a circle, since all have the same order, and
 *     nobody starves, since each wait is an ordinary one.  Such a wait is
 *     bounded (a random part of 200 ms, then twice as long each time) for the
 *     case that two processes name one server differently and so disagree
 *     about the order: then both let go and begin again.
 *   - The fixed order: by the client's URL without its password and its
 *     options (hf_client_url() up to the '?'), then by the bytes of the name.
 *     The order of the locks given to hf_multi_open() does not matter.
 *   - One deadline for the whole: options->wait_ms.
 *
 * All locks of a set are held by one holder, and the set is one hold: its state
 * is the worst of its locks', it is extended and released as a whole.  Each
 * lock has its own fence and is renewed by its own client: hf_hold_part() gives
 * its hold.  A lock that the holder had before is entered once more, and left
 * once by a release of the set, or by an acquire of it that fails.
 */
#ifndef HOLDFAST_MULTI_H
#define HOLDFAST_MULTI_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_multi hf_multi;

#define HF_MULTI_MAX 64 /* locks in a set */

/* `hold` is owned by the caller: hf_hold_release(); NULL unless `status` is
 * HF_OK.  `err` is borrowed. */
typedef void (*hf_multi_acquired_fn)(hf_multi *multi, int status, hf_hold *hold,
                                     const struct hf_error *err, void *user);

/**
 * Make a set of locks.  Nothing is sent.
 *
 * @param locks  borrowed; the lock objects must outlive the set, and it must
 *               not be used once one of their clients is closed
 * @param len    1 to HF_MULTI_MAX
 * @param out    owned by the caller: hf_multi_close()
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK
 *         HF_INVALID  none or too many; or one name is there twice on one
 *                     client, or on two clients whose URLs differ in options
 *                     at most, and not in the database: they would exclude
 *                     each other; the sentence names it
 *         HF_FORKED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_multi_open(hf_lock *const *locks, size_t len, hf_multi **out,
                         struct hf_error *err);

/**
 * Close a set.  What is held stays held; its holds are not touched.
 *
 * @param multi  taken; NULL does nothing; no call may be using it
 *
 * Threads: any.
 */
HF_API void hf_multi_close(hf_multi *multi);

/**
 * Acquire all locks of the set, waiting as long as `options` say.
 *
 * @param multi    borrowed
 * @param options  copied; as for hf_lock_acquire(), and for each lock; wait_ms
 *                 is for the whole, and `cancel` may be of any client
 * @param hold     filled on HF_OK; owned by the caller: hf_hold_release().
 *                 hf_hold_part() gives its locks in the order of
 *                 hf_multi_open()
 * @param err      filled when this fails: its text names the lock; may be NULL
 *
 * @return HF_OK           all are held
 *         HF_TAKEN        HF_ACQUIRE_TRY, and somebody has one of them
 *         HF_TIMEOUT      not all were ours before wait_ms were over
 *         HF_EXPIRED      a fixed lease was too short: it ended, or the whole
 *                         wait did, before all were ours
 *         HF_CLOSED       one of the clients is being closed
 *         others          as hf_lock_acquire() says for one of them
 *
 * After any status but HF_OK none is held that was not held before; if an
 * answer was lost, a release is on its way.
 *
 * Threads: any; many at a time on one set, each with a holder of its own.
 */
HF_API int hf_multi_acquire(hf_multi *multi,
                            const struct hf_acquire_options *options,
                            hf_hold **hold, struct hf_error *err);

/**
 * One try: hf_multi_acquire() with HF_ACQUIRE_TRY and no other option.
 */
HF_API int hf_multi_try(hf_multi *multi, hf_hold **hold, struct hf_error *err);

/**
 * Acquire, asynchronously.  Statuses as hf_multi_acquire().
 *
 * @param cb    called exactly once if, and only if, this returns HF_OK; may
 *              close the set
 * @param user  passed to `cb`, never looked at
 *
 * @return HF_OK (it is on its way), HF_INVALID (also: no callback, so that
 *         nothing could release the locks), HF_UNSUPPORTED, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * A fresh holder is made unless one is given.
 *
 * Threads: any; `cb` runs on a thread that pumps one of the clients.
 */
HF_API int hf_multi_acquire_start(hf_multi *multi,
                                  const struct hf_acquire_options *options,
                                  hf_multi_acquired_fn cb, void *user,
                                  struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
