/*
 * ask.h: one command to a Redis server, and its reply as text.  One rule: it
 * needs no library, neither holdfast nor hiredis.
 */
#ifndef LAB_ASK_H
#define LAB_ASK_H

#include <stddef.h>

/* Connect to 127.0.0.1 (NULL) or another address.  Returns the descriptor. */
int lab_ask_connect(const char *ip, int port);

/* Send one command, words separated by blanks ('' "" quote as in redis-cli).
 * Writes the reply to `out` and returns it: numbers and strings as they are,
 * arrays one line per element, errors with their '-', nil as "(nil)";
 * "(no answer)" is added if the server hung up or was silent for 10 s. */
const char *lab_ask_say(int fd, const char *line, char *out, size_t size);

#endif
