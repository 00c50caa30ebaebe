/*
 * once/begin.c: beginning a run, or hearing of the one there is.
 *
 *   READ --> LOCK --> DECIDE --> WRITE --> over, it is ours
 *    |  ^     |         |          |
 *    |  |     v         |          v no answer
 *    |  |   BEATEN      |    UNDO_READ --> UNDO
 *    |  |     |         v                   |
 *    |  |     |      RELEASE <--------------+
 *    |  |     |         |
 *    |  +-----|-- NAP <-+ changed, or the store went away
 *    v        v         v
 *   over: it was run, it runs, or it failed
 *
 * The rule: the begin of a run is recorded, under the lock, before the caller
 * is told to run it.
 */
#include <string.h>

#include "api/once/run.h"
#include "base/error.h"
#include "sys/clock.h"

#define BEGIN_TRIES 3     /* a record that changes although we have the lock */
#define AGAIN_PAUSE_MS 50 /* the store took the lock, but not the record */

/* The operation under way. */
enum begin_phase {
    BEGIN_START,     /* none yet */
    BEGIN_READ,      /* the record: if it was run, no lock is needed */
    BEGIN_LOCK,      /* acquire it */
    BEGIN_BEATEN,    /* another holder has the lock: read its record */
    BEGIN_DECIDE,    /* the lock is ours: read again */
    BEGIN_WRITE,     /* the record that it begins */
    BEGIN_UNDO_READ, /* the write failed but may have arrived: read */
    BEGIN_UNDO,      /* take the record back */
    BEGIN_RELEASE,   /* the lock; seq.status says why */
    BEGIN_NAP        /* until the next round */
};

/* What is left of the wait, as an acquire has it; -1: nothing is, or one try
 * was asked for. */
static int64_t wait_left_ms(const hf_once *once)
{
    if (once->o.flags & HF_ONCE_TRY) return -1;
    if (once->o.wait_ms == 0) return 0;
    int64_t left_ms = (once->end_us - hf__clock_us()) / US_PER_MS;
    return left_ms > 0 ? left_ms : -1;
}

/* The acquire waits for a store that cannot be reached, as long as we do. */
static int is_patient(const hf_once *once)
{
    return once->client->pump.engine.conf.is_patient && wait_left_ms(once) >= 0;
}

static void round_begin(hf_once *once)
{
    once->seq.status = HF_OK;
    hf__once_read(once, BEGIN_READ);
}

/* It is not run, because the record says that it was.  Warn if the record is
 * from the future: it would prevent runs until then. */
static void begin_refuse(hf_once *once, int outcome)
{
    const struct once_record *r = &once->seen;
    if (hf__once_is_ahead(r, &once->o, once->found.now_ms))
        hf__client_warn(once->client,
                        "%.80s: not run: its record is from the future, "
                        "%lld s ahead of the store's clock: delete the value "
                        "%.80s if it is wrong",
                        hf_lock_name(once->lock),
                        (long long)(r->began_ms - once->found.now_ms) / 1000,
                        once->key);
    hf__once_tell(once, r, outcome);
}

/* 1 if the run has ended and need not be repeated: then the lock is not waited
 * for. */
static int is_done(const hf_once *once)
{
    const struct once_record *r = &once->seen;
    return once->found.version && r->is_ended
           && hf__once_decide(r, &once->o, once->found.now_ms) == HF_ONCE_DONE;
}

/* ---- the lock ------------------------------------------------------------ */

static void lock_ask(hf_once *once)
{
    struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
    struct sequence *s = &once->seq;
    once->holder = hf_holder_new();
    int64_t left_ms = wait_left_ms(once);
    if (left_ms < 0)
        a.flags = HF_ACQUIRE_TRY;
    else
        a.wait_ms = left_ms;
    a.lease_ms = once->o.lease_ms;
    a.max_hold_ms = once->o.max_hold_ms;
    a.renew_ms = once->o.renew_ms;
    a.cancel = once->o.cancel;
    s->status =
        hf__acquire_prepare(&once->op, once->lock, &a, once->holder, &s->err);
    if (s->status == HF_OK)
        s->status = hf__call_reserve(once->lock, &once->op, &s->err);
    if (s->status != HF_OK) return;
    once->phase = BEGIN_LOCK;
    hf__sequence_ask_any(s, once->client, &once->op);
}

static void read_over(hf_once *once)
{
    int status = hf__once_read_over(once);
    if (status == HF_OK && is_done(once))
        begin_refuse(once, HF_ONCE_DONE);
    else if (status == HF_OK || (status == HF_UNAVAILABLE && is_patient(once)))
        lock_ask(once);
    else
        hf__once_fail(once, status, &once->op.err);
}

static void lock_over(hf_once *once)
{
    hf_client *c = once->client;
    hf__call_give(c, &once->op);
    int status = once->op.status;
    /* The last try of a wait that is over fails as the wait does. */
    if (status == HF_TAKEN && once->o.wait_ms > 0) status = HF_TIMEOUT;
    once->before_status = status;
    if (status == HF_TAKEN || status == HF_TIMEOUT) {
        hf__once_read(once, BEGIN_BEATEN);
        return;
    }
    if (status != HF_OK) {
        hf__once_fail(once, status, &once->op.err);
        return;
    }
    once->hold = once->op.hold;
    once->record.fence = hf_hold_fence(once->hold);
    if (hf_hold_guarantee(once->hold) == HF_GUARANTEE_STORE) {
        hf__once_read(once, BEGIN_DECIDE);
        return;
    }
    hf__sequence_fail(&once->seq, HF_UNAVAILABLE,
                      "%.80s: a lock of this host alone does not keep other "
                      "hosts from running it",
                      once->op.err.text);
    hf__once_release(once, BEGIN_RELEASE);
}

/* Another holder has the lock, and its record was read. */
static void beaten_over(hf_once *once)
{
    int status = hf__once_read_over(once);
    struct once_record *r = &once->seen;
    if (status == HF_OK && is_done(once)) {
        begin_refuse(once, HF_ONCE_DONE);
        return;
    }
    if (once->before_status == HF_TIMEOUT) {
        hf__sequence_fail(&once->seq, HF_TIMEOUT, "it still runs");
        return;
    }
    /* The holder has the lock, but has not written its record yet: what was
     * read is about an earlier run. */
    if (r->is_ended || r->is_void) memset(r, 0, sizeof *r);
    hf__once_tell(once, r, HF_ONCE_RUNNING);
}

/* ---- the lock is ours ---------------------------------------------------- */

/* Keep the record that ours replaces, to put it back if this is not run after
 * all; but not a record of a begin that failed. */
static void before_keep(hf_once *once)
{
    hf_value_free(once->client, &once->before);
    if (once->seen.is_void) return;
    once->before = once->found;
    once->found.data = NULL;
}

/* Begin it, or say why not and give the lock back. */
static void decide_over(hf_once *once)
{
    int status = hf__once_read_over(once);
    if (status != HF_OK) {
        hf__once_fail(once, status, &once->op.err);
        hf__once_release(once, BEGIN_RELEASE);
        return;
    }
    const struct hf_value *v = &once->found;
    int outcome =
        hf__once_decide(v->version ? &once->seen : NULL, &once->o, v->now_ms);
    if (outcome != HF_ONCE_MINE) {
        begin_refuse(once, outcome);
        hf__once_release(once, BEGIN_RELEASE);
        return;
    }
    once->record.began_ms = v->now_ms;
    once->began_us = hf__clock_us();
    before_keep(once);
    hf__once_write(once, BEGIN_WRITE, v->version, v->now_ms);
}

static void write_over(hf_once *once)
{
    int status = once->op.status;
    hf__once_found_free(once);
    if (status == HF_OK && hf_hold_parts(once->hold) == 0) {
        /* The client is being closed, and has let go of the lock. */
        hf__sequence_fail(&once->seq, HF_CLOSED, "%s",
                          hf_status_text(HF_CLOSED));
        return;
    }
    if (status == HF_OK) {
        once->version = once->job.written;
        hf__once_tell(once, &once->record, HF_ONCE_MINE);
        once->result.valid_ms = hf_hold_valid_ms(once->hold);
        return;
    }
    hf__sequence_fail_as(&once->seq, &once->op);
    if (status == HF_UNAVAILABLE)
        hf__once_read(once, BEGIN_UNDO_READ);
    else
        hf__once_release(once, BEGIN_RELEASE);
}

static void undo_over(hf_once *once)
{
    hf__once_doubt(once);
    hf__once_release(once, BEGIN_RELEASE);
}

/* The caller was not told to run it, but the record of the begin may have
 * arrived: take it back. */
static void undo_read_over(hf_once *once)
{
    int is_ours = hf__once_read_over(once) == HF_OK && once->found.version
                  && hf__once_is_same(&once->record, &once->seen)
                  && !once->seen.is_ended;
    if (is_ours)
        hf__once_undo(once, BEGIN_UNDO, once->found.version);
    else
        undo_over(once);
}

/* The lock is released: decide whether to begin another round. */
static void release_over(hf_once *once)
{
    struct sequence *s = &once->seq;
    if (s->status == HF_UNAVAILABLE && is_patient(once)) {
        once->phase = BEGIN_NAP;
        hf__sequence_nap(s, once->client, &once->op, AGAIN_PAUSE_MS * US_PER_MS,
                         once->o.cancel);
    } else if (s->status == HF_CHANGED && ++once->tries == BEGIN_TRIES) {
        hf__sequence_fail(s, HF_UNAVAILABLE, "its record kept changing");
    } else if (s->status == HF_CHANGED) {
        round_begin(once);
    }
}

static void nap_over(hf_once *once)
{
    int status = once->op.status;
    if (status == HF_TIMEOUT)
        round_begin(once);
    else
        hf__sequence_fail(&once->seq, status, "%s", hf_status_text(status));
}

static void begin_step(struct sequence *s)
{
    static void (*const over[])(hf_once *) = {
        [BEGIN_START] = round_begin,        [BEGIN_READ] = read_over,
        [BEGIN_LOCK] = lock_over,           [BEGIN_BEATEN] = beaten_over,
        [BEGIN_DECIDE] = decide_over,       [BEGIN_WRITE] = write_over,
        [BEGIN_UNDO_READ] = undo_read_over, [BEGIN_UNDO] = undo_over,
        [BEGIN_RELEASE] = release_over,     [BEGIN_NAP] = nap_over};
    hf_once *once = (hf_once *)s;
    over[once->phase](once);
}

/* ---- the calls ----------------------------------------------------------- */

static int is_mine(const hf_once *once)
{
    return once->seq.status == HF_OK && once->result.outcome == HF_ONCE_MINE;
}

int hf_once_begin(hf_client *client, const char *name,
                  const struct hf_once_options *options, hf_once **out,
                  struct hf_once_result *result, struct hf_error *err)
{
    hf_once *once = NULL;
    *out = NULL;
    int status = hf__client_check(client, err);
    if (status == HF_OK) status = hf__result_check(result, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = hf__once_open(client, name, options, 0, &once, err);
    if (status == HF_OK) {
        once->seq.step = begin_step;
        status = hf__sequence_run(&once->seq, err);
        if (status == HF_OK) hf__result_fill(result, &once->result);
        if (is_mine(once))
            *out = once;
        else
            hf__once_close(once);
    }
    hf__call_leave(client);
    return status;
}

/* A run that is ours belongs to the caller from here on: the callback may end
 * it. */
static void begin_over(struct sequence *s)
{
    hf_once *once = (hf_once *)s;
    hf_client *client = once->client;
    hf_once_begun_fn fn = (hf_once_begun_fn)once->fn;
    struct hf_once_result result = once->result;
    struct hf_error err = s->err;
    void *user = once->user;
    int status = s->status;
    if (!is_mine(once)) {
        hf__once_close(once);
        once = NULL;
    }
    fn(client, status, once, status == HF_OK ? &result : NULL, &err, user);
    hf__free(&client->alloc, result.data);
}

int hf_once_begin_start(hf_client *client, const char *name,
                        const struct hf_once_options *options,
                        hf_once_begun_fn cb, void *user, struct hf_error *err)
{
    hf_once *once = NULL;
    if (!cb) return hf__error_set(err, HF_INVALID, "once: no callback");
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = hf__once_open(client, name, options, 0, &once, err);
    if (status == HF_OK) {
        once->seq.step = begin_step;
        status =
            hf__once_start(once, begin_over, (void (*)(void))cb, user, err);
    }
    hf__call_leave(client);
    return status;
}
