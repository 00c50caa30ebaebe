/*
 * stress/worker.c: one process of stress: a client, and threads that acquire,
 * write and release at random.
 *
 * A thread never waits for another one outside the library, with one exception:
 * the thread that stops the process waits until no thread of it is in a step on
 * the shared block, or the other processes would wait for a stopped one.
 */
#include "common/exit.h"
#include "session/session.h"
#include "stress/stress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_MS_LONGEST 500 /* of one acquire */
#define HOLD_US_LONGEST 2000
#define CANCEL_US_LONGEST 20000 /* between two cancellations */

/* One process. */
struct worker {
    struct stress *s;
    struct session session;
    hf_lock *locks[STRESS_LOCKS_MAX];
    pthread_rwlock_t steps; /* read: in a step on the block; write: stopping */
    struct history history;
};

/* One thread of it. */
struct client {
    struct worker *w;
    unsigned number;
    uint64_t seed;
    hf_cancel *cancel;
    atomic_int wants_cancel; /* this acquire may be cancelled */
    pthread_t thread;
    int started;
};

/* xorshift64*: a number below `n`. */
static uint64_t chance(uint64_t *seed, uint64_t n)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (*seed * UINT64_C(2685821657736338717) >> 32) % n;
}

static void rest_us(uint64_t us)
{
    struct timespec ts = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    if (us > 0) nanosleep(&ts, NULL);
}

static void op_note(struct client *c, const struct stress_hold *h,
                    const char *op, int64_t call_ns, int status)
{
    struct history_op line = {.client = c->number,
                              .call_ns = call_ns,
                              .ret_ns = stress_now_ns(),
                              .lock = h->lock->name,
                              .op = op,
                              .token = h->token,
                              .ok = status == HF_OK,
                              .unknown = status == HF_UNAVAILABLE};
    if (history_add(&c->w->history, &line) != 0)
        stress_fail(c->w->s, HF_DENIED, "the history cannot be written");
}

/* ---- the steps on the block ---- */

typedef void (*step_fn)(struct stress *s, struct stress_hold *h);
typedef int (*register_fn)(struct stress *s, struct stress_hold *h);

static void step_do(struct client *c, struct stress_hold *h, step_fn step)
{
    pthread_rwlock_rdlock(&c->w->steps);
    step(c->w->s, h);
    pthread_rwlock_unlock(&c->w->steps);
}

/* Stop the whole process, some time; the crew's leader lets it go on. */
static void pause_maybe(struct client *c)
{
    struct stress *s = c->w->s;
    if ((int64_t)chance(&c->seed, 200) >= s->pause_percent) return;
    pthread_rwlock_wrlock(&c->w->steps);
    if (!atomic_load(&s->stop)) {
        stress_count(s, FIGURE_PAUSES);
        (void)raise(SIGSTOP);
    }
    pthread_rwlock_unlock(&c->w->steps);
}

/* A guarded write.  Without tokens the register refuses nothing, so the writer
 * checks its hold first; a pause between check and write is not noticed. */
static int write_do(struct client *c, struct stress_hold *h, register_fn write)
{
    if (!c->w->s->fenced && hf_hold_valid_ms(h->hold) <= 0) return 0;
    pause_maybe(c);
    int64_t call_ns = stress_now_ns();
    pthread_rwlock_rdlock(&c->w->steps);
    int passes = write(c->w->s, h);
    pthread_rwlock_unlock(&c->w->steps);
    op_note(c, h, "write", call_ns, passes ? HF_OK : HF_TAKEN);
    return passes;
}

/* ---- one hold ---- */

/* Count an acquire that failed; some failures end the run. */
static void failure_count(struct stress *s, const struct stress_hold *h,
                          int status, const struct hf_error *err)
{
    char text[HF_ERROR_TEXT_MAX];
    switch (status) {
    case HF_TAKEN:
        stress_count(s, FIGURE_TAKEN);
        break;
    case HF_TIMEOUT:
        stress_count(s, FIGURE_TIMEOUT);
        break;
    case HF_CANCELLED:
        stress_count(s, FIGURE_CANCELLED);
        break;
    case HF_UNAVAILABLE:
        stress_count(s, FIGURE_UNAVAILABLE);
        break;
    case HF_LOST:
    case HF_EXPIRED:
        stress_count(s, FIGURE_ENDED);
        break;
    default:
        snprintf(text, sizeof(text), "%.80s: %.170s", hf_lock_name(h->handle),
                 err->text);
        stress_fail(s, status, text);
    }
}

static int hold_acquire(struct client *c, struct stress_hold *h)
{
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_error err = {0};
    if (chance(&c->seed, 4) > 0)
        ao.wait_ms = 1 + (int64_t)chance(&c->seed, WAIT_MS_LONGEST);
    else
        ao.flags = HF_ACQUIRE_TRY;
    if (chance(&c->seed, 4) == 0) ao.flags |= HF_ACQUIRE_FIXED;
    ao.cancel = c->cancel;
    hf_cancel_reset(c->cancel);
    atomic_store(&c->wants_cancel, chance(&c->seed, 5) == 0);
    step_do(c, h, judge_called);
    int64_t call_ns = stress_now_ns();
    int status = hf_lock_acquire(h->handle, &ao, &h->hold, &err);
    atomic_store(&c->wants_cancel, 0);
    h->token = status == HF_OK ? hf_hold_fence(h->hold) : 0;
    op_note(c, h, "acquire", call_ns, status);
    if (status == HF_OK) {
        stress_count(c->w->s, FIGURE_ACQUIRED);
        step_do(c, h, judge_granted);
        return 1;
    }
    failure_count(c->w->s, h, status, &err);
    return 0;
}

/* Enter it once more and leave it again: a hold within the hold, which has the
 * same token and so is no line of the history.  0 if the hold had been lost and
 * this was a new one, which is given back unjudged. */
static int hold_reenter(struct client *c, struct stress_hold *h)
{
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    hf_hold *again = NULL;
    struct hf_error err = {0};
    ao.wait_ms = WAIT_MS_LONGEST;
    int64_t call_ns = stress_now_ns();
    int status = hf_lock_acquire(h->handle, &ao, &again, &err);
    if (status != HF_OK) {
        failure_count(c->w->s, h, status, &err);
        h->may_be_gone = 1;
        return 1;
    }
    int is_same = hf_hold_count(again) > 1;
    status = hf_hold_release(again, &err);
    if (status != HF_OK) failure_count(c->w->s, h, status, &err);
    if (is_same) {
        stress_count(c->w->s, FIGURE_REENTERED);
        return 1;
    }
    (void)hf_hold_release(h->hold, NULL);
    stress_count(c->w->s, FIGURE_ENDED);
    op_note(c, h, "release", call_ns, HF_EXPIRED);
    return 0;
}

static void hold_release(struct client *c, struct stress_hold *h)
{
    struct hf_error err = {0};
    int64_t call_ns = stress_now_ns();
    int status = hf_hold_release(h->hold, &err);
    if (status == HF_NOT_OWNER && h->may_be_gone) status = HF_EXPIRED;
    op_note(c, h, "release", call_ns, status);
    if (status == HF_OK)
        stress_count(c->w->s, FIGURE_RELEASED);
    else
        failure_count(c->w->s, h, status, &err);
}

static void hold_live(struct client *c)
{
    struct worker *w = c->w;
    uint64_t at = chance(&c->seed, w->s->locks_len);
    struct stress_hold h = {
        .client = c->number, .lock = &w->s->locks[at], .handle = w->locks[at]};
    if (!hold_acquire(c, &h)) return;
    if (write_do(c, &h, register_claim)) {
        rest_us(chance(&c->seed, HOLD_US_LONGEST));
        (void)write_do(c, &h, register_write);
    }
    step_do(c, &h, judge_leaving);
    if (chance(&c->seed, 5) == 0 && !hold_reenter(c, &h)) return;
    hold_release(c, &h);
}

static void *client_run(void *arg)
{
    struct client *c = arg;
    while (!atomic_load(&c->w->s->stop)) hold_live(c);
    return NULL;
}

/* ---- the process ---- */

static int worker_open(struct worker *w, const struct options *o)
{
    struct hf_error err = {0};
    int code = session_open(&w->session, o, NULL, 0, NULL, NULL);
    for (unsigned i = 0; !code && i < w->s->locks_len; i++) {
        int status = hf_lock_open(w->session.client, w->s->locks[i].name,
                                  &w->locks[i], &err);
        if (status != HF_OK) code = session_fail(&w->session, status, &err);
    }
    return code;
}

/* Cancel a waiting thread now and then, until the run is over. */
static void clients_disturb(struct stress *s, struct client *cs)
{
    uint64_t seed = (uint64_t)stress_now_ns() | 1;
    while (!atomic_load(&s->stop)) {
        struct client *c = &cs[chance(&seed, s->threads)];
        rest_us(chance(&seed, CANCEL_US_LONGEST));
        if (atomic_load(&c->wants_cancel)) hf_cancel_fire(c->cancel);
    }
}

static int clients_run(struct worker *w, struct client *cs, unsigned first)
{
    struct stress *s = w->s;
    int failed = 0;
    for (unsigned i = 0; i < s->threads && !failed; i++) {
        struct client *c = &cs[i];
        c->w = w;
        c->number = first + i;
        c->seed = ((uint64_t)stress_now_ns() << 10 ^ (first + i + 1)) | 1;
        failed = hf_cancel_open(w->session.client, &c->cancel) != HF_OK
                 || pthread_create(&c->thread, NULL, client_run, c) != 0;
        c->started = !failed;
    }
    if (failed) stress_fail(s, HF_NOMEM, "a thread cannot be started");
    clients_disturb(s, cs);
    for (unsigned i = 0; i < s->threads; i++) {
        if (cs[i].started) pthread_join(cs[i].thread, NULL);
        hf_cancel_close(cs[i].cancel);
    }
    return failed ? EXIT_BUG : EXIT_OK;
}

int stress_worker(struct stress *s, const struct options *o, unsigned first,
                  int history_fd)
{
    struct worker *w = calloc(1, sizeof(*w));
    struct client *cs = calloc(s->threads, sizeof(*cs));
    int code = w && cs ? EXIT_OK : EXIT_BUG;
    if (!code) {
        w->s = s;
        pthread_rwlock_init(&w->steps, NULL);
        history_begin(&w->history, history_fd);
        code = worker_open(w, o);
        if (!code) code = clients_run(w, cs, first);
        for (unsigned i = 0; i < s->locks_len; i++) hf_lock_close(w->locks[i]);
        session_close(&w->session);
        if (history_flush(&w->history) != 0)
            stress_fail(s, HF_DENIED, "the history cannot be written");
    }
    free(cs);
    free(w);
    return code;
}
