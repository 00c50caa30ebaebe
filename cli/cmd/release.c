/* cmd/release.c: give a lock back, by its ticket. */
#include "command.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/session.h"
#include "session/ticket.h"

static int release_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s;
    struct hf_error err = {0};
    const char *words[2];
    char ticket[HF_TICKET_MAX];
    int code = command_begin(self, argc, argv, &o, words, 1, 2);
    if (code >= 0) return code;
    code = ticket_read(words[1], ticket);
    if (code) return code;
    code = session_open(&s, &o, words[0], HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    int status = hf_ticket_release(s.lock, ticket, &err);
    if (status == HF_OK)
        say_note("%s: released", s.shown);
    else
        code = session_fail(&s, status, &err);
    session_close(&s);
    return code;
}

static const struct option_row release_options[] = {
    OPTION_ROW_URL,
    OPTION_ROW_TALK,
};

static const char *const release_about[] = {
    "Give the lock NAME back. TICKET is what holdfast acquire printed; "
    "without it, it is taken from HOLDFAST_TICKET, and - reads it from "
    "standard input. A lock that another client holds by now is not touched.",
    NULL};

static const struct term_row release_env[] = {
    {"HOLDFAST_TICKET", "the ticket, if none is given"}, {NULL, NULL}};

static const struct term_row release_exits[] = {
    {"0", "released"},
    {"80", "the lock was lost before: its lease ended, or another client "
           "has it"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};

const struct command cmd_release = {
    .name = "release",
    .summary = "give a lock back, by its ticket",
    .usage = "[options] NAME [TICKET]",
    .about = release_about,
    OPTIONS(release_options),
    .exits = release_exits,
    .env = release_env,
    .takes_lock = 1,
    .run = release_main,
};
