/*
 * launch.h: the one way in which a Redis server is started: by server.h from C,
 * and by test/tool/test_server.c from a shell.  One rule: a server is there
 * when the process that was started says its own pid on the port that it was
 * given; neither an old log, nor a socket, nor another server's answer will do.
 *
 * The caller forks, and the child calls lab_launch_exec().
 */
#ifndef LAB_LAUNCH_H
#define LAB_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

struct lab_launch {
    const char *program; /* NULL: redis-server */
    const char *ip;      /* the address that is asked; NULL: 127.0.0.1 */
    int port;
    const char *dir;         /* its directory, with its log in it */
    const char *const *args; /* further words of its command line, or NULL */
    const char *const *env;  /* "NAME=value"s besides ours, or NULL */
    int is_sentinel;         /* by the file `conf` in its directory */
};

/* The file of its log: `<dir>/redis-<port>.log`. */
void lab_launch_log(const struct lab_launch *l, char *path, size_t size);

/* Become that server, in a new process; it is killed when its parent ends. */
_Noreturn void lab_launch_exec(const struct lab_launch *l);

/* Wait until the child `pid` answers at `l`; with `loading`, even if it says
 * that it is still loading its data.  Fails if the child has ended, with the
 * end of its log, or if a minute has passed; with LAB_ABSENT if the program is
 * not installed. */
int lab_launch_await(const struct lab_launch *l, pid_t pid, int loading);

#endif
