/*
 * work_cluster.c: a cluster of three masters.  Lock and unlock against the
 * same on a server of its own, and the renewal of 10,000 locks that are spread
 * over all slots, all at once.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <hiredis/hiredis.h>

#include "tool.h"
#include "urls.h"

#define MASTERS 3
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

static void masters_meet(struct trio *t)
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
                 t->masters[i].port, t->masters[i].bus_port);
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
    char dir[300];
    size_t at = (size_t)snprintf(t->url, sizeof(t->url), "redis-cluster://");
    for (int i = 0; i < MASTERS; i++) {
        snprintf(dir, sizeof(dir), "%s/cluster-%d", b->dir, i);
        if (mkdir(dir, 0700) != 0) fail("%s: cannot be made", dir);
        server_start_node(&t->masters[i], dir);
        at +=
            (size_t)snprintf(t->url + at, sizeof(t->url) - at, "%s127.0.0.1:%d",
                             i ? "," : "", t->masters[i].port);
    }
    masters_meet(t);
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

/* ---- renewals ------------------------------------------------------------ */

static struct many {
    hf_lock *locks[LOCKS];
    hf_hold *holds[LOCKS];
    atomic_int answered, failed;
} many;

static void answered(int status)
{
    if (status != HF_OK) atomic_fetch_add(&many.failed, 1);
    atomic_fetch_add(&many.answered, 1);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    *(hf_hold **)user = hold;
    answered(status);
}

static void on_renewed(hf_hold *hold, int status, const struct hf_error *err,
                       void *user)
{
    (void)hold;
    (void)err;
    (void)user;
    answered(status);
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
    o.lease_ms = 600000; /* only the call that is measured renews */
    for (int i = 0; i < LOCKS; i++) {
        char name[24];
        snprintf(name, sizeof(name), "many-%d", i);
        if (hf_lock_open(client, name, &many.locks[i], NULL) != HF_OK
            || hf_lock_acquire_start(many.locks[i], &o, on_acquired,
                                     &many.holds[i], NULL)
                   != HF_OK)
            fail("cluster: acquire");
    }
    all_await("acquire");
}

static double all_renew(void)
{
    uint64_t start = now_ns();
    for (int i = 0; i < LOCKS; i++)
        if (hf_hold_extend_start(many.holds[i], 600000, on_renewed, NULL, NULL)
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
    urls_compare(b, w, t.url, t.alone_url, RATE_MIN);
    renew_rows(&t, b, w);
    trio_stop(&t);
}
