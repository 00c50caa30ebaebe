/*
 * five_raw.c: the reference of W5.  It writes to all, reads until three have
 * answered, and leaves the stragglers' answers for later: no library can wait
 * for less.
 */
#define _POSIX_C_SOURCE 200809L
#include "five_raw.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

#define QUORUM 3
#define ANSWER_MS 5000
#define RELEASE                                                                \
    "if redis.call('get',KEYS[1])==ARGV[1] then "                              \
    "return redis.call('del',KEYS[1]) else return 0 end"

void five_raw_open(struct five_raw *r, const struct five *f)
{
    memset(r, 0, sizeof(*r));
    for (int i = 0; i < FIVE; i++) {
        r->links[i] = redisConnect("127.0.0.1", f->servers[i].port);
        if (!r->links[i] || r->links[i]->err) fail("five: no connection");
        redisReply *sha = redisCommand(r->links[i], "SCRIPT LOAD %s", RELEASE);
        if (!sha || sha->type != REDIS_REPLY_STRING) fail("five: no script");
        snprintf(r->release, sizeof(r->release), "EVALSHA %s 1 raw %%s",
                 sha->str);
        freeReplyObject(sha);
    }
}

void five_raw_close(struct five_raw *r)
{
    for (int i = 0; i < FIVE; i++) redisFree(r->links[i]);
}

/* What has come on link `i`; 1 if the newest answer was among it. */
static int link_read(struct five_raw *r, int i)
{
    void *reply = NULL;

    if (redisBufferRead(r->links[i]) != REDIS_OK) fail("five: read");
    while (redisGetReplyFromReader(r->links[i], &reply) == REDIS_OK && reply) {
        freeReplyObject(reply);
        reply = NULL;
        r->owed[i]--;
    }
    return r->owed[i] == 0;
}

static void quorum_read(struct five_raw *r)
{
    struct pollfd fds[FIVE];
    int answered = 0;

    for (int i = 0; i < FIVE; i++) {
        fds[i].fd = r->links[i]->fd;
        fds[i].events = POLLIN;
    }
    while (answered < QUORUM) {
        if (poll(fds, FIVE, ANSWER_MS) <= 0) fail("five: no answer");
        for (int i = 0; i < FIVE; i++)
            if (fds[i].revents & POLLIN && link_read(r, i)) {
                answered++;
                fds[i].fd = -1;
            }
    }
}

static void all_ask(struct five_raw *r, const char *command, const char *token)
{
    for (int i = 0; i < FIVE; i++) {
        int done = 0;
        redisAppendCommand(r->links[i], command, token);
        r->owed[i]++;
        while (!done)
            if (redisBufferWrite(r->links[i], &done) != REDIS_OK)
                fail("five: write");
    }
    quorum_read(r);
}

void five_raw_once(struct five_raw *r)
{
    char token[32];

    snprintf(token, sizeof(token), "%d", r->turn++);
    all_ask(r, "SET raw %s NX PX 10000", token);
    all_ask(r, r->release, token);
}
