/*
 * manual/complete.h: the two sides of completion: scripts for the shells, and
 * the words that they ask for.
 */
#ifndef HOLDFAST_COMPLETE_H
#define HOLDFAST_COMPLETE_H

#include <stddef.h>

/* Print what the last of `words` could become, one to a line, with a tab and
 * what it is behind it; those before it are what was typed after "holdfast".
 * Nothing: the shell may offer what it likes. */
void words_complete(int len, char **words);

/* Is it a name that every shell leaves as it is? */
int name_is_plain(const char *name, size_t len);

#endif
