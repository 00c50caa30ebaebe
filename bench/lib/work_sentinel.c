/*
 * work_sentinel.c: a primary behind three Sentinels (W8): what the way through
 * them costs, and how soon work goes on after kill -9 of the primary.
 *
 * The reference is holdfast itself on the same primary without them, in turn;
 * for the second, the moment in which one of the replicas takes writes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <hiredis/hiredis.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "child.h"
#include "tool.h"
#include "urls.h"

#define SERVERS 3
#define RATE_MIN 0.9
#define RESUME_MS_MAX 1000
#define PATIENCE_NS (30 * NS_PER_S)

struct group {
    struct server servers[SERVERS]; /* the first is the primary */
    pid_t sentinels[SERVERS];
    int ports[SERVERS]; /* of the Sentinels */
    char url[200], direct[64];
};

/* ---- starting ------------------------------------------------------------ */

static void dir_make(char *out, size_t size, const struct bench *b,
                     const char *what, int i)
{
    snprintf(out, size, "%s/%s-%d", b->dir, what, i);
    if (mkdir(out, 0700) != 0) fail("%s: cannot be made", out);
}

/* One that answers only if all went well. */
static int says(int port, const char *command, const char *wanted)
{
    struct timeval patience = {5, 0};
    redisContext *link = redisConnectWithTimeout("127.0.0.1", port, patience);
    redisReply *a = link && !link->err ? redisCommand(link, command) : NULL;
    int found = a && a->str && strstr(a->str, wanted);
    for (size_t i = 0; a && i + 1 < a->elements; i++)
        if (a->element[i]->str && !strcmp(a->element[i]->str, wanted)
            && a->element[i + 1]->str && !strcmp(a->element[i + 1]->str, "2"))
            found = 1;
    if (a) freeReplyObject(a);
    if (link) redisFree(link);
    return found;
}

static void until_says(int port, const char *command, const char *wanted)
{
    uint64_t end = now_ns() + PATIENCE_NS;
    while (!says(port, command, wanted)) {
        if (now_ns() > end || child_interrupted())
            fail("sentinel: no \"%s\" in %s", wanted, command);
        pause_ns(20 * NS_PER_MS);
    }
}

static void servers_start(struct group *g, const struct bench *b)
{
    char dir[300], command[64];
    for (int i = 0; i < SERVERS; i++) {
        dir_make(dir, sizeof(dir), b, "replica", i);
        server_start(&g->servers[i], dir);
        snprintf(command, sizeof(command), "REPLICAOF 127.0.0.1 %d",
                 g->servers[0].port);
        if (i > 0) until_says(g->servers[i].port, command, "OK");
    }
    until_says(g->servers[0].port, "INFO replication", "slave1:");
    for (int i = 1; i < SERVERS; i++)
        until_says(g->servers[i].port, "INFO replication",
                   "master_link_status:up");
}

static void sentinel_start(struct group *g, const struct bench *b, int i)
{
    char dir[300], conf[320];
    struct lab_launch l = {.dir = dir, .is_sentinel = 1};
    l.port = g->ports[i] = port_free();
    dir_make(dir, sizeof(dir), b, "sentinel", i);
    snprintf(conf, sizeof(conf), "%s/conf", dir);
    FILE *out = fopen(conf, "we");
    if (!out) fail("%s: cannot be written", conf);
    fprintf(out,
            "port %d\nbind 127.0.0.1\ndir %s\nlogfile redis-%d.log\n"
            "sentinel monitor bench 127.0.0.1 %d 2\n"
            "sentinel down-after-milliseconds bench 500\n"
            "sentinel failover-timeout bench 3000\n",
            g->ports[i], dir, g->ports[i], g->servers[0].port);
    if (fclose(out) != 0) fail("%s: cannot be written", conf);
    g->sentinels[i] = server_launch(&l);
}

static void group_start(struct group *g, const struct bench *b)
{
    servers_start(g, b);
    for (int i = 0; i < SERVERS; i++) sentinel_start(g, b, i);
    for (int i = 0; i < SERVERS; i++) {
        until_says(g->ports[i], "SENTINEL MASTER bench", "num-slaves");
        until_says(g->ports[i], "SENTINEL MASTER bench", "num-other-sentinels");
    }
    snprintf(g->url, sizeof(g->url),
             "redis-sentinel://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/bench",
             g->ports[0], g->ports[1], g->ports[2]);
    snprintf(g->direct, sizeof(g->direct), "redis://127.0.0.1:%d",
             g->servers[0].port);
}

static void group_stop(struct group *g)
{
    for (int i = 0; i < SERVERS; i++) {
        child_end(g->sentinels[i], SIGTERM);
        server_stop(&g->servers[i]);
    }
}

/* ---- kill -9 ------------------------------------------------------------- */

struct worker {
    const char *url;
    atomic_int stop;
    atomic_ullong granted_ns; /* the last time; an acquire that began before */
    atomic_ullong killed_ns;  /* this is not counted */
    atomic_ullong resumed_ns;
};

static void *worker_run(void *arg)
{
    struct worker *k = arg;
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    hf_client *client;
    hf_lock *lock;
    url_open(k->url, &client, &lock);
    o.wait_ms = 500;
    while (!atomic_load(&k->stop)) {
        uint64_t began = now_ns();
        if (hf_lock_acquire(lock, &o, NULL, NULL) != HF_OK) continue;
        uint64_t killed = atomic_load(&k->killed_ns);
        if (killed && began > killed && !atomic_load(&k->resumed_ns))
            atomic_store(&k->resumed_ns, now_ns());
        (void)hf_lock_release(lock, NULL, NULL);
        atomic_store(&k->granted_ns, now_ns());
        pause_ns(NS_PER_MS);
    }
    hf_client_close(client);
    return NULL;
}

/* When one of the replicas first takes a write. */
static uint64_t writable_ns(struct group *g)
{
    uint64_t end = now_ns() + PATIENCE_NS;
    while (now_ns() < end && !child_interrupted()) {
        for (int i = 1; i < SERVERS; i++)
            if (says(g->servers[i].port, "SET probe x", "OK")) return now_ns();
        pause_ns(5 * NS_PER_MS);
    }
    fail("sentinel: no replica was promoted");
}

static void resume_row(struct bench *b, const struct work *w, struct group *g)
{
    static struct worker k;
    pthread_t thread;
    k.url = g->url;
    if (pthread_create(&thread, NULL, worker_run, &k) != 0)
        fail("sentinel: no thread");
    while (!atomic_load(&k.granted_ns)) pause_ns(NS_PER_MS);
    uint64_t killed = now_ns();
    child_end(g->servers[0].pid, SIGKILL);
    g->servers[0].pid = 0;
    atomic_store(&k.killed_ns, now_ns());
    uint64_t writable = writable_ns(g), end = now_ns() + PATIENCE_NS;
    while (!atomic_load(&k.resumed_ns) && now_ns() < end) pause_ns(NS_PER_MS);
    atomic_store(&k.stop, 1);
    pthread_join(thread, NULL);
    uint64_t resumed = atomic_load(&k.resumed_ns);
    if (!resumed) fail("sentinel: work does not go on");
    char note[NOTE_MAX];
    snprintf(note, sizeof(note), "writable %.0f ms after the kill",
             (double)(writable - killed) / (double)NS_PER_MS);
    double took_ms = ((double)resumed - (double)writable) / (double)NS_PER_MS;
    struct row row = {w->name,       "ms to go on after kill -9",
                      took_ms,       NAN,
                      NAN,           JUDGE_OURS_MAX,
                      RESUME_MS_MAX, ""};
    table_add(&b->table, row, note);
}

void work_w8_sentinel(struct bench *b, const struct work *w)
{
    static struct group g;
    memset(&g, 0, sizeof(g));
    group_start(&g, b);
    urls_compare(b, w, g.url, g.direct, RATE_MIN);
    resume_row(b, w, &g);
    group_stop(&g);
}
