/*
 * holdfast/latch.h: wait until a number of events have happened.
 *
 *     hf_latch *latch;
 *     if (hf_latch_open(client, "import-42", &latch, &err) == HF_OK) {
 *         hf_latch_set(latch, 8, &err);     // one process sets the count
 *         hf_latch_down(latch, NULL, &err); // eight processes count down
 *         hf_latch_wait(latch, NULL, &err); // any number of processes wait
 *         hf_latch_close(latch);
 *     }
 *
 * A latch is a number in the store.  It has no owner, is not renewed, and does
 * not expire: a program that sets a latch and may fail has to delete it.  A
 * latch that is not set, or has reached zero, is open: a wait for it returns at
 * once.  So set the latch before the waiters start.  If a store loses its data,
 * its latches are open; where that matters, count what has been done.
 *
 * Needs HF_CAP_TALLY.  On Redis it is Redisson's RCountDownLatch: programs of
 * both libraries can count down and wait for the same latch.
 */
#ifndef HOLDFAST_LATCH_H
#define HOLDFAST_LATCH_H

#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_latch hf_latch;

#define HF_LATCH_MAX 1000000000 /* the highest count */

/* Receives the result of an asynchronous call.  `left` is the count after it,
 * on HF_OK and HF_TAKEN; for hf_latch_delete_start(), 1 if the latch was set,
 * otherwise 0.  `err` is borrowed. */
typedef void (*hf_latch_fn)(hf_latch *latch, int status, int64_t left,
                            const struct hf_error *err, void *user);

/* Receives the result of hf_latch_wait_start().  `err` is borrowed. */
typedef void (*hf_latch_waited_fn)(hf_latch *latch, int status,
                                   const struct hf_error *err, void *user);

/**
 * Create a latch object.  Sends nothing to the store.
 *
 * @param client  borrowed
 * @param name    1 to 512 bytes, copied; a name is used as one kind only: as a
 *                latch, a lock or a semaphore
 * @param out     owned by the caller: hf_latch_close(); closed with its client
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           created
 *         HF_INVALID      the name is not valid
 *         HF_UNSUPPORTED  the store has no latches
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_latch_open(hf_client *client, const char *name, hf_latch **out,
                         struct hf_error *err);

/* hf_latch_open_as(): setting, counting and deleting fail with HF_CONFLICT if
 * the number under the name was not written by holdfast.  Redisson's RSemaphore
 * and RCountDownLatch look the same on the server, and so does a holdfast latch
 * that was not changed for 30 days.  Without this flag each of them is treated
 * as a latch, for programs that share one with Redisson. */
#define HF_LATCH_OURS 1u

/**
 * Create a latch object like hf_latch_open(), with flags.
 *
 * @param client  borrowed
 * @param name    as for hf_latch_open()
 * @param flags   HF_LATCH_OURS or 0
 * @param out     owned by the caller: hf_latch_close(); closed with its client
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_latch_open(); HF_INVALID also for an unknown flag
 *
 * Threads: any.
 */
HF_API int hf_latch_open_as(hf_client *client, const char *name, uint32_t flags,
                            hf_latch **out, struct hf_error *err);

/**
 * Free a latch object; the latch in the store is not changed.
 *
 * @param latch  taken; NULL does nothing; its client must be open, and no call
 *               may be using it
 *
 * Threads: any.
 */
HF_API void hf_latch_close(hf_latch *latch);

/**
 * Return the name that the latch object was opened with.
 *
 * @param latch  borrowed
 * @return borrowed until hf_latch_close()
 *
 * Threads: any.
 */
HF_API const char *hf_latch_name(const hf_latch *latch);

/**
 * Set a latch that is not set.  If an answer is lost, the request is repeated,
 * and carried out once.
 *
 * @param latch  borrowed
 * @param count  1 to HF_LATCH_MAX
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           the latch opens after `count` calls of
 *                         hf_latch_down()
 *         HF_TAKEN        the latch is set already, and was not changed; the
 *                         text gives the count that is left
 *         HF_INVALID      the count is out of range
 *         HF_CONFLICT     something other than a latch is stored under the name
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_latch_set(hf_latch *latch, int64_t count, struct hf_error *err);

/**
 * Count down by one.  At zero all waiters continue.
 *
 * @param latch  borrowed
 * @param left   filled on HF_OK with the count that is left; may be NULL
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           counted, once
 *         HF_INVALID      the latch is not set, or has reached zero; nothing
 *                         was counted
 *         HF_CONFLICT     something other than a latch is stored under the name
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_latch_down(hf_latch *latch, int64_t *left, struct hf_error *err);

/**
 * Ask the store for the count that is left.
 *
 * @param latch  borrowed
 * @param left   filled on HF_OK; 0 if the latch is open
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           `left` is filled
 *         HF_CONFLICT     something other than a latch is stored under the name
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_latch_count(hf_latch *latch, int64_t *left, struct hf_error *err);

/**
 * Delete a latch.  Calls that wait for it return HF_LOST.
 *
 * @param latch    borrowed
 * @param was_set  filled on HF_OK: 1 if the latch was set, otherwise 0; may be
 *                 NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return as hf_latch_count(); HF_OK also if the latch was not set
 *
 * Threads: any.
 */
HF_API int hf_latch_delete(hf_latch *latch, int *was_set, struct hf_error *err);

/**
 * Wait until the latch is open: not set, or at zero.  If a wake-up is lost, the
 * wait ends a few seconds late, because the store is asked again.
 *
 * @param latch    borrowed
 * @param options  copied; NULL: wait without a limit
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the latch is open
 *         HF_TAKEN        HF_WAIT_TRY is set, and the latch is not open; the
 *                         text gives the count that is left
 *         HF_TIMEOUT      the latch did not open within wait_ms; the text gives
 *                         the count that is left
 *         HF_CANCELLED    the cancel token was fired
 *         HF_LOST         the latch was deleted during the wait.  (A wait that
 *                         begins later finds it open.  So does a wait for a
 *                         latch that Redisson deletes, which leaves no trace)
 *         HF_INVALID      an option is not valid
 *         HF_CONFLICT     something other than a latch is stored under the name
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; many at a time.
 */
HF_API int hf_latch_wait(hf_latch *latch, const struct hf_wait_options *options,
                         struct hf_error *err);

/**
 * Set a latch, asynchronously.
 *
 * @param latch  borrowed until `cb` is called
 * @param count  1 to HF_LATCH_MAX
 * @param cb     called exactly once if, and only if, this returns HF_OK; its
 *               status is one that hf_latch_set() returns; may be NULL
 * @param user   passed to `cb` unchanged
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK       the request has been started
 *         HF_INVALID  the count is out of range
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_latch_set_start(hf_latch *latch, int64_t count, hf_latch_fn cb,
                              void *user, struct hf_error *err);
/**
 * Count down by one, asynchronously.
 *
 * @param latch  borrowed until `cb` is called
 * @param cb     called exactly once if, and only if, this returns HF_OK; its
 *               status is one that hf_latch_down() returns; may be NULL
 * @param user   passed to `cb` unchanged
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK       the request has been started
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_latch_down_start(hf_latch *latch, hf_latch_fn cb, void *user,
                               struct hf_error *err);
/**
 * Ask the store for the count that is left, asynchronously.
 *
 * @param latch  borrowed until `cb` is called
 * @param cb     called exactly once if, and only if, this returns HF_OK; its
 *               status is one that hf_latch_count() returns; may be NULL
 * @param user   passed to `cb` unchanged
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK       the request has been started
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_latch_count_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                struct hf_error *err);
/**
 * Delete a latch, asynchronously.
 *
 * @param latch  borrowed until `cb` is called
 * @param cb     called exactly once if, and only if, this returns HF_OK; its
 *               status is one that hf_latch_delete() returns; may be NULL
 * @param user   passed to `cb` unchanged
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK       the request has been started
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_latch_delete_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                 struct hf_error *err);
/**
 * Wait until the latch is open, asynchronously.
 *
 * @param latch    borrowed until `cb` is called
 * @param options  copied; NULL: wait without a limit
 * @param cb       called exactly once if, and only if, this returns HF_OK; its
 *                 status is one that hf_latch_wait() returns; may be NULL
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK       the request has been started
 *         HF_INVALID  an option is not valid
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_latch_wait_start(hf_latch *latch,
                               const struct hf_wait_options *options,
                               hf_latch_waited_fn cb, void *user,
                               struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
