/*
 * work_cluster.c: a cluster of three masters.  Lock and unlock against the
 * same on a server of its own, and the renewal of 10,000 locks that are spread
 * over all slots, all at once.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <hiredis/hiredis.h>

#include "child.h"
#include "holdfast/holdfast.h"
#include "tool.h"
#include "work.h"

#define MASTERS 3
#define OPS 4000
#define LOCKS 10000
#define RATE_MIN 0.9
#define RENEW_MS_MAX 1000
#define RENEW_COMMANDS_MAX 1.2

struct trio {
    struct server masters[MASTERS];
    struct server alone;
    char url[160], alone_url[64];
};

/* ---- the servers --------------------------------------------------------- */

static void say(struct server *s, const char *command)
{
    redisReply *a = redisCommand(s->redis, command);
    if (!a || a->type == REDIS_REPLY_ERROR)
        fail("cluster: %s: %s", command, a ? a->str : s->redis->errstr);
    freeReplyObject(a);
}

static int is_well(struct server *s)
{
    redisReply *a = redisCommand(s->redis, "CLUSTER INFO");
    int well = a && a->str && strstr(a->str, "cluster_state:ok")
               && strstr(a->str, "cluster_known_nodes:3");
    if (a) freeReplyObject(a);
    return well;
}

/* The bus has a port of its own, taken from a server that was there. */
static void master_start(struct server *s, const char *dir, int bus)
{
    char port[8], bus_port[8], log[400];
    char *argv[] = {"redis-server",
                    "--port",
                    port,
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--dir",
                    (char *)(uintptr_t)dir,
                    "--cluster-enabled",
                    "yes",
                    "--cluster-port",
                    bus_port,
                    NULL};
    snprintf(port, sizeof(port), "%d", s->port);
    snprintf(bus_port, sizeof(bus_port), "%d", bus);
    snprintf(log, sizeof(log), "%s/redis.log", dir);
    s->pid = child_daemon(argv, log);
    if (s->pid < 0) fail("cluster: redis-server cannot be started");
    for (int i = 0; i < 500; i++) {
        s->redis = redisConnect("127.0.0.1", s->port);
        if (s->redis && !s->redis->err) return;
        if (s->redis) redisFree(s->redis);
        s->redis = NULL;
        pause_ns(10 * NS_PER_MS);
    }
    fail("cluster: redis-server does not answer");
}

static int port_take(const char *dir)
{
    struct server s;
    server_start(&s, dir);
    int port = s.port;
    server_stop(&s);
    return port;
}

static void masters_meet(struct trio *t, const int *buses)
{
    char command[80];
    for (int i = 0; i < MASTERS; i++) {
        snprintf(command, sizeof(command), "CLUSTER SET-CONFIG-EPOCH %d",
                 i + 1);
        say(&t->masters[i], command);
        snprintf(command, sizeof(command), "CLUSTER ADDSLOTSRANGE %d %d",
                 16384 * i / MASTERS, 16384 * (i + 1) / MASTERS - 1);
        say(&t->masters[i], command);
        if (i == 0) continue;
        snprintf(command, sizeof(command), "CLUSTER MEET 127.0.0.1 %d %d",
                 t->masters[i].port, buses[i]);
        say(&t->masters[0], command);
    }
    for (int i = 0; i < MASTERS; i++)
        for (int tries = 0; !is_well(&t->masters[i]); tries++) {
            if (tries == 1000) fail("cluster: it does not come up");
            pause_ns(20 * NS_PER_MS);
        }
}

static void trio_start(struct trio *t, const struct bench *b)
{
    int buses[MASTERS];
    char dir[300];
    size_t at = (size_t)snprintf(t->url, sizeof(t->url), "redis-cluster://");
    for (int i = 0; i < MASTERS; i++) {
        snprintf(dir, sizeof(dir), "%s/cluster-%d", b->dir, i);
        if (mkdir(dir, 0700) != 0) fail("%s: cannot be made", dir);
        t->masters[i].port = port_take(dir);
        buses[i] = port_take(dir);
        master_start(&t->masters[i], dir, buses[i]);
        at +=
            (size_t)snprintf(t->url + at, sizeof(t->url) - at, "%s127.0.0.1:%d",
                             i ? "," : "", t->masters[i].port);
    }
    masters_meet(t, buses);
    snprintf(dir, sizeof(dir), "%s/alone", b->dir);
    if (mkdir(dir, 0700) != 0) fail("%s: cannot be made", dir);
    server_start(&t->alone, dir);
    snprintf(t->alone_url, sizeof(t->alone_url), "redis://127.0.0.1:%d",
             t->alone.port);
}

static void trio_stop(struct trio *t)
{
    for (int i = 0; i < MASTERS; i++) server_stop(&t->masters[i]);
    server_stop(&t->alone);
}

/* ---- lock and unlock ----------------------------------------------------- */

static double rate(const char *url)
{
    hf_client *client;
    hf_lock *lock;
    struct hf_error err;
    uint64_t start = 0;
    if (hf_client_open(url, NULL, &client, &err) != HF_OK
        || hf_lock_open(client, "ours", &lock, &err) != HF_OK)
        fail("cluster: %s", err.text);
    for (int i = -OPS / 10; i < OPS; i++) {
        if (i == 0) start = now_ns();
        if (hf_lock_acquire(lock, NULL, NULL, &err) != HF_OK
            || hf_lock_release(lock, NULL, &err) != HF_OK)
            fail("cluster: %s", err.text);
    }
    double took = (double)(now_ns() - start);
    hf_client_close(client);
    return OPS * 1e9 / took;
}

static void rate_rows(struct trio *t, struct bench *b, const struct work *w)
{
    double ours[ROUNDS_MAX], alone[ROUNDS_MAX], ratio[ROUNDS_MAX];
    for (int i = 0; i < b->rounds; i++) {
        alone[i] = rate(t->alone_url);
        ours[i] = rate(t->url);
        ratio[i] = ours[i] / alone[i];
    }
    struct row row = {w->name,
                      "ops/s, against one server",
                      median(ours, b->rounds),
                      median(alone, b->rounds),
                      median(ratio, b->rounds),
                      JUDGE_RATIO_MIN,
                      RATE_MIN,
                      ""};
    table_add(&b->table, row, NULL);
}

/* ---- renewals ------------------------------------------------------------ */

static struct many {
    hf_lock *locks[LOCKS];
    uint64_t holders[LOCKS];
    atomic_int answered, failed;
} many;

static void answered(hf_lock *lock, int status, const struct hf_grant *grant,
                     const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    if (status == HF_OK)
        *(uint64_t *)user = grant->holder;
    else
        atomic_fetch_add(&many.failed, 1);
    atomic_fetch_add(&many.answered, 1);
}

static void all_await(const char *what)
{
    for (int i = 0; atomic_load(&many.answered) < LOCKS; i++) {
        if (i > 60000) fail("cluster: %s: no answer", what);
        pause_ns(NS_PER_MS / 2);
    }
    if (atomic_load(&many.failed)) fail("cluster: %s failed", what);
    atomic_store(&many.answered, 0);
}

static void all_acquire(hf_client *client)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.lease_ms = 600000; /* nobody but us renews */
    for (int i = 0; i < LOCKS; i++) {
        char name[24];
        snprintf(name, sizeof(name), "many-%d", i);
        if (hf_lock_open(client, name, &many.locks[i], NULL) != HF_OK
            || hf_lock_acquire_start(many.locks[i], &o, answered,
                                     &many.holders[i], NULL)
                   != HF_OK)
            fail("cluster: acquire");
    }
    all_await("acquire");
}

static double all_renew(void)
{
    uint64_t start = now_ns();
    for (int i = 0; i < LOCKS; i++)
        if (hf_lock_extend_start(many.locks[i], many.holders[i], 600000,
                                 answered, &many.holders[i], NULL)
            != HF_OK)
            fail("cluster: renew");
    all_await("renew");
    return (double)(now_ns() - start) / 1e6;
}

static void renew_rows(struct trio *t, struct bench *b, const struct work *w)
{
    double took[ROUNDS_MAX], commands = 0;
    hf_client *client;
    struct hf_error err;
    memset(&many, 0, sizeof(many));
    if (hf_client_open(t->url, NULL, &client, &err) != HF_OK)
        fail("cluster: %s", err.text);
    all_acquire(client);
    for (int i = 0; i < MASTERS; i++) server_count_begin(&t->masters[i]);
    for (int i = 0; i < b->rounds; i++) took[i] = all_renew();
    for (int i = 0; i < MASTERS; i++)
        commands += server_count_end(&t->masters[i], "asking cluster");
    hf_client_close(client);
    struct row time = {w->name,
                       "ms, 10,000 locks renewed",
                       median(took, b->rounds),
                       NAN,
                       NAN,
                       JUDGE_OURS_MAX,
                       RENEW_MS_MAX,
                       ""};
    struct row sent = {
        w->name, "commands/lock renewed", commands / b->rounds / LOCKS, NAN,
        NAN,     JUDGE_OURS_MAX,          RENEW_COMMANDS_MAX,           ""};
    table_add(&b->table, time, NULL);
    table_add(&b->table, sent, NULL);
}

void work_cluster(struct bench *b, const struct work *w)
{
    static struct trio t;
    memset(&t, 0, sizeof(t));
    trio_start(&t, b);
    rate_rows(&t, b, w);
    renew_rows(&t, b, w);
    trio_stop(&t);
}
