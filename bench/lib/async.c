/*
 * async.c: each of ASYNC_DEPTH locks goes round by itself: acquired, so
 * release; released, so acquire, until the deadline.  The thread does nothing
 * but poll and process, as a program with a loop of its own would.
 */
#define _POSIX_C_SOURCE 200809L
#include "async.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <holdfast/holdfast.h>

#include "crowd.h"
#include "runner.h"
#include "tool.h"

struct async {
    hf_client *client;
    struct worker *worker;
    uint64_t deadline_ns;
    int flying;
};

struct slot {
    struct async *async;
    hf_lock *lock;
    uint64_t begin_ns;
};

static void slot_acquire(struct slot *s);

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    struct slot *s = user;
    struct async *a = s->async;
    uint64_t now = now_ns();

    (void)hold;
    if (status != HF_OK) fail("release: %s", err->text);
    worker_count(a->worker, now - s->begin_ns, now);
    a->flying--;
    if (now < a->deadline_ns) slot_acquire(s);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct hf_error why;

    (void)lock;
    if (status != HF_OK) fail("acquire: %s", err->text);
    if (hf_hold_release_start(hold, on_released, user, &why) != HF_OK)
        fail("release: %s", why.text);
}

static void slot_acquire(struct slot *s)
{
    struct hf_error why;

    s->begin_ns = now_ns();
    s->async->flying++;
    if (hf_lock_acquire_start(s->lock, NULL, on_acquired, s, &why) != HF_OK)
        fail("acquire: %s", why.text);
}

static uint64_t async_loop(struct async *a, struct slot *slots, double secs)
{
    struct pollfd p = {.fd = hf_client_fd(a->client), .events = POLLIN};
    uint64_t start = now_ns();

    a->deadline_ns = start + (uint64_t)(secs * (double)NS_PER_S);
    for (int i = 0; i < ASYNC_DEPTH; i++) slot_acquire(&slots[i]);
    while (a->flying > 0) {
        if (poll(&p, 1, 1000) < 0 && errno != EINTR)
            fail("poll: %s", strerror(errno));
        int status = hf_client_process(a->client);
        if (status != HF_OK) fail("process: %s", hf_status_text(status));
    }
    return start;
}

void async_run(const struct options *o)
{
    static struct slot slots[ASYNC_DEPTH];
    struct async a = {.worker = allocate(1, sizeof(*a.worker))};
    struct hf_error err;
    char name[64];

    a.client = crowd_client(o, HF_CLIENT_OWN_LOOP, NULL, NULL);
    for (int i = 0; i < ASYNC_DEPTH; i++) {
        snprintf(name, sizeof(name), "bench-%d-%d", o->proc, i);
        slots[i].async = &a;
        if (hf_lock_open(a.client, name, &slots[i].lock, &err) != HF_OK)
            fail("%s", err.text);
    }
    async_loop(&a, slots, o->warm);
    worker_clear(a.worker);
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns();
    uint64_t start = async_loop(&a, slots, o->secs);
    cpu_ns = cpu_self_ns() - cpu_ns;
    runner_report(a.worker, 1, a.worker->end_ns - start, cpu_ns);
    for (int i = 0; i < ASYNC_DEPTH; i++) hf_lock_close(slots[i].lock);
    hf_client_close(a.client);
    free(a.worker);
}
