/*
 * crowd.c: takes and gives many locks, at most FLIGHT_MAX requests at a time.
 * A callback only writes down what came and makes room for the next.
 */
#define _POSIX_C_SOURCE 200809L
#include "crowd.h"

#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "tool.h"

#define FLIGHT_MAX 64

struct member {
    struct crowd *crowd;
    hf_lock *lock;
    hf_hold *hold;
};

struct crowd {
    struct member *members;
    int len;
    sem_t room;
    atomic_int failures;
    struct hf_error first; /* of the failures */
};

hf_client *crowd_client(const struct options *o, uint32_t flags,
                        hf_state_fn on_state, void *user)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err;
    hf_client *client = NULL;
    char url[64];

    if (!o->url)
        snprintf(url, sizeof(url), "redis://127.0.0.1:%d", options_port(o));
    co.flags = flags;
    co.lease_ms = o->lease_ms;
    co.on_state = on_state;
    co.state_user = user;
    if (hf_client_open(o->url ? o->url : url, &co, &client, &err) != HF_OK)
        fail("%s", err.text);
    return client;
}

struct crowd *crowd_new(int len)
{
    struct crowd *c = allocate(1, sizeof(*c));

    c->members = allocate((size_t)len, sizeof(*c->members));
    c->len = len;
    for (int i = 0; i < len; i++) c->members[i].crowd = c;
    if (sem_init(&c->room, 0, FLIGHT_MAX) != 0) fail("no semaphore");
    return c;
}

static void room_wait(struct crowd *c)
{
    while (sem_wait(&c->room) != 0 && errno == EINTR)
        ;
}

/* All requests are answered when all the room is ours again. */
static void crowd_settle(struct crowd *c, const char *what)
{
    for (int i = 0; i < FLIGHT_MAX; i++) room_wait(c);
    if (atomic_load(&c->failures))
        fail("%d of %d locks were not %s: %s", atomic_load(&c->failures),
             c->len, what, c->first.text);
    for (int i = 0; i < FLIGHT_MAX; i++) sem_post(&c->room);
}

static void failure_note(struct crowd *c, const struct hf_error *err)
{
    if (atomic_fetch_add(&c->failures, 1) == 0 && err) c->first = *err;
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct member *m = user;

    (void)lock;
    if (status == HF_OK)
        m->hold = hold;
    else
        failure_note(m->crowd, err);
    sem_post(&m->crowd->room);
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    struct member *m = user;

    (void)hold;
    if (status != HF_OK) failure_note(m->crowd, err);
    sem_post(&m->crowd->room);
}

void crowd_take(struct crowd *c, hf_client *client, const char *stem)
{
    struct hf_error err;
    char name[64];

    for (int i = 0; i < c->len; i++) {
        struct member *m = &c->members[i];
        snprintf(name, sizeof(name), "%s-%d", stem, i);
        if (hf_lock_open(client, name, &m->lock, &err) != HF_OK)
            fail("%s", err.text);
        room_wait(c);
        if (hf_lock_acquire_start(m->lock, NULL, on_acquired, m, &err) != HF_OK)
            fail("%s", err.text);
    }
    crowd_settle(c, "acquired");
}

void crowd_give(struct crowd *c)
{
    struct hf_error err;

    for (int i = 0; i < c->len; i++) {
        struct member *m = &c->members[i];
        room_wait(c);
        if (hf_hold_release_start(m->hold, on_released, m, &err) != HF_OK)
            fail("%s", err.text);
    }
    crowd_settle(c, "released");
}

int64_t crowd_missing(const struct crowd *c)
{
    int64_t missing = 0;

    for (int i = 0; i < c->len; i++) {
        const struct member *m = &c->members[i];
        int state = hf_hold_state(m->hold);
        missing += state != HF_STATE_HELD && state != HF_STATE_AT_RISK;
    }
    return missing;
}

static void lost_count(const struct hf_event *ev, void *user)
{
    if (ev->state == HF_STATE_LOST) atomic_fetch_add((atomic_int *)user, 1);
}

/* The first lock opens the connection and the library's tables; what is
 * measured is what each further one costs. */
static void client_warm(hf_client *client)
{
    struct hf_error err;
    hf_lock *lock;

    if (hf_lock_open(client, "hold-warm", &lock, &err) != HF_OK
        || hf_lock_acquire(lock, NULL, NULL, &err) != HF_OK
        || hf_lock_release(lock, NULL, &err) != HF_OK)
        fail("%s", err.text);
    hf_lock_close(lock);
}

void crowd_hold_run(const struct options *o)
{
    static atomic_int lost;
    hf_client *client = crowd_client(o, 0, lost_count, &lost);
    struct crowd *c = crowd_new(o->count);

    client_warm(client);
    int64_t base_kb = rss_self_kb();
    crowd_take(c, client, "hold");
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns(), start = now_ns();
    pause_ns((uint64_t)(o->secs * (double)NS_PER_S));
    cpu_ns = cpu_self_ns() - cpu_ns;
    uint64_t elapsed = now_ns() - start;
    int64_t missing = crowd_missing(c), told = atomic_load(&lost);
    runner_report_hold(0, elapsed, cpu_ns, missing > told ? missing : told,
                       base_kb);
    /* The locks are left to their leases: giving 10,000 back is not what is
     * measured, and the driver may well kill us here. */
}
