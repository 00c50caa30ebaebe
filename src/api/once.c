/*
 * once.c: beginning a run, or hearing of the one there is.
 *
 * The rule: that it began is written down, under the lock, before anybody is
 * told to run it.
 */
#include "holdfast/once.h"

#include <stdio.h>
#include <string.h>

#include "api/once_run.h"
#include "base/error.h"
#include "sys/clock.h"

#define BEGIN_TRIES 3 /* a record that changes although we have the lock */

/* ---- arguments ---------------------------------------------------------- */

static int time_check(const char *name, const char *what, int64_t ms,
                      struct hf_error *err)
{
    if (ms >= 0 && ms <= HF_VALUE_TTL_MS_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "%.80s: %s of %lld ms: out of range: 0 to 366 days",
                         name, what, (long long)ms);
}

static int name_check(const char *name, struct hf_error *err)
{
    size_t len = name ? strlen(name) : 0;
    if (len > 0 && len <= HF_ONCE_NAME_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "once name: %zu bytes: give it 1 to %d", len,
                         HF_ONCE_NAME_MAX);
}

static int options_check(const char *name, struct hf_once_options *o,
                         const struct hf_once_options *given,
                         struct hf_error *err)
{
    static const struct hf_once_options defaults = HF_ONCE_OPTIONS_INIT;
    int status = name_check(name, err);
    *o = defaults;
    if (status == HF_OK && given)
        status = hf__options_copy(o, sizeof *o, given, given->struct_size, name,
                                  err);
    if (status == HF_OK) status = time_check(name, "period", o->period_ms, err);
    if (status == HF_OK) status = time_check(name, "keep", o->keep_ms, err);
    if (status == HF_OK)
        status = time_check(name, "min_hold", o->min_hold_ms, err);
    if (status != HF_OK) return status;
    if (o->wait_ms < HF_ONCE_WAIT_FOREVER
        || o->wait_ms > INT64_MAX / US_PER_MS / 4)
        return hf__error_set(err, HF_INVALID,
                             "%.80s: wait of %lld ms: out of range", name,
                             (long long)o->wait_ms);
    if (o->flags & ~HF_ONCE_RETRY)
        return hf__error_set(err, HF_INVALID, "%.80s: flags 0x%x: unknown",
                             name, o->flags & ~HF_ONCE_RETRY);
    return HF_OK;
}

/* ---- making and freeing ------------------------------------------------- */

int hf__once_open(hf_client *client, const char *name,
                  const struct hf_once_options *given, hf_once **out,
                  struct hf_error *err)
{
    struct hf_once_options o;
    int status = hf__client_check(client, err);
    if (status == HF_OK) status = options_check(name, &o, given, err);
    if (status != HF_OK) return status;
    hf_once *once = hf__alloc_zero(&client->alloc, sizeof *once);
    if (!once)
        return hf__error_set(err, HF_NOMEM, "%.80s: out of memory", name);
    once->client = client;
    once->o = o;
    once->end_us = hf__clock_us() + o.wait_ms * US_PER_MS;
    once->holder = hf_holder_new();
    hf__once_key(name, once->key);
    /* "<pid> <host> <label>" */
    long long pid = 0;
    if (sscanf(client->info, "%lld %63s", &pid, once->record.host) >= 1)
        once->record.pid = pid;
    status = hf_lock_open(client, name, &once->lock, err);
    if (status == HF_OK)
        *out = once;
    else
        hf__free(&client->alloc, once);
    return status;
}

void hf__once_close(hf_once *once)
{
    hf_client *client = once->client;
    hf_lock_close(once->lock);
    hf__free(&client->alloc, once);
}

/* ---- the record --------------------------------------------------------- */

int hf__once_read(hf_once *once, struct hf_value *v, struct once_record *r,
                  struct hf_error *err)
{
    int status = hf_value_read(once->client, once->key, v, err);
    memset(r, 0, sizeof *r);
    if (status != HF_OK || v->version == 0) return status;
    if (hf__once_parse(v->data, v->len, r) == 0) return HF_OK;
    hf_value_free(once->client, v);
    return hf__error_set(err, HF_CONFLICT, "%.80s: not the record of a run",
                         once->key);
}

/* Tell of the recorded run; the data of `v` goes to `result` if it is over. */
void hf__once_tell(const struct once_record *r, struct hf_value *v, int outcome,
                   struct hf_once_result *result)
{
    *result = (struct hf_once_result){.outcome = outcome,
                                      .status = r->status,
                                      .fence = r->fence,
                                      .began_ms = r->began_ms,
                                      .ended_ms = r->ended_ms,
                                      .pid = r->pid};
    memcpy(result->host, r->host, sizeof result->host);
    if (outcome != HF_ONCE_DONE || v->len <= r->head_len) return;
    result->len = v->len - r->head_len;
    memmove(v->data, v->data + r->head_len, result->len + 1);
    result->data = v->data;
    v->data = NULL;
}

int hf__once_write(hf_once *once, uint64_t version, const void *data,
                   size_t len, int64_t now_ms, struct hf_error *err)
{
    const struct once_record *r = &once->record;
    int64_t ttl_ms =
        hf__once_keep_ms(&once->o, r->began_ms, now_ms, r->is_ended);
    char head[ONCE_HEAD_MAX], *text = head;
    size_t n = hf__once_format(r, head);
    if (len > 0) {
        text = hf__alloc(&once->client->alloc, n + len);
        if (!text)
            return hf__error_set(err, HF_NOMEM, "%.80s: out of memory",
                                 once->key);
        memcpy(text, head, n);
        memcpy(text + n, data, len);
    }
    int status = hf_value_write(once->client, once->key, version, text, n + len,
                                ttl_ms, &once->version, err);
    if (text != head) hf__free(&once->client->alloc, text);
    return status;
}

/* ---- beginning ---------------------------------------------------------- */

static void run_release(hf_once *once)
{
    (void)hf_lock_release_as(once->lock, once->holder, NULL, NULL);
}

/* Nobody was told to run it, but its record may have arrived: take it back. */
static void begin_undo(hf_once *once)
{
    struct hf_value v;
    struct once_record r;
    if (hf__once_read(once, &v, &r, NULL) != HF_OK) return;
    if (v.version && hf__once_is_same(&once->record, &r) && !r.is_ended)
        (void)hf_value_delete(once->client, once->key, v.version, NULL);
    hf_value_free(once->client, &v);
}

static int run_write_begin(hf_once *once, const struct hf_value *v,
                           struct hf_once_result *result, struct hf_error *err)
{
    once->record.began_ms = v->now_ms;
    once->began_us = hf__clock_us();
    int status = hf__once_write(once, v->version, NULL, 0, v->now_ms, err);
    if (status == HF_UNAVAILABLE) begin_undo(once);
    if (status != HF_OK) return status;
    struct hf_value none = {0};
    hf__once_tell(&once->record, &none, HF_ONCE_MINE, result);
    result->valid_ms = hf_lock_valid_ms(once->lock, once->holder);
    return HF_OK;
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
            status = run_write_begin(once, &v, result, err);
        else
            hf__once_tell(&r, &v, outcome, result);
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
    if (is_done) hf__once_tell(r, &v, HF_ONCE_DONE, result);
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
    if (read != HF_OK || r.is_ended) memset(&r, 0, sizeof r);
    struct hf_value none = {0};
    hf__once_tell(&r, &none, HF_ONCE_RUNNING, result);
    return HF_OK;
}

static int64_t wait_left_ms(const hf_once *once)
{
    int64_t wait_ms = once->o.wait_ms;
    if (wait_ms == HF_ONCE_WAIT_FOREVER) return HF_WAIT_FOREVER;
    if (wait_ms == 0 || wait_ms == HF_WAIT_NONE) return HF_WAIT_NONE;
    int64_t left_ms = (once->end_us - hf__clock_us()) / US_PER_MS;
    return left_ms > 0 ? left_ms : HF_WAIT_NONE;
}

static int begin_lock(hf_once *once, struct hf_error *err)
{
    struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_grant g = {0};
    a.holder = once->holder;
    a.wait_ms = wait_left_ms(once);
    a.lease_ms = once->o.lease_ms;
    a.max_hold_ms = once->o.max_hold_ms;
    a.renew_ms = once->o.renew_ms;
    a.cancel = once->o.cancel;
    int status = hf_lock_acquire(once->lock, &a, &g, err);
    /* Tried once because the time is over: that is what he waited for. */
    if (status == HF_TAKEN && once->o.wait_ms > 0) status = HF_TIMEOUT;
    if (status != HF_OK) return status;
    once->record.fence = g.fence;
    if (g.guarantee == HF_GUARANTEE_STORE) return HF_OK;
    run_release(once);
    return hf__error_set(err, HF_UNAVAILABLE,
                         "%.80s: the store cannot be reached, and a lock of "
                         "this host alone keeps nobody else from running it",
                         hf_lock_name(once->lock));
}

static int begin_run(hf_once *once, struct hf_once_result *result,
                     struct hf_error *err)
{
    int status = HF_CHANGED;
    for (int i = 0; i < BEGIN_TRIES && status == HF_CHANGED; i++) {
        struct once_record r;
        if (begin_is_done(once, result, &r, &status, err)) return HF_OK;
        if (status == HF_OK) status = begin_lock(once, err);
        if (status == HF_TAKEN || status == HF_TIMEOUT)
            return begin_beaten(once, status, result, err);
        if (status == HF_OK) status = begin_locked(once, result, err);
    }
    if (status != HF_CHANGED) return status;
    return hf__error_set(err, HF_UNAVAILABLE, "%.80s: its record kept changing",
                         hf_lock_name(once->lock));
}

int hf_once_begin(hf_client *client, const char *name,
                  const struct hf_once_options *options, hf_once **out,
                  struct hf_once_result *result, struct hf_error *err)
{
    hf_once *once = NULL;
    *out = NULL;
    int status = hf__once_open(client, name, options, &once, err);
    if (status != HF_OK) return status;
    struct hf_once_result found = {0};
    status = begin_run(once, &found, err);
    if (status == HF_OK) *result = found;
    if (status == HF_OK && found.outcome == HF_ONCE_MINE)
        *out = once;
    else
        hf__once_close(once);
    return status;
}
