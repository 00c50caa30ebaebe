/*
 * raw_zookeeper.c: the reference on ZooKeeper, as a runner: one blocking socket
 * per thread, and two round trips for a lock that is free.
 *
 *   node  an ephemeral sequential node and the list of them in one write, then
 *         its deletion.  A waiter watches the node before its own
 *
 * url= is the port of a server on 127.0.0.1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/zookeeper/jute.h"
#include "lab/ask.h"
#include "lab/lab.h"
#include "lib/runner.h"
#include "lib/tool.h"

#define SESSION_MS 60000
#define IN_MAX 65536
#define DIGITS 10 /* of a sequence number */

enum { CREATE = 1, DELETE = 2, GET_DATA = 4, GET_CHILDREN = 8, CREATE2 = 15 };
enum { EVENT_XID = -1, NO_NODE = -101, NODE_EXISTS = -110 };
enum { PERSISTENT = 0, EPHEMERAL_SEQUENTIAL = 3 };

struct raw {
    int fd;
    int32_t xid;
    int events; /* watches that fired */
    struct jute_out out;
    char in[IN_MAX];
    size_t in_len, in_done;
    char parent[80];
    char own[112]; /* the path of the node that we have */
    char before[112];
};

/* ---- the line ---- */

static void flush(struct raw *r)
{
    size_t done = 0;

    while (done < r->out.len) {
        ssize_t n =
            send(r->fd, r->out.data + done, r->out.len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) fail("send: %s", strerror(errno));
        if (n > 0) done += (size_t)n;
    }
    r->out.len = 0;
}

static void more_read(struct raw *r)
{
    if (r->in_done > 0) {
        memmove(r->in, r->in + r->in_done, r->in_len - r->in_done);
        r->in_len -= r->in_done;
        r->in_done = 0;
    }
    ssize_t n = recv(r->fd, r->in + r->in_len, IN_MAX - r->in_len, 0);
    if (n == 0) fail("the server closed the connection");
    if (n < 0 && errno != EINTR) fail("recv: %s", strerror(errno));
    if (n > 0) r->in_len += (size_t)n;
}

/* The next frame, good until the next call. */
static struct jute_in frame_read(struct raw *r)
{
    ptrdiff_t len;

    while (
        (len = hf__zookeeper_frame(r->in + r->in_done, r->in_len - r->in_done))
        == 0)
        more_read(r);
    if (len < 0) fail("a frame without sense");
    const char *at = r->in + r->in_done + 4;
    r->in_done += (size_t)len;
    return (struct jute_in){(const unsigned char *)at, (size_t)len - 4, 0};
}

/* The answer to what was sent first; its error, 0 or below. */
static int32_t answer_read(struct raw *r, struct jute_in *in)
{
    for (;;) {
        *in = frame_read(r);
        int32_t xid = hf__zookeeper_in_int(in);
        (void)hf__zookeeper_in_long(in);
        int32_t err = hf__zookeeper_in_int(in);
        if (xid != EVENT_XID) return err;
        r->events++;
    }
}

static void begin(struct raw *r, int32_t operation, const char *path)
{
    hf__zookeeper_out_begin(&r->out);
    hf__zookeeper_out_int(&r->out, ++r->xid);
    hf__zookeeper_out_int(&r->out, operation);
    hf__zookeeper_out_text(&r->out, path);
}

static void end(struct raw *r)
{
    if (hf__zookeeper_out_end(&r->out) != 0) fail("out of memory");
}

static void create_put(struct raw *r, int32_t operation, const char *path,
                       int32_t flags)
{
    begin(r, operation, path);
    hf__zookeeper_out_bytes(&r->out, "", 0);
    hf__zookeeper_out_int(&r->out, 1); /* all may do everything */
    hf__zookeeper_out_int(&r->out, 31);
    hf__zookeeper_out_text(&r->out, "world");
    hf__zookeeper_out_text(&r->out, "anyone");
    hf__zookeeper_out_int(&r->out, flags);
    end(r);
}

static void watched_put(struct raw *r, int32_t operation, const char *path,
                        int is_watched)
{
    begin(r, operation, path);
    hf__zookeeper_out_bool(&r->out, is_watched);
    end(r);
}

/* ---- the lock ---- */

static void raw_open(struct worker *w)
{
    struct raw *r = allocate(1, sizeof(*r));

    if (!w->options->url) fail("url= is missing");
    r->out.alloc = &hf__alloc_default;
    r->fd =
        lab_ask_connect(NULL, (int)number_of("url", w->options->url, 1, 65535));
    if (r->fd < 0) fail("%s", lab_error());
    hf__zookeeper_out_begin(&r->out);
    hf__zookeeper_out_int(&r->out, 0);
    hf__zookeeper_out_long(&r->out, 0);
    hf__zookeeper_out_int(&r->out, SESSION_MS);
    hf__zookeeper_out_long(&r->out, 0);
    hf__zookeeper_out_bytes(&r->out, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    end(r);
    flush(r);
    (void)frame_read(r);
    w->impl = r;
}

static void raw_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;
    struct jute_in in;

    snprintf(r->parent, sizeof(r->parent), "/raw-%s", name);
    create_put(r, CREATE, r->parent, PERSISTENT);
    flush(r);
    int32_t err = answer_read(r, &in);
    if (err != 0 && err != NODE_EXISTS) fail("create: %" PRId32, err);
}

static const char *number_in(const char *path, size_t len)
{
    return len < DIGITS ? "" : path + len - DIGITS;
}

/* Find the node before ours, if there is one. */
static int before_find(struct raw *r, struct jute_in *in)
{
    const char *mine = number_in(r->own, strlen(r->own));
    char best[DIGITS + 1] = "";

    for (int32_t left = hf__zookeeper_in_int(in); left > 0; left--) {
        size_t len;
        const char *name = hf__zookeeper_in_text(in, &len);
        const char *number = number_in(name, len);
        if (len < DIGITS || memcmp(number, mine, DIGITS) >= 0) continue;
        if (best[0] && memcmp(number, best, DIGITS) <= 0) continue;
        memcpy(best, number, DIGITS);
    }
    if (!best[0]) return 0;
    snprintf(r->before, sizeof(r->before), "%s/l-%s", r->parent, best);
    return 1;
}

static void before_await(struct raw *r)
{
    struct jute_in in;
    int seen = r->events;

    watched_put(r, GET_DATA, r->before, 1);
    flush(r);
    int32_t err = answer_read(r, &in);
    if (err != 0 && err != NO_NODE) fail("getData: %" PRId32, err);
    if (err == NO_NODE || r->events != seen) return;
    in = frame_read(r);
    if (hf__zookeeper_in_int(&in) != EVENT_XID) fail("no event");
    r->events++;
}

static void raw_lock(struct worker *w)
{
    struct raw *r = w->impl;
    struct jute_in in;
    char stem[96];
    size_t len;

    snprintf(stem, sizeof(stem), "%s/l-", r->parent);
    create_put(r, CREATE2, stem, EPHEMERAL_SEQUENTIAL);
    watched_put(r, GET_CHILDREN, r->parent, 0);
    flush(r);
    int32_t err = answer_read(r, &in);
    if (err != 0) fail("create: %" PRId32, err);
    const char *path = hf__zookeeper_in_text(&in, &len);
    snprintf(r->own, sizeof(r->own), "%.*s", (int)len, path ? path : "");
    for (;;) {
        err = answer_read(r, &in);
        if (err != 0) fail("getChildren: %" PRId32, err);
        if (!before_find(r, &in)) return;
        before_await(r);
        watched_put(r, GET_CHILDREN, r->parent, 0);
        flush(r);
    }
}

static void raw_unlock(struct worker *w)
{
    struct raw *r = w->impl;
    struct jute_in in;

    begin(r, DELETE, r->own);
    hf__zookeeper_out_int(&r->out, -1);
    end(r);
    flush(r);
    if (answer_read(r, &in) != 0) w->fails++;
}

static const struct lock_peer peers[] = {
    {.name = "node",
     .open = raw_open,
     .name_set = raw_name_set,
     .lock = raw_lock,
     .unlock = raw_unlock},
};

int main(int argc, char **argv)
{
    return runner_main(argc, argv, peers, sizeof(peers) / sizeof(peers[0]));
}
