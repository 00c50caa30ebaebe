/*
 * common/exit.h: the exit codes of all commands.
 */
#ifndef HOLDFAST_CLI_COMMON_EXIT_H
#define HOLDFAST_CLI_COMMON_EXIT_H

/* Exit codes.  run passes the command's own status on, so ours are those of
 * sysexits(3), timeout(1) and the shell, and 80, which others do not use. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FREE = 1,     /* status: the lock is free */
    EXIT_VIOLATED = 1, /* stress: a lock had two holders at once */
    EXIT_WARNED = 1,   /* doctor: something is not as it should be */
    EXIT_USAGE = 64,
    EXIT_UNREACHABLE = 69,
    EXIT_BUG = 70,
    EXIT_NOT_ACQUIRED = 75,
    EXIT_DENIED = 77,
    EXIT_CONFIG = 78,
    EXIT_LOST = 80,
    EXIT_MAX_HOLD = 124,
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128 /* and the signal's number */
};

/* The exit code that belongs to a status of the library. */
int status_exit(int status);
/* `text` of the library, or what the status means if the text is empty. */
const char *status_why(int status, const char *text);

#endif
