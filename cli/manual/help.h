/*
 * manual/help.h: help for people, printed from the tables of the commands.
 */
#ifndef HOLDFAST_CLI_MANUAL_HELP_H
#define HOLDFAST_CLI_MANUAL_HELP_H

#include <stdio.h>

#include "command.h"

/* One command. */
void help_command(const struct command *cmd, FILE *out);
/* The list of commands. */
void help_commands(FILE *out);
/* The list of commands, and what is true of all of them. */
void help_overview(FILE *out);

/* manual/overview.c: what is true of all commands. */
extern const struct term_row overview_urls[], overview_env[], overview_exits[];
extern const char *const overview_examples[];

#endif
