/*
 * cmd/renew.c: begin the lease of a lock anew, by its ticket.  The ticket stays
 * the same.
 */
#include "command.h"
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/session.h"
#include "session/ticket.h"

#include <stdio.h>

static int ticket_renew(struct session *s, const struct options *o,
                        const char *name, char *ticket)
{
    struct hf_error err = {0};
    hf_hold *hold;
    int status = hf_lock_attach(s->lock, ticket, o->lease_ms, &hold, &err);
    if (status != HF_OK) return session_fail(s, status, &err);
    uint64_t fence = hf_hold_fence(hold);
    int64_t lease_ms = hf_hold_lease_ms(hold);
    int64_t valid_ms = hf_hold_valid_ms(hold);
    int replicas = hf_hold_replicas(hold);
    status = hf_hold_ticket(hold, ticket, HF_TICKET_MAX, &err);
    if (status != HF_OK) return session_fail(s, status, &err);
    say_note("%s: renewed", s->shown);
    if (!o->json) return EXIT_OK;
    struct json j;
    json_begin(&j);
    json_text(&j, "lock", name);
    json_text(&j, "ticket", ticket);
    json_uint(&j, "fence", fence);
    json_int(&j, "lease_ms", lease_ms);
    json_int(&j, "valid_ms", valid_ms);
    if (replicas > 0) json_int(&j, "replicas", replicas);
    json_end(&j);
    fputs(j.buf, stdout);
    return stdout_end();
}

static int renew_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    const char *words[2];
    char ticket[HF_TICKET_MAX];
    int code = command_begin(self, argc, argv, &o, words, 1, 2);
    if (code >= 0) return code;
    code = ticket_read(words[1], ticket);
    if (code) return code;
    code = session_open(&s, &o, words[0], HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    code = ticket_renew(&s, &o, words[0], ticket);
    session_close(&s);
    return code;
}

static const struct option_row renew_options[] = {
    {"", "lease", "TIME", OPTION_DURATION, FIELD(lease_ms), 0, HF_LEASE_MS_MIN,
     HF_LEASE_MS_MAX,
     "the lock ends TIME from now unless it is renewed again; default: 30s, "
     "or what the URL says, and not what holdfast acquire was given"},
    OPTION_ROW_URL,
    OPTION_ROW_JSON("print a JSON object: ticket, fence, lease_ms, valid_ms, "
                    "and replicas if wait_renew=on asks them"),
    OPTION_ROW_TALK,
};

static const char *const renew_about[] = {
    "Begin the lease of the lock NAME anew. TICKET is what holdfast acquire "
    "printed; without it, it is taken from HOLDFAST_TICKET, and - reads it "
    "from standard input. The ticket stays the same.",
    NULL};

static const struct term_row renew_env[] = {
    {"HOLDFAST_TICKET", "the ticket, if none is given"}, {NULL, NULL}};

static const struct term_row renew_exits[] = {
    {"0", "renewed"},
    {"80", "the lock was lost: its lease ended, or another client has it"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

const struct command cmd_renew = {
    .name = "renew",
    .summary = "begin the lease of a lock anew, by its ticket",
    .usage = "[options] NAME [TICKET]",
    .about = renew_about,
    OPTIONS(renew_options),
    .exits = renew_exits,
    .env = renew_env,
    .takes_lock = 1,
    .run = renew_main,
};
