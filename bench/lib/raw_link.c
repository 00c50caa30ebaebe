/*
 * raw_link.c: a connection with the two scripts loaded.  Anything unexpected
 * ends the program: a reference that skips errors would be too fast.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/time.h>

#include "raw_redis.h"
#include "tool.h"

const char raw_release_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then"
    " return redis.call('DEL', KEYS[1]) end return 0";
static const char renew_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then"
    " return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

static void script_load(struct raw_link *l, const char *text, char *sha)
{
    redisReply *a = redisCommand(l->redis, "SCRIPT LOAD %s", text);

    if (!a || a->type != REDIS_REPLY_STRING || a->len != SHA_LEN)
        fail("redis: SCRIPT LOAD: %s", a ? a->str : l->redis->errstr);
    memcpy(sha, a->str, SHA_LEN + 1);
    freeReplyObject(a);
}

void raw_link_open(struct raw_link *l, int port)
{
    struct timeval patience = {5, 0};

    l->redis = redisConnectWithTimeout("127.0.0.1", port, patience);
    if (!l->redis) fail("out of memory");
    if (l->redis->err) fail("redis: port %d: %s", port, l->redis->errstr);
    script_load(l, raw_release_script, l->release_sha);
    script_load(l, renew_script, l->renew_sha);
}

redisReply *raw_link_reply(struct raw_link *l)
{
    void *a = NULL;

    if (redisGetReply(l->redis, &a) != REDIS_OK || !a)
        fail("redis: %s", l->redis->errstr);
    redisReply *reply = a;
    if (reply->type == REDIS_REPLY_ERROR) fail("redis: %s", reply->str);
    return reply;
}
