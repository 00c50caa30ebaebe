/*
 * storm.c: see storm.h.  One rule: a child opens its own client, and writes
 * nothing but counts.
 */
#include "lib/storm.h"

#include <sys/mman.h>

#include "lib/rig.h"

#define LATE_MS 10000 /* beyond the deadline; the machine may be busy */
#define MORE 3        /* grants that show that a process works */

/* ---- in the child -------------------------------------------------------- */

struct member {
    struct storm_seen *seen;
    const char *url;
    int index;
};

static void status_count(struct storm_seen *seen, int status)
{
    if (status == HF_OK) return;
    if (status == HF_TIMEOUT || status == HF_UNAVAILABLE || status == HF_LOST
        || status == HF_EXPIRED)
        atomic_fetch_add(&seen->failures, 1);
    else
        atomic_fetch_add(&seen->strange, 1);
}

static void fence_raise(struct storm_seen *seen, long long fence)
{
    long long was = atomic_load(&seen->fence);
    while (was < fence
           && !atomic_compare_exchange_weak(&seen->fence, &was, fence))
        continue;
}

/* Released before this was asked for: a new token must be above it. */
static void turn_run(const struct member *m, hf_lock *lock)
{
    struct storm_seen *seen = m->seen;
    hf_hold *grant = NULL;
    long long before = atomic_load(&seen->fence);
    int64_t start_ms = rig_now_ms();
    int status = rig_acquire(lock, 0, STORM_WAIT_MS, &grant);
    if (rig_now_ms() - start_ms > STORM_WAIT_MS + LATE_MS)
        atomic_fetch_add(&seen->late, 1);
    status_count(seen, status);
    if (status != HF_OK) return;
    if ((long long)hf_hold_fence(grant) <= before)
        atomic_fetch_add(&seen->stale, 1);
    rig_pause_ms(2);
    start_ms = rig_now_ms();
    status = hf_lock_release(lock, NULL, NULL);
    if (rig_now_ms() - start_ms > LATE_MS) atomic_fetch_add(&seen->late, 1);
    status_count(seen, status);
    fence_raise(seen, (long long)hf_hold_fence(grant));
    atomic_fetch_add(&seen->grants[m->index], 1);
}

static int member_run(struct lab_proc *self, const void *arg)
{
    const struct member *m = arg;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    hf_lock *l = NULL;
    (void)self;
    o.lease_ms = STORM_LEASE_MS;
    if (hf_client_open(m->url, &o, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, STORM_NAME, &l, NULL) != HF_OK) return 1;
    while (!atomic_load(&m->seen->stop)) turn_run(m, l);
    hf_client_close(c);
    return 0;
}

/* ---- in the test --------------------------------------------------------- */

static void storm_free(void *arg)
{
    struct storm *s = arg;
    munmap(s->seen, sizeof *s->seen);
}

void storm_begin(struct storm *s, const char *url, int len)
{
    static struct member members[STORM_PROCS_MAX];
    s->url = url;
    s->len = len;
    s->seen = mmap(NULL, sizeof *s->seen, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(s->seen != MAP_FAILED);
    test_cleanup(storm_free, s);
    for (int i = 0; i < len; i++) {
        members[i] = (struct member){s->seen, url, i};
        proc_start(&s->procs[i], member_run, &members[i]);
    }
    storm_until_moving(s);
}

struct goal {
    struct storm *s;
    int wanted[STORM_PROCS_MAX];
};

static int is_reached(void *arg)
{
    const struct goal *g = arg;
    for (int i = 0; i < g->s->len; i++)
        if (atomic_load(&g->s->seen->grants[i]) < g->wanted[i]) return 0;
    return 1;
}

void storm_until_moving(struct storm *s)
{
    struct goal g = {.s = s};
    for (int i = 0; i < s->len; i++)
        g.wanted[i] = atomic_load(&s->seen->grants[i]) + MORE;
    if (rig_until(is_reached, &g)) return;
    for (int i = 0; i < s->len; i++)
        if (atomic_load(&s->seen->grants[i]) < g.wanted[i])
            TEST_FAIL("process %d does not work any more", i);
}

void storm_end(struct storm *s)
{
    atomic_store(&s->seen->stop, 1);
    for (int i = 0; i < s->len; i++)
        CHECK_INT(proc_wait(&s->procs[i], RIG_PATIENCE_MS), 0);
    CHECK_INT(atomic_load(&s->seen->late), 0);
    CHECK_INT(atomic_load(&s->seen->stale), 0);
    CHECK_INT(atomic_load(&s->seen->strange), 0);
}
