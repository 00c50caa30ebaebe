/*
 * work_quorum.c: a lock over five servers (W5): all of them well, one stopped,
 * two killed.
 *
 * The reference writes to all, reads until three have answered, and leaves the
 * stragglers' answers for later: no library can wait for less.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <hiredis/hiredis.h>

#include "holdfast/holdfast.h"
#include "tool.h"
#include "work.h"

#define SERVERS 5
#define QUORUM 3
#define OPS 2000
#define RAW_MAX 1.35 /* p50 against the reference */
#define SICK_MAX 1.2 /* against our own with all five */
#define RELEASE                                                                \
    "if redis.call('get',KEYS[1])==ARGV[1] then "                              \
    "return redis.call('del',KEYS[1]) else return 0 end"

struct five {
    struct server servers[SERVERS];
    redisContext *links[SERVERS];
    int owed[SERVERS]; /* replies that have not come */
    char url[256];
    char release[80]; /* a command; the token goes into it */
    double took_us[OPS];
};

static void script_load(struct five *f, redisContext *link)
{
    redisReply *sha = redisCommand(link, "SCRIPT LOAD %s", RELEASE);
    if (!sha || sha->type != REDIS_REPLY_STRING) fail("five: no script");
    snprintf(f->release, sizeof(f->release), "EVALSHA %s 1 raw %%s", sha->str);
    freeReplyObject(sha);
}

static void five_start(struct five *f, const struct bench *b)
{
    size_t at = (size_t)snprintf(f->url, sizeof(f->url), "redlock://");
    for (int i = 0; i < SERVERS; i++) {
        char dir[300];
        snprintf(dir, sizeof(dir), "%s/five-%d", b->dir, i);
        if (mkdir(dir, 0700) != 0) fail("%s: cannot be made", dir);
        server_start(&f->servers[i], dir);
        at +=
            (size_t)snprintf(f->url + at, sizeof(f->url) - at, "%s127.0.0.1:%d",
                             i ? "," : "", f->servers[i].port);
        f->links[i] = redisConnect("127.0.0.1", f->servers[i].port);
        if (!f->links[i] || f->links[i]->err) fail("five: no connection");
        script_load(f, f->links[i]);
    }
    struct hf_quorum_node nodes[SERVERS];
    struct hf_error err;
    int len;
    if (hf_quorum_init(f->url, NULL, nodes, SERVERS, &len, &err) != HF_OK)
        fail("five: %s", err.text);
}

static void five_stop(struct five *f)
{
    for (int i = 0; i < SERVERS; i++) {
        redisFree(f->links[i]);
        server_stop(&f->servers[i]);
    }
}

/* ---- the reference ------------------------------------------------------- */

/* What has come on link `i`; 1 if the newest answer was among it. */
static int link_read(struct five *f, int i)
{
    void *reply = NULL;
    if (redisBufferRead(f->links[i]) != REDIS_OK) fail("five: read");
    while (redisGetReplyFromReader(f->links[i], &reply) == REDIS_OK && reply) {
        freeReplyObject(reply);
        reply = NULL;
        f->owed[i]--;
    }
    return f->owed[i] == 0;
}

static void quorum_read(struct five *f)
{
    struct pollfd fds[SERVERS];
    int answered = 0;
    for (int i = 0; i < SERVERS; i++) {
        fds[i].fd = f->links[i]->fd;
        fds[i].events = POLLIN;
    }
    while (answered < QUORUM) {
        if (poll(fds, SERVERS, 5000) <= 0) fail("five: no answer");
        for (int i = 0; i < SERVERS; i++)
            if (fds[i].revents & POLLIN && link_read(f, i)) {
                answered++;
                fds[i].fd = -1;
            }
    }
}

static void all_write(struct five *f, const char *command, const char *token)
{
    for (int i = 0; i < SERVERS; i++) {
        int done = 0;
        redisAppendCommand(f->links[i], command, token);
        f->owed[i]++;
        while (!done)
            if (redisBufferWrite(f->links[i], &done) != REDIS_OK)
                fail("five: write");
    }
    quorum_read(f);
}

static double raw_p50(struct five *f)
{
    for (int i = 0; i < OPS; i++) {
        char token[32];
        uint64_t start = now_ns();
        snprintf(token, sizeof(token), "%d", i);
        all_write(f, "SET raw %s NX PX 10000", token);
        all_write(f, f->release, token);
        f->took_us[i] = (double)(now_ns() - start) / 1e3;
    }
    return median(f->took_us, OPS);
}

/* ---- ours ---------------------------------------------------------------- */

static double ours_p50(struct five *f)
{
    hf_client *client;
    hf_lock *lock;
    struct hf_error err;
    if (hf_client_open(f->url, NULL, &client, &err) != HF_OK
        || hf_lock_open(client, "ours", &lock, &err) != HF_OK)
        fail("five: %s", err.text);
    for (int i = -OPS / 10; i < OPS; i++) {
        uint64_t start = now_ns();
        if (hf_lock_acquire(lock, NULL, NULL, &err) != HF_OK
            || hf_lock_release(lock, NULL, &err) != HF_OK)
            fail("five: %s", err.text);
        if (i >= 0) f->took_us[i] = (double)(now_ns() - start) / 1e3;
    }
    hf_client_close(client);
    return median(f->took_us, OPS);
}

static double commands_per_op(struct five *f)
{
    double sum = 0;
    for (int i = 0; i < SERVERS; i++) server_count_begin(&f->servers[i]);
    (void)ours_p50(f);
    for (int i = 0; i < SERVERS; i++)
        sum += server_count_end(&f->servers[i], "");
    return sum / (OPS + OPS / 10);
}

static void row_add(struct bench *b, const struct work *w, const char *what,
                    double ours, double reference, enum judge judge,
                    double bound)
{
    struct row row = {w->name,          what,  ours,  reference,
                      ours / reference, judge, bound, ""};
    table_add(&b->table, row, NULL);
}

void work_w5(struct bench *b, const struct work *w)
{
    static struct five f;
    double ours[ROUNDS_MAX], raw[ROUNDS_MAX];
    memset(&f, 0, sizeof(f));
    five_start(&f, b);
    for (int i = 0; i < b->rounds; i++) {
        raw[i] = raw_p50(&f);
        ours[i] = ours_p50(&f);
    }
    double well = median(ours, b->rounds);
    row_add(b, w, "p50 us", well, median(raw, b->rounds), JUDGE_RATIO_MAX,
            RAW_MAX);
    /* And what a connect costs, over all of them. */
    row_add(b, w, "commands/op", commands_per_op(&f), 10, JUDGE_RATIO_MAX,
            1.05);
    kill(f.servers[4].pid, SIGSTOP);
    row_add(b, w, "p50 us, one stopped", ours_p50(&f), well, JUDGE_RATIO_MAX,
            SICK_MAX);
    kill(f.servers[4].pid, SIGCONT);
    server_stop(&f.servers[3]);
    server_stop(&f.servers[4]);
    row_add(b, w, "p50 us, two killed", ours_p50(&f), well, JUDGE_RATIO_MAX,
            SICK_MAX);
    five_stop(&f);
}
