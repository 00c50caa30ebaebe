/*
 * cmd/guard.c: the resource's side of a fence, for scripts.  A table of
 * actions; each says how many words it takes and whether it needs a token.
 */
#include "common/duration.h"
#include "common/environment.h"
#include "common/exit.h"
#include "common/text.h"
#include "guard/guard.h"
#include "option/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct action {
    const char *name;
    int words_min, words_max; /* behind its name */
    int needs_token;
    const char *wants;
    int (*run)(const struct guard_call *g);
} actions[] = {
    {"touch", 1, 1, 1, "KEY", guard_touch},
    {"set", 2, 2, 1, "KEY VALUE", guard_set},
    {"delete", 1, 1, 1, "KEY", guard_delete},
    {"token", 1, 1, 0, "KEY", guard_token},
    {"get", 1, 1, 0, "KEY", guard_get},
    {"file", 1, 1, 1, "PATH", guard_file},
    {"file-touch", 1, 1, 1, "PATH", guard_file_touch},
    {"file-token", 1, 1, 0, "PATH", guard_file_token},
    {"sql", 2, 2, 0, "DIALECT STATEMENT", guard_sql},
    {"lua", 0, 0, 0, "no argument", guard_lua},
};

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    return NULL;
}

/* 1 under a holdfast run that fell back on a lock of this host. */
static int hold_is_local(void)
{
    const char *guarantee = environment_get("HOLDFAST_GUARANTEE");
    return guarantee && strcmp(guarantee, "local") == 0;
}

static int token_read(struct guard_call *g)
{
    const char *text = g->o->fence;
    if (!text) text = environment_get("HOLDFAST_FENCE");
    char what[160], shown[64];
    int64_t token;
    if ((!text || !text[0]) && hold_is_local())
        return command_usage(g->self, "no token: this hold is of this host "
                                      "only, and has none");
    if (!text || !text[0])
        return command_usage(g->self, "no token: give it by --fence, or in "
                                      "HOLDFAST_FENCE as holdfast run does");
    if (number_parse(text, 1, INT64_MAX, &token) == 0) {
        g->token = (uint64_t)token;
        return EXIT_OK;
    }
    snprintf(what, sizeof(what),
             "%s: not a token: it must be a number from 1 to 2^63-1",
             text_escape(text, shown, sizeof(shown)));
    return command_usage(g->self, what);
}

static int guard_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[4];
    char what[160], shown[64];
    int code = command_begin(self, argc, argv, &o, words, 1, 4);
    if (code >= 0) return code;
    const struct action *a = action_find(words[0]);
    if (!a) {
        snprintf(what, sizeof(what), "%s: no such action",
                 text_escape(words[0], shown, sizeof(shown)));
        return command_usage(self, what);
    }
    int count = 0;
    while (count < 3 && words[1 + count]) count++;
    if (count < a->words_min || count > a->words_max) {
        snprintf(what, sizeof(what), "%s takes %s", a->name, a->wants);
        return command_usage(self, what);
    }
    struct guard_call g = {.self = self, .o = &o};
    memcpy(g.words, words + 1, sizeof(g.words));
    code = a->needs_token ? token_read(&g) : EXIT_OK;
    return code ? code : a->run(&g);
}

static const struct option_row guard_options[] = {
    {"", "fence", "N", OPTION_TEXT, FIELD(fence), 0, 0, 0,
     "the token of the lock that is held; default: $HOLDFAST_FENCE"},
    {"", "ttl", "TIME", OPTION_DURATION, FIELD(ttl_ms), 0, 1,
     HF_VALUE_TTL_MS_MAX, "set: the value ends by itself after TIME"},
    OPTION_ROW_URL,
    OPTION_ROW_TALK,
};

static const char *const guard_about[] = {
    "A lock cannot stop a holder that was paused past its lease; the "
    "resource can, by keeping the highest fence it has seen and refusing "
    "lower ones. holdfast guard does so for files and for values on the "
    "store, and prints what databases and scripts of Redis need to do the "
    "same. A new holder begins with touch (or file-touch), before it reads "
    "anything.",
    "file PATH: replace the file by standard input, unless a higher fence "
    "was used there; the highest fence is kept in PATH.guard. file-touch "
    "PATH: only remember the fence. file-token PATH: print the highest "
    "fence, 0 if there was none.",
    "set KEY VALUE: write a value on the store (Redis); - as VALUE reads it "
    "from standard input. touch KEY: only remember the fence. delete KEY: "
    "delete the value. token KEY: print the highest fence. get KEY: print "
    "the value as it is.",
    "sql DIALECT STATEMENT: print SQL for postgres, mariadb or sqlite: create, "
    "check, token, claim, still or verify. lua: print the lines to be put "
    "before a script for Redis. Both are explained in docs/guards.md.",
    NULL};

static const struct term_row guard_env[] = {
    {"HOLDFAST_FENCE", "the token, as holdfast run gives it to its command"},
    {"HOLDFAST_GUARANTEE", "local: the hold is of this host only, and has no "
                           "token"},
    {"HOLDFAST_URL", "where the values live"},
    {NULL, NULL}};

static const struct term_row guard_exits[] = {
    {"0", "written, or remembered"},
    {"1", "get: there is no value"},
    {"80", "refused: a higher fence was used, this hold is over"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const guard_examples[] = {
    "holdfast run report -- sh -c 'holdfast guard file-touch report.txt &&",
    "    ./report >new && holdfast guard file report.txt <new'",
    "holdfast guard sql postgres create | psql", NULL};

const struct command cmd_guard = {
    .name = "guard",
    .summary = "refuse the writes of holders whose lease is over",
    .usage = "[options] ACTION [ARGUMENT...]",
    .actions = "touch|set|delete|token|get|file|file-touch|file-token|sql|lua",
    .about = guard_about,
    OPTIONS(guard_options),
    .exits = guard_exits,
    .env = guard_env,
    .examples = guard_examples,
    .run = guard_main,
};
