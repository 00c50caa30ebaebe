/*
 * launch.c: see launch.h.  One rule: the process is asked what it is, and the
 * kernel where it does not say.
 */
#include "lab/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/own.h"
#include "lab/wait.h"

#define ARGS_MAX 60
#define LOOK_MS 3
#define EXIT_MISSING 127
#define STATE_LISTEN 0x0A /* of a socket, in /proc/<pid>/net/tcp */

/* ---- starting ----------------------------------------------------------- */

void lab_launch_log(const struct lab_launch *l, char *path, size_t size)
{
    snprintf(path, size, "%s/redis-%d.log", l->dir, l->port);
}

static void descriptors_drop(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++) dup2(null, fd);
    if (null > 2) close(null);
}

static const char *program_of(const struct lab_launch *l)
{
    return l->program ? l->program : "redis-server";
}

static _Noreturn void words_exec(const char *const *argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    descriptors_drop();
    execvp(argv[0], (char *const *)argv);
    _exit(EXIT_MISSING);
}

static _Noreturn void sentinel_exec(const struct lab_launch *l)
{
    const char *const argv[] = {program_of(l), "conf", "--sentinel", NULL};
    if (chdir(l->dir) != 0) _exit(1);
    words_exec(argv);
}

_Noreturn void lab_launch_exec(const struct lab_launch *l)
{
    char port[16], log[512];
    const char *argv[ARGS_MAX] = {program_of(l),
                                  "--port",
                                  port,
                                  "--bind",
                                  l->ip ? l->ip : "127.0.0.1",
                                  "--save",
                                  "",
                                  "--dir",
                                  l->dir,
                                  "--daemonize",
                                  "no",
                                  "--logfile",
                                  log,
                                  "--appendonly",
                                  "no",
                                  "--repl-diskless-sync-delay",
                                  "0",
                                  "--protected-mode",
                                  "no"};
    int n = 0;
    while (argv[n]) n++;
    snprintf(port, sizeof port, "%d", l->port);
    lab_launch_log(l, log, sizeof log);
    for (int i = 0; l->args && l->args[i] && n < ARGS_MAX - 1; i++)
        argv[n++] = l->args[i];
    for (int i = 0; l->env && l->env[i]; i++) putenv((char *)l->env[i]);
    if (l->is_sentinel) sentinel_exec(l);
    words_exec(argv);
}

/* ---- is it that process? ------------------------------------------------ */

/* Does it have the socket of this inode? */
static int process_has(pid_t pid, unsigned long inode)
{
    char path[64], name[300], wanted[64], target[64];
    int has = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && !has && (d = readdir(dir));) {
        snprintf(name, sizeof name, "%s/%.200s", path, d->d_name);
        ssize_t len = readlink(name, target, sizeof target - 1);
        target[len > 0 ? len : 0] = 0;
        has = !strcmp(target, wanted);
    }
    if (dir) closedir(dir);
    return has;
}

/* For a server that tells strangers nothing: by the kernel's tables. */
static int process_listens(pid_t pid, int port)
{
    char path[64], line[512];
    unsigned at, state;
    unsigned long inode;
    int found = 0;
    snprintf(path, sizeof path, "/proc/%ld/net/tcp", (long)pid);
    FILE *in = fopen(path, "re");
    while (in && !found && fgets(line, sizeof line, in))
        found = sscanf(line,
                       " %*d: %*x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*d %*d "
                       "%lu",
                       &at, &state, &inode)
                    == 3
                && (int)at == port && state == STATE_LISTEN
                && process_has(pid, inode);
    if (in) fclose(in);
    return found;
}

static int is_that_process(int fd, int port, pid_t pid)
{
    char reply[8192];
    const char *at = strstr(lab_ask_say(fd, "INFO server", reply, sizeof reply),
                            "process_id:");
    if (at) return strtol(at + strlen("process_id:"), NULL, 10) == (long)pid;
    return reply[0] == '-' && process_listens(pid, port);
}

static int is_loaded(int fd)
{
    char reply[256];
    lab_ask_say(fd, "PING", reply, sizeof reply);
    return strncmp(reply, "(no", 3) != 0 && strncmp(reply, "-LOADING", 8) != 0;
}

static int is_there(const struct lab_launch *l, pid_t pid, int loading)
{
    int fd = lab_ask_connect(l->ip, l->port);
    if (fd < 0) return 0;
    int is = is_that_process(fd, l->port, pid) && (loading || is_loaded(fd));
    close(fd);
    return is;
}

/* ---- waiting ------------------------------------------------------------ */

/* Its exit status if it has ended, else -1. */
static int exit_status(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    int options = WEXITED | WNOHANG | WNOWAIT; /* its parent reaps it */
    if (waitid(P_PID, (id_t)pid, &info, options) != 0) return 1;
    return info.si_pid == pid ? info.si_status : -1;
}

/* What happened, and the end of its log. */
static int failure(const struct lab_launch *l, const char *what)
{
    char path[512], log[LAB_ERROR_MAX];
    size_t len = 0, most = sizeof log - 200;
    lab_launch_log(l, path, sizeof path);
    FILE *in = fopen(path, "re");
    if (in && fseek(in, -(long)most, SEEK_END) != 0) rewind(in);
    if (in) len = fread(log, 1, most, in);
    if (in) fclose(in);
    log[len] = 0;
    return lab__fail("%s on port %d: %s%s%s", program_of(l), l->port, what,
                     len > 0 ? ": its log ends with\n" : "", log);
}

static int absence(const struct lab_launch *l)
{
    return lab__lack("%s: is not installed: no such program in PATH",
                     program_of(l));
}

int lab_launch_await(const struct lab_launch *l, pid_t pid, int loading)
{
    int64_t end_ms = lab_now_ms() + LAB_PATIENCE_MS;
    while (!is_there(l, pid, loading)) {
        int status = exit_status(pid);
        if (status == EXIT_MISSING) return absence(l);
        if (status >= 0) return failure(l, "has ended");
        if (lab_now_ms() > end_ms)
            return failure(l, "does not answer as the process that was "
                              "started");
        lab_pause_ms(LOOK_MS);
    }
    return LAB_OK;
}
