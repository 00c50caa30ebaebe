/*
 * command.c: the beginning and the end that the simple commands share.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int command_begin(const struct command *cmd, int argc, char **argv,
                  struct options *o, const char **words, int words_min,
                  int words_max)
{
    options_init(o);
    int count = options_words(cmd, argc, argv, o, words, words_max);
    if (count < 0) return EXIT_USAGE;
    if (o->help) {
        help_command(cmd, stdout);
        return output_end();
    }
    if (count < words_min) {
        say_error("%s: %s is missing; see holdfast help %s", cmd->name,
                  count > 0         ? "an argument"
                  : cmd->takes_lock ? "NAME"
                                    : "ACTION",
                  cmd->name);
        return EXIT_USAGE;
    }
    say_setup(o->quiet, o->verbose, -1);
    return -1;
}

int command_usage(const struct command *cmd, const char *what)
{
    say_error("%s: %s; see holdfast help %s", cmd->name, what, cmd->name);
    return EXIT_USAGE;
}

int wait_check(const struct command *cmd, const struct options *o)
{
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    char what[128];
    if (o->nonblock && o->wait_ms != 0 && o->wait_ms != -1)
        return command_usage(cmd, "-n and -w exclude each other");
    if (o->renew_ms && o->lease_ms && o->renew_ms > o->lease_ms / 2)
        return command_usage(cmd, "--renew must be at most half of --lease");
    const char *why = o->backoff ? backoff_parse(o->backoff, &ao) : NULL;
    if (!why) return EXIT_OK;
    snprintf(what, sizeof(what), "--backoff: %s", why);
    return command_usage(cmd, what);
}

int64_t wait_choose(const struct options *o)
{
    if (o->nonblock || o->wait_ms == 0) return WAIT_TRY;
    return o->wait_ms > 0 ? o->wait_ms : 0;
}

void acquire_wait(struct hf_acquire_options *ao, int64_t wait_ms)
{
    ao->flags &= ~HF_ACQUIRE_TRY;
    if (wait_ms == WAIT_TRY) ao->flags |= HF_ACQUIRE_TRY;
    ao->wait_ms = wait_ms == WAIT_TRY ? 0 : wait_ms;
}

int output_end(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    say_error("standard output: cannot be written: %s", strerror(errno));
    return EXIT_BUG;
}

/* One line of stdin, without blanks at its end. */
static int ticket_from_stdin(char *ticket)
{
    size_t len = 0;
    ssize_t n = 0;
    while (len < HF_TICKET_MAX - 1
           && (n = read(STDIN_FILENO, ticket + len, 1)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || ticket[len] == '\n') break;
        len++;
    }
    while (len > 0 && strchr(" \t\r", ticket[len - 1])) len--;
    ticket[len] = '\0';
    return len > 0 ? EXIT_OK : EXIT_USAGE;
}

int ticket_read(const char *word, char *ticket)
{
    int code = EXIT_USAGE;
    if (!word) word = environment_get("HOLDFAST_TICKET");
    if (word && strcmp(word, "-") == 0) {
        code = ticket_from_stdin(ticket);
    } else if (word && word[0]) {
        int n = snprintf(ticket, HF_TICKET_MAX, "%s", word);
        if (n < HF_TICKET_MAX) return EXIT_OK;
        say_error("the ticket is too long to be one");
        return EXIT_USAGE;
    }
    if (code)
        say_error("no ticket: give it as an argument, in HOLDFAST_TICKET, or "
                  "as - on standard input");
    return code;
}
