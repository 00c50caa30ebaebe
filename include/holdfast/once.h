/*
 * holdfast/once.h: at most once: per period, or per key.
 *
 * Of all the processes on all the hosts that begin the same thing, one runs it;
 * the others are told that it runs, or how it ended.  With a period it is the
 * cron job of a fleet; without one it is an idempotency key: the first request
 * is served, its repetitions get the stored result.
 *
 * That it began is written down before it runs: a run whose process dies is
 * not begun again, in its period or under its key, unless HF_ONCE_RETRY says
 * so.
 */
#ifndef HOLDFAST_ONCE_H
#define HOLDFAST_ONCE_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_once hf_once;

#define HF_ONCE_NAME_MAX 480     /* bytes in a name */
#define HF_ONCE_RESULT_MAX 60000 /* bytes in a stored result */

/* What became of it. */
enum hf_once_outcome {
    HF_ONCE_MINE = 1,    /* run it now, then call hf_once_end() */
    HF_ONCE_DONE = 2,    /* it has been run: status and data say how it ended */
    HF_ONCE_RUNNING = 3, /* somebody runs it now: with HF_ONCE_TRY, or when it
                          * is only looked at */
    HF_ONCE_DIED = 4     /* it was begun, and whoever did is gone without an
                          * end: nobody knows how far it got */
};

#define HF_ONCE_RETRY                                                          \
    1u /* a run that died, or that ended with another status than 0, may be
        * run again, in the same period and under the same key */
#define HF_ONCE_TRY 2u /* do not wait for one that runs: HF_ONCE_RUNNING */

/* How to do it.  Zero is every field's default. */
struct hf_once_options {
    uint32_t struct_size; /* set by HF_ONCE_OPTIONS_INIT */
    uint32_t flags;       /* HF_ONCE_* */
    int64_t period_ms;    /* once per period of the store's clock, counted from
                           * 1970; 0: once per name, until keep_ms are over */
    int64_t keep_ms;      /* how long the record of it is kept from its end; 0:
                           * 24 h, or twice the period if that is more */
    int64_t wait_ms;      /* how long to wait for the end of one that runs,
                           * and with HF_FALLBACK_WAIT for the store: as in
                           * struct hf_acquire_options */
    int64_t lease_ms;     /* of the lock that is held meanwhile; 0: the
                           * client's */
    int64_t min_hold_ms;  /* nobody runs it again within so long of its begin,
                           * whatever the period and the flags; 0: no such
                           * thing */
    int64_t max_hold_ms;  /* the lock ends after so long (LOST is told); 0:
                           * never */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
    int64_t renew_ms;     /* as in struct hf_acquire_options */
};
#define HF_ONCE_OPTIONS_INIT                                                   \
    {                                                                          \
        sizeof(struct hf_once_options), 0, 0, 0, 0, 0, 0, 0, 0, 0              \
    }

/* What is known of a run. */
struct hf_once_result {
    int outcome;            /* enum hf_once_outcome */
    int status;             /* DONE: what hf_once_end() was given */
    uint64_t fence;         /* of the run: MINE: send it with every write */
    int64_t began_ms;       /* wall clock of the store */
    int64_t ended_ms;       /* 0 if it has not ended */
    int64_t valid_ms;       /* MINE: as hf_hold_valid_ms() */
    int guarantee;          /* MINE: enum hf_guarantee: HF_GUARANTEE_STORE, for
                             * a lock of this host alone is not enough */
    char host[HF_HOST_MAX]; /* where it runs or ran, "" unknown */
    int64_t pid;            /* 0 unknown */
    size_t len;             /* DONE: bytes in `data` */
    char *data;             /* owned by the caller: hf_once_result_free(); a NUL
                             * is behind it; NULL if there is none */
};

/**
 * Begin it, if nobody has; wait for the end of one that runs.
 *
 * @param client   borrowed; needs HF_CAP_VALUE; must outlive `out`
 * @param name     1 to HF_ONCE_NAME_MAX bytes, copied.  The lock that is held
 *                 during the run has this very name
 * @param options  copied; NULL means all defaults
 * @param out      filled with a run if the outcome is MINE, else with NULL,
 *                 also when this fails; owned by the caller: hf_once_end() or
 *                 hf_once_abandon()
 * @param result   filled on HF_OK; its data is owned by the caller:
 *                 hf_once_result_free()
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           result->outcome says what to do
 *         HF_TIMEOUT      it still ran when wait_ms were over
 *         HF_UNAVAILABLE  it is not to be run: the store did not answer for
 *                         patience_ms, or with HF_FALLBACK_WAIT for wait_ms
 *                         (and at most patience_ms more).  If the store went
 *                         away in the very middle, it may look to others like
 *                         a run that died; this client may begin it again
 *         HF_CONFLICT     something else is in the place of the lock or of
 *                         its record
 *         HF_CANCELLED, HF_UNSUPPORTED, HF_DENIED, HF_INVALID, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * Threads: any; the run may be ended by another thread.
 */
HF_API int hf_once_begin(hf_client *client, const char *name,
                         const struct hf_once_options *options, hf_once **out,
                         struct hf_once_result *result, struct hf_error *err);

/**
 * It is over: write down how it ended, and let the others go on.
 *
 * @param once    taken, whatever this returns; NULL is HF_INVALID
 * @param status  what the others are told; 0 means success
 * @param data    copied; the result that is stored, at most HF_ONCE_RESULT_MAX
 *                bytes; may be NULL if len is 0
 * @param len     bytes in `data`
 * @param err     filled when this fails, and with HF_OK if the lock could not
 *                be given back (it ends with its lease); may be NULL
 *
 * @return HF_OK           written down
 *         HF_LOST         the lock was lost meanwhile and somebody else has
 *                         begun it again; his record was not touched
 *         HF_UNAVAILABLE  no answer, or the store takes no writes: it may or
 *                         may not have been written down; if not, it looks
 *                         like a run that died
 *         HF_INVALID (the result is too long: written down without it),
 *         HF_NOMEM (no memory for the result: the same), HF_CONFLICT,
 *         HF_DENIED, HF_FORKED, HF_CLOSED
 *
 * Threads: any.
 */
HF_API int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                       struct hf_error *err);

/**
 * It has not been run after all: forget that it was begun, so that somebody
 * else may run it at once.  If there was a record of an earlier run, that is
 * there again, for the rest of its time.
 *
 * @param once  taken, whatever this returns; NULL does nothing
 * @param err   as for hf_once_end(); may be NULL
 *
 * @return HF_OK           forgotten
 *         HF_LOST         the lock was lost meanwhile and somebody else has
 *                         begun it again; his record was not touched
 *         HF_UNAVAILABLE  it may or may not have been forgotten; if not, it
 *                         looks like a run that died
 *         HF_CONFLICT, HF_DENIED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_once_abandon(hf_once *once, struct hf_error *err);

/**
 * The hold of the lock that is held during the run: ask it, feed it, be told of
 * its changes.
 *
 * @param once  borrowed
 * @return borrowed until the run is ended, which releases it
 *
 * Threads: any; nothing is sent.
 */
HF_API hf_hold *hf_once_hold(const hf_once *once);

/**
 * Ask what is known of it, without beginning anything.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param name     1 to HF_ONCE_NAME_MAX bytes, copied
 * @param options  period_ms and min_hold_ms count; NULL: as without them
 * @param result   filled on HF_OK; outcome 0: it has not been begun in this
 *                 period; its data is owned by the caller:
 *                 hf_once_result_free()
 * @param err      filled when this fails; may be NULL
 *
 * @return as hf_once_begin()
 *
 * Threads: any.
 */
HF_API int hf_once_look(hf_client *client, const char *name,
                        const struct hf_once_options *options,
                        struct hf_once_result *result, struct hf_error *err);

/**
 * Free the data of a result.
 *
 * @param client  borrowed; the one that filled it
 * @param result  its data is taken
 *
 * Threads: any.
 */
HF_API void hf_once_result_free(hf_client *client,
                                struct hf_once_result *result);

#ifdef __cplusplus
}
#endif
#endif
