/*
 * cmd/latch.c: wait until a number of things have happened.  A table of
 * actions; each does one call.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "option/rows.h"
#include "option/wait.h"
#include "session/gate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct latch_call {
    struct session *s;
    const struct options *o;
    hf_latch *latch;
    int64_t count;
};

static int left_print(const struct latch_call *c, int64_t left)
{
    struct json j;
    if (c->o->json) {
        json_begin(&j);
        json_text(&j, "latch", hf_latch_name(c->latch));
        json_int(&j, "left", left);
        json_end(&j);
        fputs(j.buf, stdout);
    } else if (!c->o->quiet) {
        printf("%" PRId64 "\n", left);
    }
    return stdout_end();
}

/* Nothing was changed: not a failure, but not what was asked for. */
static int nothing_done(const struct session *s, const struct hf_error *err,
                        int code)
{
    session_warn(s, "", err->text);
    return code;
}

static int latch_set(const struct latch_call *c)
{
    struct hf_error err = {0};
    int status = hf_latch_set(c->latch, c->count, &err);
    if (status == HF_TAKEN) return nothing_done(c->s, &err, EXIT_NOT_ACQUIRED);
    return status == HF_OK ? EXIT_OK : session_fail(c->s, status, &err);
}

static int latch_down(const struct latch_call *c)
{
    struct hf_error err = {0};
    int64_t left;
    int status = hf_latch_down(c->latch, &left, &err);
    if (status == HF_INVALID) return nothing_done(c->s, &err, EXIT_FREE);
    return status == HF_OK ? left_print(c, left)
                           : session_fail(c->s, status, &err);
}

static int latch_status(const struct latch_call *c)
{
    struct hf_error err = {0};
    int64_t left;
    int status = hf_latch_count(c->latch, &left, &err);
    if (status != HF_OK) return session_fail(c->s, status, &err);
    int code = left_print(c, left);
    return code ? code : left > 0 ? EXIT_OK : EXIT_FREE;
}

static int latch_delete(const struct latch_call *c)
{
    struct hf_error err = {0};
    int was_set;
    int status = hf_latch_delete(c->latch, &was_set, &err);
    if (status != HF_OK) return session_fail(c->s, status, &err);
    if (!was_set) say_note("%s: it was not set", c->s->shown);
    return was_set ? EXIT_OK : EXIT_FREE;
}

static int latch_wait(const struct latch_call *c)
{
    struct gate g = {.latch = c->latch};
    struct hf_error err = {0};
    int64_t left;
    /* A wait accepts any number, also another program's; counting with
     * HF_LATCH_OURS refuses it first. */
    int status = c->o->foreign ? HF_OK : hf_latch_count(c->latch, &left, &err);
    if (status != HF_OK) return session_fail(c->s, status, &err);
    return gate_wait(c->s, c->o, &g, "not open");
}

#define ACTIONS "set|down|wait|status|delete"

static const struct action {
    const char *name;
    int has_count;
    int waits;
    int prints;
    int (*run)(const struct latch_call *c);
} actions[] = {
    {"set", 1, 0, 0, latch_set},       {"down", 0, 0, 1, latch_down},
    {"wait", 0, 1, 0, latch_wait},     {"status", 0, 0, 1, latch_status},
    {"delete", 0, 0, 0, latch_delete},
};

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    return NULL;
}

/* Check that the words and options belong to the action. */
static int words_check(const struct command *self, const struct action *a,
                       const char *const *words, const struct options *o,
                       int64_t *count)
{
    char what[160], shown[64];
    if (!a) {
        snprintf(what, sizeof(what), "%s: no such action",
                 text_escape(words[0], shown, sizeof(shown)));
        return command_usage(self, what);
    }
    if (!a->has_count == (words[2] != NULL)) {
        snprintf(what, sizeof(what), "%s takes NAME%s", a->name,
                 a->has_count ? " and COUNT" : "");
        return command_usage(self, what);
    }
    if (!a->waits && (o->nonblock || o->wait_ms != -1))
        return command_usage(self, "-n and -w are for wait only");
    if (!a->prints && o->json)
        return command_usage(self, "--json is for down and status only: the "
                                   "others print nothing");
    if (!a->has_count || number_parse(words[2], 1, HF_LATCH_MAX, count) == 0)
        return wait_check(self, o);
    snprintf(what, sizeof(what), "%s: not a count: it must be from 1 to %d",
             text_escape(words[2], shown, sizeof(shown)), HF_LATCH_MAX);
    return command_usage(self, what);
}

static int latch_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    struct hf_error err = {0};
    const char *words[3];
    int code = command_begin(self, argc, argv, &o, words, 2, 3);
    if (code >= 0) return code;
    struct latch_call c = {.s = &s, .o = &o};
    const struct action *a = action_find(words[0]);
    code = words_check(self, a, words, &o, &c.count);
    if (!code) code = gate_open(&s, &o, words[1]);
    if (code) return code;
    int status = hf_latch_open_as(
        s.client, words[1], o.foreign ? 0 : HF_LATCH_OURS, &c.latch, &err);
    code = status == HF_OK ? a->run(&c) : session_fail(&s, status, &err);
    session_close(&s);
    return code;
}

static const struct option_row latch_options[] = {
    OPTION_ROW_WAIT("the latch is not open"),
    OPTION_ROW_URL,
    OPTION_ROW_FOREIGN,
    OPTION_ROW_JSON("down, status: print one JSON object"),
    OPTION_ROW_TALK,
};

static const char *const latch_about[] = {
    "A latch is a number on the store, for example the number of machines "
    "that have yet to finish. set NAME COUNT makes one; down NAME counts "
    "down by one, and prints how many are left; wait NAME waits until none "
    "is left. A latch that is not set, or has reached zero, is open: a wait "
    "for it ends at once. So set it before any process waits for it.",
    "status NAME prints how many are left. delete NAME deletes the latch, "
    "and every wait for it ends with exit 80. Nothing else ends a latch: it "
    "has no holder and no lease.",
    "On Redis it is Redisson's RCountDownLatch, and Java can count and "
    "wait, too. A latch that Java has set looks like an RSemaphore there: "
    "--foreign says that it is a latch. file: has no latches.",
    NULL};

static const struct term_row latch_exits[] = {
    {"0", "done; wait: it is open; status: some are left"},
    {"1", "status: it is open; down, delete: it was not set"},
    {"128+n", "signal n ended the wait"},
    {"75", "set: it is set already; wait: not open in time"},
    {"80", "wait: it was deleted meanwhile"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const latch_examples[] = {
    "export HOLDFAST_URL=redis://10.0.0.5",
    "holdfast latch set import-42 3 && start-the-workers",
    "./import part-1 && holdfast latch down import-42",
    "holdfast latch wait -w 1h import-42 && ./publish", NULL};

const struct command cmd_latch = {
    .name = "latch",
    .summary = "wait until a number of things have happened",
    .usage = "[options] " ACTIONS " NAME [COUNT]",
    .actions = ACTIONS,
    .about = latch_about,
    OPTIONS(latch_options),
    .exits = latch_exits,
    .examples = latch_examples,
    .run = latch_main,
};
