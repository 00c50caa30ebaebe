/*
 * cmd/stress.c: try to break a deployment, and judge what it let through.
 *
 * The store is asked once before any process is forked, so that a wrong URL is
 * said once; that client is closed again before the fork.
 */
#include "command.h"
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/session.h"
#include "stress/stress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS_DEFAULT 4
#define THREADS_DEFAULT 2
#define LOCKS_DEFAULT 3
#define TIME_MS_DEFAULT 10000
#define LEASE_MS_DEFAULT 2000
#define PREFIX_DEFAULT "holdfast-stress"

static void defaults_fill(struct options *o)
{
    if (!o->clients) o->clients = CLIENTS_DEFAULT;
    if (!o->threads) o->threads = THREADS_DEFAULT;
    if (!o->locks) o->locks = LOCKS_DEFAULT;
    if (!o->time_ms) o->time_ms = TIME_MS_DEFAULT;
    if (!o->lease_ms) o->lease_ms = LEASE_MS_DEFAULT;
    /* A lock of this host would have no token, and exclude no other host. */
    o->fallback = HF_FALLBACK_FAIL;
}

/* Ask the store once: whether it can be reached, what it can do, and its URL
 * without a password. */
static int store_ask(const struct options *o, struct stress *s, char *url,
                     size_t size)
{
    struct session session;
    struct hf_error err = {0};
    struct hf_info info = HF_INFO_INIT;
    int code = session_open(&session, o, s->locks[0].name, HF_CLIENT_OWN_LOOP,
                            NULL, NULL);
    if (code) return code;
    snprintf(url, size, "%s", hf_client_url(session.client));
    s->fenced = (hf_client_caps(session.client) & HF_CAP_FENCE) != 0;
    if (hf_url_traits(url) & HF_URL_PROCESS && s->clients > 1) {
        say_error("stress: memory: is one process's own: use --clients 1");
        code = EXIT_USAGE;
    } else {
        int status = hf_lock_inspect(session.lock, &info, &err);
        if (status != HF_OK) code = session_fail(&session, status, &err);
    }
    session_close(&session);
    return code;
}

/* The exit code for the verdict, if the run itself did not fail. */
static int verdict_exit(const struct stress *s, int code)
{
    if (s->violations > 0) return EXIT_VIOLATED;
    if (s->fatal_status != HF_OK) {
        char shown[2 * HF_ERROR_TEXT_MAX];
        say_error("stress: %s", text_escape(s->fatal, shown, sizeof(shown)));
        return status_exit(s->fatal_status);
    }
    if (code || atomic_load(&s->figures[FIGURE_ACQUIRED]) > 0) return code;
    say_error("stress: not one lock was acquired: the run proves nothing");
    int is_heard = atomic_load(&s->figures[FIGURE_TAKEN]) > 0;
    int is_silent = atomic_load(&s->figures[FIGURE_UNAVAILABLE]) > 0;
    return is_silent && !is_heard ? EXIT_UNREACHABLE : EXIT_NOT_ACQUIRED;
}

static int stress_go(struct stress *s, const struct options *o)
{
    char url[2048];
    int history_fd = -1;
    int code = store_ask(o, s, url, sizeof(url));
    if (code) return code;
    if (o->history) {
        history_fd = history_open(o->history);
        if (history_fd < 0) return EXIT_CONFIG;
    }
    int64_t began_ms = clock_ms();
    code = crew_run(s, o, history_fd, o->time_ms);
    int64_t took_ms = clock_ms() - began_ms;
    if (history_fd >= 0) close(history_fd);
    judge_counters(s);
    code = verdict_exit(s, code);
    report_print(s, url, took_ms, o->json);
    int printed = stdout_end();
    return code ? code : printed;
}

static int stress_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 0, 1);
    if (code >= 0) return code;
    if (!words[0]) words[0] = PREFIX_DEFAULT;
    defaults_fill(&o);
    if (!words[0][0] || strlen(words[0]) > HF_NAME_MAX - 4)
        return command_usage(self, "NAME-PREFIX: must have 1 to 508 bytes");
    struct stress *s = stress_map((unsigned)o.locks, words[0]);
    if (!s) {
        say_error("stress: out of memory");
        return EXIT_BUG;
    }
    s->clients = (unsigned)o.clients;
    s->threads = (unsigned)o.threads;
    s->lease_ms = o.lease_ms;
    s->pause_percent = o.pause_percent;
    code = stress_go(s, &o);
    stress_unmap(s);
    return code;
}

static const struct option_row stress_options[] = {
    {"", "clients", "N", OPTION_NUMBER, FIELD(clients), 0, 1,
     STRESS_CLIENTS_MAX, "number of processes; default: 4"},
    {"", "threads", "N", OPTION_NUMBER, FIELD(threads), 0, 1,
     STRESS_THREADS_MAX, "number of threads in each process; default: 2"},
    {"", "locks", "N", OPTION_NUMBER, FIELD(locks), 0, 1, STRESS_LOCKS_MAX,
     "number of locks; default: 3"},
    {"", "time", "TIME", OPTION_DURATION, FIELD(time_ms), 0, 1, WAIT_MS_MAX,
     "how long to run; default: 10s"},
    {"", "lease", "TIME", OPTION_DURATION, FIELD(lease_ms), 0, HF_LEASE_MS_MIN,
     HF_LEASE_MS_MAX, "the lease of the locks; default: 2s"},
    {"", "pause-percent", "N", OPTION_NUMBER, FIELD(pause_percent), 0, 0, 100,
     "the percentage of holds in which the holder's process is stopped, "
     "between grant and write, for longer than the lease; default: 0"},
    {"", "history", "FILE", OPTION_TEXT, FIELD(history), 0, 0, 0,
     "write every operation to FILE, a line of JSON each"},
    OPTION_ROW_URL,
    OPTION_ROW_JSON("print JSON: a line per violation, then the figures"),
    OPTION_ROW_TALK,
};

static const char *const stress_about[] = {
    "Try to break a deployment. Many processes with many threads acquire "
    "locks named NAME-PREFIX-0 and so on (default: holdfast-stress), "
    "trying, waiting, being cancelled and entering again; each holder "
    "writes twice to a register of stress's own, with its fencing token, "
    "and releases. The register refuses a token lower than one it has seen.",
    "It is checked that no two holders were valid at once, as their own "
    "library says; that no token is given twice, or is lower than one given "
    "before it was asked for; and that no write was lost. A violation is "
    "shown with the clients, the tokens and the time (CLOCK_MONOTONIC). "
    "Where the URL has no tokens the register cannot refuse anything: with "
    "--pause-percent a lost write is to be expected there, and is reported.",
    "The history has an object of JSON in each line, with these members: c, "
    "the client; call and ret, when it began and when it was over, in "
    "nanoseconds of CLOCK_MONOTONIC; lock; op: acquire, release or write; "
    "token; ok: true or false; and unknown: true, only if the answer was lost. "
    "Re-entries are not in it, nor are their releases. The lines are in no "
    "order.",
    "The load is real: use names that no program uses, and expect that "
    "what a store keeps of a lock (its fence) stays. memory: needs "
    "--clients 1.",
    NULL};

static const struct term_row stress_exits[] = {
    {"0", "no violation was found"},
    {"1", "a violation was found"},
    {"75", "not one lock was acquired: other clients have them"},
    {"128+n", "signal n ended the run, and no violation was found until then"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const stress_examples[] = {
    "holdfast stress --url redis://10.0.0.5 --time 1m",
    "holdfast stress --clients 8 --pause-percent 2 --lease 500ms",
    "holdfast stress --history ops.jsonl --json | jq .ok", NULL};

const struct command cmd_stress = {
    .name = "stress",
    .summary = "try to break a deployment, and judge it",
    .usage = "[options] [NAME-PREFIX]",
    .about = stress_about,
    OPTIONS(stress_options),
    .exits = stress_exits,
    .examples = stress_examples,
    .run = stress_main,
};
