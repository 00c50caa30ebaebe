/*
 * main.c: the table of commands.  It finds one and calls it; it knows nothing
 * of what they do.
 */
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"
#include "manual/help.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
    &cmd_run,     &cmd_once,   &cmd_elect,   &cmd_acquire, &cmd_renew,
    &cmd_release, &cmd_status, &cmd_list,    &cmd_why,     &cmd_break,
    &cmd_init,    &cmd_doctor, &cmd_guard,   &cmd_latch,   &cmd_barrier,
    &cmd_stress,  &cmd_help,   &cmd_version, &cmd_man,     &cmd_complete,
    NULL,
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

/* If we were started with one of the first three closed, a socket to the store
 * would take its place, and the command would write into it.  What cannot be
 * printed must fail, for a ticket may be lost by it: so standard output takes
 * nothing, as if it were closed. */
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

/* A file that may not grow (ulimit -f) makes its write fail.  Caught
 * and not ignored: what we run finds the signal as we did. */
static void file_limit_catch(void)
{
    struct sigaction act;
    if (sigaction(SIGXFSZ, NULL, &act) != 0 || act.sa_handler != SIG_DFL)
        return;
    act.sa_handler = nothing_do;
    (void)sigaction(SIGXFSZ, &act, NULL);
}

int main(int argc, char **argv)
{
    if (standard_fds_fill() != 0) return EXIT_BUG;
    file_limit_catch();
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
