/*
 * run/way/once.c: the right to run of `holdfast once`: got if it was not
 * run yet, given back with the exit status and the output that others may want.
 *
 * A run that was never begun is forgotten, so that another process may run it;
 * one that was begun is recorded, whatever became of it.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/wait.h"
#include "run/event.h"
#include "run/outer.h"
#include "session/holder.h"
#include "session/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOCKS_APART_MS 60000 /* of this host and the store; no more is usual */

/* ---- how to begin ---- */

/* With --losers skip a run by another process is not waited for, unless -w is
 * given. */
static int is_one_try(const struct options *o)
{
    int is_told = o->wait_ms > 0 || o->wait_ms == WAIT_MS_FOREVER;
    if (o->nonblock || o->wait_ms == 0) return 1;
    return !is_told && o->losers == LOSERS_SKIP;
}

static void options_fill(const struct options *o, struct hf_once_options *out)
{
    out->flags = o->retry ? HF_ONCE_RETRY : 0u;
    if (is_one_try(o))
        out->flags |= HF_ONCE_TRY;
    else if (o->wait_ms > 0)
        out->wait_ms = o->wait_ms;
    out->period_ms = o->per_ms;
    out->keep_ms = o->keep_ms;
    out->lease_ms = o->lease_ms;
    out->renew_ms = o->renew_ms;
    out->min_hold_ms = o->min_hold_ms;
    /* --max-hold is left to the supervisor: it ends the command first, and then
     * releases the lock. */
}

/* ---- another process runs it, or has run it ---- */

static const char *run_name(const struct hf_once_result *b, char *out,
                            size_t size)
{
    char shown[4 * HF_HOST_MAX], when[32];
    snprintf(out, size, "%s pid %lld, at %s",
             text_escape(b->host[0] ? b->host : "?", shown, sizeof(shown)),
             (long long)b->pid, when_text(b->began_ms, when, sizeof(when)));
    return out;
}

static void died_say(const struct run *r, const struct hf_once_result *b)
{
    char begun[512];
    say_warn("%s: not run: it was begun on %s, and died: it is not known "
             "how far it got; --retry runs it again",
             r->s.shown, run_name(b, begun, sizeof(begun)));
}

static void running_say(struct run *r, const struct hf_once_result *b)
{
    char begun[512];
    if (!b->host[0])
        session_say_busy(&r->s, "not run", -1);
    else if (r->o->skip_ok)
        say_note("%s: not run: it was begun on %s, and still runs", r->s.shown,
                 run_name(b, begun, sizeof(begun)));
    else
        say_warn("%s: not run: it was begun on %s, and still runs", r->s.shown,
                 run_name(b, begun, sizeof(begun)));
}

/* The record is of a later period than now: warn even with --skip-ok, because
 * the command will not be run for a long time. */
static int ahead_say(const struct run *r, const struct hf_once_result *b,
                     const char *begun)
{
    int64_t ahead_ms = b->began_ms - wall_now_ms();
    int is_ahead =
        r->o->per_ms && ahead_ms > r->o->per_ms && ahead_ms > CLOCKS_APART_MS;
    if (is_ahead)
        say_warn("%s: not run: it was begun on %s, which is in the future: a "
                 "clock is or was wrong",
                 r->s.shown, begun);
    return is_ahead;
}

static void done_say(const struct run *r, const struct hf_once_result *b)
{
    char begun[512];
    run_name(b, begun, sizeof(begun));
    if (ahead_say(r, b, begun)) return;
    if (r->o->losers != LOSERS_SKIP || r->o->skip_ok)
        say_note("%s: not run: it was begun on %s, and ended with status %d",
                 r->s.shown, begun, b->status);
    else
        say_warn("%s: not run: it was begun on %s, and ended with status %d",
                 r->s.shown, begun, b->status);
}

static int status_of_done(const struct run *r, const struct hf_once_result *b)
{
    if (r->o->losers == LOSERS_SKIP) return run_skipped(r);
    if (r->o->losers == LOSERS_WAIT) return EXIT_OK;
    if (b->len) (void)write_all(STDOUT_FILENO, b->data, b->len);
    return b->status >= 0 && b->status <= 255 ? b->status : EXIT_FAILURE;
}

static struct outcome once_found(struct run *r, const struct hf_once_result *b)
{
    event_once(r, b);
    switch (b->outcome) {
    case HF_ONCE_DONE:
        done_say(r, b);
        return (struct outcome){status_of_done(r, b), "done"};
    case HF_ONCE_DIED:
        died_say(r, b);
        return (struct outcome){run_skipped(r), "died"};
    default:
        running_say(r, b);
        return (struct outcome){run_skipped(r), "running"};
    }
}

static int once_fail(struct run *r, int status, const struct hf_error *err)
{
    if (status == HF_UNSUPPORTED
        && session_has_no(&r->s, HF_CAP_VALUE, "once",
                          "give once a server of its own to remember in, by "
                          "--url redis://HOST, or use run, which locks"))
        return EXIT_CONFIG;
    return session_fail(&r->s, status, err);
}

static struct outcome once_refused(struct run *r, int status,
                                   const struct hf_error *err)
{
    if (status == HF_CANCELLED || interrupt_signal()) {
        say_note("%s: not run: interrupted", r->s.shown);
        return (struct outcome){EXIT_SIGNAL + interrupt_signal(),
                                "interrupted"};
    }
    if (status == HF_TIMEOUT) {
        session_say_busy(&r->s, "not run: it still runs", r->o->wait_ms);
        return (struct outcome){run_skipped(r), "timeout"};
    }
    int code = once_fail(r, status, err);
    return (struct outcome){code, run_reason(code, status)};
}

/* ---- beginning ---- */

/* With --verbose, say which run is waited for, before the wait. */
static int once_begin(struct run *r, struct hf_once_options *oo,
                      struct hf_once_result *b, struct hf_error *err)
{
    char begun[512];
    int64_t wait_ms = oo->wait_ms;
    if (!r->o->verbose || oo->flags & HF_ONCE_TRY)
        return hf_once_begin(r->s.client, r->name, oo, &r->once, b, err);
    oo->flags |= HF_ONCE_TRY;
    oo->wait_ms = 0;
    int status = hf_once_begin(r->s.client, r->name, oo, &r->once, b, err);
    if (status == HF_OK && b->outcome != HF_ONCE_RUNNING) return status;
    if (status != HF_OK && status != HF_UNAVAILABLE) return status;
    if (status == HF_OK && b->host[0])
        say_note("%s: waiting: it was begun on %s, and still runs", r->s.shown,
                 run_name(b, begun, sizeof(begun)));
    oo->flags &= ~HF_ONCE_TRY;
    oo->wait_ms = wait_ms;
    return hf_once_begin(r->s.client, r->name, oo, &r->once, b, err);
}

static void once_mine(struct run *r, const struct hf_once_result *b)
{
    r->hold = hf_once_hold(r->once);
    r->once_began_ms = b->began_ms;
    say_note("%s: begun, guarantee %s", r->s.shown,
             guarantee_name(b->guarantee));
}

static int once_get(struct run *r, struct outcome *end)
{
    struct hf_once_options oo = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result b = HF_ONCE_RESULT_INIT;
    struct hf_error err = {0};
    if (!is_one_try(r->o) && wait_choose(r->o) == 0 && outer_refuses(r)) {
        *end = (struct outcome){EXIT_USAGE, "usage"};
        return 0;
    }
    int status = hf_cancel_open(r->s.client, &oo.cancel);
    if (status != HF_OK) {
        *end = once_refused(r, status, &err);
        return 0;
    }
    interrupt_setup(oo.cancel);
    options_fill(r->o, &oo);
    status = once_begin(r, &oo, &b, &err);
    interrupt_setup(NULL);
    hf_cancel_close(oo.cancel);
    if (status == HF_OK && b.outcome == HF_ONCE_MINE) {
        once_mine(r, &b);
        return 1;
    }
    *end = status == HF_OK ? once_found(r, &b) : once_refused(r, status, &err);
    if (status == HF_OK) hf_once_result_free(r->s.client, &b);
    return 0;
}

/* ---- ending ---- */

static void once_give(struct run *r, int code)
{
    struct hf_error err = {0};
    size_t len;
    const char *data = output_kept(r, &len);
    int status = run_was_run(r)
                     ? hf_once_end(r->once, code, data, data ? len : 0, &err)
                     : hf_once_abandon(r->once, &err);
    r->once = NULL;
    r->hold = NULL;
    /* The end was recorded, but the lock could not be released. */
    if (status == HF_OK && err.text[0]) (void)once_fail(r, err.status, &err);
    if (status == HF_OK) return;
    (void)once_fail(r, status, &err);
    if (status == HF_LOST || status == HF_EXPIRED)
        r->lost = 1;
    else if (run_was_run(r))
        say_warn("%s: its end may not have been recorded: to others it "
                 "looks like a run that died",
                 r->s.shown);
}

const struct way way_once = {.get = once_get, .give = once_give};
