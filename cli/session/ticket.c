/*
 * session/ticket.c: where a ticket comes from: an argument, the environment or
 * standard input.
 */
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "holdfast/holdfast.h"
#include "session/ticket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
