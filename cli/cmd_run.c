/*
 * cmd_run.c: run a command while holding a lock; exit with its status.
 *
 * This is its command line; run_session.c does it.  Whatever happens, exactly
 * one event "end" tells how it went.
 */
#include "run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int run_usage(const char *what)
{
    say_error("run: %s; see holdfast help run", what);
    return EXIT_USAGE;
}

/* Options may stand before and behind NAME; the command comes last. */
static int words_parse(struct run *r, const struct command *self, int argc,
                       char **argv)
{
    int at = options_parse(self, argc, argv, 1, r->o);
    if (at < 0) return EXIT_USAGE;
    if (r->o->help || at >= argc) return EXIT_OK;
    r->name = argv[at];
    at = options_parse(self, argc, argv, at + 1, r->o);
    if (at < 0) return EXIT_USAGE;
    r->argv = argv + at;
    return EXIT_OK;
}

static int combination_check(const struct options *o)
{
    if (o->nonblock && o->wait_ms > 0)
        return run_usage("-n and -w exclude each other");
    if (o->skip_ok && o->conflict_code >= 0)
        return run_usage("--skip-ok and -E exclude each other");
    if (o->no_fork && o->close)
        return run_usage("-F and -o exclude each other: nobody would hold the "
                         "lock");
    if (o->no_fork
        && (o->min_hold_ms || o->max_hold_ms || o->on_lost
            || o->hold_until_idle))
        return run_usage("-F leaves nobody to see to --min-hold, --max-hold, "
                         "--on-lost or --hold-until-idle");
    return EXIT_OK;
}

static int words_check(const struct run *r)
{
    if (!r->name) return run_usage("NAME and COMMAND are missing");
    if (!r->o->shell && !r->argv[0]) return run_usage("COMMAND is missing");
    if (r->o->shell && r->argv[0])
        return run_usage("-c and COMMAND exclude each other");
    return combination_check(r->o);
}

static int json_setup(const struct options *o)
{
    int64_t fd = STDERR_FILENO;
    if (!o->json) {
        say_setup(o->quiet, o->verbose, -1);
        return EXIT_OK;
    }
    if (o->json_to && number_parse(o->json_to, 0, 65535, &fd) != 0)
        return run_usage("--json: not the number of a file descriptor");
    if (fcntl((int)fd, F_GETFD) < 0)
        return run_usage("--json: this file descriptor is not open");
    if (fd > STDERR_FILENO) (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    say_setup(o->quiet, o->verbose, (int)fd);
    return EXIT_OK;
}

static enum on_lost on_lost_parse(const char *text)
{
    if (!text || strcmp(text, "term") == 0) return ON_LOST_TERM;
    if (strcmp(text, "kill") == 0) return ON_LOST_KILL;
    if (strcmp(text, "warn") == 0) return ON_LOST_WARN;
    return ON_LOST_HOOK;
}

static int run_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct run r;
    memset(&r, 0, sizeof(r));
    options_init(&o);
    r.o = &o;
    r.supervisor = getpid();
    r.status_fd = r.child_status_fd = r.lock_fd = -1;
    int code = words_parse(&r, self, argc, argv);
    if (!code && o.help) {
        help_command(self, stdout);
        return output_end();
    }
    int json_code = json_setup(&o);
    struct outcome end = {code ? code : json_code, "usage"};
    if (!end.code) end.code = words_check(&r);
    r.on_lost = on_lost_parse(o.on_lost);
    if (!end.code) end = run_all(&r);
    event_end(&r, end.reason, end.code);
    return end.code;
}

static const struct option_row run_options[] = {
    OPTION_ROW_WAIT,
    {"E", "conflict-exit-code", "N", OPTION_NUMBER, FIELD(conflict_code), 0, 0,
     255, "exit with N instead of 75 when the lock is not acquired"},
    {"", "skip-ok", NULL, OPTION_FLAG, FIELD(skip_ok), 1, 0, 0,
     "exit with 0 when the lock is not acquired: for cron"},
    {"c", "command", "STRING", OPTION_TEXT, FIELD(shell), 0, 0, 0,
     "run STRING by sh -c"},
    {"o", "close", NULL, OPTION_FLAG, FIELD(close), 1, 0, 0,
     "do not pass the lock to the command; always so, but with -F"},
    {"F", "no-fork", NULL, OPTION_FLAG, FIELD(no_fork), 1, 0, 0,
     "become the command, which then holds the lock itself; only for file:"},
    OPTION_ROW_LEASE,
    {"", "grace", "TIME", OPTION_DURATION, FIELD(grace_ms), 0, 1,
     HF_LEASE_MS_MAX,
     "from TERM to KILL when the command must end; default: 5s, at most a "
     "third of the lease"},
    {"", "on-lost", "WHAT", OPTION_TEXT, FIELD(on_lost), 0, 0, 0,
     "when the lock cannot be kept: term (the default), kill, warn, or a "
     "command for sh -c that is run before term"},
    {"", "min-hold", "TIME", OPTION_DURATION, FIELD(min_hold_ms), 0, 1,
     HF_LEASE_MS_MAX,
     "keep the lock at least for TIME, even if the command ends earlier"},
    {"", "max-hold", "TIME", OPTION_DURATION, FIELD(max_hold_ms), 0, 1,
     WAIT_MS_MAX, "end the command after TIME, and exit with 124"},
    {"", "hold-until-idle", NULL, OPTION_FLAG, FIELD(hold_until_idle), 1, 0, 0,
     "hold the lock until all descendants of the command have ended"},
    {"", "foreground", NULL, OPTION_FLAG, FIELD(foreground), 1, 0, 0,
     "leave the command in our process group, as timeout(1) does"},
    OPTION_ROW_URL,
    OPTION_ROW_LABEL,
    {"", "json", "FD", OPTION_JSON, FIELD(json), 1, 0, 0,
     "tell events as lines of JSON on stderr, or on file descriptor FD; the "
     "last one is always \"end\""},
    OPTION_ROW_TALK,
};

static const char *const run_about[] = {
    "Run COMMAND while holding the lock NAME, and exit with its status. The "
    "letters of flock(1) mean what they mean there; without -n or -w it waits "
    "until the lock is free. A bare number of TIME is seconds; 250ms, 10s, 5m, "
    "1h and 1d are understood.",
    "The lock is renewed while the command runs. Should that fail, the command "
    "and all its descendants are sent TERM, and KILL before the lease ends, so "
    "that it is gone before somebody else can get the lock; the exit status is "
    "then 80. Should holdfast itself be killed, a guardian process kills all "
    "descendants at once, those in sessions of their own too.",
    "The command runs in a process group of its own. INT, TERM, HUP, QUIT, "
    "USR1, USR2, WINCH, CONT and TSTP are passed on to this group. While "
    "holdfast still waits for the lock, a signal ends it at once.",
    "No supervisor can stop a command on a machine that is suspended or "
    "stalled: let the resource check HOLDFAST_FENCE, and refuse lower numbers "
    "than it has seen.",
    NULL};

static const struct term_row run_env[] = {
    {"HOLDFAST_URL", "where the locks live, if --url is not given; the command "
                     "gets the URL that was used, without its password"},
    {"HOLDFAST_URL_FILE", "a file whose first line is the URL"},
    {"HOLDFAST_PASSWORD", "the store's password; the command does not get it"},
    {"HOLDFAST_LOCK", "for the command: the lock's name"},
    {"HOLDFAST_FENCE", "for the command: the fencing token, a rising number"},
    {"HOLDFAST_HOLDER", "for the command: host, pid and fence of the hold"},
    {"HOLDFAST_TTL_MS", "for the command: how long the lock is valid from the "
                        "start unless it is renewed; -1: no limit"},
    {"HOLDFAST_STATUS_FD", "for the command: a pipe with the lines \"held "
                           "MS\", \"at-risk\" and \"lost\"; its end means "
                           "that holdfast is gone"},
    {NULL, NULL}};

static const struct term_row run_exits[] = {
    {"0-255", "the command's own"},
    {"128+n", "signal n ended the command, or the wait"},
    {"75", "not acquired (see -E and --skip-ok)"},
    {"80", "the lock was lost while the command ran"},
    {"124", "--max-hold ended the command"},
    {"126", "the command cannot be run"},
    {"127", "the command was not found"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const run_examples[] = {
    "holdfast run nightly -- ./report",
    "holdfast run -n --url redis://10.0.0.5 deploy -- make deploy",
    "holdfast run --min-hold 55s --max-hold 10m --skip-ok billing -- ./bill",
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
    .run = run_main,
};
