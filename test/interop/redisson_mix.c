/*
 * redisson_mix.c: thousands of random acquisitions by everybody at once.  One
 * rule: the counter is read and written in two steps, so that only the lock can
 * keep it right.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define ROUNDS 800 /* of each thread */
#define JAVA_THREADS 2
#define OUR_THREADS 2 /* in the test's process; one more in another */
#define MIX_MS 200000

static struct redis server;
static struct peer java;

/* One thread of ours; `seen` is a connection's worth of room of its own. */
struct mixer {
    uint32_t seed;
    hf_lock *lock;
    struct redis seen;
    char wrong[128]; /* "": nothing */
};

static uint32_t mixer_random(struct mixer *m, uint32_t below)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 16) % below;
}

static void mixer_note(struct mixer *m, const char *what, const char *reply)
{
    snprintf(m->wrong, sizeof m->wrong, "%s: %.100s", what, reply);
}

static uint64_t mixer_read(struct mixer *m, const char *key)
{
    const char *reply = redis_say(&m->seen, "GET %s", key);
    char *end;
    uint64_t n = strtoull(reply, &end, 10);
    int is_number = end != reply && !*end;
    if (!is_number && strcmp(reply, "(nil)") != 0) mixer_note(m, "GET", reply);
    return n;
}

static void mixer_write(struct mixer *m, const char *key, uint64_t n)
{
    const char *reply = redis_say(&m->seen, "SET %s %" PRIu64, key, n);
    if (strcmp(reply, "OK") != 0) mixer_note(m, "SET", reply);
}

/* What the lock guards: the same as Mix.java does. */
static void mixer_count(struct mixer *m, uint64_t fence)
{
    uint64_t token = mixer_read(m, "token");
    if (fence <= token)
        snprintf(m->wrong, sizeof m->wrong, "fence %" PRIu64 " after %" PRIu64,
                 fence, token);
    mixer_write(m, "token", fence);
    uint64_t n = mixer_read(m, "counter");
    if (mixer_random(m, 4) == 0) sched_yield();
    mixer_write(m, "counter", n + 1);
}

/* A busy server may not answer at all within a wait of so few milliseconds. */
static int is_again(int status, const struct hf_acquire_options *o)
{
    return status == HF_TAKEN || status == HF_TIMEOUT
           || (status == HF_UNAVAILABLE && o->wait_ms > 0);
}

static int mixer_acquire(struct mixer *m, struct hf_grant *g)
{
    struct hf_acquire_options o = rig_options(HF_WAIT_FOREVER, 0, 0);
    int status;
    switch (mixer_random(m, 4)) {
    case 0:
        break;
    case 1:
        o.wait_ms = 1 + mixer_random(m, 50);
        break;
    case 2:
        o.wait_ms = HF_WAIT_NONE;
        break;
    default:
        o.flags = HF_ACQUIRE_FIXED;
        o.lease_ms = PEER_LEASE_MS;
    }
    do {
        status = hf_lock_acquire(m->lock, &o, g, NULL);
        if (status == HF_TAKEN) rig_pause_ms(1);
    } while (is_again(status, &o));
    return status;
}

static void mixer_round(struct mixer *m)
{
    struct hf_grant g = {0};
    int status = mixer_acquire(m, &g);
    int again = status == HF_OK && mixer_random(m, 5) == 0;
    if (again) status = hf_lock_try(m->lock, NULL, NULL);
    if (status == HF_OK) {
        mixer_count(m, g.fence);
        if (again) status = hf_lock_release(m->lock, NULL, NULL);
        if (status == HF_OK) status = hf_lock_release(m->lock, NULL, NULL);
    }
    if (status != HF_OK)
        snprintf(m->wrong, sizeof m->wrong, "%s", hf_status_name(status));
}

static void mixer_run(void *arg)
{
    struct mixer *m = arg;
    for (int i = 0; i < ROUNDS && !m->wrong[0]; i++) mixer_round(m);
}

/* The other process: a client of its own, started when it is told to. */
static int process_run(struct proc *self, const void *arg)
{
    static struct mixer m;
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    m.seen = *(const struct redis *)arg;
    m.seed = 3;
    if (!proc_hear(self, line, MIX_MS)) return 1;
    if (hf_client_open(m.seen.url, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "a", &m.lock, NULL) != HF_OK) return 1;
    mixer_run(&m);
    proc_say(self, "%s", m.wrong[0] ? m.wrong : "exact");
    hf_client_close(c);
    return 0;
}

TEST(redisson_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct mixer mixers[OUR_THREADS];
    static struct proc process;
    peer_begin(&java, &server, 30000);
    proc_start(&process, process_run, &server);
    hf_client *c = rig_client(NULL);
    peer_say(&java, "mix a %d %d 7", JAVA_THREADS, ROUNDS);
    proc_say(&process, "go");
    for (int i = 0; i < OUR_THREADS; i++) {
        mixers[i] = (struct mixer){.seed = (uint32_t)i + 1};
        mixers[i].lock = rig_lock(c, "a");
        mixers[i].seen = server;
        rig_spawn(mixer_run, &mixers[i]);
    }
    rig_join();
    for (int i = 0; i < OUR_THREADS; i++) CHECK_STR(mixers[i].wrong, "");
    CHECK(proc_hears(&process, "exact", MIX_MS));
    CHECK_STR(peer_hear(&java, MIX_MS), "exact");
    CHECK_INT(redis_number(&server, "GET counter"),
              (JAVA_THREADS + OUR_THREADS + 1) * ROUNDS);
    CHECK_INT(redis_number(&server, "EXISTS a"), 0);
}
