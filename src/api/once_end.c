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

/* The last that is written of a run. */
struct last {
    const void *data; /* the result */
    size_t len;
    int is_undo; /* it has not been run */
};

static int last_put(hf_once *once, const struct last *l, struct hf_error *err)
{
    if (l->is_undo) return hf__once_undo(once, once->version, err);
    return hf__once_write(once, once->version, l->data, l->len,
                          once->record.ended_ms, err);
}

static int is_before(const hf_once *once, const struct hf_value *v)
{
    const struct hf_value *b = &once->before;
    return b->version && v->len == b->len && !memcmp(v->data, b->data, v->len);
}

/* What is there instead?  HF_CHANGED: try again, with this version; HF_OK: it
 * is written already. */
static int last_seen(hf_once *once, const struct last *l,
                     const struct hf_value *v, const struct once_record *r,
                     struct hf_error *err)
{
    if (l->is_undo && (v->version == 0 || is_before(once, v))) return HF_OK;
    if (v->version && !hf__once_is_same(&once->record, r))
        return end_lost(once, err);
    if (v->version && r->is_ended) return HF_OK;
    once->version = v->version; /* 0: it ran longer than its record lasted */
    return HF_CHANGED;
}

static int last_look(hf_once *once, const struct last *l, struct hf_error *err)
{
    struct hf_value v;
    struct once_record r;
    int status = hf__once_read(once, &v, &r, err);
    if (status != HF_OK) return status;
    status = last_seen(once, l, &v, &r, err);
    hf_value_free(once->client, &v);
    return status;
}

/* Write it, and look if that may have failed.  Where the look does not know
 * either, it is the write's own reason that counts. */
static int last_write(hf_once *once, const struct last *l, struct hf_error *err)
{
    struct hf_error seen = {0};
    int wrote = HF_CHANGED, found = HF_CHANGED;
    for (int i = 0; i < END_TRIES && found == HF_CHANGED; i++) {
        wrote = last_put(once, l, err);
        if (wrote != HF_CHANGED && wrote != HF_UNAVAILABLE) return wrote;
        found = last_look(once, l, &seen);
    }
    if (found == HF_OK) return HF_OK;
    if (found != HF_CHANGED && (found == HF_LOST || wrote == HF_CHANGED)) {
        *err = seen;
        return found;
    }
    if (wrote == HF_UNAVAILABLE) return wrote;
    return hf__error_set(err, HF_UNAVAILABLE, "%.80s: its record kept changing",
                         hf_lock_name(once->lock));
}

/* Without the result, if there is no memory for it. */
static int end_run(hf_once *once, const struct last *l, struct hf_error *err)
{
    const struct last without = {0};
    int status = last_write(once, l, err);
    if (status != HF_NOMEM || l->len == 0) return status;
    status = last_write(once, &without, err);
    return status == HF_OK
               ? hf__error_set(err, HF_NOMEM, "%.80s: no memory for the result",
                               hf_lock_name(once->lock))
               : status;
}

/* Give the lock back.  That it could not be is told, for others wait for the
 * end of its lease; that it was gone is not: the record decides. */
static int run_close(hf_once *once, int status, const struct hf_error *why,
                     struct hf_error *err)
{
    struct hf_error kept = {0};
    hf_client *client = once->client;
    int released = hf_hold_release(once->hold, &kept);
    int is_kept = released == HF_DENIED || released == HF_UNAVAILABLE;
    if (is_kept)
        hf__client_warn(client,
                        "%.80s: not released, it ends with its lease: "
                        "%.250s",
                        hf_lock_name(once->lock), kept.text);
    if (err && status != HF_OK)
        *err = *why;
    else if (err && is_kept)
        *err = kept;
    hf__once_close(once);
    hf__call_leave(client);
    return status;
}

int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                struct hf_error *err)
{
    if (!once) return hf__error_set(err, HF_INVALID, "once: no run is given");
    int result = hf__client_check(once->client, err);
    if (result != HF_OK) return result;
    hf__call_enter(once->client);
    struct hf_error why = {0};
    struct last l = {.data = data, .len = len};
    int is_too_long = len > HF_ONCE_RESULT_MAX || (len > 0 && !data);
    if (is_too_long) l.len = 0;
    once->record.is_ended = 1;
    once->record.status = status;
    once->record.ended_ms = now_ms(once);
    result = end_run(once, &l, &why);
    if (result == HF_OK && is_too_long)
        result = hf__error_set(
            &why, HF_INVALID, "%.80s: result of %zu bytes: at most %d are kept",
            hf_lock_name(once->lock), len, HF_ONCE_RESULT_MAX);
    return run_close(once, result, &why, err);
}

int hf_once_abandon(hf_once *once, struct hf_error *err)
{
    if (!once) return HF_OK;
    int status = hf__client_check(once->client, err);
    if (status != HF_OK) return status;
    hf__call_enter(once->client);
    const struct last l = {.is_undo = 1};
    struct hf_error why = {0};
    status = last_write(once, &l, &why);
    return run_close(once, status, &why, err);
}

hf_hold *hf_once_hold(const hf_once *once)
{
    return once->hold;
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
    int status = hf_lock_inspect(once->lock, 0, &info, err);
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

static int look(hf_client *client, const char *name,
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

int hf_once_look(hf_client *client, const char *name,
                 const struct hf_once_options *options,
                 struct hf_once_result *result, struct hf_error *err)
{
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = look(client, name, options, result, err);
    hf__call_leave(client);
    return status;
}
