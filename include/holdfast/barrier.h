/*
 * holdfast/barrier.h: wait until all are there, and go on together.
 *
 *     hf_barrier *b;  struct hf_passed p;
 *     hf_barrier_open(c, "phase", 3, &b, &err);
 *     while (work_is_left) {
 *         ...
 *         hf_barrier_wait(b, NULL, &p, &err);
 *     }
 *
 * The third of three parties to come lets all three through, and the barrier is
 * as new: the next three make the next generation.  Each that waits tells the
 * store every second that it lives: who dies is taken off within three, and who
 * gives up at once, so that nobody goes on because of one that is gone.
 *
 * Needs HF_CAP_TALLY.  Nothing stays in the store: a barrier that nobody uses
 * ends by itself, within a minute.
 */
#ifndef HOLDFAST_BARRIER_H
#define HOLDFAST_BARRIER_H

#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_barrier hf_barrier;

#define HF_BARRIER_PARTIES_MAX 1000

/* How a party got through. */
struct hf_passed {
    uint64_t generation; /* the same for all that went on together; rises from
                          * one to the next, not by one: it is the store's clock
                          * in microseconds, rounded down to a multiple of the
                          * parties, or the next multiple above the last one if
                          * that is later.  So it rises also after the store has
                          * lost its data, unless the clock was set back */
    int64_t index;       /* 0 to parties - 1, one each; the one that came last
                          * has the highest */
};

/* `passed` is NULL on any status but HF_OK. */
typedef void (*hf_passed_fn)(hf_barrier *barrier, int status,
                             const struct hf_passed *passed,
                             const struct hf_error *err, void *user);

/**
 * Make a barrier object.  Asks the store nothing.
 *
 * @param client   borrowed; must outlive it
 * @param name     1 to 512 bytes, copied; one name, one kind
 * @param parties  how many go on together: 1 to HF_BARRIER_PARTIES_MAX; all
 *                 must give the same number
 * @param out      owned by the caller: hf_barrier_close()
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK, HF_INVALID (a bad name or number), HF_UNSUPPORTED (no barriers
 *         there), HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_barrier_open(hf_client *client, const char *name, int64_t parties,
                           hf_barrier **out, struct hf_error *err);

/**
 * Forget a barrier object.
 *
 * @param barrier  taken; NULL does nothing; no call may be using it
 *
 * Threads: any.
 */
HF_API void hf_barrier_close(hf_barrier *barrier);

/**
 * The name it was opened with.
 *
 * @param barrier  borrowed
 * @return borrowed, as long as the barrier object lives
 *
 * Threads: any.
 */
HF_API const char *hf_barrier_name(const hf_barrier *barrier);

/**
 * Wait until as many as it needs are there.  Every call is one party, also on
 * one thread after the other or on one object.
 *
 * @param barrier  borrowed
 * @param options  copied; NULL: for as long as it takes
 * @param passed   filled on HF_OK; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK         all were there
 *         HF_TAKEN      HF_WAIT_TRY, and some are missing; nobody has seen it
 *                       come
 *         HF_TIMEOUT    not before wait_ms were over
 *         HF_CANCELLED  by `cancel`
 *         HF_CONFLICT   others wait there for another number of parties, or
 *                       something that is no barrier is stored under its name
 *         HF_LOST       the store has forgotten that this party waited, by a
 *                       loss of its data or because it was not heard of for too
 *                       long: whether the others went on is not known
 *         HF_UNAVAILABLE, HF_DENIED, HF_INVALID, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * After any status but HF_OK and HF_LOST the party is taken off.  If the last
 * of the others came in the very moment in which it gave up, they have gone on.
 *
 * Threads: any; many at a time.
 */
HF_API int hf_barrier_wait(hf_barrier *barrier,
                           const struct hf_wait_options *options,
                           struct hf_passed *passed, struct hf_error *err);

/**
 * The same, asynchronously; statuses as hf_barrier_wait().
 *
 * @param barrier  borrowed until `cb` is called
 * @param cb       called exactly once if, and only if, this returns HF_OK; may
 *                 be NULL
 * @param user     passed to `cb`, never looked at
 *
 * @return HF_OK (it is on its way), HF_INVALID, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_barrier_wait_start(hf_barrier *barrier,
                                 const struct hf_wait_options *options,
                                 hf_passed_fn cb, void *user,
                                 struct hf_error *err);

/**
 * How many wait there now.
 *
 * @param barrier  borrowed
 * @param waiting  filled on HF_OK
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK, HF_CONFLICT, HF_UNAVAILABLE, HF_DENIED, HF_FORKED, HF_CLOSED,
 *         HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_barrier_waiting(hf_barrier *barrier, int64_t *waiting,
                              struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
