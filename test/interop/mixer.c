/*
 * mixer.c: random locking against everybody else on one name.  One rule: what
 * went wrong is written down, and only the test's own thread judges it.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mixer.h"

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

static void mixer_fence(struct mixer *m, uint64_t fence)
{
    uint64_t token = mixer_read(m, "token");
    if (fence <= token)
        snprintf(m->wrong, sizeof m->wrong, "fence %" PRIu64 " after %" PRIu64,
                 fence, token);
    mixer_write(m, "token", fence);
}

/* What the lock guards: the same as the peers do. */
static void mixer_count(struct mixer *m, uint64_t fence)
{
    if (m->has_fence) mixer_fence(m, fence);
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

static int mixer_acquire(struct mixer *m, hf_hold **g)
{
    struct hf_acquire_options o = rig_options(RIG_NO_LIMIT, 0, 0);
    int status;
    switch (mixer_random(m, 4)) {
    case 0:
        break;
    case 1:
        o.wait_ms = 1 + mixer_random(m, 50);
        break;
    case 2:
        o.flags = HF_ACQUIRE_TRY;
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
    hf_hold *g = NULL, *inner = NULL;
    int status = mixer_acquire(m, &g);
    int again = status == HF_OK && mixer_random(m, 5) == 0;
    if (again) status = hf_lock_try(m->lock, &inner, NULL);
    if (status == HF_OK) {
        mixer_count(m, hf_hold_fence(g));
        if (again) status = hf_hold_release(inner, NULL);
        if (status == HF_OK) status = hf_hold_release(g, NULL);
    }
    if (status != HF_OK)
        snprintf(m->wrong, sizeof m->wrong, "%s", hf_status_name(status));
}

static void mixer_run(void *arg)
{
    struct mixer *m = arg;
    for (int i = 0; i < m->rounds && !m->wrong[0]; i++) mixer_round(m);
}

void mixer_start(struct mixer *m, const struct lab_server *server, hf_client *c,
                 uint32_t seed, int rounds)
{
    *m = (struct mixer){.seed = seed, .rounds = rounds, .has_fence = 1};
    m->lock = rig_lock(c, "a");
    m->seen = *server;
    rig_spawn(mixer_run, m);
}

static int process_run(struct lab_proc *self, const void *arg)
{
    static struct mixer m;
    const struct mixer_process *conf = arg;
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    m.seen = *conf->server;
    m.seed = conf->seed;
    m.rounds = conf->rounds;
    m.has_fence = conf->has_fence;
    if (!proc_hear(self, line, MIXER_MS)) return 1;
    if (hf_client_open(conf->url, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "a", &m.lock, NULL) != HF_OK) return 1;
    mixer_run(&m);
    proc_say(self, "%s", m.wrong[0] ? m.wrong : "exact");
    hf_client_close(c);
    return 0;
}

void mixer_process_start(struct lab_proc *p, const struct mixer_process *conf)
{
    proc_start(p, process_run, conf);
}
