/*
 * raw_lock.c: one blocking connection per thread.
 *
 *   raw        SET NX PX, then a script that deletes only our own value
 *   raw-blpop  a token in a list: the server wakes exactly the next in line.
 *              Without a lease it is no safe lock, but the limit of any
 *   flock      flock(2), one open file per thread
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* flock() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "raw_redis.h"
#include "tool.h"

struct raw {
    struct raw_link link;
    char name[64];
    size_t name_len;
    char value[48];
    size_t value_len;
    char lease[16];
    size_t lease_len;
    uint64_t turn;
    int fd; /* flock only; -1 before the first name */
};

static struct raw *raw_new(struct worker *w)
{
    struct raw *r = allocate(1, sizeof(*r));

    r->fd = -1;
    r->lease_len = (size_t)snprintf(r->lease, sizeof(r->lease), "%" PRId64,
                                    w->options->lease_ms);
    w->impl = r;
    return r;
}

static void redis_open(struct worker *w)
{
    raw_link_open(&raw_new(w)->link, options_port(w->options));
}

static void redis_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;

    r->name_len = (size_t)snprintf(r->name, sizeof(r->name), "%s", name);
}

static redisReply *ask(struct raw *r, int argc, const char **argv,
                       const size_t *lens)
{
    redisReply *a = redisCommandArgv(r->link.redis, argc, argv, lens);

    if (!a) fail("redis: %s: %s", argv[0], r->link.redis->errstr);
    if (a->type == REDIS_REPLY_ERROR) fail("redis: %s: %s", argv[0], a->str);
    return a;
}

static void set_lock(struct worker *w)
{
    struct raw *r = w->impl;

    r->value_len =
        (size_t)snprintf(r->value, sizeof(r->value), "%d:%d:%" PRIu64,
                         w->options->proc, w->id, r->turn++);
    const char *argv[] = {"SET", r->name, r->value, "NX", "PX", r->lease};
    size_t lens[] = {3, r->name_len, r->value_len, 2, 2, r->lease_len};
    for (;;) {
        redisReply *a = ask(r, 6, argv, lens);
        int taken = a->type != REDIS_REPLY_STATUS;
        freeReplyObject(a);
        if (!taken) return;
        pause_ns(NS_PER_MS);
    }
}

static void set_unlock(struct worker *w)
{
    struct raw *r = w->impl;
    const char *argv[] = {"EVALSHA", r->link.release_sha, "1", r->name,
                          r->value};
    size_t lens[] = {7, SHA_LEN, 1, r->name_len, r->value_len};
    redisReply *a = ask(r, 5, argv, lens);

    if (a->integer != 1) w->fails++;
    freeReplyObject(a);
}

static void blpop_lock(struct worker *w)
{
    struct raw *r = w->impl;
    const char *argv[] = {"BLPOP", r->name, "0"};
    size_t lens[] = {5, r->name_len, 1};

    freeReplyObject(ask(r, 3, argv, lens));
}

static void blpop_unlock(struct worker *w)
{
    struct raw *r = w->impl;
    const char *argv[] = {"LPUSH", r->name, "1"};
    size_t lens[] = {5, r->name_len, 1};

    freeReplyObject(ask(r, 3, argv, lens));
}

/* The tokens, mostly one; of a name that several processes share, the first
 * makes them. */
static void blpop_seed(struct worker *w, const char *name)
{
    struct raw *r = w->impl;
    const char *argv[] = {"DEL", name};
    size_t lens[] = {3, strlen(name)};

    if (strcmp(name, "bench-shared") == 0 && w->options->proc != 0) return;
    freeReplyObject(ask(r, 2, argv, lens));
    for (int i = 0; i < w->options->permits; i++) blpop_unlock(w);
}

/* A name of its own needs its token as well. */
static void blpop_name_set(struct worker *w, const char *name)
{
    redis_name_set(w, name);
    if (strcmp(w->options->mode, "contend") != 0) blpop_seed(w, name);
}

static void flock_open(struct worker *w)
{
    raw_new(w);
}

static void flock_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;
    char path[4096];

    if (r->fd >= 0) close(r->fd);
    snprintf(path, sizeof(path), "%s/%s", w->options->dir, name);
    r->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (r->fd < 0) fail("%s: %s", path, strerror(errno));
}

static void flock_lock(struct worker *w)
{
    struct raw *r = w->impl;

    while (flock(r->fd, LOCK_EX) != 0)
        if (errno != EINTR) fail("flock: %s", strerror(errno));
}

static void flock_unlock(struct worker *w)
{
    struct raw *r = w->impl;

    if (flock(r->fd, LOCK_UN) != 0) w->fails++;
}

const struct lock_peer raw_peer = {
    .name = "raw",
    .open = redis_open,
    .name_set = redis_name_set,
    .lock = set_lock,
    .unlock = set_unlock,
};

const struct lock_peer raw_blpop_peer = {
    .name = "raw-blpop",
    .open = redis_open,
    .name_set = blpop_name_set,
    .seed = blpop_seed,
    .lock = blpop_lock,
    .unlock = blpop_unlock,
};

const struct lock_peer raw_flock_peer = {
    .name = "flock",
    .open = flock_open,
    .name_set = flock_name_set,
    .lock = flock_lock,
    .unlock = flock_unlock,
};
