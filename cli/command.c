/*
 * command.c: the beginning that the simple commands share.
 */
#include "common/exit.h"
#include "common/say.h"
#include "manual/help.h"

#include <stdio.h>

int command_begin(const struct command *cmd, int argc, char **argv,
                  struct options *o, const char **words, int words_min,
                  int words_max)
{
    options_init(o);
    int count = options_words(cmd, argc, argv, o, words, words_max);
    if (count < 0) return EXIT_USAGE;
    if (o->help) {
        help_command(cmd, stdout);
        return stdout_end();
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
