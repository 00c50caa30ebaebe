/*
 * cmd/run.c: run a command while holding a lock; exit with its status.
 *
 * This is its command line; run/run.c does it, and run/hold.c has the lock.
 */
#include "common/exit.h"
#include "option/rows.h"
#include "run/rows.h"
#include "run/run.h"

#include <string.h>

/* A lock that is named twice is a mistake. */
static int also_check(const struct run *r)
{
    const struct texts *also = &r->o->also;
    for (size_t i = 0; i < also->len; i++) {
        int is_twin = strcmp(also->at[i], r->name) == 0;
        for (size_t k = 0; k < i; k++)
            is_twin |= strcmp(also->at[i], also->at[k]) == 0;
        if (is_twin)
            return run_usage(r, "--also names a lock that is named already");
    }
    return EXIT_OK;
}

static int slots_check(const struct run *r)
{
    const struct options *o = r->o;
    if (!o->slots && o->foreign)
        return run_usage(r, "--foreign is for --slots only");
    if (!o->slots) return EXIT_OK;
    if (o->also.len || o->min_hold_ms || o->no_fork)
        return run_usage(r, "--slots is not for --also, --min-hold or -F");
    if (o->side != SIDE_NONE)
        return run_usage(r, "--slots is not for -s and -x: slots are taken "
                            "one by one");
    if (o->fallback == HF_FALLBACK_LOCAL)
        return run_usage(r, "--slots and --fallback local exclude each other: "
                            "each host would have its own");
    return EXIT_OK;
}

static int run_check(const struct run *r)
{
    const struct options *o = r->o;
    if (slots_check(r) != EXIT_OK) return EXIT_USAGE;
    if (o->no_fork && o->close)
        return run_usage(r, "-F and -o exclude each other: no process would "
                            "hold the lock");
    if (o->no_fork
        && (o->min_hold_ms || o->max_hold_ms || o->on_lost
            || o->hold_until_idle))
        return run_usage(r, "-F leaves no process to see to --min-hold, "
                            "--max-hold, --on-lost or --hold-until-idle");
    if (o->min_hold_ms && o->side == SIDE_SHARED)
        return run_usage(r, "--min-hold and -s exclude each other: what is "
                            "shared cannot outlive us");
    if (o->min_hold_ms && o->side == SIDE_EXCLUSIVE)
        return run_usage(r, "--min-hold and -x exclude each other: only a "
                            "plain lock can outlive us");
    if (o->min_hold_ms && o->fallback == HF_FALLBACK_LOCAL)
        return run_usage(r, "--min-hold and --fallback local exclude each "
                            "other: a lock of this host ends with us");
    if (o->also.len && (o->no_fork || o->min_hold_ms))
        return run_usage(r, "--also is not for -F, nor for --min-hold");
    if (o->also.len && o->fair)
        return run_usage(r, "--also is not for --fair: several locks cannot "
                            "be queued for at once");
    if (o->reenter
        && (o->also.len || o->slots || o->min_hold_ms || o->max_hold_ms
            || o->hold_until_idle || o->json))
        return run_usage(r,
                         "--reenter is not for --also, --slots, --min-hold, "
                         "--max-hold, --hold-until-idle or --json: the outer "
                         "run has the lock");
    return also_check(r);
}

static int run_main(const struct command *self, int argc, char **argv)
{
    return run_words(self, &way_lock, run_check, argc, argv);
}

static const struct option_row run_options[] = {
    OPTION_ROW_WAIT("the lock is held"),
    OPTION_ROW_SIDE,
    {"", "also", "LOCK", OPTION_TEXTS, FIELD(also), 0, 0, 0,
     "hold this lock too: all of them or none; may be given up to 63 times"},
    {"", "slots", "N", OPTION_NUMBER, FIELD(slots), 0, 1, HF_SEMAPHORE_MAX,
     "N commands may run at a time: a semaphore instead of a lock; up to 64 "
     "where it is made of locks (file:, and several servers)"},
    OPTION_ROW_FOREIGN,
    OPTION_ROW_FAIR("first come, first served, on all hosts; a client "
                    "without --fair waits until the queue is empty"),
    {"", "reenter", NULL, OPTION_FLAG, FIELD(reenter), 1, 0, 0,
     "inside a holdfast run that holds NAME already, run the command under "
     "that lock; otherwise acquire it"},
    OPTION_ROW_BACKOFF,
    OPTION_ROW_EXIT,
    OPTION_ROW_COMMAND,
    {"o", "close", NULL, OPTION_FLAG, FIELD(close), 1, 0, 0,
     "do not pass the lock to the command; this is always so, except with -F"},
    {"F", "no-fork", NULL, OPTION_FLAG, FIELD(no_fork), 1, 0, 0,
     "become the command, which then holds the lock itself; only for file:"},
    OPTION_ROW_LEASE,
    OPTION_ROW_RENEW,
    {"", "min-hold", "TIME", OPTION_DURATION, FIELD(min_hold_ms), 0, 1,
     HF_LEASE_MS_MAX,
     "keep the lock at least for TIME, even if the command ends earlier"},
    OPTION_ROW_SUPERVISE,
    OPTION_ROW_FALLBACK,
    OPTION_ROW_URL,
    OPTION_ROW_LABEL,
    OPTION_ROW_EVENTS,
    OPTION_ROW_TALK,
};

static const char *const run_about[] = {
    "Run COMMAND while holding the lock NAME, and exit with its status. The "
    "letters of flock(1) mean the same as there; without -n or -w holdfast "
    "waits until the lock is free. A TIME without a unit is in seconds; "
    "250ms, 10s, 1h30m, 1d and 1w are understood. At a terminal it says after "
    "a second which holder it waits for.",
    "The lock is renewed while the command runs. If that fails, the command "
    "and all its descendants are sent TERM, and KILL before the lease ends, "
    "so that it is gone before another client can get the lock; the exit "
    "status is then 80. If holdfast itself is killed, a guardian process "
    "kills all descendants at once, also those in sessions of their own.",
    "The command runs in a process group of its own. INT, TERM, HUP, QUIT, "
    "USR1, USR2, WINCH, CONT and TSTP are passed on to this group. While "
    "holdfast still waits for the lock, a signal ends it at once.",
    "With --also several locks are held together: all of them, or the "
    "command is not run. While it waits for one of them it holds none of "
    "the others, and in whatever order two commands name the same locks, "
    "they do not wait for each other in a circle. If one of them is lost, "
    "all are.",
    "Inside a command that holds NAME already, run would wait for itself: that "
    "is found out and refused with exit 64. With --reenter the command is run "
    "at once instead, and HOLDFAST_FENCE is that of the outer run, which goes "
    "on renewing the lock and ends the command if it is lost. With -n or -w "
    "TIME nothing waits for ever, and the exit status is 75 as always.",
    "With -s many holders share the lock, with -x one holder excludes them "
    "and all others: the two sides of a read/write lock. While a name is in "
    "use as a read/write lock, a plain lock of that name is refused with "
    "exit 78, and the other way round; the message says which letter would "
    "do. On file: nothing is refused: these locks and those of flock(1) -s "
    "and -x exclude each other. With --fair the store keeps a queue. A "
    "store that has no queue, or no shared locks, refuses: exit 78.",
    "With --slots N up to N commands run at a time, each with its own lease "
    "and fence. The last N given is the number of slots; a command that has "
    "a slot keeps it. Where the store keeps no permits, a slot is a lock: "
    "NAME#1 to NAME#N.",
    "No supervisor can stop a command on a machine that is suspended or "
    "stalled: let the resource check HOLDFAST_FENCE, and refuse lower numbers "
    "than it has seen.",
    NULL};

static const struct term_row run_env[] = {ENV_ROWS_COMMAND, {NULL, NULL}};

static const struct term_row run_exits[] = {
    {"0-255", "the command's own"},
    {"128+n", "signal n ended the command, or the wait"},
    {"75", "not acquired (see -E and --skip-ok)"},
    EXIT_ROWS_COMMAND,
    {NULL, NULL}};

static const char *const run_examples[] = {
    "holdfast run nightly -- ./report",
    "holdfast run -n --url redis://10.0.0.5 deploy -- make deploy",
    "holdfast run --min-hold 55s --max-hold 10m --skip-ok billing -- ./bill",
    "holdfast run -s config -- ./read; holdfast run -x config -- ./change",
    "holdfast run --slots 4 transcode -- ./transcode film.mkv",
    "holdfast run -n accounts --also invoices -- ./close-the-books",
    "holdfast run -w 10 /var/lock/backup -c 'tar cf - /srv | ssh vault save'",
    NULL};

const struct command cmd_run = {
    .name = "run",
    .summary = "run a command while holding a lock",
    .usage = "[options] NAME [--] COMMAND [ARGUMENT...]",
    .about = run_about,
    OPTIONS(run_options),
    .exits = run_exits,
    .env = run_env,
    .examples = run_examples,
    .takes_lock = 1,
    .runs_command = 1,
    .run = run_main,
};
