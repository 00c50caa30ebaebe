/*
 * etcd.c: see etcd.h.  One rule: a server is there when the process that was
 * started lives, and says on its port that it has a leader.
 */
#include "lab/etcd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/folder.h"
#include "lab/own.h"
#include "lab/port.h"
#include "lab/wait.h"

#define ARGS_MAX 60
#define LOOK_MS 10
#define EXIT_MISSING 127

/* ---- life --------------------------------------------------------------- */

static void server_reap(struct lab_etcd *p, int signal)
{
    if (p->pid <= 0) return;
    kill(p->pid, SIGCONT);
    kill(p->pid, signal);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) continue;
    p->pid = 0;
}

static void server_stop(void *arg)
{
    lab_etcd_stop(arg);
}

void lab_etcd_stop(struct lab_etcd *p)
{
    lab__life_end(server_stop, p);
    server_reap(p, SIGKILL);
    lab_folder_remove(p->dir);
    if (p->port_fd > 0) close(p->port_fd);
    p->port_fd = 0;
}

static void output_to(const char *dir)
{
    char path[160];
    snprintf(path, sizeof path, "%s/log", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0) return;
    dup2(fd, 1);
    dup2(fd, 2);
    if (fd > 2) close(fd);
}

static _Noreturn void server_exec(const struct lab_etcd *p)
{
    char data[160], client[64], peer[64], any[64];
    int is_tls = p->args && p->args[0] && strstr(p->args[0], "--cert-file");
    snprintf(data, sizeof data, "%s/data", p->dir);
    snprintf(client, sizeof client, "%s://127.0.0.1:%d",
             is_tls ? "https" : "http", p->port);
    snprintf(any, sizeof any, "%s", client);
    snprintf(peer, sizeof peer, "http://127.0.0.1:%d", p->port + 1);
    const char *argv[ARGS_MAX] = {"etcd",
                                  "--name",
                                  p->name,
                                  "--data-dir",
                                  data,
                                  "--listen-client-urls",
                                  client,
                                  "--advertise-client-urls",
                                  any,
                                  "--listen-peer-urls",
                                  peer,
                                  "--initial-advertise-peer-urls",
                                  peer,
                                  "--initial-cluster",
                                  p->cluster,
                                  "--unsafe-no-fsync",
                                  "--heartbeat-interval",
                                  "50",
                                  "--election-timeout",
                                  "500"};
    int n = 0;
    while (argv[n]) n++;
    for (int i = 0; p->args && p->args[i] && n < ARGS_MAX - 1; i++)
        argv[n++] = p->args[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    output_to(p->dir);
    execvp(argv[0], (char *const *)argv);
    _exit(EXIT_MISSING);
}

static int fail_by_log(const struct lab_etcd *p, const char *what)
{
    char path[160], text[400] = "";
    snprintf(path, sizeof path, "%s/log", p->dir);
    FILE *in = fopen(path, "re");
    if (in && fseek(in, -(long)sizeof text + 1, SEEK_END) != 0) rewind(in);
    size_t len = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[len] = '\0';
    if (in) fclose(in);
    return lab__fail("etcd on port %d: %s: its log ends with\n%s", p->port,
                     what, text);
}

/* What it answers to "GET path"; "" if it does not. */
static void http_get(const struct lab_etcd *p, const char *path, char *out,
                     size_t size)
{
    char words[128];
    size_t len = 0;
    ssize_t n;
    out[0] = '\0';
    int fd = lab_ask_connect(NULL, p->port);
    if (fd < 0) return;
    int size_out = snprintf(words, sizeof words,
                            "GET %s HTTP/1.0\r\nHost: lab\r\n\r\n", path);
    if (write(fd, words, (size_t)size_out) == size_out)
        while (len + 1 < size && lab_until_readable(fd, 3000)
               && (n = read(fd, out + len, size - 1 - len)) > 0)
            len += (size_t)n;
    out[len] = '\0';
    close(fd);
}

static int is_healthy(const struct lab_etcd *p)
{
    char said[2048];
    if (strstr(p->url, "etcds://")) {
        int fd = lab_ask_connect(NULL, p->port);
        if (fd >= 0) close(fd);
        return fd >= 0;
    }
    http_get(p, "/health", said, sizeof said);
    return strstr(said, "\"true\"") != NULL;
}

static int server_await(struct lab_etcd *p)
{
    int64_t end_ms = lab_now_ms() + LAB_PATIENCE_MS;
    while (!is_healthy(p)) {
        int status = 0;
        if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
            p->pid = 0;
            if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MISSING)
                return lab__lack("etcd: is not installed: no such program in "
                                 "PATH");
            return fail_by_log(p, "has ended");
        }
        if (lab_now_ms() > end_ms) return fail_by_log(p, "is not healthy");
        lab_pause_ms(LOOK_MS);
    }
    return LAB_OK;
}

static int server_fork(struct lab_etcd *p)
{
    if (p->pid > 0)
        return lab__fail("%s: cannot be started: it runs already", p->url);
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0) server_exec(p);
    if (p->pid > 0) return LAB_OK;
    p->pid = 0;
    return lab__fail("etcd: cannot be forked: %s", strerror(errno));
}

int lab_etcd_restart(struct lab_etcd *p)
{
    int status = server_fork(p);
    return status == LAB_OK ? server_await(p) : status;
}

static int server_prepare(struct lab_etcd *p, const char *const *args, int i)
{
    p->pid = 0;
    p->port_fd = 0;
    p->args = args;
    int is_tls = args && args[0] && strstr(args[0], "--cert-file");
    snprintf(p->name, sizeof p->name, "n%d", i);
    int status = lab_folder_make(p->dir, sizeof p->dir, "etcd");
    if (status == LAB_OK) status = lab__life_begin(server_stop, p);
    if (status != LAB_OK) return status;
    p->port_fd = lab_port_reserve(&p->port);
    if (p->port_fd < 0) {
        p->port_fd = 0;
        return LAB_FAILED;
    }
    snprintf(p->url, sizeof p->url, "etcd%s://127.0.0.1:%d/", is_tls ? "s" : "",
             p->port);
    snprintf(p->cluster, sizeof p->cluster, "%s=http://127.0.0.1:%d", p->name,
             p->port + 1);
    return LAB_OK;
}

int lab_etcd_start(struct lab_etcd *p, const char *const *args)
{
    int status = server_prepare(p, args, 0);
    if (status == LAB_OK) status = lab_etcd_restart(p);
    if (status != LAB_OK) lab_etcd_stop(p);
    return status;
}

/* ---- three of them ------------------------------------------------------ */

void lab_etcds_stop(struct lab_etcd cluster[LAB_ETCDS])
{
    for (int i = 0; i < LAB_ETCDS; i++) lab_etcd_stop(&cluster[i]);
}

int lab_etcds_start(struct lab_etcd cluster[LAB_ETCDS], const char *const *args)
{
    char all[sizeof cluster[0].cluster];
    int status = LAB_OK, len = 0;
    for (int i = 0; i < LAB_ETCDS; i++) {
        cluster[i] = (struct lab_etcd){.pid = 0};
        if (status == LAB_OK) status = server_prepare(&cluster[i], args, i);
        len += snprintf(all + len, sizeof all - (size_t)len, "%s%.80s",
                        i ? "," : "", cluster[i].cluster);
    }
    for (int i = 0; i < LAB_ETCDS && status == LAB_OK; i++) {
        memcpy(cluster[i].cluster, all, sizeof all);
        status = server_fork(&cluster[i]);
    }
    for (int i = 0; i < LAB_ETCDS && status == LAB_OK; i++)
        status = server_await(&cluster[i]);
    if (status != LAB_OK) lab_etcds_stop(cluster);
    return status;
}

static const char *metrics_get(const struct lab_etcd *p)
{
    static char said[262144];
    said[0] = '\0';
    if (p->pid > 0) http_get(p, "/metrics", said, sizeof said);
    return said;
}

long lab_etcd_metric(struct lab_etcd *p, const char *name)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "\n%.70s ", name);
    const char *at = strstr(metrics_get(p), wanted);
    return at ? strtol(at + strlen(wanted), NULL, 10) : -1;
}

double lab_etcd_sum(struct lab_etcd *p, const char *name)
{
    char wanted[80];
    double sum = 0;
    snprintf(wanted, sizeof wanted, "\n%.70s{", name);
    const char *at = metrics_get(p);
    while ((at = strstr(at, wanted)) && (at = strstr(at, "} ")))
        sum += strtod(at + 2, NULL);
    return sum;
}

int lab_etcds_leader(struct lab_etcd cluster[LAB_ETCDS])
{
    for (int i = 0; i < LAB_ETCDS; i++)
        if (lab_etcd_metric(&cluster[i], "etcd_server_is_leader") == 1)
            return i;
    return -1;
}

/* ---- faults ------------------------------------------------------------- */

int lab_etcd_kill(struct lab_etcd *p)
{
    if (p->pid <= 0) return lab__fail("%s: does not run", p->url);
    server_reap(p, SIGKILL);
    return LAB_OK;
}

static int server_signal(const struct lab_etcd *p, int number)
{
    if (p->pid <= 0) return lab__fail("%s: does not run", p->url);
    kill(p->pid, number);
    return LAB_OK;
}

/* Every thread of it. */
static int is_stopped(void *arg)
{
    const struct lab_etcd *p = arg;
    char path[64], name[340], line[256];
    int stopped = 1;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)p->pid);
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (d->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s/stat", path, d->d_name);
        FILE *in = fopen(name, "re");
        const char *state =
            in && fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
        stopped &= state && state[2] == 'T';
        if (in) fclose(in);
    }
    if (dir) closedir(dir);
    return dir && stopped;
}

int lab_etcd_pause(struct lab_etcd *p)
{
    int status = server_signal(p, SIGSTOP);
    if (status != LAB_OK || lab_until(is_stopped, p)) return status;
    return lab__fail("%s: does not stop", p->url);
}

int lab_etcd_resume(struct lab_etcd *p)
{
    return server_signal(p, SIGCONT);
}

/* ---- asking ------------------------------------------------------------- */

const char *lab_etcd_say(struct lab_etcd *p, const char *format, ...)
{
    char words[2048], line[2300];
    va_list ap;
    va_start(ap, format);
    vsnprintf(words, sizeof words, format, ap);
    va_end(ap);
    snprintf(line, sizeof line,
             "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:%d %s 2>&1", p->port,
             words);
    FILE *in = popen(line, "re");
    size_t len = in ? fread(p->reply, 1, sizeof p->reply - 1, in) : 0;
    p->reply[len] = '\0';
    if (in) pclose(in);
    return p->reply;
}
