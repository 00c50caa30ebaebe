/*
 * server.c: see server.h.  One rule: a server is ready when launch.h says so,
 * not when some time has passed.
 */
#include "lab/server.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/folder.h"
#include "lab/launch.h"
#include "lab/own.h"
#include "lab/wait.h"

#define LINE_MAX_LEN 8192

/* ---- life --------------------------------------------------------------- */

static void server_reap(struct lab_server *s)
{
    if (s->pid <= 0) return;
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR) continue;
    s->pid = 0;
}

static void server_kill(struct lab_server *s)
{
    if (s->pid > 0) kill(s->pid, SIGKILL); /* works on a stopped one too */
    server_reap(s);
}

static void server_stop(void *arg)
{
    lab_server_stop(arg);
}

void lab_server_stop(struct lab_server *s)
{
    lab__life_end(server_stop, s);
    server_kill(s);
    lab_folder_remove(s->dir);
    if (s->port_fd > 0) close(s->port_fd);
    s->port_fd = 0;
}

/* Reserve a port on its host. */
static int port_find(struct lab_server *s)
{
    int fd = lab_net_port(s->at, &s->port);
    if (fd < 0) return fd;
    s->port_fd = fd;
    return LAB_OK;
}

int lab_server_prepare(struct lab_server *s, const char *const *args)
{
    s->pid = 0;
    s->args = args;
    s->is_sentinel = 0;
    s->port_fd = 0;
    s->ip = s->at ? s->at->ip : "127.0.0.1";
    int status = lab_folder_make(s->dir, sizeof s->dir, "redis");
    if (status == LAB_OK) status = lab__life_begin(server_stop, s);
    if (status == LAB_OK) status = port_find(s);
    if (status != LAB_OK) lab_server_stop(s);
    snprintf(s->url, sizeof s->url, "redis://%s:%d", s->ip, s->port);
    return status;
}

/* Fork and wait, where the calling thread is. */
static int server_launch(struct lab_server *s, int loading)
{
    struct lab_launch l = {.program = s->program,
                           .ip = s->ip,
                           .port = s->port,
                           .dir = s->dir,
                           .args = s->args,
                           .env = s->env,
                           .is_sentinel = s->is_sentinel};
    fflush(NULL);
    s->pid = fork();
    if (s->pid == 0) lab_launch_exec(&l);
    if (s->pid > 0) return lab_launch_await(&l, s->pid, loading);
    s->pid = 0;
    return lab__fail("redis-server: cannot be forked: %s", strerror(errno));
}

static int server_run(struct lab_server *s, int loading)
{
    int back;
    /* One that has ended by itself is reaped here. */
    if (s->pid > 0 && waitpid(s->pid, NULL, WNOHANG) == s->pid) s->pid = 0;
    if (s->pid > 0)
        return lab__fail("%s: cannot be started: it runs already", s->url);
    int status = lab_net_enter(s->at, &back);
    if (status != LAB_OK) return status;
    status = server_launch(s, loading);
    int left = lab_net_leave(back);
    if (status != LAB_OK) server_kill(s);
    return status == LAB_OK ? left : status;
}

int lab_server_restart(struct lab_server *s)
{
    return server_run(s, 0);
}

int lab_server_restart_loading(struct lab_server *s)
{
    return server_run(s, 1);
}

int lab_server_start(struct lab_server *s, const char *const *args)
{
    int status = lab_server_prepare(s, args);
    if (status != LAB_OK) return status;
    status = lab_server_restart(s);
    if (status != LAB_OK) lab_server_stop(s);
    return status;
}

static int conf_write(const struct lab_server *s, const char *conf)
{
    char path[160];
    snprintf(path, sizeof path, "%s/conf", s->dir);
    FILE *out = fopen(path, "we");
    if (!out) return lab__fail("%s: %s", path, strerror(errno));
    fprintf(out,
            "port %d\nbind %s\nprotected-mode no\ndir %s\n"
            "logfile redis-%d.log\n%s\n",
            s->port, s->ip, s->dir, s->port, conf);
    if (fclose(out) == 0) return LAB_OK;
    return lab__fail("%s: %s", path, strerror(errno));
}

int lab_server_start_sentinel(struct lab_server *s, const char *conf)
{
    int status = lab_server_prepare(s, NULL);
    if (status != LAB_OK) return status;
    s->is_sentinel = 1;
    status = conf_write(s, conf);
    if (status == LAB_OK) status = lab_server_restart(s);
    if (status != LAB_OK) lab_server_stop(s);
    return status;
}

/* ---- faults ------------------------------------------------------------- */

static int is_running(const struct lab_server *s)
{
    if (s->pid > 0) return LAB_OK;
    return lab__fail("%s: does not run: it was stopped or never started",
                     s->url);
}

int lab_server_shutdown(struct lab_server *s, int with_data)
{
    char dump[160];
    if (is_running(s) != LAB_OK) return LAB_FAILED;
    if (with_data)
        lab_server_say(s, "SHUTDOWN SAVE");
    else
        kill(s->pid, SIGKILL);
    server_reap(s);
    snprintf(dump, sizeof dump, "%s/dump.rdb", s->dir);
    if (!with_data) remove(dump); /* of an earlier shutdown */
    return LAB_OK;
}

int lab_server_pause(struct lab_server *s)
{
    if (is_running(s) != LAB_OK) return LAB_FAILED;
    kill(s->pid, SIGSTOP);
    return LAB_OK;
}

int lab_server_resume(struct lab_server *s)
{
    if (is_running(s) != LAB_OK) return LAB_FAILED;
    kill(s->pid, SIGCONT);
    return LAB_OK;
}

int lab_server_forget(struct lab_server *s)
{
    static const char *const names[] = {"dump.rdb", "appendonlydir",
                                        "appendonly.aof" /* before 7.0 */};
    char path[160];
    if (s->pid > 0)
        return lab__fail("%s: its data cannot be deleted: it runs", s->url);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", s->dir, names[i]);
        lab_folder_clear(path);
    }
    return LAB_OK;
}

/* ---- asking ------------------------------------------------------------- */

const char *lab_server_ask(struct lab_server *s, const char *line)
{
    int back;
    if (lab_net_enter(s->at, &back) != LAB_OK) return "(no connection)";
    int fd = lab_ask_connect(s->ip, s->port);
    lab_net_leave(back);
    if (fd < 0) return "(no connection)";
    lab_ask_say(fd, line, s->reply, sizeof s->reply);
    close(fd);
    return s->reply;
}

const char *lab_server_say(struct lab_server *s, const char *format, ...)
{
    char line[LINE_MAX_LEN];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    return lab_server_ask(s, line);
}

int lab_server_do(struct lab_server *s, const char *format, ...)
{
    char line[LINE_MAX_LEN];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    const char *reply = lab_server_ask(s, line);
    if (reply[0] != '-' && reply[0] != '(') return LAB_OK;
    return lab__fail("%s: %.200s: %.200s", s->url, line, reply);
}

int lab_server_info(struct lab_server *s, const char *field, int64_t *out)
{
    const char *at = lab_server_ask(s, "INFO everything");
    size_t len = strlen(field);
    while ((at = strstr(at, field)) != NULL) {
        if (at[len] == ':' && (at == s->reply || at[-1] == '\n')) {
            *out = strtoll(at + len + 1, NULL, 10);
            return LAB_OK;
        }
        at++;
    }
    return lab__fail("%s: INFO has no %s", s->url, field);
}

static int is_following(void *arg)
{
    return strstr(lab_server_say(arg, "INFO replication"),
                  "master_link_status:up")
           != NULL;
}

int lab_server_follow(struct lab_server *s, const char *ip, int port)
{
    int status = lab_server_do(s, "REPLICAOF %s %d", ip, port);
    if (status != LAB_OK) return status;
    if (lab_until(is_following, s)) return LAB_OK;
    return lab__fail("%s: does not follow %s:%d: its link is not up", s->url,
                     ip, port);
}
