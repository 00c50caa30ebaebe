/*
 * manual/man.h: man pages in roff, on standard output.
 */
#ifndef HOLDFAST_CLI_MANUAL_MAN_H
#define HOLDFAST_CLI_MANUAL_MAN_H

#include "command.h"

void man_command(const struct command *cmd);
void man_overview(void);

#endif
