/*
 * holdfast/once.h: run something at most once, per period or per key.
 *
 *     hf_once *once;
 *     struct hf_once_result result = HF_ONCE_RESULT_INIT;
 *     struct hf_once_options options = HF_ONCE_OPTIONS_INIT;
 *     options.period_ms = 24 * 3600 * 1000;
 *     if (hf_once_begin(client, "report", &options, &once, &result, &err)
 *         == HF_OK) {
 *         if (result.outcome == HF_ONCE_MINE) {
 *             do_work();
 *             hf_once_end(once, 0, NULL, 0, &err);
 *         }
 *         hf_once_result_free(client, &result);
 *     }
 *
 * Of all processes on all hosts that begin the same name, one runs it.  The
 * others learn that it is running, or how it ended.  With a period this is a
 * cron job for many hosts.  Without a period it is an idempotency key: the
 * first request is served, and repeated requests get the stored result.
 *
 * The store records the begin before the run starts.  A run whose process dies
 * is therefore not begun again in its period or under its key, unless
 * HF_ONCE_RETRY is set.
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

/* What the caller of hf_once_begin() is to do. */
enum hf_once_outcome {
    HF_ONCE_MINE = 1,    /* run it now, then call hf_once_end() */
    HF_ONCE_DONE = 2,    /* it was run; status and data tell how it ended */
    HF_ONCE_RUNNING = 3, /* another holder runs it now; only with HF_ONCE_TRY,
                          * and from hf_once_look() */
    HF_ONCE_DIED = 4     /* it was begun, and its holder died before it ended:
                          * it is unknown how far it got */
};

#define HF_ONCE_RETRY                                                          \
    1u /* a run that died, or that ended with a status other than 0, may be
        * run again in the same period and under the same key */
#define HF_ONCE_TRY 2u /* do not wait for a run in progress: HF_ONCE_RUNNING */

/* How to run something once.  Zero is every field's default. */
struct hf_once_options {
    uint32_t struct_size; /* set by HF_ONCE_OPTIONS_INIT */
    uint32_t flags;       /* HF_ONCE_* */
    int64_t period_ms;    /* once per period of the store's clock, counted from
                           * 1970; 0: once per name, until keep_ms are over */
    int64_t keep_ms;      /* how long the store keeps the record after the end;
                           * 0: 24 h, or twice the period if that is longer */
    int64_t wait_ms;      /* longest wait for the end of a run in progress, and
                           * with HF_FALLBACK_WAIT for the store: as in struct
                           * hf_acquire_options */
    int64_t lease_ms;     /* lease of the lock that is held during the run; 0:
                           * the client's */
    int64_t min_hold_ms;  /* no run begins within this time after the begin of
                           * the last run, whatever the period and the flags;
                           * 0: no such limit */
    int64_t max_hold_ms;  /* the lock ends this long after the begin, and its
                           * state is LOST; 0: no such limit */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
    int64_t renew_ms;     /* as in struct hf_acquire_options */
};
#define HF_ONCE_OPTIONS_INIT                                                   \
    {                                                                          \
        sizeof(struct hf_once_options), 0, 0, 0, 0, 0, 0, 0, 0, 0              \
    }
static inline void hf_once_options_init(struct hf_once_options *options)
{
    const struct hf_once_options init = HF_ONCE_OPTIONS_INIT;
    *options = init;
}

/* What the store knows about a run. */
struct hf_once_result {
    /* Set by HF_ONCE_RESULT_INIT. */
    uint32_t struct_size;
    int outcome;            /* enum hf_once_outcome */
    int status;             /* DONE: the status given to hf_once_end() */
    uint64_t fence;         /* fencing token of the run.  MINE: send it with
                             * every write */
    int64_t began_ms;       /* begin, by the store's wall clock */
    int64_t ended_ms;       /* end, by the same clock; 0 if it has not ended */
    int64_t valid_ms;       /* MINE: as hf_hold_valid_ms() */
    int guarantee;          /* MINE: always HF_GUARANTEE_STORE, because a lock
                             * of this host alone is not enough */
    char host[HF_HOST_MAX]; /* host of the run; "" if unknown */
    int64_t pid;            /* process id of the run; 0 if unknown */
    size_t len;             /* DONE: bytes in `data` */
    char *data;             /* the stored result, with a NUL after it; owned by
                             * the caller: hf_once_result_free(); NULL if there
                             * is none */
};
#define HF_ONCE_RESULT_INIT                                                    \
    {                                                                          \
        sizeof(struct hf_once_result), 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0        \
    }
static inline void hf_once_result_init(struct hf_once_result *result)
{
    const struct hf_once_result init = HF_ONCE_RESULT_INIT;
    *result = init;
}

/**
 * Begin a run, unless it was begun before; wait for the end of a run in
 * progress.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param name     1 to HF_ONCE_NAME_MAX bytes, copied.  The lock that is held
 *                 during the run has the same name
 * @param options  copied; NULL means all defaults
 * @param out      filled with a run if the outcome is HF_ONCE_MINE, otherwise
 *                 with NULL, also when this fails; owned by the caller:
 *                 hf_once_end() or hf_once_abandon(); freed with its client,
 *                 as a run that died
 * @param result   owned by the caller; HF_ONCE_RESULT_INIT; filled on HF_OK;
 *                 free its data with hf_once_result_free()
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           result->outcome tells what to do
 *         HF_TIMEOUT      a run was still in progress when wait_ms were over
 *         HF_UNAVAILABLE  do not run it: the store did not answer for
 *                         patience_ms, or with HF_FALLBACK_WAIT for wait_ms
 *                         (and at most patience_ms more).  If the connection
 *                         broke while the begin was recorded, other clients may
 *                         see a run that died; this client may begin it again
 *         HF_CONFLICT     something else is stored in the place of the lock or
 *                         of its record
 *         HF_CANCELLED    the cancel token was fired
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_INVALID      the name or an option is not valid, or struct_size
 *                         of `result` is not set
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed; other clients may see a
 *                         run that died
 *         HF_NOMEM        out of memory
 *
 * Threads: any; another thread may end the run.
 */
HF_API int hf_once_begin(hf_client *client, const char *name,
                         const struct hf_once_options *options, hf_once **out,
                         struct hf_once_result *result, struct hf_error *err);

/* Receives the result of hf_once_begin_start().  `once` is owned by the
 * receiver if the outcome is HF_ONCE_MINE: hf_once_end() or hf_once_abandon();
 * otherwise it is NULL.  `result` and its data are borrowed for the call;
 * `result` is NULL unless `status` is HF_OK.  `err` is borrowed. */
typedef void (*hf_once_begun_fn)(hf_client *client, int status, hf_once *once,
                                 const struct hf_once_result *result,
                                 const struct hf_error *err, void *user);

/**
 * Begin a run, unless it was begun before, asynchronously; wait for the end of
 * a run in progress as hf_once_begin() does.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param name     1 to HF_ONCE_NAME_MAX bytes, copied
 * @param options  copied; NULL means all defaults
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never from inside this function; its status is one
 *                 that hf_once_begin() returns
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the begin has been started
 *         HF_INVALID      the name or an option is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_once_begin_start(hf_client *client, const char *name,
                               const struct hf_once_options *options,
                               hf_once_begun_fn cb, void *user,
                               struct hf_error *err);

/**
 * End a run: record how it ended, and release its lock, so that waiting callers
 * get the result.
 *
 * @param once    taken, whatever this returns; NULL is HF_INVALID
 * @param status  recorded for the other callers; 0 means success
 * @param data    copied; the result to store, at most HF_ONCE_RESULT_MAX bytes;
 *                may be NULL if len is 0
 * @param len     bytes in `data`
 * @param err     filled when this fails, and with HF_OK if the lock could not
 *                be released (it ends with its lease); may be NULL
 *
 * @return HF_OK           recorded
 *         HF_LOST         the lock was lost, and another holder has begun it
 *                         again; the record of that run was not changed
 *         HF_UNAVAILABLE  no answer, or the store accepts no writes.  The end
 *                         may or may not have been recorded; if it was not, it
 *                         looks like a run that died
 *         HF_INVALID      `once` is NULL; or the result is too long, and the
 *                         end was recorded without it
 *         HF_NOMEM        no memory for the result; the end was recorded
 *                         without it
 *         HF_CONFLICT     something else is stored in the place of the lock or
 *                         of its record
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *
 * Threads: any.
 */
HF_API int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                       struct hf_error *err);

/* Receives the result of hf_once_end_start() and hf_once_abandon_start().
 * `err` is borrowed; it is filled unless `status` is HF_OK, and with HF_OK if
 * the lock could not be released. */
typedef void (*hf_once_ended_fn)(hf_client *client, int status,
                                 const struct hf_error *err, void *user);

/**
 * End a run, asynchronously.
 *
 * @param once    taken, unless this returns HF_INVALID or HF_FORKED
 * @param status  recorded for the other callers; 0 means success
 * @param data    copied; the result to store, at most HF_ONCE_RESULT_MAX bytes;
 *                may be NULL if len is 0
 * @param len     bytes in `data`
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_once_end() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK       the end has been started
 *         HF_INVALID  `once` or `cb` is NULL.  A result that is too long is
 *                     told to `cb`
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed; the run looks like one that
 *                     died
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_once_end_start(hf_once *once, int status, const void *data,
                             size_t len, hf_once_ended_fn cb, void *user,
                             struct hf_error *err);

/**
 * Abandon a run that was not carried out: delete the record of its begin, so
 * that another caller may run it at once.  If there was a record of an earlier
 * run, that record is restored for the rest of its time.
 *
 * @param once  taken, whatever this returns; NULL does nothing
 * @param err   as for hf_once_end(); may be NULL
 *
 * @return HF_OK           the record is deleted
 *         HF_LOST         the lock was lost, and another holder has begun it
 *                         again; the record of that run was not changed
 *         HF_UNAVAILABLE  no answer.  The record may or may not have been
 *                         deleted; if it was not, it looks like a run that died
 *         HF_CONFLICT     something else is stored in the place of the lock or
 *                         of its record
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_once_abandon(hf_once *once, struct hf_error *err);

/**
 * Abandon a run that was not carried out, asynchronously.
 *
 * @param once  taken, unless this returns HF_INVALID or HF_FORKED
 * @param cb    called exactly once if, and only if, this returns HF_OK, and
 *              never from inside this function; its status is one that
 *              hf_once_abandon() returns
 * @param user  passed to `cb` unchanged
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK       the deletion has been started
 *         HF_INVALID  `once` or `cb` is NULL
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_CLOSED   the client is being closed; the run looks like one that
 *                     died
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_once_abandon_start(hf_once *once, hf_once_ended_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Return the hold of the lock that is held during the run, to query it, feed
 * it, and receive its changes of state.
 *
 * @param once  borrowed; may be NULL
 * @return borrowed until hf_once_end() or hf_once_abandon(), which release it;
 *         NULL if `once` is NULL
 *
 * Threads: any; nothing is sent.
 */
HF_API hf_hold *hf_once_hold(const hf_once *once);

/**
 * Ask the store about a run, without beginning one.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param name     1 to HF_ONCE_NAME_MAX bytes, copied
 * @param options  borrowed; only period_ms and min_hold_ms are used; NULL means
 *                 all defaults
 * @param result   owned by the caller; HF_ONCE_RESULT_INIT; filled on HF_OK;
 *                 free its data with hf_once_result_free().  Its outcome is 0
 *                 if nothing was begun in this period
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           `result` is filled
 *         HF_UNAVAILABLE  the store did not answer, or the record kept changing
 *         HF_CONFLICT     something else is stored in the place of the lock or
 *                         of its record
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_INVALID      the name or an option is not valid, or struct_size
 *                         of `result` is not set
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed; other clients may see a
 *                         run that died
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_once_look(hf_client *client, const char *name,
                        const struct hf_once_options *options,
                        struct hf_once_result *result, struct hf_error *err);

/* Receives the result of hf_once_look_start().  `result` and its data are
 * borrowed for the call; `result` is NULL unless `status` is HF_OK.  `err` is
 * borrowed. */
typedef void (*hf_once_looked_fn)(hf_client *client, int status,
                                  const struct hf_once_result *result,
                                  const struct hf_error *err, void *user);

/**
 * Ask the store about a run, asynchronously.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param name     1 to HF_ONCE_NAME_MAX bytes, copied
 * @param options  copied; as for hf_once_look()
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never from inside this function; its status is one
 *                 that hf_once_look() returns
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the question has been sent
 *         HF_INVALID      the name or an option is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_once_look_start(hf_client *client, const char *name,
                              const struct hf_once_options *options,
                              hf_once_looked_fn cb, void *user,
                              struct hf_error *err);

/**
 * Free the data of a result.
 *
 * @param client  borrowed; the client that filled `result`
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
