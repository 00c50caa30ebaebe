/*
 * common/environment.h: the variables that the command reads and sets.
 */
#ifndef HOLDFAST_CLI_COMMON_ENVIRONMENT_H
#define HOLDFAST_CLI_COMMON_ENVIRONMENT_H

#include <stdint.h>

/* The variable's value; NULL if it is not set or empty, or if we have more
 * rights than our user. */
const char *environment_get(const char *name);
/* 1 if the variable is set, and empty. */
int environment_is_empty(const char *name);
/* Set a variable for a command to a number. */
void environment_number(const char *name, int64_t value);
/* Before a command is run: remove passwords and the ticket from its
 * environment, and set HOLDFAST_URL to `url`, which must have no password. */
void environment_clean(const char *url);

#endif
