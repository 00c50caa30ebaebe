/*
 * many_waiters_test.c: ten thousand waiters, and twenty thousand locks held, in
 * one process.  One rule: their number costs memory, within bounds, and nothing
 * else: no connection, no thread, no lost lock, no burst of renewals.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define WAITERS 10000
#define WAITER_BYTES_MAX 2048
#define HELD 20000
#define HELD_BYTES_MAX 1000
#define HELD_LEASE_MS 12000 /* renewed every 4 s */
#define BURST_MAX 3         /* times the average, in the busiest second */
#define SAMPLE_MS 250

/* ---- memory of one client ------------------------------------------------ */

static atomic_llong bytes;

static void *count_allocate(size_t size, void *user)
{
    void *p = malloc(size ? size : 1);
    (void)user;
    if (p) atomic_fetch_add(&bytes, (long long)malloc_usable_size(p));
    return p;
}

static void count_release(void *p, void *user)
{
    (void)user;
    if (p) atomic_fetch_sub(&bytes, (long long)malloc_usable_size(p));
    free(p);
}

static void *count_resize(void *p, size_t size, void *user)
{
    if (!p) return count_allocate(size, user);
    long long before = (long long)malloc_usable_size(p);
    void *moved = realloc(p, size ? size : 1);
    if (moved)
        atomic_fetch_add(&bytes, (long long)malloc_usable_size(moved) - before);
    return moved;
}

/* ---- a crowd of locks ---------------------------------------------------- */

struct crowd;

struct member {
    struct crowd *crowd;
    hf_lock *lock;
    hf_hold *hold; /* once it is granted */
};

struct crowd {
    hf_client *client;
    int len;
    struct member members[HELD];
    atomic_int granted, released, failed, lost;
};
static struct crowd holders, waiters;

static void on_state(const struct hf_event *ev, void *user)
{
    struct crowd *w = user;
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&w->lost, 1);
}

static void crowd_end(void *arg)
{
    struct crowd *w = arg;
    hf_client_close(w->client); /* its locks go with it */
}

static void crowd_begin(struct crowd *w, int len, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(w, 0, sizeof *w);
    w->len = len;
    o.lease_ms = lease_ms;
    o.timeout_ms = RIG_PATIENCE_MS; /* the machine is busy, not the server */
    o.patience_ms = RIG_PATIENCE_MS;
    o.on_state = on_state;
    o.state_user = w;
    if (w == &waiters) {
        o.allocator.allocate = count_allocate;
        o.allocator.resize = count_resize;
        o.allocator.release = count_release;
    }
    CHECK_INT(hf_client_open(rig_url(), &o, &w->client, NULL), HF_OK);
    test_cleanup(crowd_end, w);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct member *m = user;
    (void)lock;
    (void)err;
    m->hold = hold;
    if (status != HF_OK) atomic_fetch_add(&m->crowd->failed, 1);
    atomic_fetch_add(&m->crowd->granted, 1);
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    struct crowd *w = user;
    (void)hold;
    (void)err;
    if (status != HF_OK) atomic_fetch_add(&w->failed, 1);
    atomic_fetch_add(&w->released, 1);
}

static void crowd_acquire(struct crowd *w)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    for (int i = 0; i < w->len; i++) {
        struct member *m = &w->members[i];
        char name[32];
        snprintf(name, sizeof name, "crowd:%d", i);
        m->crowd = w;
        CHECK_INT(hf_lock_open(w->client, name, &m->lock, NULL), HF_OK);
        CHECK_INT(hf_lock_acquire_start(m->lock, &o, on_acquired, m, NULL),
                  HF_OK);
    }
}

static void crowd_release(struct crowd *w)
{
    for (int i = 0; i < w->len; i++)
        CHECK_INT(
            hf_hold_release_start(w->members[i].hold, on_released, w, NULL),
            HF_OK);
    CHECK(rig_until_equal(&w->released, w->len));
}

/* ---- what the server knows ----------------------------------------------- */

/* The number of connections with a subscription; `channels` is set to the
 * number of their subscriptions. */
static int subscribers_count(struct lab_server *r, long long *channels)
{
    int n = 0;
    const char *at = redis_say(r, "CLIENT LIST");
    *channels = 0;
    while ((at = strstr(at, " sub=")) != NULL) {
        long long subs = strtoll(at + 5, NULL, 10);
        at += 5;
        n += subs > 0;
        *channels += subs;
    }
    return n;
}

static int all_wait(void *arg)
{
    long long channels = 0;
    subscribers_count(arg, &channels);
    return channels == WAITERS;
}

static int none_wait(void *arg)
{
    long long channels = 0;
    subscribers_count(arg, &channels);
    return channels == 0;
}

static long long bytes_before;

static long long bytes_each(void)
{
    return (atomic_load(&bytes) - bytes_before) / WAITERS;
}

/* Requests whose answers are still on their way have memory as well. */
static int is_small(void *arg)
{
    (void)arg;
    return bytes_each() <= WAITER_BYTES_MAX;
}

TEST(many_waiters, share_one_subscription_and_are_all_granted)
{
    static struct lab_server r;
    long long channels = 0;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    crowd_begin(&holders, WAITERS, 0);
    crowd_acquire(&holders);
    CHECK(rig_until_equal(&holders.granted, WAITERS));
    crowd_begin(&waiters, WAITERS, 0);
    bytes_before = atomic_load(&bytes);
    crowd_acquire(&waiters);
    CHECK(rig_until(all_wait, &r));
    CHECK_INT(subscribers_count(&r, &channels), 1);
    CHECK(rig_until(is_small, NULL));
    printf("    %lld bytes per waiter\n", bytes_each());
    CHECK_INT(atomic_load(&waiters.granted), 0);

    crowd_release(&holders);
    CHECK(rig_until_equal(&waiters.granted, WAITERS));
    CHECK_INT(atomic_load(&waiters.failed) + atomic_load(&holders.failed), 0);
    crowd_release(&waiters);
    CHECK_INT(atomic_load(&waiters.failed), 0);
    CHECK(rig_until(none_wait, &r));
    CHECK_INT(redis_number(&r, "EVAL \"return #redis.call('KEYS','crowd:*')\" "
                               "0"),
              0);
}

/* Renewals are counted by the PEXPIREs of their script. */
static long long renewals_count(struct lab_server *r)
{
    const char *at =
        strstr(redis_say(r, "INFO commandstats"), "cmdstat_pexpire:calls=");
    return at ? strtoll(at + strlen("cmdstat_pexpire:calls="), NULL, 10) : 0;
}

struct sample {
    int64_t ms;
    long long renewals;
};

static struct sample sample_take(struct lab_server *r)
{
    struct sample now = {rig_now_ms(), renewals_count(r)};
    return now;
}

static long long rate(struct sample from, struct sample to)
{
    return (to.renewals - from.renewals) * 1000 / (to.ms - from.ms);
}

/* Over one renewal period: the average, and the busiest of all seconds. */
static void renewals_watch(struct lab_server *r, long long *average,
                           long long *most)
{
    enum { SAMPLES = HELD_LEASE_MS / 3 / SAMPLE_MS };
    struct sample at[SAMPLES + 1];
    int from = 0;
    *most = 0;
    at[0] = sample_take(r);
    for (int i = 1; i <= SAMPLES; i++) {
        rig_pause_ms(SAMPLE_MS);
        at[i] = sample_take(r);
        while (at[i].ms - at[from + 1].ms >= 1000) from++;
        if (at[i].ms - at[from].ms >= 1000 && rate(at[from], at[i]) > *most)
            *most = rate(at[from], at[i]);
    }
    *average = rate(at[0], at[SAMPLES]);
}

static int is_small_enough(void *before)
{
    return (atomic_load(&bytes) - *(long long *)before) / HELD
           <= HELD_BYTES_MAX;
}

TEST(many_held, are_kept_by_renewals_that_are_spread)
{
    static struct lab_server r;
    long long average = 0, most = 0;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    crowd_begin(&waiters, HELD, HELD_LEASE_MS);
    long long before = atomic_load(&bytes);
    crowd_acquire(&waiters);
    CHECK(rig_until_equal(&waiters.granted, HELD));
    CHECK_INT(atomic_load(&waiters.failed), 0);
    int is_small = rig_until(is_small_enough, &before); /* all was sent */
    printf("    %lld bytes per held lock\n",
           (atomic_load(&bytes) - before) / HELD);
    CHECK(is_small);

    rig_pause_ms(HELD_LEASE_MS / 3); /* the first period is the acquires' */
    int is_spread = 0;
    for (int period = 0; period < 2; period++) {
        renewals_watch(&r, &average, &most);
        printf("    %lld renewals a second, %lld in the busiest\n", average,
               most);
        CHECK(average >= HELD / (HELD_LEASE_MS / 1000)); /* once a lease */
        is_spread |= most <= BURST_MAX * average;
    }
    CHECK(is_spread); /* in one of them: a machine that stalls makes bursts */
    CHECK_INT(atomic_load(&waiters.lost), 0);
    for (int i = 0; i < HELD; i++)
        CHECK_INT(hf_hold_state(waiters.members[i].hold), HF_STATE_HELD);
    crowd_release(&waiters);
    CHECK_INT(atomic_load(&waiters.failed), 0);
}
