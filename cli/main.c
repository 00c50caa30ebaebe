/*
 * main.c: the table of commands.  It finds one and calls it; it knows nothing
 * of what they do.
 */
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"
#include "manual/help.h"
#include "session/config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
    &cmd_run,     &cmd_once,    &cmd_elect,    &cmd_acquire,
    &cmd_renew,   &cmd_release, &cmd_status,   &cmd_list,
    &cmd_why,     &cmd_break,   &cmd_init,     &cmd_install_schema,
    &cmd_doctor,  &cmd_guard,   &cmd_latch,    &cmd_barrier,
    &cmd_stock,   &cmd_stress,  &cmd_lab,      &cmd_help,
    &cmd_version, &cmd_man,     &cmd_complete, NULL,
};

const struct command *command_find(const char *name)
{
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return &cmd_help;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return &cmd_version;
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    }
    return NULL;
}

/* If one of the three standard descriptors is closed, a socket to the store
 * would get its number, and the command would write into it.  So each gets a
 * substitute.  That of standard output refuses writes, because printing must
 * fail as if it were closed: a ticket that was not printed is lost. */
static int standard_fds_fill(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        int mode = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
        if (open("/dev/null", mode) != fd) return -1;
    }
    return 0;
}

static void nothing_do(int sig)
{
    (void)sig;
}

/* With SIGXFSZ caught, writing beyond the limit of a file (ulimit -f) fails
 * instead of ending the process.  It is not ignored, because the command that
 * holdfast runs would inherit that. */
static void file_limit_catch(void)
{
    struct sigaction act;
    if (sigaction(SIGXFSZ, NULL, &act) != 0 || act.sa_handler != SIG_DFL)
        return;
    act.sa_handler = nothing_do;
    (void)sigaction(SIGXFSZ, &act, NULL);
}

/* The value of `-p NAME`, `--profile NAME` or `--profile=NAME` at `*at`, which
 * then is at its last word; NULL: it is another word, or has no value. */
static const char *ahead_value(int argc, char **argv, int *at, const char *name,
                               const char *letter)
{
    const char *word = argv[*at];
    size_t len = strlen(name);
    if (!word) return NULL;
    if (strncmp(word, name, len) == 0 && word[len] == '=')
        return word + len + 1;
    if (strcmp(word, name) != 0 && (!letter || strcmp(word, letter) != 0))
        return NULL;
    return *at + 1 < argc ? argv[++*at] : NULL;
}

/* Options in front of the command, which are those of the configuration.  How
 * many words they are. */
static int ahead_take(int argc, char **argv)
{
    const char *file = NULL, *profile = NULL, *value;
    int at = 1;
    for (; at < argc; at++) {
        if ((value = ahead_value(argc, argv, &at, "--profile", "-p")) != NULL)
            profile = value;
        else if ((value = ahead_value(argc, argv, &at, "--config", NULL))
                 != NULL)
            file = value;
        else if ((value = ahead_value(argc, argv, &at, "--require", NULL))
                 != NULL)
            config_require(value);
        else
            break;
    }
    config_choose(file, profile);
    return at - 1;
}

int main(int argc, char **argv)
{
    if (standard_fds_fill() != 0) return EXIT_BUG;
    file_limit_catch();
    int ahead = ahead_take(argc, argv);
    argc -= ahead;
    argv += ahead;
    if (argc < 2) {
        help_commands(stderr);
        return EXIT_USAGE;
    }
    const struct command *cmd = command_find(argv[1]);
    if (!cmd) {
        char shown[256];
        say_error("%s: no such command; see holdfast help",
                  text_escape(argv[1], shown, sizeof(shown)));
        return EXIT_USAGE;
    }
    return cmd->run(cmd, argc - 1, argv + 1);
}
