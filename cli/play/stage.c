/*
 * play/stage.c: see play/stage.h.  The clients are forked first, before there
 * is any thread; then the servers are started, and the clients told of them.
 */
#include "play/stage.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/exit.h"
#include "lab/lab.h"
#include "lab/wait.h"
#include "play/threads.h"

#define LOOK_MS 4
/* Such an answer only a broken machine needs. */
#define ANSWER_MS LAB_PATIENCE_MS

struct stage stage;

void stage_fail(struct play *p, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(p->failure, sizeof(p->failure), format, ap);
    va_end(ap);
    exit(code);
}

int64_t stage_ms(int64_t ms)
{
    return ms * 100 / stage.play->speed;
}

/* ---- events ----------------------------------------------------------- */

static void event_keep(const struct event *e)
{
    live_event(stage.play, record_event(&stage.play->record, e));
}

void stage_event(enum event_kind kind, int lane, int other, const char *text)
{
    struct event e = {record_now_us(), 0, 0, (int)kind, lane, other, ""};
    snprintf(e.text, sizeof(e.text), "%s", text);
    event_keep(&e);
}

/* "kind at until fence text" of a client. */
static void event_hear(struct actor *a, const char *words)
{
    struct event e = {.lane = a->lane, .other = NO_LANE};
    long long at_us, until_us;
    unsigned long long fence;
    int used = 0;
    if (sscanf(words, "%d %lld %lld %llu %n", &e.kind, &at_us, &until_us,
               &fence, &used)
        < 4)
        return;
    e.at_us = at_us;
    e.until_us = until_us;
    e.fence = fence;
    if (e.kind == EVENT_ACCEPTED || e.kind == EVENT_REFUSED) {
        e.other = a->lane;
        e.lane = stage.resource_lane;
    }
    snprintf(e.text, sizeof(e.text), "%s", used ? words + used : "");
    if (e.kind == EVENT_BELIEVES || e.kind == EVENT_ENDS)
        a->believes = e.kind == EVENT_BELIEVES;
    event_keep(&e);
}

static void line_hear(struct actor *a)
{
    char line[LAB_PROC_LINE_MAX];
    if (!lab_proc_hear(&a->proc, line, ANSWER_MS)) {
        if (a->proc.pid > 0)
            stage_fail(stage.play, EXIT_BUG, "client %c has ended unasked",
                       'A' + a->role.number);
        return;
    }
    if (line[0] == 'E') event_hear(a, line + 2);
    if (line[0] == 'S') snprintf(a->said, sizeof(a->said), "%s", line + 2);
    if (line[0] != 'D') return;
    a->answer = (int)strtol(line + 2, NULL, 10);
    a->is_busy = 0;
}

/* Hear what clients say within this time, at most until one has spoken. */
static void clients_hear(int64_t ms)
{
    struct pollfd fds[CAST_MAX];
    int len = stage.play->scene->clients;
    for (int i = 0; i < len; i++) {
        int fd = stage.actors[i].proc.from_fd;
        fds[i] = (struct pollfd){fd > 0 ? fd : -1, POLLIN, 0};
    }
    if (poll(fds, (nfds_t)len, (int)ms) <= 0) return;
    for (int i = 0; i < len; i++)
        if (fds[i].revents) line_hear(&stage.actors[i]);
}

void stage_turn(int64_t ms)
{
    int64_t end_us = record_now_us() + ms * 1000, left_ms;
    do {
        left_ms = (end_us - record_now_us() + 999) / 1000;
        stage_look();
        clients_hear(left_ms < 0 ? 0 : left_ms < LOOK_MS ? left_ms : LOOK_MS);
    } while (record_now_us() < end_us);
}

void stage_tell(int client, const char *format, ...)
{
    char line[LAB_PROC_LINE_MAX];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof(line), format, ap);
    va_end(ap);
    stage.actors[client].is_busy = 1;
    lab_proc_say(&stage.actors[client].proc, "%s", line);
}

int stage_answer(int client)
{
    int64_t end_us = record_now_us() + ANSWER_MS * INT64_C(1000);
    while (stage.actors[client].is_busy) {
        if (record_now_us() > end_us)
            stage_fail(stage.play, EXIT_BUG, "client %c does not answer",
                       'A' + client);
        stage_turn(1);
    }
    return stage.actors[client].answer;
}

/* ---- the beginning ----------------------------------------------------- */

static void package_need(int status, const char *package)
{
    if (status == LAB_ABSENT)
        stage_fail(stage.play, EXIT_UNREACHABLE, "%s: install the package %s",
                   lab_error(), package);
    if (status < 0) stage_fail(stage.play, EXIT_BUG, "%s", lab_error());
}

static void lab_need(int status)
{
    package_need(status, "redis-server");
}

static void threads_enter(lab_proc_fn fn)
{
    struct actor *a = &stage.actors[0], *b = &stage.actors[1];
    lab_need(threads_start(&a->proc, &a->role, &b->proc, &b->role, fn));
}

static void clients_enter(struct play *p)
{
    char name[40];
    int has_threads = p->scene->has_threads;
    lab_proc_fn fn = play_is_naive(p) ? client_naive : client_holdfast;
    for (int i = 0; i < p->scene->clients; i++) {
        struct actor *a = &stage.actors[i];
        snprintf(name, sizeof(name), "%s %c", has_threads ? "thread" : "client",
                 'A' + i);
        a->lane = record_lane(&p->record, LANE_CLIENT, name);
        a->role = (struct role){p, i, stage_ms(p->scene->lease_ms)};
        if (!has_threads) lab_need(lab_proc_start(&a->proc, fn, &a->role));
    }
    if (has_threads) threads_enter(fn);
}

static void store_start(struct play *p, int i)
{
    static const char *const durable[] = {"--appendonly", "yes",
                                          "--appendfsync", "always", NULL};
    static const char *const pair[] = {"Redis, the primary", "its replica"};
    struct stock *s = &stage.stores[i];
    char name[40];
    int is_quorum = stage.stores_len > 1 && !p->scene->is_pair;
    s->look_fd = -1;
    s->owner = NO_LANE;
    if (p->scene->is_pair)
        snprintf(name, sizeof(name), "%s", pair[i != 0]);
    else if (is_quorum)
        snprintf(name, sizeof(name), "Redis %d", i + 1);
    else
        snprintf(name, sizeof(name), "the lock, on %s",
                 p->scene->is_etcd ? "etcd" : "Redis");
    s->lane = record_lane(&p->record, LANE_STORE, name);
    const char *const *args = is_quorum ? durable : p->scene->store_args;
    if (play_is_naive(p) && p->scene->naive_args) args = p->scene->naive_args;
    if (p->scene->has_clocks) lab_need(stage_clock(s));
    if (p->scene->is_etcd)
        package_need(lab_etcd_start(&s->etcd, NULL), "etcd-server");
    else
        lab_need(lab_server_start(&s->redis, args));
}

/* Servers are forked before the threads of proxies are there. */
static void pair_start(void)
{
    struct stock *s = stage.stores;
    lab_need(lab_proxy_start(&stage.front, s[0].redis.port));
    lab_need(lab_proxy_start(&stage.behind, s[0].redis.port));
    lab_need(lab_server_follow(&s[1].redis, "127.0.0.1", stage.behind.port));
}

static void resource_need(enum resource on, int status)
{
    const char *name = resource_name(on);
    if (status == LAB_ABSENT)
        stage_fail(stage.play, EXIT_UNREACHABLE,
                   "%s: this part cannot be played: install the package %s",
                   name, on == IN_SQLITE ? "sqlite3" : "postgresql");
    /* Of root's processes, a database is the one that becomes another user. */
    if (status < 0)
        stage_fail(stage.play, EXIT_BUG, "%s: cannot be made%s: %s", name,
                   on == IN_POSTGRES && geteuid() == 0
                       ? " (can the user postgres enter $TMPDIR?)"
                       : "",
                   lab_error());
}

static void resource_start(struct play *p)
{
    enum resource on = p->scene->resource;
    stage.resource_lane =
        record_lane(&p->record, LANE_RESOURCE, resource_name(on));
    if (on == ON_REDIS)
        lab_need(lab_server_start(&stage.resource, NULL));
    else
        resource_need(on, resource_make(on, stage.where));
}

static void stores_start(struct play *p)
{
    int is_fewer = play_is_naive(p) && p->scene->naive_stores;
    stage.stores_len = is_fewer ? p->scene->naive_stores : p->scene->stores;
    for (int i = 0; i < stage.stores_len; i++) store_start(p, i);
    if (p->scene->has_resource) resource_start(p);
    if (p->scene->is_pair) pair_start();
    if (p->scene->is_far)
        lab_need(lab_proxy_start(&stage.front, stage.stores[0].redis.port));
}

/* The record begins when all are on stage. */
void stage_run(struct play *p)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    watch_leave();
    stage.play = p;
    p->record.began_us = record_now_us();
    clients_enter(p);
    stores_start(p);
    for (int i = 0; i < p->scene->clients; i++) stage_connect(p, i);
    p->record.began_us = record_now_us();
    p->record.events_len = 0;
    stage_turn(stage_ms(60));
    p->scene->acts(p);
    stage_turn(stage_ms(150));
    p->record.ended_us = record_now_us() - p->record.began_us;
    exit(EXIT_OK);
}
