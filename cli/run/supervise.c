/*
 * run/supervise.c: the command is gone before another client can have the lock.
 *
 *                 renewed         not renewed
 *      GOING  <-----------+   deadline - grace    deadline - margin   deadline
 *        |                |          |                    |              |
 *        +----------------+--------> HOOK -> TERM ------> KILL    others may
 *
 * The rule: from `deadline - margin` on, KILL has been sent, unless the user
 * chose to be only warned.  A hold that is known to be lost before its time
 * (broken, flushed) begins the same way at once.
 *
 * If this process was stopped, or the machine stalled, `deadline - grace` may
 * be over before a renewal was tried.  One is tried first then, for at most
 * half of the time that is left until KILL.
 */
#include "common/duration.h"
#include "common/say.h"
#include "run/event.h"
#include "run/process/process.h"
#include "run/supervise.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MARGIN_MIN_MS 20
#define MARGIN_MAX_MS 250
#define RENEWED_MS 20      /* a deadline that moved by less need not be told */
#define LOOK_AGAIN_MS 5000 /* a timer does not count while we are suspended */
#define LATE_MS 50         /* awake later than this: the process was paused */
#define TRY_MS 1000        /* for a renewal behind a pause, at most */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* `at - before`, where INT64_MAX stays for ever. */
static int64_t ahead(int64_t at, int64_t before)
{
    return at == INT64_MAX ? at : at - before;
}

/* ---- the state of the hold ---- */

/* The guardian acts only if we do not, so it gets half of our margin. */
static void guarded_say(struct run *r)
{
    int64_t at_ms = ahead(r->deadline_ms, r->margin_ms / 2);
    atomic_store(r->guarded_ms, r->on_lost == ON_LOST_WARN ? INT64_MAX : at_ms);
}

/* Tell the command and the reader of events how long the lock is valid;
 * -1: without a limit. */
static void held_say(struct run *r, int64_t valid_ms)
{
    char line[48];
    snprintf(line, sizeof(line), "held %" PRId64, valid_ms);
    status_line(r, line);
    event_held(r, valid_ms);
}

void supervise_prepare(struct run *r)
{
    int64_t lease = r->lease_ms;
    r->margin_ms = lease == INT64_MAX ? 0 : lease / 100;
    if (r->margin_ms < MARGIN_MIN_MS) r->margin_ms = MARGIN_MIN_MS;
    if (r->margin_ms > MARGIN_MAX_MS) r->margin_ms = MARGIN_MAX_MS;
    r->deadline_ms =
        lease == INT64_MAX ? lease : r->acquired_at_ms + r->held.valid_ms;
    guarded_say(r);
}

void supervise_begin(struct run *r, int64_t now_ms)
{
    r->said_ms = r->deadline_ms;
    r->max_at_ms =
        r->o->max_hold_ms ? r->acquired_at_ms + r->o->max_hold_ms : INT64_MAX;
    r->extend_at_ms = r->detached ? now_ms + keep_every_ms(r) : INT64_MAX;
    r->phase = PHASE_GOING;
    r->cause = CAUSE_NONE;
    r->due_ms = INT64_MAX;
    r->woke_ms = 0;
    held_say(r, r->lease_ms == INT64_MAX ? -1 : r->held.valid_ms);
}

static void at_risk_say(struct run *r, int64_t left_ms)
{
    char time[32], why[HF_ERROR_TEXT_MAX], shown[2 * HF_ERROR_TEXT_MAX];
    if (r->at_risk) return;
    r->at_risk = 1;
    hold_why(r, why);
    say_warn("%s: at risk: not renewed, and the lease ends in %s%s%s",
             r->s.shown, duration_text(left_ms, time, sizeof(time)),
             why[0] ? ": " : "", text_escape(why, shown, sizeof(shown)));
    status_line(r, "at-risk");
    event_number(r, "at-risk", "valid_ms", left_ms);
}

static void lost_say(struct run *r)
{
    if (r->lost) return;
    r->lost = 1;
    session_warn(&r->s, "lost",
                 r->lost_text[0] ? r->lost_text : "the lease has ended");
    status_line(r, "lost");
    event_simple(r, "lost");
}

static void hold_look(struct run *r, int64_t now_ms)
{
    if (r->lost) return;
    int state = hold_state(r);
    if (r->lease_ms == INT64_MAX) {
        if (state == HF_STATE_LOST) lost_say(r);
        return;
    }
    int64_t valid_ms = hold_valid_ms(r);
    if (state == HF_STATE_LOST || state == HF_STATE_NONE || valid_ms <= 0) {
        lost_say(r);
        return;
    }
    int64_t deadline_ms = now_ms + valid_ms;
    r->deadline_ms = deadline_ms;
    guarded_say(r);
    if (deadline_ms > r->said_ms + RENEWED_MS) {
        r->said_ms = deadline_ms;
        if (r->at_risk) say_warn("%s: held again", r->s.shown);
        r->at_risk = 0;
        held_say(r, valid_ms);
    }
    if (state == HF_STATE_AT_RISK) at_risk_say(r, valid_ms);
}

/* ---- ending the command ---- */

/* Report why the command is ended, also without -v; --max-hold has done so
 * already. */
static void ending_say(const struct run *r, const char *how)
{
    if (r->cause == CAUSE_LOST)
        say_warn("%s: %s the command: the lock cannot be kept", r->s.shown,
                 how);
    else
        say_note("%s: %s the command", r->s.shown, how);
}

static void tree_kill(struct run *r)
{
    r->phase = PHASE_KILL;
    ending_say(r, "killing");
    event_number(r, "signal", "signal", SIGKILL);
    ctl_order(r, CTL_KILL_TREE, 0);
    kill(r->guardian, SIGCONT); /* if it was stopped */
}

static void tree_term(struct run *r)
{
    int is_other = r->cause == CAUSE_LOST && r->lost_signal;
    int sig = is_other ? r->lost_signal : SIGTERM;
    r->phase = PHASE_TERM;
    ending_say(r, sig == SIGTERM ? "terminating" : "signalling");
    event_number(r, "signal", "signal", sig);
    ctl_order(r, CTL_TERM_TREE, sig);
}

/* Begin to end the command; everything is over at kill_at_ms. */
static void ending_begin(struct run *r, enum cause cause, int64_t now_ms)
{
    int64_t kill_at_ms = now_ms + r->grace_ms;
    r->cause = cause;
    if (r->on_lost != ON_LOST_WARN)
        kill_at_ms = earlier(kill_at_ms, ahead(r->deadline_ms, r->margin_ms));
    r->kill_at_ms = kill_at_ms;
    if (kill_at_ms <= now_ms
        || (cause == CAUSE_LOST && r->on_lost == ON_LOST_KILL)) {
        tree_kill(r);
    } else if (cause == CAUSE_LOST && r->on_lost == ON_LOST_HOOK) {
        /* Half of the time for the hook, half for the command to clean up. */
        r->hook_until_ms = now_ms + (kill_at_ms - now_ms) / 2;
        r->phase = PHASE_HOOK;
        hook_start(r);
    } else {
        tree_term(r);
    }
}

/* When the command must begin to end if nothing is renewed until then. */
static int64_t lost_begins_ms(const struct run *r)
{
    switch (r->on_lost) {
    case ON_LOST_WARN:
        return INT64_MAX;
    case ON_LOST_KILL:
        return ahead(r->deadline_ms, r->margin_ms);
    default:
        return ahead(r->deadline_ms, r->grace_ms);
    }
}

/* As lost_begins_ms(), with time for a renewal if there was a pause. */
static int64_t ending_begins_ms(const struct run *r)
{
    int64_t at = lost_begins_ms(r);
    int64_t left_ms = ahead(r->deadline_ms, r->margin_ms) - r->woke_ms;
    if (at == INT64_MAX || !r->woke_ms || left_ms <= 0) return at;
    int64_t tried_ms = r->woke_ms + earlier(left_ms / 2, TRY_MS);
    return at > tried_ms ? at : tried_ms;
}

void supervise_sleep(struct run *r, int64_t now_ms, int64_t timeout_ms)
{
    r->due_ms = timeout_ms < 0 ? INT64_MAX : now_ms + timeout_ms;
}

/* Once the command should be ending, only one pause gives it more time: a
 * machine that is always late must not postpone the end again and again. */
static void pause_note(struct run *r, int64_t now_ms)
{
    if (ahead(now_ms, LATE_MS) > r->due_ms && r->woke_ms < lost_begins_ms(r))
        r->woke_ms = now_ms;
}

static void in_going(struct run *r, int64_t now_ms)
{
    char time[32];
    if (r->lost && r->on_lost != ON_LOST_WARN) {
        ending_begin(r, CAUSE_LOST, now_ms);
    } else if (ending_begins_ms(r) <= now_ms) {
        at_risk_say(r, r->deadline_ms - now_ms);
        ending_begin(r, CAUSE_LOST, now_ms);
    } else if (r->max_at_ms <= now_ms) {
        say_warn("%s: held for %s: ending the command", r->s.shown,
                 duration_text(r->o->max_hold_ms, time, sizeof(time)));
        ending_begin(r, CAUSE_MAX_HOLD, now_ms);
    }
}

/* A lock lost while the command is being ended leaves less time for it. */
static int64_t kill_due_ms(const struct run *r)
{
    if (r->on_lost == ON_LOST_WARN || r->cause == CAUSE_LOST)
        return r->kill_at_ms;
    return earlier(r->kill_at_ms, ahead(r->deadline_ms, r->margin_ms));
}

void supervise_step(struct run *r, int64_t now_ms)
{
    hold_look(r, now_ms);
    pause_note(r, now_ms);
    switch (r->phase) {
    case PHASE_GOING:
        in_going(r, now_ms);
        break;
    case PHASE_HOOK:
        if (hook_is_over(r) || now_ms >= r->hook_until_ms) tree_term(r);
        break;
    case PHASE_TERM:
        if (now_ms >= kill_due_ms(r)) tree_kill(r);
        break;
    case PHASE_KILL:
        break;
    }
}

int supervise_timeout_ms(const struct run *r, int64_t now_ms)
{
    int64_t at = r->extend_at_ms;
    if (r->phase == PHASE_GOING) {
        at = earlier(at, earlier(ending_begins_ms(r), r->max_at_ms));
        if (!r->lost) at = earlier(at, r->deadline_ms);
    } else if (r->phase == PHASE_HOOK) {
        at = earlier(at, r->hook_until_ms);
    } else if (r->phase == PHASE_TERM) {
        at = earlier(at, kill_due_ms(r));
    }
    if (at == INT64_MAX) return -1;
    if (at <= now_ms) return 0;
    return (int)earlier(at - now_ms, LOOK_AGAIN_MS);
}
