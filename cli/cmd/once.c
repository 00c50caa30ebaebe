/*
 * cmd/once.c: run a command at most once per period, or per name, on all hosts.
 *
 * This is its command line; run/run.c does it, and run/way/once.c decides
 * whether it is run.
 */
#include "common/exit.h"
#include "option/rows.h"
#include "run/rows.h"
#include "run/run.h"

#include <string.h>

static int once_check(const struct run *r)
{
    const struct options *o = r->o;
    if (strlen(r->name) > HF_ONCE_NAME_MAX)
        return run_usage(r, "the name is too long; it may have 480 bytes");
    if (o->nonblock && o->losers != LOSERS_SKIP)
        return run_usage(r, "-n and --losers wait or status exclude each "
                            "other");
    if (o->min_hold_ms && o->max_hold_ms && o->max_hold_ms < o->min_hold_ms)
        return run_usage(r, "--max-hold must not be less than --min-hold");
    return EXIT_OK;
}

static int once_main(const struct command *self, int argc, char **argv)
{
    return run_words(self, &way_once, once_check, argc, argv);
}

static const struct option_row once_options[] = {
    {"", "per", "TIME", OPTION_DURATION, FIELD(per_ms), 0, 1000,
     HF_VALUE_TTL_MS_MAX,
     "once per period of TIME, counted from 1970 in UTC by the store's clock: "
     "1d begins at midnight UTC; default: once per NAME"},
    {"", "keep", "TIME", OPTION_DURATION, FIELD(keep_ms), 0, 1000,
     HF_VALUE_TTL_MS_MAX,
     "remember for TIME that it was run; default: 24h, or twice the period"},
    {"", "losers", "skip|wait|status", OPTION_CHOICE, FIELD(losers),
     LOSERS_SKIP, 0, 0,
     "if another process runs it or has run it: skip it and exit with 75 "
     "(the default); wait for its end and exit with 0; or wait, and exit "
     "with its recorded status"},
    {"", "retry", NULL, OPTION_FLAG, FIELD(retry), 1, 0, 0,
     "run it again if it died, or ended with a status other than 0"},
    {"", "store-output", NULL, OPTION_FLAG, FIELD(store_output), 1, 0, 0,
     "store the first 60000 bytes of the command's standard output, for "
     "--losers status"},
    {"n", "nonblock nb", NULL, OPTION_FLAG, FIELD(nonblock), 1, 0, 0,
     "do not wait for a run that is going on (the default)"},
    {"w", "wait timeout", "TIME", OPTION_WAIT, FIELD(wait_ms), 0, 0,
     WAIT_MS_MAX,
     "wait at most TIME, or forever, for a run that is going on; default "
     "with --losers wait and status: forever"},
    OPTION_ROW_EXIT,
    OPTION_ROW_COMMAND,
    OPTION_ROW_LEASE,
    OPTION_ROW_RENEW,
    {"", "min-hold", "TIME", OPTION_DURATION, FIELD(min_hold_ms), 0, 1,
     HF_VALUE_TTL_MS_MAX,
     "it is not run again within TIME of its begin, whatever the period"},
    OPTION_ROW_SUPERVISE,
    {"", "fallback", "fail|wait", OPTION_CHOICE, FIELD(fallback),
     HF_FALLBACK_FAIL, 0, 0,
     "when the store cannot be reached: fail (the default), or wait for it "
     "as long as -w says; a lock of this host would not keep other hosts out"},
    OPTION_ROW_URL,
    OPTION_ROW_LABEL,
    OPTION_ROW_EVENTS,
    OPTION_ROW_TALK,
};

static const char *const once_about[] = {
    "Run COMMAND unless it has been run: at most once per period on all "
    "hosts with --per, or once per NAME until that is forgotten (--keep). "
    "The lock NAME is held meanwhile, and the command is supervised as by "
    "holdfast run.",
    "How it ended is recorded for all others: a process that skips it exits "
    "with 75, or 0 with --skip-ok; --losers wait and status wait for its "
    "end. A command that cannot be started does not count as run.",
    "Its begin is recorded before it runs. If it dies without an end, with "
    "its host or by kill -9 to holdfast, it is not run again in this "
    "period, because it is not known how far it got: the exit status is 75, "
    "and a message says when and where it was begun. --retry runs it again, "
    "also if it ended with a status other than 0.",
    "With --store-output the command's standard output is a pipe, and what "
    "its descendants write after its end is lost.",
    NULL};

static const struct term_row once_env[] = {
    ENV_ROWS_COMMAND,
    {"HOLDFAST_ONCE_PERIOD", "for the command, with --per: when the period "
                             "began, in seconds since 1970"},
    {NULL, NULL}};

static const struct term_row once_exits[] = {
    {"0-255", "the command's own; with --losers status, that of the one run"},
    {"128+n", "signal n ended the command, or the wait"},
    {"75", "not run: it has been run, it runs, or it died (see --retry, -E "
           "and --skip-ok)"},
    EXIT_ROWS_COMMAND,
    {NULL, NULL}};

static const char *const once_examples[] = {
    "*/15 * * * *  holdfast once --per 15m --skip-ok billing -- ./bill",
    "holdfast once --keep 7d --losers status migrate-42 -- ./migrate",
    "holdfast once --losers status --store-output \"req-$id\" -- ./charge",
    NULL};

const struct command cmd_once = {
    .name = "once",
    .summary = "run a command at most once per period, or per name",
    .usage = "[options] NAME [--] COMMAND [ARGUMENT...]",
    .about = once_about,
    OPTIONS(once_options),
    .exits = once_exits,
    .env = once_env,
    .examples = once_examples,
    .takes_lock = 1,
    .runs_command = 1,
    .run = once_main,
};
