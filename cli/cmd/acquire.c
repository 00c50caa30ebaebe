/*
 * cmd/acquire.c: take a lock for a script, and print the ticket by which it is
 * renewed and released.
 *
 * A lock whose ticket could not be printed is given back at once.
 */
#include "common/exit.h"
#include "common/say.h"
#include "option/rows.h"
#include "option/wait.h"
#include "session/holder.h"
#include "session/session.h"

#include <stdio.h>

/* What is printed with the ticket; the handle is gone by then. */
struct grant {
    uint64_t fence;
    int64_t lease_ms, valid_ms;
    int guarantee, replicas;
};

static void ticket_print(const char *name, const char *ticket,
                         const struct grant *g, int as_json)
{
    struct json j;
    if (!as_json) {
        printf("%s\n", ticket);
        return;
    }
    json_begin(&j);
    json_text(&j, "lock", name);
    json_text(&j, "ticket", ticket);
    json_uint(&j, "fence", g->fence);
    json_int(&j, "lease_ms", g->lease_ms);
    json_int(&j, "valid_ms", g->valid_ms);
    json_text(&j, "guarantee", guarantee_name(g->guarantee));
    json_int(&j, "replicas", g->replicas);
    json_end(&j);
    fputs(j.buf, stdout);
}

static int ticket_make(struct session *s, const struct options *o,
                       const char *name, hf_hold *hold)
{
    struct hf_error err = {0};
    char ticket[HF_TICKET_MAX];
    struct grant g = {hf_hold_fence(hold), hf_hold_lease_ms(hold),
                      hf_hold_valid_ms(hold), hf_hold_guarantee(hold),
                      hf_hold_replicas(hold)};
    int status = hf_hold_ticket(hold, ticket, sizeof(ticket), &err);
    if (status != HF_OK) {
        (void)hf_hold_release(hold, NULL);
        return session_fail(s, status, &err);
    }
    ticket_print(name, ticket, &g, o->json);
    int code = stdout_end();
    if (code) (void)hf_ticket_release(s->lock, ticket, NULL);
    return code;
}

static int acquire_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    hf_hold *hold;
    const char *words[1];
    int status;
    int code = command_begin(self, argc, argv, &o, words, 1, 1);
    if (code >= 0) return code;
    code = wait_check(self, &o);
    if (code) return code;
    code = session_open(&s, &o, words[0], HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    code = session_acquire(&s, &o, HF_ACQUIRE_DETACHED, &hold, &status);
    if (!code) code = ticket_make(&s, &o, words[0], hold);
    session_close(&s);
    if (code == EXIT_NOT_ACQUIRED && o.conflict_code >= 0)
        code = (int)o.conflict_code;
    return code;
}

static const struct option_row acquire_options[] = {
    OPTION_ROW_WAIT("the lock is held"),
    {"xe", "exclusive", NULL, OPTION_FLAG, FIELD(side), SIDE_NONE, 0, 0,
     "take an exclusive lock, as always: to share one use holdfast run -s"},
    {"E", "conflict-exit-code", "N", OPTION_NUMBER, FIELD(conflict_code), 0, 0,
     255, "exit with N instead of 75 when the lock is not acquired"},
    OPTION_ROW_FAIR("first come, first served, on all hosts; a client "
                    "without --fair waits until the queue is empty"),
    OPTION_ROW_LEASE,
    OPTION_ROW_BACKOFF,
    {"", "fallback", "fail|wait", OPTION_CHOICE, FIELD(fallback),
     HF_FALLBACK_FAIL, 0, 0,
     "when the store cannot be reached: fail (the default), or wait for it "
     "as long as -w says; a lock of this host has no ticket"},
    OPTION_ROW_URL,
    OPTION_ROW_LABEL,
    OPTION_ROW_JSON("print a JSON object: ticket, fence, lease_ms, valid_ms, "
                    "guarantee, replicas"),
    OPTION_ROW_TALK,
};

static const char *const acquire_about[] = {
    "Take the lock NAME and print a ticket. The lock is held until it is "
    "released with the ticket, or until its lease ends: only holdfast renew "
    "renews it. Anyone with the ticket can release the lock, so treat it as "
    "a password. The lock is always a plain one, which cannot be shared.",
    "To hold a lock around one command use holdfast run, which renews it "
    "and ends the command if the lock is lost.",
    NULL};

static const struct term_row acquire_exits[] = {
    {"0", "acquired"},
    {"75", "not acquired: another client holds it (see -E)"},
    {"128+n", "signal n ended the wait"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

static const char *const acquire_examples[] = {
    "ticket=$(holdfast acquire --lease 5m -w 10s deploy) || exit",
    "holdfast renew --lease 5m deploy \"$ticket\"",
    "holdfast release deploy \"$ticket\"", NULL};

const struct command cmd_acquire = {
    .name = "acquire",
    .summary = "take a lock for a script, and print its ticket",
    .usage = "[options] NAME",
    .about = acquire_about,
    OPTIONS(acquire_options),
    .exits = acquire_exits,
    .examples = acquire_examples,
    .takes_lock = 1,
    .run = acquire_main,
};
