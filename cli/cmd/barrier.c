/*
 * cmd/barrier.c: wait until all parties are there, and go on together.  One
 * rule: the command is started only when the barrier was passed.
 */
#include "common/duration.h"
#include "common/environment.h"
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "manual/help.h"
#include "option/rows.h"
#include "option/wait.h"
#include "session/gate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct barrier_call {
    const char *name;
    int64_t parties;
    char **argv; /* the command; argv[0] is NULL if there is none */
};

/* Options may stand before, between and behind NAME and PARTIES; the command
 * comes last. */
static int words_parse(const struct command *self, int argc, char **argv,
                       struct options *o, struct barrier_call *b)
{
    const char *words[2] = {NULL, NULL};
    char what[160], shown[64];
    int at = 0;
    for (int i = 0; i < 2; i++) {
        at = options_parse(self, argc, argv, at + 1, o);
        if (at < 0) return EXIT_USAGE;
        if (o->help) return EXIT_OK;
        if (at >= argc)
            return command_usage(self, i ? "PARTIES is missing"
                                         : "NAME and PARTIES are missing");
        words[i] = argv[at];
    }
    at = options_parse(self, argc, argv, at + 1, o);
    if (at < 0) return EXIT_USAGE;
    b->name = words[0];
    b->argv = argv + at;
    if (o->json && b->argv[0])
        return command_usage(self, "--json cannot be used with COMMAND, "
                                   "which finds the same in its environment");
    if (number_parse(words[1], 1, HF_BARRIER_PARTIES_MAX, &b->parties) == 0)
        return wait_check(self, o);
    snprintf(what, sizeof(what),
             "%s: not a number of parties: it must be from 1 to %d",
             text_escape(words[1], shown, sizeof(shown)),
             HF_BARRIER_PARTIES_MAX);
    return command_usage(self, what);
}

static int passed_print(const struct options *o, const char *name,
                        const struct hf_passed *p)
{
    struct json j;
    if (o->json) {
        json_begin(&j);
        json_text(&j, "barrier", name);
        json_uint(&j, "generation", p->generation);
        json_int(&j, "index", p->index);
        json_end(&j);
        fputs(j.buf, stdout);
    } else if (!o->quiet) {
        printf("%" PRId64 "\n", p->index);
    }
    return stdout_end();
}

/* Become the command; the exit code if that cannot be. */
static int command_become(const struct barrier_call *b,
                          const struct hf_passed *p, const char *url)
{
    char shown[256];
    setenv("HOLDFAST_BARRIER", b->name, 1);
    environment_number("HOLDFAST_GENERATION", (int64_t)p->generation);
    environment_number("HOLDFAST_INDEX", p->index);
    environment_clean(url);
    execvp(b->argv[0], b->argv);
    int code = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
    say_error("%s: %s", text_escape(b->argv[0], shown, sizeof(shown)),
              strerror(errno));
    return code;
}

static int barrier_run(const struct options *o, const struct barrier_call *b)
{
    struct session s;
    struct gate g = {.passed = HF_PASSED_INIT};
    struct hf_error err = {0};
    int code = gate_open(&s, o, b->name);
    if (code) return code;
    int status =
        hf_barrier_open(s.client, b->name, b->parties, &g.barrier, &err);
    code = status == HF_OK ? gate_wait(&s, o, &g, "not all are there")
                           : session_fail(&s, status, &err);
    session_environment(&s);
    char *url = strdup(hf_client_url(s.client)); /* is freed with the client */
    session_close(&s);
    if (code == EXIT_OK && !b->argv[0])
        code = passed_print(o, b->name, &g.passed);
    else if (code == EXIT_OK)
        code = command_become(b, &g.passed, url ? url : "");
    free(url);
    return code;
}

static int barrier_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct barrier_call b = {.name = "", .argv = argv + argc};
    options_init(&o);
    int code = words_parse(self, argc, argv, &o, &b);
    if (!code && o.help) {
        help_command(self, stdout);
        return stdout_end();
    }
    say_setup(o.quiet, o.verbose, -1);
    return code ? code : barrier_run(&o, &b);
}

static const struct option_row barrier_options[] = {
    OPTION_ROW_WAIT("not all parties are there"),
    OPTION_ROW_URL,
    OPTION_ROW_JSON("without COMMAND: print one JSON object"),
    OPTION_ROW_TALK,
};

static const char *const barrier_about[] = {
    "Wait until PARTIES processes wait at the barrier NAME, then go on: "
    "become COMMAND, or exit. The last process to arrive lets all of them "
    "go on, and the barrier can be used again at once. All must give the "
    "same PARTIES.",
    "A process that ends while it waits is not counted any more: at once, "
    "or within three seconds if it was killed. So all processes that go on "
    "together are alive.",
    "Without COMMAND the index of the process is printed: a number from 0 "
    "to PARTIES-1 that no other party has, by which one of them can be "
    "chosen for a next step. The last to arrive has the highest.",
    NULL};

static const struct term_row barrier_env[] = {
    {"HOLDFAST_BARRIER", "for the command: NAME"},
    {"HOLDFAST_GENERATION", "for the command: the same number for all that "
                            "went on together; it rises with every use of "
                            "the barrier"},
    {"HOLDFAST_INDEX", "for the command: 0 to PARTIES-1, one each"},
    {"HOLDFAST_URL", "where the barrier lives; for the command: the same, "
                     "without a password"},
    {NULL, NULL}};

static const struct term_row barrier_exits[] = {
    {"0", "all were there"},
    {"0-255", "the command's own"},
    {"128+n", "signal n ended the wait"},
    {"75", "not all were there in time"},
    {"80", "the store has forgotten that this process waited"},
    {"126", "the command cannot be run"},
    {"127", "the command was not found"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const barrier_examples[] = {
    "holdfast barrier -w 10m phase-2 3 -- ./phase-2",
    "[ \"$(holdfast barrier built 4)\" != 0 ] || ./announce", NULL};

const struct command cmd_barrier = {
    .name = "barrier",
    .summary = "wait until all parties are there, and go on together",
    .usage = "[options] NAME PARTIES [-- COMMAND [ARGUMENT...]]",
    .about = barrier_about,
    OPTIONS(barrier_options),
    .exits = barrier_exits,
    .env = barrier_env,
    .examples = barrier_examples,
    .run = barrier_main,
};
