/*
 * run/way/elect.c: the right to run of `holdfast elect`: got by winning an
 * election, given back by resigning; and whether the command is run once more.
 *
 *     campaign -> run -> lost -------------------> campaign
 *                     -> ended by itself -> resign -> pause -> campaign, or end
 *                     -> a signal to us --> resign -> end
 *
 * The rule: between two runs we do not lead.  A host on which the command
 * cannot run must not keep the others from trying.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/wait.h"
#include "run/event.h"
#include "run/process/process.h"
#include "session/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_MS_DEFAULT 1000
#define PAUSE_MS_MAX 60000 /* it doubles up to this, or to what was given */
#define SOUND_MS 60000     /* a run of this length counts as successful */
#define AGAIN_MS 1000      /* the store took the lock, but not the value */

static int is_ending(int sig)
{
    return sig == SIGTERM || sig == SIGINT || sig == SIGQUIT || sig == SIGHUP;
}

/* A signal that came between two runs, and is for us; or 0. */
static int signal_pending(const struct run *r)
{
    int from_tty, sig;
    if (r->rounds == 0) return 0; /* not set up yet */
    while ((sig = signals_next(&from_tty)) != 0)
        if (is_ending(sig)) return sig;
    return 0;
}

/* ---- campaigning -------------------------------------------------------- */

static int election_open(struct run *r, struct hf_error *err)
{
    struct hf_election_options o = HF_ELECTION_OPTIONS_INIT;
    if (r->election) return HF_OK;
    o.order = r->o->fair ? HF_ORDER_FAIR : HF_ORDER_ANY;
    o.lease_ms = r->o->lease_ms;
    o.renew_ms = r->o->renew_ms;
    return hf_election_open(r->s.client, r->name, &o, &r->election, err);
}

/* The first try is short, so that a store that cannot be reached is reported
 * before it is waited for.  In a queue it is a single try without a wait,
 * because a wait that ends would give up its place. */
static int campaign_first(struct run *r, struct hf_campaign_options *co,
                          struct hf_error *err)
{
    if (session_is_queueing(&r->s, r->o))
        co->flags |= HF_CAMPAIGN_TRY;
    else
        co->wait_ms = SILENT_MS;
    int status = hf_election_campaign(r->election, co, &r->hold, err);
    co->flags &= ~HF_CAMPAIGN_TRY;
    co->wait_ms = 0;
    if (status == HF_UNAVAILABLE) session_warn(&r->s, "waiting", err->text);
    return status;
}

/* Wait for ever for a store that cannot be reached, or not be written. */
static int campaign_try(struct run *r, struct hf_campaign_options *co,
                        struct hf_error *err)
{
    int is_bounded = co->wait_ms || co->flags & HF_CAMPAIGN_TRY;
    if (!is_bounded) {
        int status = campaign_first(r, co, err);
        if (status != HF_TIMEOUT && status != HF_TAKEN
            && status != HF_UNAVAILABLE && status != HF_LOST)
            return status;
    }
    for (;;) {
        int status = hf_election_campaign(r->election, co, &r->hold, err);
        int may_heal = status == HF_UNAVAILABLE || status == HF_LOST;
        if (!may_heal || is_bounded) return status;
        if (interrupt_signal()) return HF_CANCELLED;
        session_warn(&r->s, "", err->text);
        if (poll(NULL, 0, AGAIN_MS) != 0 && interrupt_signal())
            return HF_CANCELLED;
    }
}

static struct outcome campaign_refused(struct run *r, int status,
                                       const struct hf_error *err)
{
    int sig = interrupt_signal() ? interrupt_signal() : r->told;
    if (status == HF_CANCELLED) {
        say_note("%s: not elected: interrupted", r->s.shown);
        return (struct outcome){EXIT_SIGNAL + sig, "interrupted"};
    }
    if (status == HF_TAKEN || status == HF_TIMEOUT) {
        session_say_busy(&r->s, "not elected",
                         status == HF_TIMEOUT ? r->o->wait_ms : -1);
        return (struct outcome){run_skipped(r),
                                run_reason(EXIT_NOT_ACQUIRED, status)};
    }
    int code = session_fail(&r->s, status, err);
    return (struct outcome){code, run_reason(code, status)};
}

static int campaign(struct run *r, struct hf_error *err)
{
    struct hf_campaign_options co = HF_CAMPAIGN_OPTIONS_INIT;
    int status = election_open(r, err);
    if (status == HF_OK) status = hf_cancel_open(r->s.client, &co.cancel);
    if (status != HF_OK) return status;
    interrupt_setup(co.cancel);
    int64_t wait_ms = wait_choose(r->o);
    if (wait_ms == WAIT_TRY)
        co.flags = HF_CAMPAIGN_TRY;
    else
        co.wait_ms = wait_ms;
    co.value = r->o->value;
    co.value_len = r->o->value ? strlen(r->o->value) : 0;
    r->told = signal_pending(r);
    say_note("%s: campaigning", r->s.shown);
    status = r->told ? HF_CANCELLED : campaign_try(r, &co, err);
    interrupt_setup(NULL);
    hf_cancel_close(co.cancel);
    return status;
}

static int elect_get(struct run *r, struct outcome *end)
{
    struct hf_error err = {0};
    int status = campaign(r, &err);
    if (status != HF_OK) {
        *end = campaign_refused(r, status, &err);
        return 0;
    }
    say_note("%s: elected", r->s.shown);
    return 1;
}

/* ---- afterwards --------------------------------------------------------- */

static void elect_give(struct run *r, int code)
{
    struct hf_error err = {0};
    int state = hf_hold_state(r->hold);
    (void)code;
    if (state != HF_STATE_HELD && state != HF_STATE_AT_RISK) return;
    int status = hf_election_resign(r->election, &err);
    if (status == HF_OK) return;
    (void)session_fail(&r->s, status, &err);
    if (status == HF_LOST || status == HF_EXPIRED) r->lost = 1;
}

/* Reset the state of the run that is over. */
static void run_forget(struct run *r)
{
    if (r->ctl_fd > 0) close(r->ctl_fd);
    if (r->status_fd >= 0) close(r->status_fd);
    r->ctl_fd = 0;
    r->status_fd = -1;
    r->hold = NULL;
    r->guardian = r->command = r->hook = 0;
    r->ended = r->guardian_died = r->wait_status = 0;
    r->exec_errno = r->fork_errno = 0;
    r->at_risk = r->lost = 0;
    r->lost_text[0] = '\0';
    r->has_tty = r->wants_tty = r->stop_asked = 0;
    r->rounds++;
}

/* HUP counts only if the command died of it: many commands read their
 * configuration again on HUP. */
static int is_told_to_end(const struct run *r)
{
    if (r->told != SIGHUP) return r->told != 0;
    return WIFSIGNALED(r->wait_status) && WTERMSIG(r->wait_status) == SIGHUP;
}

static int is_restarted(const struct run *r, const struct outcome *end)
{
    if (r->o->restart == RESTART_ON_FAILURE) return end->code != EXIT_OK;
    return r->o->restart == RESTART_ALWAYS;
}

/* Pause before a restart, longer each time until a run has lasted.  0, or the
 * signal that ended the pause. */
static int restart_pause(struct run *r)
{
    int64_t first_ms = r->o->restart_ms ? r->o->restart_ms : PAUSE_MS_DEFAULT;
    int64_t most_ms = first_ms > PAUSE_MS_MAX ? first_ms : PAUSE_MS_MAX;
    int64_t now_ms = clock_ms();
    char time[32];
    if (!r->pause_ms || now_ms - r->acquired_at_ms >= SOUND_MS)
        r->pause_ms = first_ms;
    say_warn("%s: the command has ended; campaigning again in %s", r->s.shown,
             duration_text(r->pause_ms, time, sizeof(time)));
    int64_t end_ms = now_ms + r->pause_ms;
    struct pollfd fd = {.fd = signals_fd(), .events = POLLIN};
    for (; now_ms < end_ms; now_ms = clock_ms()) {
        int64_t left_ms = end_ms - now_ms;
        (void)poll(&fd, 1, left_ms < 1000 ? (int)left_ms : 1000);
        int sig = signal_pending(r);
        if (sig) return sig;
    }
    r->pause_ms = r->pause_ms > most_ms / 2 ? most_ms : 2 * r->pause_ms;
    return 0;
}

static int elect_again(struct run *r, struct outcome *end)
{
    int is_lost = strcmp(end->reason, "lost") == 0;
    if (strcmp(end->reason, "interrupted") == 0 || r->guardian_died) return 0;
    if (is_told_to_end(r)) return 0;
    if (!is_lost && !is_restarted(r, end)) return 0;
    event_end_of_round(r, end->reason, end->code);
    run_forget(r);
    if (is_lost) {
        say_warn("%s: campaigning again", r->s.shown);
        return 1;
    }
    int sig = restart_pause(r);
    if (!sig) return 1;
    *end = (struct outcome){EXIT_SIGNAL + sig, "interrupted"};
    return 0;
}

static void elect_close(struct run *r)
{
    hf_election_close(r->election);
    r->election = NULL;
}

const struct way way_elect = {.get = elect_get,
                              .give = elect_give,
                              .again = elect_again,
                              .close = elect_close};
