/* cmd/help.c: explain the commands. */
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"
#include "manual/help.h"
#include "option/rows.h"

#include <stdio.h>

static int help_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    const char *words[1];
    int code = command_begin(self, argc, argv, &o, words, 0, 1);
    if (code >= 0) return code;
    if (!words[0]) {
        help_overview(stdout);
        return stdout_end();
    }
    const struct command *cmd = command_find(words[0]);
    if (!cmd) {
        char shown[256];
        say_error("help: %s: no such command",
                  text_escape(words[0], shown, sizeof(shown)));
        return EXIT_USAGE;
    }
    help_command(cmd, stdout);
    return stdout_end();
}

static const struct option_row help_options[] = {OPTION_ROW_TALK};

static const char *const help_about[] = {
    "Explain holdfast, or one of its commands.", NULL};

static const struct term_row help_exits[] = {
    {"0", "printed"}, {"64", "no such command"}, {NULL, NULL}};

const struct command cmd_help = {
    .name = "help",
    .summary = "explain holdfast, or one command",
    .usage = "[COMMAND]",
    .about = help_about,
    OPTIONS(help_options),
    .exits = help_exits,
    .run = help_main,
};
