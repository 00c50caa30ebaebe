/*
 * raw_batch.c: one connection, many commands per flush: what pipelining gives
 * at best.  All replies of a batch are read before the next one is written.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "raw_redis.h"
#include "tool.h"

#define PIPE_DEPTH 64
#define RENEW_BATCH 500 /* so that the server can serve others between */

struct pipe {
    struct raw_link link;
    struct worker *worker;
    char names[PIPE_DEPTH][32];
    char value[48];
    char lease[16];
    uint64_t turn;
};

static void pipe_take(struct pipe *p)
{
    snprintf(p->value, sizeof(p->value), "%d:%" PRIu64,
             p->worker->options->proc, p->turn++);
    for (int i = 0; i < PIPE_DEPTH; i++) {
        const char *argv[] = {"SET", p->names[i], p->value,
                              "NX",  "PX",        p->lease};
        redisAppendCommandArgv(p->link.redis, 6, argv, NULL);
    }
    for (int i = 0; i < PIPE_DEPTH; i++) {
        redisReply *a = raw_link_reply(&p->link);
        if (a->type != REDIS_REPLY_STATUS) p->worker->fails++;
        freeReplyObject(a);
    }
}

static void pipe_give(struct pipe *p)
{
    for (int i = 0; i < PIPE_DEPTH; i++) {
        const char *argv[] = {"EVALSHA", p->link.release_sha, "1", p->names[i],
                              p->value};
        redisAppendCommandArgv(p->link.redis, 5, argv, NULL);
    }
    for (int i = 0; i < PIPE_DEPTH; i++) {
        redisReply *a = raw_link_reply(&p->link);
        if (a->integer != 1) p->worker->fails++;
        freeReplyObject(a);
    }
}

static uint64_t pipe_loop(struct pipe *p, double secs)
{
    uint64_t start = now_ns();
    uint64_t deadline = start + (uint64_t)(secs * (double)NS_PER_S);

    for (;;) {
        uint64_t begin = now_ns();
        if (begin >= deadline) return start;
        pipe_take(p);
        pipe_give(p);
        uint64_t end = now_ns();
        for (int i = 0; i < PIPE_DEPTH; i++)
            worker_count(p->worker, end - begin, end);
    }
}

void raw_pipe_run(const struct options *o)
{
    struct pipe *p = allocate(1, sizeof(*p));

    p->worker = allocate(1, sizeof(*p->worker));
    p->worker->options = o;
    raw_link_open(&p->link, options_port(o));
    snprintf(p->lease, sizeof(p->lease), "%" PRId64, o->lease_ms);
    for (int i = 0; i < PIPE_DEPTH; i++)
        snprintf(p->names[i], sizeof(p->names[i]), "bench-%d-%d", o->proc, i);
    pipe_loop(p, o->warm);
    worker_clear(p->worker);
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns();
    uint64_t start = pipe_loop(p, o->secs);
    cpu_ns = cpu_self_ns() - cpu_ns;
    runner_report(p->worker, 1, p->worker->end_ns - start, cpu_ns);
    redisFree(p->link.redis);
    free(p->worker);
    free(p);
}

static void hold_take(struct raw_link *l, const struct options *o)
{
    for (int first = 0; first < o->count; first += RENEW_BATCH) {
        int end =
            first + RENEW_BATCH < o->count ? first + RENEW_BATCH : o->count;
        for (int i = first; i < end; i++)
            redisAppendCommand(l->redis, "SET hold-%d value-%d NX PX %lld", i,
                               i, (long long)o->lease_ms);
        for (int i = first; i < end; i++) {
            redisReply *a = raw_link_reply(l);
            if (a->type != REDIS_REPLY_STATUS) fail("hold-%d is taken", i);
            freeReplyObject(a);
        }
    }
}

/* One renewal of all; how many were lost. */
static int64_t hold_renew(struct raw_link *l, const struct options *o)
{
    int64_t lost = 0;

    for (int first = 0; first < o->count; first += RENEW_BATCH) {
        int end =
            first + RENEW_BATCH < o->count ? first + RENEW_BATCH : o->count;
        for (int i = first; i < end; i++)
            redisAppendCommand(l->redis, "EVALSHA %s 1 hold-%d value-%d %lld",
                               l->renew_sha, i, i, (long long)o->lease_ms);
        for (int i = first; i < end; i++) {
            redisReply *a = raw_link_reply(l);
            lost += a->integer != 1;
            freeReplyObject(a);
        }
    }
    return lost;
}

void raw_hold_run(const struct options *o)
{
    struct raw_link link;
    int64_t base_kb, lost = 0;
    uint64_t renewals = 0, every = (uint64_t)o->lease_ms * NS_PER_MS / 3;

    raw_link_open(&link, options_port(o));
    base_kb = rss_self_kb();
    uint64_t next = now_ns() + every;
    hold_take(&link, o);
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns(), start = now_ns(), now = start;
    uint64_t end = start + (uint64_t)(o->secs * (double)NS_PER_S);
    while (now < end) {
        if (now >= next) {
            lost += hold_renew(&link, o);
            renewals += (uint64_t)o->count;
            next += every;
        }
        now = now_ns();
        uint64_t until = next < end ? next : end;
        if (now < until) pause_ns(until - now);
        now = now_ns();
    }
    cpu_ns = cpu_self_ns() - cpu_ns;
    runner_report_hold(renewals, now - start, cpu_ns, lost, base_kb);
    redisFree(link.redis);
}
