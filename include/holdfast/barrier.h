/*
 * holdfast/barrier.h: wait until all parties have arrived, then continue
 * together.
 *
 *     hf_barrier *barrier;
 *     struct hf_passed passed = HF_PASSED_INIT;
 *     if (hf_barrier_open(client, "phase", 3, &barrier, &err) == HF_OK) {
 *         if (hf_barrier_wait(barrier, NULL, &passed, &err) == HF_OK)
 *             do_work();
 *         hf_barrier_close(barrier);
 *     }
 *
 * The third of three parties lets all three through, and the barrier is empty
 * again: the next three parties form the next generation.  A waiting party
 * tells the store every second that it is alive.  A party that dies is removed
 * within three seconds, and a party that gives up is removed at once.  No party
 * passes because of a party that has gone.
 *
 * Needs HF_CAP_TALLY.  Nothing stays in the store: an unused barrier is deleted
 * within a minute.
 */
#ifndef HOLDFAST_BARRIER_H
#define HOLDFAST_BARRIER_H

#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_barrier hf_barrier;

#define HF_BARRIER_PARTIES_MAX 1000

/* How a party passed the barrier. */
struct hf_passed {
    /* Set by HF_PASSED_INIT. */
    uint32_t struct_size;
    uint64_t generation; /* the same number for all parties that passed
                          * together.  It rises from one generation to the next,
                          * but not by one: it is the store's clock in
                          * microseconds, rounded down to a multiple of the
                          * number of parties, or the next multiple above the
                          * last generation if that is higher.  It also rises
                          * after the store has lost its data, unless the clock
                          * was set back */
    int64_t index;       /* 0 to parties - 1, different for each party; the
                          * party that arrived last has the highest */
};
#define HF_PASSED_INIT                                                         \
    {                                                                          \
        sizeof(struct hf_passed), 0, 0                                         \
    }
static inline void hf_passed_init(struct hf_passed *passed)
{
    const struct hf_passed init = HF_PASSED_INIT;
    *passed = init;
}

/* Receives the result of hf_barrier_wait_start().  `passed` is borrowed for the
 * call, and NULL unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_passed_fn)(hf_barrier *barrier, int status,
                             const struct hf_passed *passed,
                             const struct hf_error *err, void *user);

/**
 * Create a barrier object.  Sends nothing to the store.
 *
 * @param client   borrowed
 * @param name     1 to 512 bytes, copied; a name is used as one kind only
 * @param parties  how many parties continue together: 1 to
 *                 HF_BARRIER_PARTIES_MAX; all parties must give the same number
 * @param out      owned by the caller: hf_barrier_close(); closed with its
 *                 client
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           created
 *         HF_INVALID      the name or the number of parties is not valid
 *         HF_UNSUPPORTED  the store has no barriers
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_barrier_open(hf_client *client, const char *name, int64_t parties,
                           hf_barrier **out, struct hf_error *err);

/**
 * Free a barrier object.
 *
 * @param barrier  taken; NULL does nothing; its client must be open, and no
 *                 call may be using it
 *
 * Threads: any.
 */
HF_API void hf_barrier_close(hf_barrier *barrier);

/**
 * Return the name that the barrier object was opened with.
 *
 * @param barrier  borrowed
 * @return borrowed until hf_barrier_close()
 *
 * Threads: any.
 */
HF_API const char *hf_barrier_name(const hf_barrier *barrier);

/**
 * Wait until all parties have arrived.  Every call counts as one party, even if
 * several calls use the same thread or the same object.
 *
 * @param barrier  borrowed
 * @param options  copied; NULL: wait without a limit
 * @param passed   HF_PASSED_INIT; filled on HF_OK; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           all parties arrived
 *         HF_TAKEN        HF_WAIT_TRY is set and not all parties have arrived;
 *                         this call was not counted
 *         HF_TIMEOUT      not all parties arrived within wait_ms
 *         HF_CANCELLED    the cancel token was fired
 *         HF_CONFLICT     other parties wait there for a different number of
 *                         parties, or something other than a barrier is stored
 *                         under the name
 *         HF_LOST         the store has forgotten this party, because it lost
 *                         its data or did not hear from the client for too
 *                         long; it is unknown whether the others passed
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_INVALID      an option is not valid
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * After any status but HF_OK and HF_LOST the party is removed.  If the last of
 * the other parties arrived at the moment this party gave up, the others have
 * passed.
 *
 * Threads: any; many at a time.
 */
HF_API int hf_barrier_wait(hf_barrier *barrier,
                           const struct hf_wait_options *options,
                           struct hf_passed *passed, struct hf_error *err);

/**
 * Wait for all parties, asynchronously.
 *
 * @param barrier  borrowed until `cb` is called
 * @param options  copied; NULL: wait without a limit
 * @param cb       called exactly once if, and only if, this returns HF_OK; its
 *                 status is one that hf_barrier_wait() returns; may be NULL
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK       the wait has started
 *         HF_INVALID  an option is not valid
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed
 *         HF_NOMEM    out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_barrier_wait_start(hf_barrier *barrier,
                                 const struct hf_wait_options *options,
                                 hf_passed_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Ask the store how many parties wait at the barrier now.
 *
 * @param barrier  borrowed
 * @param waiting  filled on HF_OK
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           `waiting` is filled
 *         HF_CONFLICT     something other than a barrier is stored there
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_barrier_waiting(hf_barrier *barrier, int64_t *waiting,
                              struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
