/* cmd/status.c: who holds a lock. */
#include "command.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/holder.h"
#include "session/nodes.h"

#include <inttypes.h>
#include <stdio.h>

static void free_print(const struct session *s, const struct hf_info *info)
{
    int left = info->nodes_heard - info->nodes_agree;
    printf("%s: free", s->shown);
    if (info->fence) printf(", last fence %" PRIu64, info->fence);
    if (info->waiters > 0) printf(", %" PRId64 " waiting", info->waiters);
    if (info->queued > 0) printf(", %" PRId64 " queued", info->queued);
    if (info->permits > 0)
        printf(", %" PRId64 " of %" PRId64 " permits free", info->available,
               info->permits);
    if (left > 0)
        printf(", though stored on %d of %d nodes", left, info->nodes);
    else if (info->nodes_heard < info->nodes)
        printf(", by %d of %d nodes", info->nodes_heard, info->nodes);
    if (info->guarantee == HF_GUARANTEE_LOCAL)
        printf(" on this host; the store could not be asked");
    putchar('\n');
}

static void status_print(const struct session *s, const char *name,
                         const struct hf_info *info, int as_json)
{
    char holder[HOLDER_TEXT_MAX];
    struct json j;
    struct nodes ns;
    nodes_look(s, &ns);
    if (as_json) {
        json_begin(&j);
        holder_json(&j, name, info);
        nodes_json(&j, info, &ns);
        json_end(&j);
        fputs(j.buf, stdout);
        return;
    }
    if (info->locked)
        printf("%s: held by %s\n", s->shown,
               holder_details(info, holder, sizeof(holder)));
    else
        free_print(s, info);
    nodes_print(&ns);
}

static int status_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    struct hf_info info = HF_INFO_INIT;
    struct hf_error err = {0};
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 1, 1);
    if (code >= 0) return code;
    code = session_open(&s, &o, words[0], HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    int status = session_inspect(&s, &info, &err);
    if (status == HF_OK) {
        if (!o.quiet) status_print(&s, words[0], &info, o.json);
        code = stdout_end();
        if (!code) code = info.locked ? EXIT_OK : EXIT_FREE;
    } else {
        code = session_fail(&s, status, &err);
    }
    session_close(&s);
    return code;
}

static const struct option_row status_options[] = {
    OPTION_ROW_URL,
    OPTION_ROW_FALLBACK_LOOK,
    OPTION_ROW_JSON("print one JSON object"),
    OPTION_ROW_TALK,
};

static const char *const status_about[] = {
    "Say who holds the lock NAME: host, process, label, since when, with "
    "which fencing token, how much of its lease is left, its hold count, "
    "how many processes wait for it or queue for it in order, and its "
    "guarantee; of a read/write lock the number of readers, of a semaphore "
    "the number of free permits. Where the slots of holdfast run --slots "
    "are locks (file:, and several servers) ask for NAME#1 to NAME#N. The "
    "answer may be out of date as soon as it is printed; it is for people "
    "and monitors, not for deciding whether to go on.",
    "Its kind tells which program made it: holdfast, redisson, string "
    "(redsync, redis-py, node-redlock and other libraries that use SET NX "
    "PX) or flock. holdfast why NAME says the same in sentences, and what "
    "can be done.",
    "Of a quorum: on how many of its nodes it is held, what the majority says "
    "of it, and a line for each node that may not vote, and why.",
    NULL};

static const struct term_row status_exits[] = {
    {"0", "held"}, {"1", "free"}, EXIT_ROWS_STORE, {NULL, NULL}};

const struct command cmd_status = {
    .name = "status",
    .summary = "say who holds a lock",
    .usage = "[options] NAME",
    .about = status_about,
    OPTIONS(status_options),
    .exits = status_exits,
    .takes_lock = 1,
    .run = status_main,
};
