/* cmd/man.c: print a man page (hidden: for building packages). */
#include "common/exit.h"
#include "common/say.h"
#include "manual/man.h"

static int man_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 0, 1);
    if (code >= 0) return code;
    const struct command *cmd = words[0] ? command_find(words[0]) : NULL;
    if (words[0] && (!cmd || cmd->hidden)) {
        say_error("__man: no such command");
        return EXIT_USAGE;
    }
    if (cmd)
        man_command(cmd);
    else
        man_overview();
    return stdout_end();
}

static const char *const man_about[] = {
    "Print the man page of COMMAND, or the overview, in roff.", NULL};

const struct command cmd_man = {
    .name = "__man",
    .summary = "print a man page",
    .usage = "[COMMAND]",
    .about = man_about,
    .hidden = 1,
    .run = man_main,
};
