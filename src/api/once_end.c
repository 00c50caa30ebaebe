/*
 * once_end.c: ending a run, giving it up, and looking at one.
 *
 * The rule: the record of somebody else's run is never touched.
 */
#include <string.h>

#include "api/once_run.h"
#include "base/error.h"
#include "sys/clock.h"

#define END_TRIES 3 /* with a look between them */

/* The store's clock, counted on from the begin. */
static int64_t now_ms(const hf_once *once)
{
    int64_t passed_us = hf__clock_us() - once->began_us;
    return once->record.began_ms + passed_us / US_PER_MS;
}

static int end_lost(const hf_once *once, struct hf_error *err)
{
    return hf__error_set(err, HF_LOST,
                         "%.80s: somebody else has begun it again",
                         hf_lock_name(once->lock));
}

/* It was not the version we left.  HF_CHANGED: try again, with once->version;
 * HF_OK: it is written already. */
static int end_look(hf_once *once, struct hf_error *err)
{
    struct hf_value v;
    struct once_record r;
    int status = hf__once_read(once, &v, &r, err);
    if (status != HF_OK) return status;
    uint64_t version = v.version;
    hf_value_free(once->client, &v);
    if (version && !hf__once_is_same(&once->record, &r))
        return end_lost(once, err);
    if (version && r.is_ended) return HF_OK;
    once->version = version; /* 0: it ran longer than its record lasted */
    return HF_CHANGED;
}

static int end_write(hf_once *once, const void *data, size_t len,
                     struct hf_error *err)
{
    int status = HF_CHANGED;
    for (int i = 0; i < END_TRIES && status == HF_CHANGED; i++) {
        status = hf__once_write(once, once->version, data, len,
                                once->record.ended_ms, err);
        if (status == HF_CHANGED || status == HF_UNAVAILABLE)
            status = end_look(once, err);
    }
    return status == HF_CHANGED ? end_lost(once, err) : status;
}

/* Without the result, if there is no memory for it. */
static int end_run(hf_once *once, const void *data, size_t len,
                   struct hf_error *err)
{
    int status = end_write(once, data, len, err);
    if (status != HF_NOMEM || len == 0) return status;
    status = end_write(once, NULL, 0, err);
    return status == HF_OK
               ? hf__error_set(err, HF_NOMEM, "%.80s: no memory for the result",
                               hf_lock_name(once->lock))
               : status;
}

static void run_close(hf_once *once)
{
    (void)hf_lock_release_as(once->lock, once->holder, NULL, NULL);
    hf__once_close(once);
}

int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                struct hf_error *err)
{
    if (!once) return hf__error_set(err, HF_INVALID, "once: no run is given");
    int result = hf__client_check(once->client, err);
    if (result != HF_OK) return result;
    int is_too_long = len > HF_ONCE_RESULT_MAX || (len > 0 && !data);
    once->record.is_ended = 1;
    once->record.status = status;
    once->record.ended_ms = now_ms(once);
    result =
        end_run(once, is_too_long ? NULL : data, is_too_long ? 0 : len, err);
    if (result == HF_OK && is_too_long)
        result =
            hf__error_set(err, HF_INVALID,
                          "%.80s: result of %zu bytes: at most %d are "
                          "kept",
                          hf_lock_name(once->lock), len, HF_ONCE_RESULT_MAX);
    run_close(once);
    return result;
}

int hf_once_abandon(hf_once *once, struct hf_error *err)
{
    if (!once) return HF_OK;
    int status = hf__client_check(once->client, err);
    if (status != HF_OK) return status;
    status = HF_CHANGED;
    for (int i = 0; i < END_TRIES && status == HF_CHANGED; i++) {
        status = hf_value_delete(once->client, once->key, once->version, err);
        if (status == HF_CHANGED || status == HF_UNAVAILABLE)
            status = end_look(once, err);
        if (status == HF_CHANGED && once->version == 0) status = HF_OK;
    }
    run_close(once);
    return status;
}

hf_lock *hf_once_lock(hf_once *once)
{
    return once->lock;
}

uint64_t hf_once_holder(const hf_once *once)
{
    return once->holder;
}

void hf_once_result_free(hf_client *client, struct hf_once_result *result)
{
    hf__free(&client->alloc, result->data);
    result->data = NULL;
    result->len = 0;
}

/* ---- looking ------------------------------------------------------------ */

/* It is begun and not ended: does it run?  The lock may have been given back
 * between two looks, after the record was written: look at that again. */
static int look_alive(hf_once *once, uint64_t version, int *outcome,
                      struct hf_error *err)
{
    struct hf_info info;
    struct hf_value v;
    struct once_record r;
    int status = hf_lock_inspect(once->lock, once->holder, &info, err);
    if (status != HF_OK) return status;
    if (info.guarantee != HF_GUARANTEE_STORE)
        return hf__error_set(err, HF_UNAVAILABLE,
                             "%.80s: the store cannot be reached",
                             hf_lock_name(once->lock));
    *outcome = HF_ONCE_RUNNING;
    if (info.locked) return HF_OK;
    status = hf__once_read(once, &v, &r, err);
    if (status != HF_OK) return status;
    *outcome = v.version == version ? HF_ONCE_DIED : 0;
    hf_value_free(once->client, &v);
    return *outcome ? HF_OK : HF_CHANGED;
}

static int look_once(hf_once *once, struct hf_once_result *result,
                     struct hf_error *err)
{
    struct hf_value v;
    struct once_record r;
    int outcome = 0, status = hf__once_read(once, &v, &r, err);
    if (status != HF_OK) return status;
    int counts =
        v.version && hf__once_decide(&r, &once->o, v.now_ms) != HF_ONCE_MINE;
    if (v.version && !r.is_ended)
        status = look_alive(once, v.version, &outcome, err);
    else if (counts)
        outcome = HF_ONCE_DONE;
    /* What died in an earlier period is nothing to this one. */
    if (outcome == HF_ONCE_DIED && !counts) outcome = 0;
    if (!outcome) memset(&r, 0, sizeof r);
    if (status == HF_OK) hf__once_tell(&r, &v, outcome, result);
    hf_value_free(once->client, &v);
    return status;
}

int hf_once_look(hf_client *client, const char *name,
                 const struct hf_once_options *options,
                 struct hf_once_result *result, struct hf_error *err)
{
    hf_once *once = NULL;
    struct hf_once_result found = {0};
    int status = hf__once_open(client, name, options, &once, err);
    if (status != HF_OK) return status;
    once->o.flags = 0; /* what may be run again has been run all the same */
    status = HF_CHANGED;
    for (int i = 0; i < END_TRIES && status == HF_CHANGED; i++)
        status = look_once(once, &found, err);
    if (status == HF_CHANGED)
        status = hf__error_set(err, HF_UNAVAILABLE,
                               "%.80s: its record kept changing", name);
    if (status == HF_OK) *result = found;
    hf__once_close(once);
    return status;
}
