/*
 * wake.c: how long a release needs to the next holder in another process, next
 * to what a bare PUBLISH needs to its reader.  Both are measured in turn, in
 * one run, between the same two processes.
 *
 *     wake ports=6379 count=400
 *
 * Prints "END {json}" with the medians, in nanoseconds.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <holdfast/holdfast.h>

#include "lib/crowd.h"
#include "lib/hist.h"
#include "lib/raw_redis.h"
#include "lib/tool.h"

#define NAME "bench-wake"
#define CHANNEL "bench-wake-bare"
#define ASLEEP_NS (3 * NS_PER_MS) /* until the other side surely sleeps */

/* One side: its lock, its connection, its ends of the pipes. */
struct side {
    hf_lock *lock;
    struct raw_link link;
    int in, out;
};

static void side_open(struct side *s, const struct options *o)
{
    struct hf_error err;
    hf_client *client = crowd_client(o, 0, NULL, NULL);

    if (hf_lock_open(client, NAME, &s->lock, &err) != HF_OK)
        fail("%s", err.text);
    raw_link_open(&s->link, options_port(o));
}

static void word_send(const struct side *s, uint64_t word)
{
    if (write(s->out, &word, sizeof(word)) != (ssize_t)sizeof(word))
        fail("the other side is gone");
}

static uint64_t word_get(const struct side *s)
{
    uint64_t word;

    if (read(s->in, &word, sizeof(word)) != (ssize_t)sizeof(word)) exit(0);
    return word;
}

static void lock_take(struct side *s)
{
    struct hf_error err;

    if (hf_lock_acquire(s->lock, NULL, NULL, &err) != HF_OK)
        fail("acquire: %s", err.text);
}

static void lock_give(struct side *s)
{
    struct hf_error err;

    if (hf_lock_release(s->lock, NULL, &err) != HF_OK)
        fail("release: %s", err.text);
}

/* The one that is woken: 0 asks for the lock, 1 for the bare message. */
static void sleeper_run(struct side *s)
{
    redisAppendCommand(s->link.redis, "SUBSCRIBE " CHANNEL);
    freeReplyObject(raw_link_reply(&s->link));
    for (;;) {
        uint64_t woken;
        if (word_get(s) == 0) {
            lock_take(s);
            woken = now_ns();
            lock_give(s);
        } else {
            redisReply *a = raw_link_reply(&s->link);
            woken = now_ns();
            freeReplyObject(a);
        }
        word_send(s, woken);
    }
}

static void lock_measure(struct side *s, struct hist *h)
{
    lock_take(s);
    word_send(s, 0);
    pause_ns(ASLEEP_NS);
    uint64_t begin = now_ns();
    lock_give(s);
    hist_add(h, word_get(s) - begin, 1);
}

static void bare_measure(struct side *s, struct hist *h)
{
    word_send(s, 1);
    pause_ns(ASLEEP_NS);
    uint64_t begin = now_ns();
    freeReplyObject(redisCommand(s->link.redis, "PUBLISH " CHANNEL " 0"));
    hist_add(h, word_get(s) - begin, 1);
}

static void waker_run(struct side *s, int count)
{
    static struct hist ours, bare;

    for (int i = -10; i < count; i++) {
        if (i == 0) memset(&ours, 0, sizeof(ours));
        if (i == 0) memset(&bare, 0, sizeof(bare));
        lock_measure(s, &ours);
        bare_measure(s, &bare);
    }
    printf("END {\"ours_ns\":%" PRIu64 ",\"bare_ns\":%" PRIu64
           ",\"ours_p99_ns\":%" PRIu64 ",\"bare_p99_ns\":%" PRIu64 "}\n",
           hist_quantile_ns(&ours, 0.5), hist_quantile_ns(&bare, 0.5),
           hist_quantile_ns(&ours, 0.99), hist_quantile_ns(&bare, 0.99));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct options o;
    struct side s;
    int there[2], back[2];

    options_parse(&o, argc, argv);
    if (pipe(there) != 0 || pipe(back) != 0) fail("no pipes");
    pid_t pid = fork(); /* before there is any client */
    if (pid < 0) fail("no process");
    s.in = pid ? back[0] : there[0];
    s.out = pid ? there[1] : back[1];
    close(pid ? back[1] : there[1]);
    close(pid ? there[0] : back[0]);
    side_open(&s, &o);
    if (pid == 0) sleeper_run(&s);
    waker_run(&s, o.count ? o.count : 400);
    close(s.out);
    waitpid(pid, NULL, 0);
    return 0;
}
