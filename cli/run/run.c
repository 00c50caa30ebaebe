/*
 * run/run.c: get the lock, run the command, give the lock back, and say how
 * it went.
 *
 * The command's own exit status is passed on, unless the lock was lost.
 */
#include "common/duration.h"
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/wait.h"
#include "run/event.h"
#include "run/outer.h"
#include "run/process/process.h"
#include "run/supervise.h"
#include "session/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS_DEFAULT 5000

/* ---- before the command ---- */

/* TERM is sent `grace` before the lease ends, and a renewal is due after a
 * third of it: a longer grace would end commands whose lock is in order. */
static int grace_check(struct run *r)
{
    const struct options *o = r->o;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    (void)hf_client_settings(r->s.client, &co, NULL);
    int64_t lease_ms = co.lease_ms; /* the option's, the URL's or the default */
    int outlives_us = o->min_hold_ms && r->way == &way_lock;
    int by_kernel =
        (hf_client_caps(r->s.client) & HF_CAP_KERNEL) != 0 && !outlives_us;
    if (!by_kernel && o->lease_ms && lease_ms < RUN_LEASE_MS_MIN)
        return run_usage(r, "--lease must be at least 100ms: with less a "
                            "command could not be ended in time");
    if (o->grace_ms && !by_kernel && lease_ms < 3 * o->grace_ms)
        return run_usage(r, "--lease must be at least three times --grace");
    return EXIT_OK;
}

/* The lease may be the option's or the URL's. */
static int lease_is_short(const struct run *r)
{
    if (r->lease_ms >= RUN_LEASE_MS_MIN || r->o->no_fork) return 0;
    say_error("%s: a lease of %lld ms is too short to run a command: it could "
              "not be ended in time; take at least %d ms",
              r->s.shown, (long long)r->lease_ms, RUN_LEASE_MS_MIN);
    return 1;
}

static void grace_choose(struct run *r)
{
    int by_kernel = r->held.valid_ms == INT64_MAX;
    r->lease_ms = by_kernel ? INT64_MAX : r->held.lease_ms;
    r->grace_ms = r->o->grace_ms ? r->o->grace_ms : GRACE_MS_DEFAULT;
    if (r->grace_ms > r->lease_ms / 3) r->grace_ms = r->lease_ms / 3;
}

/* A state callback of the library.  The text is kept for lost_say(), which
 * names the session's lock; the event may be about another one, with --also or
 * where each slot is a lock. */
static void state_note(const struct hf_event *ev, void *user)
{
    struct run *r = user;
    const char *text = status_why(ev->status, ev->text);
    if (ev->state != HF_STATE_LOST) return;
    if (strcmp(ev->name, r->name) == 0)
        snprintf(r->lost_text, sizeof(r->lost_text), "%s", text);
    else
        snprintf(r->lost_text, sizeof(r->lost_text), "%.100s: %.150s", ev->name,
                 text);
}

/* ---- after the command ---- */

int run_was_run(const struct run *r)
{
    return r->guardian > 0 && !r->exec_errno && !r->fork_errno && !r->late;
}

int run_skipped(const struct run *r)
{
    if (r->o->skip_ok) return EXIT_OK;
    return r->o->conflict_code >= 0 ? (int)r->o->conflict_code
                                    : EXIT_NOT_ACQUIRED;
}

static struct outcome outcome_of_start(const struct run *r)
{
    int why = r->exec_errno ? r->exec_errno : r->fork_errno;
    if (r->fork_errno) return (struct outcome){EXIT_BUG, "cannot-run"};
    return (struct outcome){why == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN,
                            "cannot-run"};
}

static struct outcome outcome_of_run(const struct run *r)
{
    if (r->fork_errno || r->exec_errno) return outcome_of_start(r);
    if (r->guardian_died) return (struct outcome){EXIT_BUG, "guardian-died"};
    if (r->late || r->lost || r->cause == CAUSE_LOST)
        return (struct outcome){EXIT_LOST, "lost"};
    if (r->cause == CAUSE_MAX_HOLD)
        return (struct outcome){EXIT_MAX_HOLD, "max-hold"};
    if (WIFSIGNALED(r->wait_status))
        return (struct outcome){EXIT_SIGNAL + WTERMSIG(r->wait_status),
                                "signal"};
    return (struct outcome){WEXITSTATUS(r->wait_status), "exit"};
}

/* Tell how the command ended where the exit code alone does not. */
static void outcome_say(const struct run *r)
{
    int why = r->exec_errno ? r->exec_errno : r->fork_errno;
    char shown[512];
    const char *what = r->o->shell ? "sh" : r->argv[0];
    if (why)
        say_error("%s: cannot be run: %s",
                  text_escape(what, shown, sizeof(shown)), strerror(why));
    else if (r->late)
        say_error("%s: lost before the command was run: it is not run",
                  r->s.shown);
    else if (r->guardian_died)
        say_error("%s: the guardian process died; the command was killed",
                  r->s.shown);
}

/* Release the lock; the answer may say that it was lost before. */
static struct outcome run_ended(struct run *r)
{
    struct outcome end = outcome_of_run(r);
    outcome_say(r);
    output_drain(r);
    r->way->give(r, end.code);
    output_end_all(r);
    return outcome_of_run(r);
}

/* ---- the whole ---- */

/* -F: become the command, which inherits the kernel lock. */
static struct outcome run_in_place(struct run *r)
{
    struct hf_error err = {0};
    int fd;
    int status = hf_hold_inherit(r->hold, &fd, &err);
    if (status != HF_OK) {
        int code = status_exit(status);
        if (status == HF_UNSUPPORTED)
            say_error("%s: -F: only for file:, whose lock a command can hold",
                      r->s.shown);
        else
            (void)session_fail(&r->s, status, &err);
        r->way->give(r, code);
        return (struct outcome){code, "unsupported"};
    }
    r->child_status_fd = -1;
    run_environment(r);
    signals_restore();
    run_exec(r);
    r->exec_errno = errno;
    close(fd);
    return run_ended(r);
}

static struct outcome run_held(struct run *r)
{
    r->guardian = 0;
    r->late = 0;
    r->acquired_at_ms = clock_ms(); /* first: the deadline is not too late */
    hold_read(r);
    grace_choose(r);
    if (lease_is_short(r)) {
        r->way->give(r, EXIT_CONFIG);
        return (struct outcome){EXIT_CONFIG, "configuration"};
    }
    event_acquired(r);
    if (r->held.replicas > 0)
        say_note("%s: replicas that have it: %d", r->s.shown,
                 (int)r->held.replicas);
    int why = signals_setup();
    if (!why && interrupt_signal()) {
        int code = EXIT_SIGNAL + interrupt_signal();
        r->way->give(r, code);
        return (struct outcome){code, "interrupted"};
    }
    if (!why && r->o->no_fork) return run_in_place(r);
    r->late = !why && r->held.valid_ms <= 0;
    if (!why && !r->late) why = run_start(r);
    r->fork_errno = why;
    if (!why && !r->late) {
        supervise_begin(r, clock_ms());
        run_loop(r);
    }
    return run_ended(r);
}

const char *run_reason(int code, int status)
{
    if (code >= EXIT_SIGNAL) return "interrupted";
    switch (status) {
    case HF_TAKEN:
        return "busy";
    case HF_TIMEOUT:
        return "timeout";
    case HF_UNAVAILABLE:
        return "unreachable";
    case HF_DENIED:
        return "denied";
    case HF_LOST:
    case HF_EXPIRED:
        return "lost";
    case HF_INVALID:
    case HF_CONFLICT:
    case HF_UNSUPPORTED:
        return "configuration";
    default:
        return "internal";
    }
}

/* --reenter: become the command, under the lock of the outer run, whose
 * guardian sees to all its descendants.  Returns only if that fails. */
static struct outcome run_inside(struct run *r, const struct outer *outer)
{
    char fence[32];
    say_note("%s: held by pid %ld around this command: entered again",
             r->s.shown, (long)outer->pid);
    snprintf(fence, sizeof(fence), "%llu", (unsigned long long)outer->fence);
    setenv("HOLDFAST_LOCK", r->name, 1);
    setenv("HOLDFAST_LOCKS", r->name, 1);
    setenv("HOLDFAST_FENCES", fence, 1);
    if (outer->fence)
        setenv("HOLDFAST_FENCE", fence, 1);
    else
        unsetenv("HOLDFAST_FENCE");
    session_environment(&r->s);
    environment_clean(r->url);
    run_exec(r);
    r->exec_errno = errno;
    outcome_say(r);
    return outcome_of_start(r);
}

/* Another run may hold it by now: with --on-lost warn the outer one goes on
 * when it has lost the lock. */
static struct outcome run_reenter(struct run *r, const struct outer *outer)
{
    struct hf_error err = {0};
    int status = HF_OK;
    if (outer_is_weaker(r, outer)) return (struct outcome){EXIT_USAGE, "usage"};
    if (outer_is_gone(r, outer, &err, &status))
        return (struct outcome){EXIT_LOST, "lost"};
    if (status == HF_OK) return run_inside(r, outer);
    int code = session_fail(&r->s, status, &err);
    return (struct outcome){code, run_reason(code, status)};
}

/* A user who configured nothing may take a lock of this host for one of all
 * hosts.  A name with a slash is a file, which is known to be of this host. */
static void host_say(const struct run *r)
{
    int is_read = r->o->verbose || wait_is_watched(r->o);
    if (!r->s.is_default || !is_read || strchr(r->name, '/')) return;
    say_warn("%s: this lock is for this host only: no URL is configured; "
             "--url file: says that it is meant",
             r->s.shown);
}

static struct outcome run_session(struct run *r)
{
    struct outcome end = {EXIT_USAGE, "usage"};
    struct outer outer;
    r->url = hf_client_url(r->s.client);
    outer_setup(r);
    host_say(r);
    if (r->o->reenter && outer_holds(r, &outer)) return run_reenter(r, &outer);
    if (grace_check(r) != EXIT_OK) return end;
    do {
        if (!r->way->get(r, &end)) break;
        say_hasty(1);
        end = run_held(r);
        say_hasty(0);
    } while (r->way->again && r->way->again(r, &end));
    if (r->way->close) r->way->close(r);
    return end;
}

/* The holder's label is the name of the command, not "holdfast". */
static const char *label_of(char **argv)
{
    const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;
    return slash && slash[1] ? slash + 1 : argv[0];
}

/* A client whose store does not answer: its end is ours. */
static hf_client *left;

struct outcome run_all(struct run *r)
{
    struct outcome end;
    if (!r->o->label) r->o->label = label_of(r->argv);
    end.code =
        session_open(&r->s, r->o, r->name, HF_CLIENT_OWN_LOOP, state_note, r);
    end.reason = end.code == EXIT_DENIED ? "denied" : "configuration";
    if (end.code) return end;
    end = run_session(r);
    if (r->is_left)
        left = r->s.client;
    else
        session_close(&r->s);
    return end;
}
