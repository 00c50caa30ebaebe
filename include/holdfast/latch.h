/*
 * holdfast/latch.h: wait until so many things have happened.
 *
 *     hf_latch *l;
 *     hf_latch_open(c, "import-42", &l, &err);
 *     hf_latch_set(l, 8, &err);               one process says how many
 *     hf_latch_down(l, NULL, &err);           eight say: done
 *     hf_latch_wait(l, NULL, &err);           any number wait for all of them
 *
 * A latch is a number in the store.  It belongs to nobody, nothing renews it
 * and it does not end by itself: who sets one and may fail deletes it.  A latch
 * that is not set, or has come to zero, is open: nobody waits for it.  So set
 * it before those who wait begin.  A store that loses its data loses latches,
 * and they are open then; where that matters, count what has been done.
 *
 * Needs HF_CAP_TALLY.  On Redis it is Redisson's RCountDownLatch: both sides
 * count and wait together.
 */
#ifndef HOLDFAST_LATCH_H
#define HOLDFAST_LATCH_H

#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_latch hf_latch;

#define HF_LATCH_MAX 1000000000 /* the highest count */

/* The answer to a call that was started.  `left`: the count after it, on HF_OK
 * and HF_TAKEN; of hf_latch_delete_start(): 1 if it was set, else 0. */
typedef void (*hf_latch_fn)(hf_latch *latch, int status, int64_t left,
                            const struct hf_error *err, void *user);

/**
 * Make a latch object.  Asks the store nothing.
 *
 * @param client  borrowed; must outlive it
 * @param name    1 to 512 bytes, copied; one name, one kind: as a latch, a lock
 *                or a semaphore, and not as two of them
 * @param out     owned by the caller: hf_latch_close()
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_INVALID (a bad name), HF_UNSUPPORTED (no latches there),
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_latch_open(hf_client *client, const char *name, hf_latch **out,
                         struct hf_error *err);

/* hf_latch_open_as(): setting, counting and deleting fail with HF_CONFLICT if
 * the number under the name was not made by holdfast.  Redisson's RSemaphore
 * and its RCountDownLatch look alike on the server, and so does a latch of ours
 * that was not changed for 30 days; without this flag each of them is taken for
 * a latch, as a program wants that shares one with Redisson. */
#define HF_LATCH_OURS 1u

/**
 * Make a latch object, as hf_latch_open() does, with flags.
 *
 * @param client  borrowed; must outlive it
 * @param name    as for hf_latch_open()
 * @param flags   HF_LATCH_OURS or 0
 * @param out     owned by the caller: hf_latch_close()
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_latch_open(); HF_INVALID also for an unknown flag
 *
 * Threads: any.
 */
HF_API int hf_latch_open_as(hf_client *client, const char *name, uint32_t flags,
                            hf_latch **out, struct hf_error *err);

/**
 * Forget a latch object; the latch itself stays as it is.
 *
 * @param latch  taken; NULL does nothing; no call may be using it
 *
 * Threads: any.
 */
HF_API void hf_latch_close(hf_latch *latch);

/**
 * The name it was opened with.
 *
 * @param latch  borrowed
 * @return borrowed, as long as the latch object lives
 *
 * Threads: any.
 */
HF_API const char *hf_latch_name(const hf_latch *latch);

/**
 * Set a latch that is not set.
 *
 * @param latch  borrowed
 * @param count  1 to HF_LATCH_MAX
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK        so many must be counted down now
 *         HF_TAKEN     it is set already, and stays as it is; the text says how
 *                      many are left
 *         HF_INVALID   a bad count
 *         HF_CONFLICT  something that is no latch is stored under its name
 *         HF_UNAVAILABLE, HF_DENIED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * The call is repeated where an answer was lost, and done once.
 *
 * Threads: any.
 */
HF_API int hf_latch_set(hf_latch *latch, int64_t count, struct hf_error *err);

/**
 * Count one down; at zero everybody who waits goes on.
 *
 * @param latch  borrowed
 * @param left   how many are left, filled on HF_OK; may be NULL
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK        it was counted, once
 *         HF_INVALID   it was never set, or has come to zero: nothing was
 *                      counted
 *         HF_CONFLICT, HF_UNAVAILABLE, HF_DENIED, HF_FORKED, HF_CLOSED,
 *         HF_NOMEM     as hf_latch_set()
 *
 * Threads: any.
 */
HF_API int hf_latch_down(hf_latch *latch, int64_t *left, struct hf_error *err);

/**
 * How many are left to be counted.
 *
 * @param latch  borrowed
 * @param left   filled on HF_OK; 0: it is open
 * @param err    filled when this fails; may be NULL
 *
 * @return as hf_latch_down(), but for HF_INVALID
 *
 * Threads: any.
 */
HF_API int hf_latch_count(hf_latch *latch, int64_t *left, struct hf_error *err);

/**
 * Take a latch away.  Those who wait for it are told: HF_LOST.
 *
 * @param latch    borrowed
 * @param was_set  filled on HF_OK; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return as hf_latch_count(); HF_OK also if there was none
 *
 * Threads: any.
 */
HF_API int hf_latch_delete(hf_latch *latch, int *was_set, struct hf_error *err);

/**
 * Wait until it is open: it is not set, or has come to zero.
 *
 * @param latch    borrowed
 * @param options  copied; NULL: for as long as it takes
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK         it is open
 *         HF_TAKEN      HF_WAIT_TRY, and it is not; the text says how many are
 *                       left
 *         HF_TIMEOUT    not before wait_ms were over; the same
 *         HF_CANCELLED  by `cancel`
 *         HF_LOST       it was deleted while it was waited for.  (Who begins to
 *                       wait later finds it open; and so does who waits for one
 *                       that Redisson has deleted: it leaves no trace there)
 *         HF_INVALID    a bad option
 *         others        as hf_latch_set()
 *
 * A message that is lost costs some seconds, never more: it is looked at again.
 *
 * Threads: any; many at a time.
 */
HF_API int hf_latch_wait(hf_latch *latch, const struct hf_wait_options *options,
                         struct hf_error *err);

/**
 * Set it, asynchronously.  Statuses as hf_latch_set().
 *
 * @param latch  borrowed until `cb` is called
 * @param count  1 to HF_LATCH_MAX
 * @param cb     called exactly once if, and only if, this returns HF_OK; may be
 *               NULL
 * @param user   passed to `cb`, never looked at
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK (it is on its way), HF_INVALID (a bad count), HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_latch_set_start(hf_latch *latch, int64_t count, hf_latch_fn cb,
                              void *user, struct hf_error *err);
/** Count one down, asynchronously: as hf_latch_set_start(). */
HF_API int hf_latch_down_start(hf_latch *latch, hf_latch_fn cb, void *user,
                               struct hf_error *err);
/** Ask for the count, asynchronously: as hf_latch_set_start(). */
HF_API int hf_latch_count_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                struct hf_error *err);
/** Take it away, asynchronously: as hf_latch_set_start(). */
HF_API int hf_latch_delete_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                 struct hf_error *err);
/**
 * Wait for it, asynchronously: as hf_latch_set_start(), statuses as
 * hf_latch_wait().
 *
 * @param options  copied; NULL: for as long as it takes
 */
HF_API int hf_latch_wait_start(hf_latch *latch,
                               const struct hf_wait_options *options,
                               hf_latch_fn cb, void *user,
                               struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
