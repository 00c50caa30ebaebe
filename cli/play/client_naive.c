/*
 * play/client_naive.c: a client as found in many programs: it takes a few Redis
 * commands for a lock.  With several servers it asks all of them and counts.
 * It believes to hold the lock until an answer says otherwise.
 */
#include "play/client.h"

#include "lab/ask.h"
#include "lab/wait.h"
#include "play/etcd.h"
#include "play/job.h"
#include "play/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK_AGAIN_MS 5
#define LOOK_MS 3

struct naive_client {
    struct lab_proc *self;
    const struct role *role;
    struct job job;
    struct line {
        int port, fd; /* -1: not connected */
    } stores[STORES_MAX], resource;
    int stores_len;
    char where[WHERE_MAX]; /* of a resource that is not on Redis */
    uint64_t token;        /* of the last grant, if the scene has any */
    char reply[LAB_PROC_LINE_MAX];
};

/* `command` with $me, $lease and $token replaced. */
static void command_fill(const struct naive_client *c, const char *command,
                         char *out, size_t size)
{
    size_t len = 0;
    for (; *command && len + 24 < size; command++) {
        if (strncmp(command, "$me", 3) == 0) {
            out[len++] = (char)('A' + c->role->number);
            command += 2;
        } else if (strncmp(command, "$lease", 6) == 0) {
            len += (size_t)snprintf(out + len, size - len, "%lld",
                                    (long long)c->role->lease_ms);
            command += 5;
        } else if (strncmp(command, "$token", 6) == 0) {
            len += (size_t)snprintf(out + len, size - len, "%llu",
                                    (unsigned long long)c->token);
            command += 5;
        } else {
            out[len++] = *command;
        }
    }
    out[len] = 0;
}

static const char *etcd_ask(const struct naive_client *c, int port,
                            const char *command)
{
    char me = (char)('A' + c->role->number);
    int is_done = strcmp(command, "lock") == 0
                      ? etcd_lock(port, me, c->role->lease_ms)
                      : etcd_unlock(port);
    return is_done ? "1" : "0";
}

/* The answer of one server.  A broken connection is opened again once. */
static const char *store_ask(struct naive_client *c, struct line *to,
                             const char *command)
{
    char words[LAB_PROC_LINE_MAX];
    if (c->role->play->scene->is_etcd && to != &c->resource)
        return etcd_ask(c, to->port, command);
    command_fill(c, command, words, sizeof(words));
    for (int tries = 0; tries < 2; tries++) {
        if (to->fd < 0) to->fd = lab_ask_connect(NULL, to->port);
        if (to->fd < 0) return "(no connection)";
        lab_ask_say(to->fd, words, c->reply, sizeof(c->reply));
        if (!strstr(c->reply, "(no answer)")) break;
        close(to->fd);
        to->fd = -1;
    }
    return c->reply;
}

/* The number of servers that answer OK or 1. */
static int stores_agree(struct naive_client *c, const char *command)
{
    int agree = 0;
    for (int i = 0; i < c->stores_len; i++) {
        const char *said = store_ask(c, &c->stores[i], command);
        agree += strcmp(said, "OK") == 0 || strcmp(said, "1") == 0;
    }
    return agree;
}

static void granted(struct naive_client *c)
{
    const char *ask = c->role->play->scene->naive_token;
    c->token = 0;
    if (ask) c->token = strtoull(store_ask(c, &c->stores[0], ask), NULL, 10);
    client_event(c->self, EVENT_BELIEVES, record_now_us(), UNTIL_TOLD, c->token,
                 "");
    client_done(c->self, 1);
}

static void acquire(struct naive_client *c, int64_t wait_ms)
{
    const struct scene *scene = c->role->play->scene;
    const struct naive *habit = &scene->naive;
    int needs = scene->naive_needs ? scene->naive_needs : c->stores_len / 2 + 1;
    int64_t end_us = record_now_us() + wait_ms * 1000;
    for (;;) {
        int agree = stores_agree(c, habit->acquire);
        if (agree >= needs) {
            granted(c);
            return;
        }
        if (agree > 0 && c->stores_len > 1) stores_agree(c, habit->release);
        if (record_now_us() >= end_us) break;
        lab_pause_ms(ASK_AGAIN_MS);
    }
    client_event(c->self, EVENT_TAKEN, record_now_us(), 0, 0, "");
    client_done(c->self, 0);
}

static void release(struct naive_client *c)
{
    int64_t at_us = record_now_us();
    int agree = stores_agree(c, c->role->play->scene->naive.release);
    client_event(c->self, EVENT_ENDS, at_us, 0, 0, "released");
    client_done(c->self, 2 * agree > c->stores_len);
}

static int resource_take(struct naive_client *c)
{
    const struct scene *scene = c->role->play->scene;
    if (scene->resource != ON_REDIS)
        return resource_set(scene->resource, c->where,
                            (char)('A' + c->role->number))
               == WRITE_TAKEN;
    const char *said = store_ask(
        c, &c->resource,
        scene->naive_write ? scene->naive_write : "SET " RESOURCE_NAME " $me");
    return strcmp(said, "OK") == 0 || strcmp(said, "1") == 0;
}

static void resource_write(struct naive_client *c)
{
    int is_ok = resource_take(c);
    client_event(c->self, is_ok ? EVENT_ACCEPTED : EVENT_REFUSED,
                 record_now_us(), 0, c->token, "");
    client_done(c->self, is_ok);
}

/* A child has all that its parent has, and may use none of its lines. */
static int child_end(void *arg)
{
    struct naive_client *c = arg;
    for (int i = 0; i < c->stores_len; i++) c->stores[i].fd = -1;
    return stores_agree(c, c->role->play->scene->naive.release) > 0;
}

/* A supervisor: it runs the job under the lock, and renews it meanwhile. */
static void supervise(void *arg)
{
    struct naive_client *c = arg;
    const struct naive *habit = &c->role->play->scene->naive;
    for (int i = 0; i < c->stores_len; i++) c->stores[i].fd = -1;
    while (!stores_agree(c, habit->acquire)) lab_pause_ms(ASK_AGAIN_MS);
    pid_t job = fork();
    if (job == 0) {
        execvp(job_argv[0], (char **)job_argv);
        _exit(127);
    }
    while (waitpid(job, NULL, WNOHANG) == 0) {
        lab_pause_ms(c->role->lease_ms / 3);
        stores_agree(c, "PEXPIRE lock $lease");
    }
    stores_agree(c, habit->release);
}

static void line_obey(struct naive_client *c, char *line)
{
    char *words = strchr(line, ' ');
    words = words ? words + 1 : line + strlen(line);
    if (strncmp(line, "store ", 6) == 0) {
        c->stores[c->stores_len++] =
            (struct line){(int)strtol(words, NULL, 10), -1};
        client_done(c->self, 1);
    } else if (strncmp(line, "resource ", 9) == 0) {
        c->resource = (struct line){(int)strtol(words, NULL, 10), -1};
        snprintf(c->where, sizeof(c->where), "%s", words);
        client_done(c->self, 1);
    } else if (strncmp(line, "acquire ", 8) == 0) {
        acquire(c, strtoll(words, NULL, 10));
    } else if (strncmp(line, "say ", 4) == 0) {
        lab_proc_say(c->self, "S %s", store_ask(c, &c->stores[0], words));
        client_done(c->self, 1);
    } else if (strcmp(line, "fork") == 0) {
        client_fork(c->self, child_end, c);
    } else if (strcmp(line, "run") == 0) {
        job_begin(&c->job, c->self, supervise, c);
    } else if (strcmp(line, "bereave") == 0) {
        job_bereave(&c->job, c->self);
    } else if (strcmp(line, "release") == 0) {
        release(c);
    } else if (strcmp(line, "write") == 0) {
        resource_write(c);
    } else {
        client_done(c->self, 1); /* "check": it does not ask itself */
    }
}

int client_naive(struct lab_proc *self, const void *arg)
{
    static _Thread_local struct naive_client c;
    char line[LAB_PROC_LINE_MAX];
    c.self = self;
    c.role = arg;
    for (;;) {
        if (lab_until_readable(self->from_fd, LOOK_MS)) {
            if (!lab_proc_hear(self, line, LAB_PATIENCE_MS)) break;
            line_obey(&c, line);
        }
        job_look(&c.job, self);
    }
    return 0;
}
