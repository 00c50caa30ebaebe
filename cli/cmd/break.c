/*
 * cmd/break.c: take a lock away from its holder.  Nothing is changed
 * without --yes.
 */
#include "command.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/holder.h"
#include "session/session.h"

#include <inttypes.h>
#include <stdio.h>

/* The lock cannot be broken with this URL, so the preview does not offer it. */
static int break_refused(const struct session *s)
{
    say_error("%s: cannot be broken: a string library's lock is stored there; "
              "use a URL with ?format=string",
              s->shown);
    return status_exit(HF_CONFLICT);
}

static int64_t permits_out(const struct hf_info *info)
{
    return info->permits - info->available;
}

static int break_preview(struct session *s)
{
    struct hf_info info = HF_INFO_INIT;
    struct hf_error err = {0};
    char holder[HOLDER_TEXT_MAX];
    int status = session_inspect(s, &info, &err);
    if (status != HF_OK) return session_fail(s, status, &err);
    if (session_is_refused(s, &info)) return break_refused(s);
    if (info.permits > 0)
        say_error("%s: a semaphore that would be deleted, with %" PRId64
                  " of its %" PRId64 " permits out; repeat with --yes",
                  s->shown, permits_out(&info), info.permits);
    else if (info.locked && !info.detached
             && hf_client_caps(s->client) & HF_CAP_KERNEL)
        say_error("%s: cannot be broken: held by %s; end that process",
                  s->shown, holder_text(&info, holder, sizeof(holder)));
    else if (info.locked)
        say_error("%s: would be taken away from %s; repeat with --yes",
                  s->shown, holder_text(&info, holder, sizeof(holder)));
    else
        say_error("%s: is free: there is nothing to break; --yes would only "
                  "raise its fence",
                  s->shown);
    return EXIT_USAGE;
}

static void break_print(const struct session *s, const char *name,
                        int was_locked, const struct hf_info *before,
                        int as_json)
{
    char holder[HOLDER_TEXT_MAX];
    struct json j;
    if (as_json) {
        json_begin(&j);
        json_text(&j, "lock", name);
        json_bool(&j, "broken", was_locked);
        if (before->locked && before->host[0])
            json_text(&j, "host", before->host);
        if (before->locked && before->pid > 0) json_int(&j, "pid", before->pid);
        json_end(&j);
        fputs(j.buf, stdout);
    } else if (was_locked) {
        printf("%s: taken away from %s\n", s->shown,
               before->locked ? holder_text(before, holder, sizeof(holder))
                              : "its holder");
    } else {
        printf("%s: was free\n", s->shown);
    }
}

/* Delete the whole semaphore; afterwards its name can be of any kind. */
static int semaphore_delete(struct session *s, const struct options *o,
                            const char *name, hf_semaphore *sem,
                            const struct hf_info *before)
{
    struct hf_error err = {0};
    int status = hf_semaphore_delete(sem, NULL, &err);
    hf_semaphore_close(sem);
    if (status != HF_OK) return session_fail(s, status, &err);
    if (!o->quiet && o->json)
        break_print(s, name, permits_out(before) > 0, before, 1);
    else if (!o->quiet)
        printf("%s: semaphore deleted, with %" PRId64 " of its %" PRId64
               " permits out\n",
               s->shown, permits_out(before), before->permits);
    return stdout_end();
}

static int break_do(struct session *s, const struct options *o,
                    const char *name)
{
    struct hf_info before = HF_INFO_INIT;
    struct hf_error err = {0};
    int was_locked = 0;
    int status = hf_lock_inspect(s->lock, &before, &err);
    if (status == HF_UNAVAILABLE) return session_fail(s, status, &err);
    hf_semaphore *sem =
        status == HF_CONFLICT ? session_semaphore(s, &before) : NULL;
    if (sem) return semaphore_delete(s, o, name, sem, &before);
    if (status != HF_OK) before.locked = 0;
    if (session_is_refused(s, &before)) return break_refused(s);
    status = hf_lock_break(s->lock, &was_locked, &err);
    if (status != HF_OK) return session_fail(s, status, &err);
    if (!o->quiet) break_print(s, name, was_locked, &before, o->json);
    return stdout_end();
}

static int break_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 1, 1);
    if (code >= 0) return code;
    code = session_open(&s, &o, words[0], HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    code = o.yes ? break_do(&s, &o, words[0]) : break_preview(&s);
    session_close(&s);
    return code;
}

static const struct option_row break_options[] = {
    {"", "yes", NULL, OPTION_FLAG, FIELD(yes), 1, 0, 0,
     "do it; without this only say what would be done"},
    OPTION_ROW_URL,
    OPTION_ROW_JSON("print one JSON object"),
    OPTION_ROW_TALK,
};

static const char *const break_about[] = {
    "Take the lock NAME away from its holder, and raise its fence, so that "
    "a resource which checks fencing tokens refuses the former holder. The "
    "former holder may go on working until its next renewal: make sure that "
    "it is dead, or that the fence is checked.",
    "A semaphore (run --slots) is deleted with all its permits: its name "
    "can then be used for a lock.",
    "A kernel lock (file:) that a living process holds cannot be broken; "
    "end the process instead: its pid is printed.",
    NULL};

static const struct term_row break_exits[] = {
    {"0", "the lock is free"}, EXIT_ROWS_STORE, {NULL, NULL}};

const struct command cmd_break = {
    .name = "break",
    .summary = "take a lock away from its holder",
    .usage = "[options] NAME --yes",
    .about = break_about,
    OPTIONS(break_options),
    .exits = break_exits,
    .takes_lock = 1,
    .run = break_main,
};
