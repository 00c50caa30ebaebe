/*
 * manual/complete.h: the two sides of completion: scripts for the shells, and
 * the words that they ask for.
 */
#ifndef HOLDFAST_COMPLETE_H
#define HOLDFAST_COMPLETE_H

#include <stddef.h>

/* Print the completions of the last of `words`, one per line, each followed by
 * a tab and a description; the other words are what was typed after "holdfast".
 * If nothing is printed, the shell offers its own completions. */
void words_complete(int len, char **words);

/* 1 if no shell expands any part of the name. */
int name_is_plain(const char *name, size_t len);

#endif
