/*
 * once/end.c: ending a run, and giving it up.
 *
 *   WRITE --> RELEASE --> over
 *    |  ^       ^
 *    v  |       | it is known how it ended
 *   LOOK -------+
 *
 * The rule: the record of another run is never changed.
 */
#include <string.h>

#include "api/hold/handle.h"
#include "api/once/run.h"
#include "base/error.h"
#include "sys/clock.h"

#define END_TRIES 3 /* with a look between them */

/* The operation under way. */
enum end_phase {
    END_START,  /* none yet */
    END_WRITE,  /* the last record of the run, or take it back */
    END_LOOK,   /* the write failed: read what is recorded */
    END_RELEASE /* the lock; seq.status is the result */
};

/* The store's clock, counted on from the begin. */
static int64_t now_ms(const hf_once *once)
{
    int64_t passed_us = hf__clock_us() - once->began_us;
    return once->record.began_ms + passed_us / US_PER_MS;
}

static void last_ask(hf_once *once)
{
    if (once->is_undo)
        hf__once_undo(once, END_WRITE, once->version);
    else
        hf__once_write(once, END_WRITE, once->version, once->record.ended_ms);
}

/* The end was recorded; report it if that was without the result. */
static void result_left_out(hf_once *once)
{
    if (once->no_result == HF_NOMEM)
        hf__sequence_fail(&once->seq, HF_NOMEM, "no memory for the result");
    else if (once->no_result == HF_INVALID)
        hf__sequence_fail(&once->seq, HF_INVALID,
                          "result of %zu bytes: at most %d are kept",
                          once->text_len, HF_ONCE_RESULT_MAX);
}

/* Set the result of the call, and release the lock. */
static void end_with(hf_once *once, int status, const struct hf_error *err)
{
    if (status != HF_OK)
        hf__once_fail(once, status, err);
    else
        result_left_out(once);
    hf__once_release(once, END_RELEASE);
}

static void write_over(hf_once *once)
{
    int status = once->op.status;
    if (status == HF_NOMEM && once->text) { /* once more, without the result */
        hf__free(&once->client->alloc, once->text);
        once->text = NULL;
        once->no_result = HF_NOMEM;
        once->tries = 0;
        last_ask(once);
        return;
    }
    if (status != HF_CHANGED && status != HF_UNAVAILABLE) {
        end_with(once, status, &once->op.err);
        return;
    }
    once->before_status = status;
    once->before_err = once->op.err;
    hf__once_read(once, END_LOOK);
}

static int is_before(const hf_once *once)
{
    const struct hf_value *b = &once->before, *v = &once->found;
    return b->version && v->len == b->len && !memcmp(v->data, b->data, v->len);
}

/* Judge the record that was found.  HF_OK if the end is recorded already;
 * HF_CHANGED to write again, with the version that was read; HF_LOST if it is
 * the record of another run. */
static int last_seen(hf_once *once)
{
    uint64_t version = once->found.version;
    if (once->is_undo && (version == 0 || is_before(once))) return HF_OK;
    if (version && !hf__once_is_same(&once->record, &once->seen))
        return hf__error_set(&once->op.err, HF_LOST,
                             "another process has begun it again");
    if (version && once->seen.is_ended) return HF_OK;
    once->version = version; /* 0: it ran longer than its record lasted */
    return HF_CHANGED;
}

/* If the read fails as well, the call fails with the reason of the write. */
static void look_over(hf_once *once)
{
    struct hf_error err;
    int wrote = once->before_status, found = hf__once_read_over(once);
    if (found == HF_OK) found = last_seen(once);
    if (found == HF_OK || found == HF_LOST
        || (found != HF_CHANGED && wrote == HF_CHANGED)) {
        err = once->op.err;
        end_with(once, found, &err);
    } else if (found == HF_CHANGED && ++once->tries < END_TRIES) {
        last_ask(once);
    } else if (wrote == HF_UNAVAILABLE) {
        end_with(once, wrote, &once->before_err);
    } else {
        hf__error_set(&err, HF_UNAVAILABLE, "its record kept changing");
        end_with(once, HF_UNAVAILABLE, &err);
    }
}

/* Warn if the lock could not be released, because others wait for the end of
 * its lease.  A lock that was lost is not reported: the record decides. */
static void release_over(hf_once *once)
{
    const struct op *op = &once->op;
    if (op->status != HF_DENIED && op->status != HF_UNAVAILABLE) return;
    hf__client_warn(once->client,
                    "%.80s: not released, it ends with its lease: %.250s",
                    hf_lock_name(once->lock), op->err.text);
    if (once->seq.status == HF_OK) once->seq.err = op->err;
}

static void end_step(struct sequence *s)
{
    hf_once *once = (hf_once *)s;
    if (once->phase == END_START)
        last_ask(once);
    else if (once->phase == END_WRITE)
        write_over(once);
    else if (once->phase == END_LOOK)
        look_over(once);
    else
        release_over(once);
}

/* ---- the calls ----------------------------------------------------------- */

/* The record with its result; without that if it is too long, or there is no
 * memory for it. */
static void text_make(hf_once *once, const void *data, size_t len)
{
    once->text_len = len;
    if (len == 0) return;
    once->no_result = HF_INVALID;
    if (len > HF_ONCE_RESULT_MAX || !data) return;
    once->no_result = HF_NOMEM;
    size_t head_len = hf__once_format(&once->record, once->head);
    once->text = hf__alloc(&once->client->alloc, head_len + len);
    if (!once->text) return;
    memcpy(once->text, once->head, head_len);
    memcpy(once->text + head_len, data, len);
    once->text_len = head_len + len;
    once->no_result = HF_OK;
}

static void end_prepare(hf_once *once)
{
    once->seq = (struct sequence){.step = end_step};
    once->phase = END_START;
    once->tries = 0;
}

static void end_record(hf_once *once, int status, const void *data, size_t len)
{
    end_prepare(once);
    once->record.is_ended = 1;
    once->record.status = status;
    once->record.ended_ms = now_ms(once);
    text_make(once, data, len);
}

static int end_run(hf_once *once, struct hf_error *err)
{
    hf_client *client = once->client;
    hf__call_enter(client);
    int status = hf__sequence_run(&once->seq, err);
    int is_kept = status == HF_OK && once->seq.err.status != HF_OK;
    if (is_kept && err) *err = once->seq.err;
    hf__once_close(once);
    hf__call_leave(client);
    return status;
}

/* HF_OK: there is a run, and its client is this process's. */
static int once_check(const hf_once *once, struct hf_error *err)
{
    if (!once) return hf__error_set(err, HF_INVALID, "once: no run is given");
    return hf__client_check(once->client, err);
}

int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                struct hf_error *err)
{
    int result = once_check(once, err);
    if (result != HF_OK) return result;
    end_record(once, status, data, len);
    return end_run(once, err);
}

int hf_once_abandon(hf_once *once, struct hf_error *err)
{
    int status = once ? once_check(once, err) : HF_OK;
    if (!once || status != HF_OK) return status;
    end_prepare(once);
    once->is_undo = 1;
    return end_run(once, err);
}

static void end_over(struct sequence *s)
{
    hf_once *once = (hf_once *)s;
    hf_client *client = once->client;
    hf_once_ended_fn fn = (hf_once_ended_fn)once->fn;
    struct hf_error err = s->err;
    void *user = once->user;
    int status = s->status;
    hf__once_close(once);
    fn(client, status, &err, user);
}

static int told_check(const hf_once *once, int is_told, struct hf_error *err)
{
    int status = once_check(once, err);
    if (status != HF_OK || is_told) return status;
    return hf__error_set(err, HF_INVALID, "once: no callback");
}

static int end_start(hf_once *once, hf_once_ended_fn cb, void *user,
                     struct hf_error *err)
{
    hf_hold *hold = once->hold;
    int status = hf__once_start(once, end_over, (void (*)(void))cb, user, err);
    if (status != HF_OK) hf__handle_forget(hold);
    return status;
}

int hf_once_end_start(hf_once *once, int status, const void *data, size_t len,
                      hf_once_ended_fn cb, void *user, struct hf_error *err)
{
    int result = told_check(once, cb != NULL, err);
    if (result != HF_OK) return result;
    end_record(once, status, data, len);
    return end_start(once, cb, user, err);
}

int hf_once_abandon_start(hf_once *once, hf_once_ended_fn cb, void *user,
                          struct hf_error *err)
{
    int status = told_check(once, cb != NULL, err);
    if (status != HF_OK) return status;
    end_prepare(once);
    once->is_undo = 1;
    return end_start(once, cb, user, err);
}

hf_hold *hf_once_hold(const hf_once *once)
{
    return once ? once->hold : NULL;
}
