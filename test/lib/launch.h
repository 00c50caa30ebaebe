/*
 * launch.h: the one way in which tests start a Redis server, from C and, by
 * test/tool/test_server.c, from a shell.  One rule: a server is there when the
 * process that was started says its own pid on the port that it was given;
 * neither an old log, nor a socket, nor another server's answer will do.
 */
#ifndef HF_TEST_LAUNCH_H
#define HF_TEST_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#define LAUNCH_WHY_MAX 1024
#define LAUNCH_MISSING (-1)

struct launch {
    const char *ip; /* the address that is asked; NULL: 127.0.0.1 */
    int port;
    const char *dir;         /* its directory, with launch_log() in it */
    const char *const *args; /* further words of its command line, or NULL */
    const char *const *env;  /* "NAME=value"s besides ours, or NULL */
    int is_sentinel;         /* by the file `conf` in its directory */
};

/* The file of its log: `<dir>/redis-<port>.log`. */
void launch_log(const struct launch *l, char *path, size_t size);

/* Become that server, in a new process; it is killed when its parent ends. */
_Noreturn void launch_exec(const struct launch *l);

/* Wait until the child `pid` answers at `l`; with `loading`, even if it says
 * that it is still loading its data.  Returns 1; or 0, and in `why` what
 * happened instead: it has ended, or a minute has passed; or LAUNCH_MISSING if
 * redis-server is not installed. */
int launch_await(const struct launch *l, pid_t pid, int loading,
                 char why[LAUNCH_WHY_MAX]);

#endif
