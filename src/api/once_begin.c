/*
 * once_begin.c: beginning a run, or hearing of the one there is.
 *
 * The rule: that it began is written down, under the lock, before anybody is
 * told to run it.
 */
#include <poll.h>
#include <string.h>

#include "api/once_run.h"
#include "base/error.h"
#include "sys/clock.h"

#define BEGIN_TRIES 3     /* a record that changes although we have the lock */
#define AGAIN_PAUSE_MS 50 /* the store took the lock, but not the record */

static void run_release(hf_once *once)
{
    (void)hf_hold_release(once->hold, NULL);
    once->hold = NULL;
}

/* Nobody was told to run it, but its record may have arrived: take it back. */
static void begin_undo(hf_once *once)
{
    struct hf_value v;
    struct once_record r;
    if (hf__once_read(once, &v, &r, NULL) != HF_OK) return;
    if (v.version && hf__once_is_same(&once->record, &r) && !r.is_ended)
        (void)hf__once_undo(once, v.version, NULL);
    hf_value_free(once->client, &v);
}

/* Should it not be run after all, what ours replaced is to be there again,
 * unless that says of a run that it began although it did not. */
static void before_keep(hf_once *once, struct hf_value *v, int is_void)
{
    hf_value_free(once->client, &once->before);
    if (is_void) return;
    once->before = *v;
    v->data = NULL;
}

static int run_write_begin(hf_once *once, struct hf_value *v, int is_void,
                           struct hf_once_result *result, struct hf_error *err)
{
    once->record.began_ms = v->now_ms;
    once->began_us = hf__clock_us();
    before_keep(once, v, is_void);
    int status = hf__once_write(once, v->version, NULL, 0, v->now_ms, err);
    if (status == HF_UNAVAILABLE) {
        begin_undo(once);
        hf__once_doubt(once);
    }
    if (status != HF_OK) return status;
    struct hf_value none = {0};
    hf__once_tell(&once->record, &none, HF_ONCE_MINE, result);
    result->valid_ms = hf_hold_valid_ms(once->hold);
    return HF_OK;
}

/* It is not run, for the record says that it was; if that is of a time to come
 * it will say so for long. */
static void begin_refuse(hf_once *once, const struct once_record *r,
                         struct hf_value *v, int outcome,
                         struct hf_once_result *result)
{
    if (hf__once_is_ahead(r, &once->o, v->now_ms))
        hf__client_warn(once->client,
                        "%.80s: not run: its record is of a time to come, "
                        "%lld s ahead of the store's clock: delete the value "
                        "%.80s if it is wrong",
                        hf_lock_name(once->lock),
                        (long long)(r->began_ms - v->now_ms) / 1000, once->key);
    hf__once_tell(r, v, outcome, result);
}

/* The lock is ours: begin it, or say why not and give the lock back. */
static int begin_locked(hf_once *once, struct hf_once_result *result,
                        struct hf_error *err)
{
    struct hf_value v;
    struct once_record r;
    int outcome = 0, status = hf__once_read(once, &v, &r, err);
    if (status == HF_OK) {
        outcome = hf__once_decide(v.version ? &r : NULL, &once->o, v.now_ms);
        if (outcome == HF_ONCE_MINE)
            status = run_write_begin(once, &v, r.is_void, result, err);
        else
            begin_refuse(once, &r, &v, outcome, result);
        hf_value_free(once->client, &v);
    }
    if (status != HF_OK || outcome != HF_ONCE_MINE) run_release(once);
    return status;
}

/* It has ended, and need not be run again: nobody need wait for that. */
static int begin_is_done(hf_once *once, struct hf_once_result *result,
                         struct once_record *r, int *status,
                         struct hf_error *err)
{
    struct hf_value v;
    *status = hf__once_read(once, &v, r, err);
    if (*status != HF_OK) return 0;
    int is_done = v.version && r->is_ended
                  && hf__once_decide(r, &once->o, v.now_ms) == HF_ONCE_DONE;
    if (is_done) begin_refuse(once, r, &v, HF_ONCE_DONE, result);
    hf_value_free(once->client, &v);
    return is_done;
}

/* Somebody else has the lock. */
static int begin_beaten(hf_once *once, int status,
                        struct hf_once_result *result, struct hf_error *err)
{
    struct once_record r;
    int read;
    if (begin_is_done(once, result, &r, &read, NULL)) return HF_OK;
    if (status == HF_TIMEOUT)
        return hf__error_set(err, HF_TIMEOUT, "%.80s: it still runs",
                             hf_lock_name(once->lock));
    /* Between lock and record nothing is known of the one who has it. */
    if (read != HF_OK || r.is_ended || r.is_void) memset(&r, 0, sizeof r);
    struct hf_value none = {0};
    hf__once_tell(&r, &none, HF_ONCE_RUNNING, result);
    return HF_OK;
}

/* What is left of the wait, as an acquire has it; -1: nothing is, or one try
 * was asked for. */
static int64_t wait_left_ms(const hf_once *once)
{
    if (once->o.flags & HF_ONCE_TRY) return -1;
    if (once->o.wait_ms == 0) return 0;
    int64_t left_ms = (once->end_us - hf__clock_us()) / US_PER_MS;
    return left_ms > 0 ? left_ms : -1;
}

static int begin_lock(hf_once *once, struct hf_error *err)
{
    struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_error why = {0};
    a.holder = hf_holder_new();
    int64_t left_ms = wait_left_ms(once);
    if (left_ms < 0)
        a.flags = HF_ACQUIRE_TRY;
    else
        a.wait_ms = left_ms;
    a.lease_ms = once->o.lease_ms;
    a.max_hold_ms = once->o.max_hold_ms;
    a.renew_ms = once->o.renew_ms;
    a.cancel = once->o.cancel;
    int status = hf_lock_acquire(once->lock, &a, &once->hold, &why);
    if (status != HF_OK) *err = why;
    /* Tried once because the time is over: the caller did wait. */
    if (status == HF_TAKEN && once->o.wait_ms > 0) status = HF_TIMEOUT;
    if (status != HF_OK) return status;
    once->record.fence = hf_hold_fence(once->hold);
    if (hf_hold_guarantee(once->hold) == HF_GUARANTEE_STORE) return HF_OK;
    run_release(once);
    return hf__error_set(err, HF_UNAVAILABLE,
                         "%.80s: a lock of this host alone keeps nobody else "
                         "from running it",
                         why.text);
}

/* The acquire waits for a store that cannot be reached, as long as we do. */
static int is_patient(const hf_once *once)
{
    return once->client->pump.engine.conf.is_patient && wait_left_ms(once) >= 0;
}

/* HF_CHANGED: once more, the record is not what it was; `is_again` is set if
 * the store went away in the middle. */
static int begin_round(hf_once *once, struct hf_once_result *result,
                       int *is_again, struct hf_error *err)
{
    struct once_record r;
    int status;
    *is_again = 0;
    if (begin_is_done(once, result, &r, &status, err)) return HF_OK;
    if (status != HF_OK && (status != HF_UNAVAILABLE || !is_patient(once)))
        return status;
    status = begin_lock(once, err);
    if (status == HF_TAKEN || status == HF_TIMEOUT)
        return begin_beaten(once, status, result, err);
    if (status != HF_OK) return status;
    status = begin_locked(once, result, err);
    *is_again = status == HF_UNAVAILABLE && is_patient(once);
    return status;
}

static int begin_run(hf_once *once, struct hf_once_result *result,
                     struct hf_error *err)
{
    for (int changes = 0, is_again;;) {
        int status = begin_round(once, result, &is_again, err);
        if (is_again)
            (void)poll(NULL, 0, AGAIN_PAUSE_MS);
        else if (status != HF_CHANGED)
            return status;
        else if (++changes == BEGIN_TRIES)
            return hf__error_set(err, HF_UNAVAILABLE,
                                 "%.80s: its record kept changing",
                                 hf_lock_name(once->lock));
    }
}

static int begin(hf_client *client, const char *name,
                 const struct hf_once_options *options, hf_once **out,
                 struct hf_once_result *result, struct hf_error *err)
{
    hf_once *once = NULL;
    struct hf_once_result found = {0};
    int status = hf__once_open(client, name, options, &once, err);
    if (status != HF_OK) return status;
    status = begin_run(once, &found, err);
    if (status == HF_OK) *result = found;
    if (status == HF_OK && found.outcome == HF_ONCE_MINE)
        *out = once;
    else
        hf__once_close(once);
    return status;
}

int hf_once_begin(hf_client *client, const char *name,
                  const struct hf_once_options *options, hf_once **out,
                  struct hf_once_result *result, struct hf_error *err)
{
    struct hf_error why = {0};
    *out = NULL;
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = begin(client, name, options, out, result, &why);
    hf__call_leave(client);
    /* What went wrong on the way to an answer is none of its business. */
    if (status != HF_OK && err) *err = why;
    return status;
}
