/*
 * net.c: see net.h.  One rule: a namespace is held by a descriptor and nothing
 * else, so that it goes with the process, whatever becomes of that.
 *
 * Each host has one end of a veth pair; the other ends are ports of a bridge in
 * the hub, which is a namespace too.  There is a second bridge beside it: a cut
 * moves the ports of a group over to that one.
 */
#include "lab/net.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/own.h"
#include "lab/port.h"

#define SCRIPT_MAX 2048 /* a pipe takes it whole */
#define HERE "/proc/thread-self/ns/net"
#define EXIT_MISSING 127

/* ---- namespaces --------------------------------------------------------- */

static int file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int is_written =
        fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (!is_written)
        lab__fail("%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return is_written ? LAB_OK : LAB_FAILED;
}

/* A user that is not root becomes root in a user namespace of its own. */
static int user_unshare(void)
{
    char uids[40], gids[40];
    snprintf(uids, sizeof uids, "0 %u 1", (unsigned)getuid());
    snprintf(gids, sizeof gids, "0 %u 1", (unsigned)getgid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return lab__lack("net: no network namespace can be made here: %s: run "
                         "it as root, or permit user namespaces",
                         strerror(errno));
    int status = file_write("/proc/self/setgroups", "deny");
    if (status == LAB_OK) status = file_write("/proc/self/uid_map", uids);
    if (status == LAB_OK) status = file_write("/proc/self/gid_map", gids);
    return status;
}

static int space_open(void)
{
    int fd = open(HERE, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) return fd;
    return lab__fail(HERE ": cannot be opened: %s", strerror(errno));
}

/* A new namespace, in which the calling thread is from now on. */
static int space_make(void)
{
    int status = unshare(CLONE_NEWNET) == 0 ? LAB_OK : user_unshare();
    return status == LAB_OK ? space_open() : status;
}

static int space_set(int fd)
{
    if (setns(fd, CLONE_NEWNET) == 0) return LAB_OK;
    return lab__fail("net: a host cannot be entered: %s", strerror(errno));
}

int lab_net_enter(const struct lab_host *host, int *back)
{
    *back = -1;
    if (!host) return LAB_OK;
    int here = space_open();
    if (here < 0) return here;
    int status = space_set(host->fd);
    if (status == LAB_OK)
        *back = here;
    else
        close(here);
    return status;
}

int lab_net_leave(int back)
{
    if (back < 0) return LAB_OK;
    int status = space_set(back);
    close(back);
    return status;
}

/* Each host has its own ports, and its own reservations of them. */
int lab_net_port(const struct lab_host *host, int *port)
{
    int back;
    int status = lab_net_enter(host, &back);
    if (status != LAB_OK) return status;
    int fd = lab_port_reserve(port);
    status = lab_net_leave(back);
    if (fd < 0 || status == LAB_OK) return fd;
    close(fd);
    return status;
}

int lab_net_go(const struct lab_net *n, int host)
{
    if (host >= 0 && host < n->len) return space_set(n->hosts[host].fd);
    return lab__fail("net: no host %d: there are %d", host, n->len);
}

/* ---- links -------------------------------------------------------------- */

struct script {
    char text[SCRIPT_MAX];
    size_t len;
};

/* The scripts below fit: eight hosts are the most. */
__attribute__((format(printf, 2, 3))) static void say(struct script *s,
                                                      const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int len = vsnprintf(s->text + s->len, sizeof s->text - s->len, format, ap);
    va_end(ap);
    if (len > 0 && (size_t)len < sizeof s->text - s->len) s->len += (size_t)len;
}

static _Noreturn void ip_exec(int script_fd, int hub_fd)
{
    dup2(script_fd, 0);
    fcntl(hub_fd, F_SETFD, 0); /* the script names it */
    execlp("ip", "ip", "-batch", "-", (char *)NULL);
    execl("/sbin/ip", "ip", "-batch", "-", (char *)NULL);
    _exit(EXIT_MISSING);
}

/* Run ip(8) with its words on the descriptor.  Returns its exit status, or -1
 * if no process can be made. */
static int ip_run(const struct lab_net *n, int script_fd)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) ip_exec(script_fd, n->hub.fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Run the script where the calling thread is. */
static int script_run(const struct lab_net *n, const struct script *s)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lab__fail("net: no pipe: %s", strerror(errno));
    int is_written = write(ends[1], s->text, s->len) == (ssize_t)s->len;
    close(ends[1]);
    int status = is_written ? ip_run(n, ends[0]) : -1;
    close(ends[0]);
    if (status == 0) return LAB_OK;
    if (status == EXIT_MISSING)
        return lab__lack("net: ip(8) is missing: install iproute2");
    return lab__fail("net: ip(8) cannot do this: status %d:\n%s", status,
                     s->text);
}

static int hub_make(struct lab_net *n)
{
    struct script s = {.len = 0};
    int fd = space_make();
    if (fd < 0) return fd;
    n->hub.fd = fd;
    say(&s, "link add whole type bridge\n"
            "link add apart type bridge\n"
            "link set whole up\n"
            "link set apart up\n");
    return script_run(n, &s);
}

static int host_make(struct lab_net *n, int i)
{
    struct script s = {.len = 0};
    struct lab_host *h = &n->hosts[i];
    int fd = space_make();
    if (fd < 0) return fd;
    h->fd = fd;
    n->len = i + 1;
    snprintf(h->ip, sizeof h->ip, "10.9.0.%d", (i + 1) & 0xff);
    say(&s,
        "link set lo up\n"
        "link add eth0 type veth peer name port%d netns /proc/self/fd/%d\n"
        "addr add %s/24 dev eth0\n"
        "link set eth0 up\n",
        i, n->hub.fd, h->ip);
    return script_run(n, &s);
}

static int ports_plug(struct lab_net *n, unsigned apart)
{
    struct script s = {.len = 0};
    int back;
    int status = lab_net_enter(&n->hub, &back);
    if (status != LAB_OK) return status;
    for (int i = 0; i < n->len; i++)
        say(&s, "link set port%d master %s up\n", i,
            apart & LAB_NET_HOST(i) ? "apart" : "whole");
    status = script_run(n, &s);
    int left = lab_net_leave(back);
    return status == LAB_OK ? left : status;
}

int lab_net_cut(struct lab_net *n, unsigned group)
{
    return ports_plug(n, group);
}

int lab_net_heal(struct lab_net *n)
{
    return ports_plug(n, 0);
}

/* ---- life --------------------------------------------------------------- */

static void net_stop(void *arg)
{
    lab_net_stop(arg);
}

void lab_net_stop(struct lab_net *n)
{
    lab__life_end(net_stop, n);
    if (n->hub.fd <= 0) return; /* not started */
    (void)space_set(n->hub.fd); /* a thread must be somewhere */
    for (int i = 0; i < n->len; i++) close(n->hosts[i].fd);
    close(n->hub.fd);
    n->hub.fd = -1;
    n->len = 0;
}

static int net_make(struct lab_net *n, int hosts)
{
    int status = hub_make(n);
    for (int i = 0; i < hosts && status == LAB_OK; i++)
        status = host_make(n, i);
    if (status == LAB_OK) status = ports_plug(n, 0);
    return status == LAB_OK ? lab_net_go(n, 0) : status;
}

int lab_net_start(struct lab_net *n, int hosts)
{
    n->len = 0;
    n->hub.fd = -1;
    if (hosts < 1 || hosts > LAB_NET_HOSTS_MAX)
        return lab__fail("net: %d hosts: 1 to %d", hosts, LAB_NET_HOSTS_MAX);
    int status = lab__life_begin(net_stop, n);
    if (status == LAB_OK) status = net_make(n, hosts);
    if (status != LAB_OK) lab_net_stop(n);
    return status;
}
