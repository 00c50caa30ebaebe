/*
 * net.c: see net.h.  One rule: a namespace is held by a descriptor and nothing
 * else, so that it goes with the test, whatever becomes of it.
 *
 * Each host has one end of a veth pair; the other ends are ports of a bridge in
 * the hub, which is a namespace too.  There is a second bridge beside it: a cut
 * moves the ports of a group over to that one.
 */
#include "lib/net.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define SCRIPT_MAX 2048 /* a pipe takes it whole */
#define HERE "/proc/thread-self/ns/net"

/* ---- namespaces --------------------------------------------------------- */

static void file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* Who is not root becomes it among his own. */
static int user_unshare(void)
{
    char uids[40], gids[40];
    snprintf(uids, sizeof uids, "0 %u 1", (unsigned)getuid());
    snprintf(gids, sizeof gids, "0 %u 1", (unsigned)getgid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return -1;
    file_write("/proc/self/setgroups", "deny");
    file_write("/proc/self/uid_map", uids);
    file_write("/proc/self/gid_map", gids);
    return 0;
}

/* A new namespace, in which the calling thread is from now on. */
static int space_make(void)
{
    if (unshare(CLONE_NEWNET) != 0 && user_unshare() != 0)
        test_skip("net: no network namespace can be made here: %s: run it as "
                  "root, or permit user namespaces",
                  strerror(errno));
    int fd = open(HERE, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

int net_enter(const struct lab_host *host)
{
    if (!host) return -1;
    int back = open(HERE, O_RDONLY | O_CLOEXEC);
    CHECK(back >= 0);
    CHECK(setns(host->fd, CLONE_NEWNET) == 0);
    return back;
}

void net_leave(int back)
{
    if (back < 0) return;
    CHECK(setns(back, CLONE_NEWNET) == 0);
    close(back);
}

void net_go(const struct lab_net *n, int host)
{
    CHECK(host >= 0 && host < n->len);
    CHECK(setns(n->hosts[host].fd, CLONE_NEWNET) == 0);
}

/* ---- links -------------------------------------------------------------- */

struct script {
    char text[SCRIPT_MAX];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct script *s,
                                                      const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int len = vsnprintf(s->text + s->len, sizeof s->text - s->len, format, ap);
    va_end(ap);
    CHECK(len >= 0 && (size_t)len < sizeof s->text - s->len);
    s->len += (size_t)len;
}

static _Noreturn void ip_exec(int script_fd, int hub_fd)
{
    dup2(script_fd, 0);
    fcntl(hub_fd, F_SETFD, 0); /* the script names it */
    execlp("ip", "ip", "-batch", "-", (char *)NULL);
    execl("/sbin/ip", "ip", "-batch", "-", (char *)NULL);
    _exit(127);
}

/* Run ip(8) where the calling thread is. */
static void script_run(const struct lab_net *n, const struct script *s)
{
    int ends[2], status = 0;
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    CHECK(write(ends[1], s->text, s->len) == (ssize_t)s->len);
    close(ends[1]);
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) ip_exec(ends[0], n->hub.fd);
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (status == 127 << 8)
        test_skip("net: ip(8) is missing: install iproute2");
    if (status != 0) TEST_FAIL("net: ip(8) cannot do this:\n%s", s->text);
}

static void hub_make(struct lab_net *n)
{
    struct script s = {.len = 0};
    n->hub.fd = space_make();
    say(&s, "link add whole type bridge\n"
            "link add apart type bridge\n"
            "link set whole up\n"
            "link set apart up\n");
    script_run(n, &s);
}

static void host_make(struct lab_net *n, int i)
{
    struct script s = {.len = 0};
    struct lab_host *h = &n->hosts[i];
    h->fd = space_make();
    n->len = i + 1;
    snprintf(h->ip, sizeof h->ip, "10.9.0.%d", (i + 1) & 0xff);
    say(&s,
        "link set lo up\n"
        "link add eth0 type veth peer name port%d netns /proc/self/fd/%d\n"
        "addr add %s/24 dev eth0\n"
        "link set eth0 up\n",
        i, n->hub.fd, h->ip);
    script_run(n, &s);
}

static void ports_plug(struct lab_net *n, unsigned apart)
{
    struct script s = {.len = 0};
    int back = net_enter(&n->hub);
    for (int i = 0; i < n->len; i++)
        say(&s, "link set port%d master %s up\n", i,
            apart & NET_HOST(i) ? "apart" : "whole");
    script_run(n, &s);
    net_leave(back);
}

void net_cut(struct lab_net *n, unsigned group)
{
    ports_plug(n, group);
}

void net_heal(struct lab_net *n)
{
    ports_plug(n, 0);
}

/* ---- life --------------------------------------------------------------- */

static void net_end(void *arg)
{
    struct lab_net *n = arg;
    if (n->hub.fd < 0) return;
    CHECK(setns(n->hub.fd, CLONE_NEWNET) == 0);
    for (int i = 0; i < n->len; i++) close(n->hosts[i].fd);
    close(n->hub.fd);
}

void net_begin(struct lab_net *n, int hosts)
{
    CHECK(hosts <= NET_HOSTS_MAX);
    n->len = 0;
    n->hub.fd = -1;
    test_cleanup(net_end, n);
    hub_make(n);
    for (int i = 0; i < hosts; i++) host_make(n, i);
    ports_plug(n, 0);
    net_go(n, 0);
}
