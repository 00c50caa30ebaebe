/*
 * cmd/elect.c: run a command on the one host that leads.
 *
 * This is its command line; run/way/elect.c campaigns, run/run.c runs, and
 * elect/observe.c looks.
 */
#include "common/exit.h"
#include "elect/observe.h"
#include "option/rows.h"
#include "run/rows.h"
#include "run/run.h"

#include <string.h>

static int elect_check(const struct run *r)
{
    const struct options *o = r->o;
    if (o->follow) return run_usage(r, "--follow needs --observe");
    if (strlen(r->name) > HF_ELECTION_NAME_MAX)
        return run_usage(r, "the name is too long; it may have 480 bytes");
    if (o->value && strlen(o->value) > HF_ELECTION_VALUE_MAX)
        return run_usage(r, "--value is too long; it may have 60000 bytes");
    if (o->restart_ms && o->restart == RESTART_NEVER)
        return run_usage(r, "--restart-delay needs --restart");
    /* A candidate waits for a store that cannot be reached. */
    r->o->fallback = HF_FALLBACK_WAIT;
    return EXIT_OK;
}

/* 1 if an option is given that is for a campaign, or for the command. */
static int is_campaigning(const struct options *o)
{
    return o->value || o->fair || o->restart || o->restart_ms || o->shell
           || o->nonblock || o->wait_ms != -1 || o->conflict_code >= 0
           || o->skip_ok || o->lease_ms || o->renew_ms || o->grace_ms
           || o->on_lost || o->max_hold_ms || o->hold_until_idle
           || o->foreground || o->label;
}

static int observe_check(const struct command *self, const struct options *o,
                         int words)
{
    if (is_campaigning(o))
        return command_usage(self, "--observe does not campaign: it goes with "
                                   "--follow, --json and --url");
    if (words != 1)
        return command_usage(self, "--observe takes NAME, and no command");
    return EXIT_OK;
}

/* 1 if the command line only observes, with the exit code; 0 if it is a
 * campaign or wrong. */
static int is_observing(const struct command *self, int argc, char **argv,
                        int *code)
{
    struct options o;
    options_init(&o);
    int name = options_parse(self, argc, argv, 1, &o);
    int rest = name >= 0 && name < argc
                   ? options_parse(self, argc, argv, name + 1, &o)
                   : name;
    *code = EXIT_USAGE;
    if (rest < 0) return 1;
    if (!o.observe || o.help) return 0;
    *code = observe_check(self, &o, name < argc ? 1 + argc - rest : 0);
    if (!*code) *code = elect_observe(&o, argv[name]);
    return 1;
}

static int elect_main(const struct command *self, int argc, char **argv)
{
    int code;
    if (is_observing(self, argc, argv, &code)) return code;
    return run_words(self, &way_elect, elect_check, argc, argv);
}

static const struct option_row elect_options[] = {
    {"", "value", "TEXT", OPTION_TEXT, FIELD(value), 0, 0, 0,
     "publish TEXT while this host leads, such as an address: --observe "
     "shows it"},
    OPTION_ROW_FAIR("the candidate that has campaigned longest is elected "
                    "next"),
    {"", "restart", "never|on-failure|always", OPTION_CHOICE, FIELD(restart),
     RESTART_NEVER, 0, 0,
     "when the command ends by itself: resign and exit with its status (the "
     "default); campaign again if the status was not 0; or always campaign "
     "again"},
    {"", "restart-delay", "TIME", OPTION_DURATION, FIELD(restart_ms), 0, 1,
     HF_LEASE_MS_MAX,
     "with --restart: campaign again after TIME, which doubles with each "
     "restart up to a minute; default: 1s"},
    {"", "observe", NULL, OPTION_FLAG, FIELD(observe), 1, 0, 0,
     "do not campaign: print who leads"},
    {"", "follow", NULL, OPTION_FLAG, FIELD(follow), 1, 0, 0,
     "with --observe: go on, and print every change"},
    {"n", "nonblock nb", NULL, OPTION_FLAG, FIELD(nonblock), 1, 0, 0,
     "do not wait: fail at once if another candidate leads"},
    {"w", "wait timeout", "TIME", OPTION_WAIT, FIELD(wait_ms), 0, 0,
     WAIT_MS_MAX,
     "campaign at most TIME, or forever (the default); 0 is the same as -n"},
    OPTION_ROW_EXIT,
    OPTION_ROW_COMMAND,
    OPTION_ROW_LEASE,
    OPTION_ROW_RENEW,
    OPTION_ROW_SUPERVISE,
    OPTION_ROW_URL,
    OPTION_ROW_LABEL,
    {"", "json", "FD", OPTION_JSON, FIELD(json), 1, 0, 0,
     "tell events as lines of JSON on stderr, or on file descriptor FD; the "
     "last one is always \"end\"; with --observe: print JSON objects"},
    OPTION_ROW_TALK,
};

static const char *const elect_about[] = {
    "Campaign for NAME; while this host leads, run COMMAND. Of all "
    "candidates for a name, on all hosts, one leads at a time: it holds the "
    "lock of that name. When it resigns, dies or loses its connection to "
    "the store, another one is elected and runs its command.",
    "The command is supervised as by holdfast run: when the leadership is "
    "lost or about to be, it is ended before another host can lead, and "
    "this one campaigns again. TERM, INT and QUIT are passed on to the "
    "command; when it has ended, holdfast resigns and exits with its "
    "status. While it campaigns they end holdfast at once.",
    "Between two runs of the command this host does not lead: where a "
    "command keeps failing, another host may try. A store that cannot be "
    "reached is waited for.",
    "With --observe nothing is run: the leader is printed, since when it "
    "leads, and what it published.",
    "No supervisor can stop a command on a machine that is suspended or "
    "stalled: let the resource check HOLDFAST_FENCE, and refuse lower numbers "
    "than it has seen.",
    NULL};

static const struct term_row elect_env[] = {ENV_ROWS_COMMAND, {NULL, NULL}};

static const struct term_row elect_exits[] = {
    {"0-255", "the command's own, if it was not to be restarted"},
    {"128+n", "signal n ended the command, or the campaign"},
    {"75", "not elected, with -n or -w (see -E and --skip-ok)"},
    {"0, 1", "with --observe: there is a leader, there is none"},
    EXIT_ROWS_COMMAND,
    {NULL, NULL}};

static const char *const elect_examples[] = {
    "holdfast elect scheduler -- ./scheduler",
    "holdfast elect --value 10.0.0.5:80 --restart always api -- ./api",
    "holdfast elect --observe --follow --json api", NULL};

const struct command cmd_elect = {
    .name = "elect",
    .summary = "run a command on the one host that leads",
    .usage = "[options] NAME [--] COMMAND [ARGUMENT...]",
    .about = elect_about,
    OPTIONS(elect_options),
    .exits = elect_exits,
    .env = elect_env,
    .examples = elect_examples,
    .takes_lock = 1,
    .runs_command = 1,
    .run = elect_main,
};
