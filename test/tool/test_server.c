/*
 * test_server.c: lab/launch.h and lab/port.h for tests that are no C programs.
 * One rule: what is started or reserved here ends with its owner, the process
 * that is named, however that ends.
 *
 *     test-server port OWNER
 *         reserve a port, and print it (lab/port.h says what comes with it)
 *     test-server start [-s] [-e NAME=VALUE]... OWNER PORT DIR [OPTION...]
 *         start redis-server with its files in DIR, wait until it answers, and
 *         print its pid; -s: a Sentinel, by the file DIR/conf
 *
 * Each leaves a process behind that watches the owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/lab.h"
#include "lab/launch.h"
#include "lab/port.h"

#define ENV_MAX 16
#define LOOK_MS 200

static int usage(void)
{
    fprintf(stderr, "usage: test-server port OWNER\n"
                    "       test-server start [-s] [-e NAME=VALUE]... OWNER "
                    "PORT DIR [OPTION...]\n");
    return 64;
}

/* ---- the process that watches ------------------------------------------- */

static void on_child(int sig)
{
    (void)sig; /* it interrupts poll() */
}

static int server_has_ended(pid_t server)
{
    return server > 0 && waitpid(server, NULL, WNOHANG) != 0;
}

/* Until the owner or the server (0: there is none) has ended.  A kernel without
 * pidfd_open() is asked again and again. */
static void watch(pid_t owner, pid_t server)
{
    struct pollfd p = {(int)syscall(SYS_pidfd_open, owner, 0), POLLIN, 0};
    if (p.fd < 0 && errno == ESRCH) return;
    while (!server_has_ended(server)) {
        if (poll(&p, 1, LOOK_MS) > 0) return;
        if (kill(owner, 0) != 0 && errno == ESRCH) return;
    }
}

static _Noreturn void keep(pid_t owner, pid_t server)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2 && null >= 0; fd++) dup2(null, fd);
    watch(owner, server);
    if (server > 0) kill(server, SIGKILL);
    _exit(0);
}

/* Go on in a new process, of which a terminal's signals know nothing; the
 * caller of this program waits for the output only. */
static int detach(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        signal(SIGCHLD, on_child);
        close(ends[0]);
        return 0;
    }
    close(ends[1]);
    return pid > 0 ? 1 : -1;
}

/* What the other process found, on stdout or stderr.  "+" says success. */
static int relay(int fd)
{
    char text[LAB_ERROR_MAX + 2];
    size_t len = 0;
    for (ssize_t n = 1; n > 0 && len < sizeof text - 1; len += (size_t)n) {
        n = read(fd, text + len, sizeof text - 1 - len);
        if (n < 0) n = 0;
    }
    text[len] = 0;
    if (text[0] != '+') {
        fprintf(stderr, "test-server: %s\n", len > 0 ? text : "no answer");
        return 1;
    }
    printf("%s\n", text + 1);
    return 0;
}

/* ---- port --------------------------------------------------------------- */

static int port_main(pid_t owner)
{
    int ends[2], port = 0;
    if (lab_port_reserve(&port) < 0) {
        fprintf(stderr, "test-server: %s\n", lab_error());
        return 1;
    }
    int side = detach(ends);
    if (side < 0) return 1;
    if (side == 0) keep(owner, 0);
    printf("%d\n", port);
    return 0;
}

/* ---- start -------------------------------------------------------------- */

static _Noreturn void start_run(const struct lab_launch *l, pid_t owner, int fd)
{
    pid_t server = fork();
    if (server == 0) lab_launch_exec(l);
    if (server > 0 && lab_launch_await(l, server, 0) == LAB_OK) {
        dprintf(fd, "+%ld", (long)server);
        close(fd);
        keep(owner, server);
    }
    dprintf(fd, "%s", server > 0 ? lab_error() : "fork failed");
    if (server > 0) kill(server, SIGKILL);
    _exit(1);
}

static int start_main(int argc, char **argv)
{
    const char *env[ENV_MAX + 1] = {NULL};
    struct lab_launch l = {.env = env};
    int ends[2], envs = 0, option;
    while ((option = getopt(argc, argv, "+se:")) != -1) {
        if (option == 's') l.is_sentinel = 1;
        if (option == 'e' && envs < ENV_MAX) env[envs++] = optarg;
        if (option == '?') return usage();
    }
    if (argc - optind < 3) return usage();
    pid_t owner = (pid_t)strtol(argv[optind], NULL, 10);
    l.port = (int)strtol(argv[optind + 1], NULL, 10);
    l.dir = argv[optind + 2];
    l.args = (const char *const *)argv + optind + 3;
    int side = detach(ends);
    if (side < 0) return 1;
    if (side == 0) start_run(&l, owner, ends[1]);
    return relay(ends[0]);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "port"))
        return port_main((pid_t)strtol(argv[2], NULL, 10));
    if (argc > 1 && !strcmp(argv[1], "start"))
        return start_main(argc - 1, argv + 1);
    return usage();
}
