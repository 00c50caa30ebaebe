/*
 * work_guard.c: what a guarded write costs on Redis, next to plain C that sends
 * the shortest script which does the same.  One rule: it is one command.
 */
#define _POSIX_C_SOURCE 200809L
#include <hiredis/hiredis.h>
#include <math.h>
#include <stdio.h>

#include "holdfast/guard.h"
#include "holdfast/holdfast.h"
#include "tool.h"
#include "work.h"

#define OPS 4000
#define SCRIPT                                                                 \
    "if tonumber(redis.call('get',KEYS[2]) or 0)>tonumber(ARGV[1]) then "      \
    "return 0 end redis.call('set',KEYS[2],ARGV[1]) "                          \
    "redis.call('set',KEYS[1],ARGV[2]) return 1"

static double took_us[OPS];

static hf_client *client_open(const struct bench *b)
{
    struct hf_error err;
    hf_client *client;
    char url[64];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", b->server.port);
    if (hf_client_open(url, NULL, &client, &err) != HF_OK) fail("%s", err.text);
    return client;
}

static void guard_once(hf_client *client, uint64_t token)
{
    struct hf_error err;

    if (hf_guard_set(client, "bench-guard", token, "value", 5, 0, &err)
        != HF_OK)
        fail("%s", err.text);
}

static double ours_p50(const struct bench *b)
{
    static uint64_t token;
    hf_client *client = client_open(b);

    for (int i = -OPS / 10; i < OPS; i++) {
        uint64_t start = now_ns();
        guard_once(client, ++token);
        if (i >= 0) took_us[i] = (double)(now_ns() - start) / 1e3;
    }
    hf_client_close(client);
    return median(took_us, OPS);
}

static double raw_p50(const struct bench *b)
{
    static unsigned token;
    redisContext *link = redisConnect("127.0.0.1", b->server.port);

    if (!link || link->err) fail("guard: no connection");
    redisReply *sha = redisCommand(link, "SCRIPT LOAD %s", SCRIPT);
    if (!sha || sha->type != REDIS_REPLY_STRING) fail("guard: no script");
    for (int i = 0; i < OPS; i++) {
        uint64_t start = now_ns();
        redisReply *a =
            redisCommand(link, "EVALSHA %s 2 bench-raw bench-raw-guard %u %s",
                         sha->str, ++token, "value");
        if (!a || a->type != REDIS_REPLY_INTEGER || a->integer != 1)
            fail("guard: no answer");
        freeReplyObject(a);
        took_us[i] = (double)(now_ns() - start) / 1e3;
    }
    freeReplyObject(sha);
    redisFree(link);
    return median(took_us, OPS);
}

static double commands_per_write(struct bench *b)
{
    hf_client *client = client_open(b);

    guard_once(client, INT64_MAX / 2);
    server_count_begin(&b->server);
    for (int i = 1; i <= OPS; i++)
        guard_once(client, (uint64_t)(INT64_MAX / 2 + i));
    double sum = server_count_end(&b->server, "");
    hf_client_close(client);
    return sum / OPS;
}

void work_guard(struct bench *b, const struct work *w)
{
    double ours[ROUNDS_MAX], raw[ROUNDS_MAX], ratio[ROUNDS_MAX];

    for (int i = 0; i < b->rounds; i++) {
        raw[i] = raw_p50(b);
        ours[i] = ours_p50(b);
        ratio[i] = ours[i] / raw[i];
    }
    struct row time = {w->name,
                       "p50 us, a guarded write",
                       median(ours, b->rounds),
                       median(raw, b->rounds),
                       median(ratio, b->rounds),
                       JUDGE_NOTHING,
                       0,
                       ""};
    table_add(&b->table, time, NULL);
    struct row commands = {w->name,
                           "commands/write",
                           commands_per_write(b),
                           NAN,
                           NAN,
                           JUDGE_OURS_IS,
                           1,
                           ""};
    table_add(&b->table, commands, NULL);
}
