/*
 * cmd/why.c: why a lock cannot be had: its holder, until when it is held,
 * whether it is still renewed, and what can be done.
 *
 * It only looks, and it looks twice: a lease that goes up between two looks is
 * being renewed.
 */
#include "command.h"
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/holder.h"
#include "why/why.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS_DEFAULT 1000
#define LOOK_AGAIN_MS 100
#define RENEWED_MS 50 /* a lease that went up by less was not renewed */

static enum ending ending_of(const struct why *w)
{
    unsigned caps = hf_client_caps(w->s->client);
    if (w->info.ttl_ms >= 0) return ENDING_LEASE;
    if (w->info.guarantee == HF_GUARANTEE_LOCAL) return ENDING_PROCESS;
    if (caps & HF_CAP_KERNEL && !w->info.detached) return ENDING_PROCESS;
    /* Where no hold outlives its client, there are sessions. */
    if (!(caps & HF_CAP_DETACHED)) return ENDING_SESSION;
    return ENDING_NEVER;
}

/* In a quorum each member tells by its own clock since when the lock is held,
 * and any member's answer may be the one that is shown: compare the times only
 * if there is one server. */
static int owner_changed(const struct hf_info *a, const struct hf_info *b)
{
    int is_one = a->nodes == 0 && b->nodes == 0;
    return strcmp(a->owner, b->owner) != 0 || a->pid != b->pid
           || (is_one && a->since_ms != b->since_ms);
}

/* When it ends if it is not renewed: by the store's clock, which is read with
 * the lease, so that no delay between the two looks like a renewal.  By ours,
 * `now_ms`, if there is no such clock. */
static int64_t end_of(const struct hf_info *info, int64_t now_ms)
{
    return (info->now_ms > 0 ? info->now_ms : now_ms) + info->ttl_ms;
}

/* Members of a quorum are asked one after the other, and each counts its own
 * lease: a renewal is seen by comparing two answers of the same member. */
struct ends {
    unsigned known; /* by bit */
    int64_t at_ms[32];
};

static int is_renewed(struct ends *ends, const struct hf_info *info,
                      int64_t now_ms)
{
    unsigned node = (unsigned)info->node & 31u;
    int64_t end_ms = end_of(info, now_ms);
    int is_known = ends->known >> node & 1u;
    if (!is_known) ends->at_ms[node] = end_ms;
    ends->known |= 1u << node;
    return is_known && end_ms > ends->at_ms[node] + RENEWED_MS;
}

/* Look again until it was renewed, changed hands, or the time is over. */
static int look_again(struct why *w, int64_t look_ms, struct hf_error *err)
{
    struct ends ends = {0};
    int64_t begin_ms = clock_ms();
    (void)is_renewed(&ends, &w->info, begin_ms);
    while (w->info.locked && w->looked_ms < look_ms && !w->renewed
           && !w->changed) {
        struct hf_info before = w->info;
        poll(NULL, 0, LOOK_AGAIN_MS);
        int64_t asked_ms = clock_ms();
        int status = session_inspect(w->s, &w->info, err);
        if (status != HF_OK) return status;
        w->looked_ms = clock_ms() - begin_ms;
        if (!w->info.locked) break;
        w->changed = owner_changed(&before, &w->info);
        w->renewed = is_renewed(&ends, &w->info, asked_ms);
    }
    return HF_OK;
}

/* Read the record of holdfast once for this name; there need not be one. */
static void once_look(struct why *w)
{
    if (!(hf_client_caps(w->s->client) & HF_CAP_VALUE)) return;
    if (w->info.guarantee == HF_GUARANTEE_LOCAL) return;
    if (hf_once_look(w->s->client, w->name, NULL, &w->once, NULL) != HF_OK)
        w->once.outcome = 0;
    else
        hf_once_result_free(w->s->client, &w->once);
}

static int why_look(struct why *w, const struct options *o,
                    struct hf_error *err)
{
    int status = session_inspect(w->s, &w->info, err);
    if (status != HF_OK) return status;
    if (w->info.locked && w->info.ttl_ms >= 0)
        status = look_again(w, o->look_ms ? o->look_ms : LOOK_MS_DEFAULT, err);
    w->ending = ending_of(w);
    if (w->info.locked)
        w->process = process_look(&w->info);
    else
        once_look(w);
    nodes_look(w->s, &w->nodes);
    if (!w->info.locked) store_look(w);
    return status;
}

static void why_json(const struct why *w)
{
    static const char *const endings[] = {"process", "lease", "never"};
    char advice[TEXT_ESCAPED_MAX + 256];
    struct json j;
    json_begin(&j);
    holder_json(&j, w->name, &w->info);
    if (w->info.locked) {
        json_text(&j, "ends_with", endings[w->ending]);
        json_text(&j, "process", process_name(w->process));
        json_int(&j, "looked_ms", w->looked_ms);
        json_bool(&j, "renewed", w->renewed);
        json_bool(&j, "changed_hands", w->changed);
    }
    if (w->once.outcome == HF_ONCE_DONE || w->once.outcome == HF_ONCE_DIED)
        json_text(&j, "once",
                  w->once.outcome == HF_ONCE_DONE ? "done" : "died");
    nodes_json(&j, &w->info, &w->nodes);
    if (w->refusal[0]) json_text(&j, "refusal", w->refusal);
    json_text(&j, "advice", why_advice(w, advice, sizeof(advice)));
    json_end(&j);
    fputs(j.buf, stdout);
}

static int why_fail(const struct why *w, int status, const struct hf_error *err,
                    int as_json)
{
    const char *check = why_check(status);
    struct json j;
    int code = session_fail(w->s, status, err);
    if (as_json) {
        json_begin(&j);
        json_text(&j, "lock", w->name);
        json_text(&j, "error", hf_status_name(status));
        json_text(&j, "text", status_why(status, err->text));
        if (check) json_text(&j, "advice", check);
        json_end(&j);
        fputs(j.buf, stdout);
    } else if (check) {
        printf("%s\n", check);
    }
    (void)stdout_end();
    return code;
}

static int why_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    struct hf_error err = {0};
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 1, 1);
    if (code >= 0) return code;
    code = session_open(&s, &o, words[0], HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    struct why w = {.s = &s,
                    .name = words[0],
                    .info = HF_INFO_INIT,
                    .once = HF_ONCE_RESULT_INIT};
    int status = why_look(&w, &o, &err);
    if (status != HF_OK) {
        code = why_fail(&w, status, &err, o.json);
    } else {
        if (o.json)
            why_json(&w);
        else if (!o.quiet)
            why_print(&w);
        code = stdout_end();
        if (!code) code = w.info.locked ? EXIT_OK : EXIT_FREE;
    }
    session_close(&s);
    return code;
}

static const struct option_row why_options[] = {
    {"", "for", "TIME", OPTION_DURATION, FIELD(look_ms), 0, 1, HF_LEASE_MS_MAX,
     "look at it for TIME, or until it is renewed; default: 1s"},
    OPTION_ROW_URL,
    OPTION_ROW_FALLBACK_LOOK,
    OPTION_ROW_JSON("print one JSON object"),
    OPTION_ROW_TALK,
};

static const char *const why_about[] = {
    "Explain why the lock NAME cannot be had: who holds it, what kind of "
    "lock it is, when it ends if it is not renewed, whether it is being "
    "renewed, whether its process still lives (if it is on this host), how "
    "many processes wait, and what can be done. If the store gives no "
    "answer, say what to check. If the lock is free, say whether the store "
    "would refuse it: because its memory is full, because it has too few "
    "replicas (min-replicas-to-write), or because it is a member of a "
    "quorum of which the URL names no other member.",
    "Whether it is renewed is seen by looking for a while: a holder renews "
    "every third of its lease, so --for 10s is enough for a lease of 30 "
    "seconds.",
    NULL};

static const struct term_row why_exits[] = {
    {"0", "held"}, {"1", "free"}, EXIT_ROWS_STORE, {NULL, NULL}};

static const char *const why_examples[] = {
    "holdfast why nightly", "holdfast why --for 10s --json nightly | jq .",
    NULL};

const struct command cmd_why = {
    .name = "why",
    .summary = "explain why a lock cannot be had, and what to do",
    .usage = "[options] NAME",
    .about = why_about,
    OPTIONS(why_options),
    .exits = why_exits,
    .examples = why_examples,
    .takes_lock = 1,
    .run = why_main,
};
