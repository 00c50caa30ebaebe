/*
 * redlock_heal_test.c: what a node missed while it was away.  One rule: it
 * learns it after its return, a hold by the next renewal, a release by itself;
 * and what is kept for it meanwhile has a bound.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/redlock.h"

#define LONG_MS 60000 /* no lease ends within a test: what goes, was released */
#define SOME_MS 8000  /* longer than the batches take, but not a test */
#define BATCH 150     /* locks, each of another name */
#define BATCHES 8
#define BYTES_EACH 512 /* a release that is kept takes more */

static struct redlock r;

TEST(redlock_heal, a_hold_comes_back_to_a_node_that_was_killed)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    redlock_begin(&r, LONG_MS);
    hf_lock *l = rig_lock(redlock_client(&r, LONG_MS, NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    five_kill(&r.five, 1);
    five_restart(&r.five, 1);
    /* As if its lease there had ended meanwhile. */
    redis_say(&r.five.nodes[1].redis, "DEL a");
    CHECK(redlock_until_has(&r, 1, "a", 1));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(redlock_until_gone(&r, "a"));
}

/* The healed one votes: the two that never left would be too few. */
TEST(redlock_heal, a_healed_node_keeps_the_hold_when_others_go)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    redlock_begin(&r, 30000);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    o.lease_ms = 0; /* the longest */
    five_kill(&r.five, 0);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    five_restart(&r.five, 0);
    CHECK(redlock_until_has(&r, 0, "a", 1));
    CHECK(rig_until_renewed(l, 0, 5)); /* asked once more, and confirmed */
    five_kill(&r.five, 3);
    five_kill(&r.five, 4);
    CHECK(rig_until_renewed(l, 0, 10));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(redlock_heal, a_release_reaches_a_node_that_was_cut_off)
{
    redlock_begin(&r, LONG_MS);
    hf_lock *l = rig_lock(redlock_client(&r, LONG_MS, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    for (int i = 0; i < REDLOCK_NODES; i++)
        CHECK(redlock_until_has(&r, i, "a", 1));
    five_sever(&r.five, 3, 1);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    for (int i = 0; i < REDLOCK_NODES; i++)
        if (i != 3) CHECK(redlock_until_has(&r, i, "a", 0));
    CHECK_INT(redlock_has(&r, 3, "a"), 1);
    five_sever(&r.five, 3, 0);
    CHECK(redlock_until_has(&r, 3, "a", 0));
}

TEST(redlock_heal, a_release_reaches_a_node_that_was_restarted)
{
    redlock_begin(&r, LONG_MS);
    hf_lock *l = rig_lock(redlock_client(&r, LONG_MS, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(redlock_until_has(&r, 2, "a", 1));
    five_kill(&r.five, 2);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    five_restart(&r.five, 2);
    CHECK(redlock_until_gone(&r, "a"));
}

/* ---- the bound --------------------------------------------------------- */

/* Every byte that the library has; the size is kept before each block. */
#define HEAD 16
static atomic_llong in_use;

static void *counted(void *block, size_t size)
{
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    atomic_fetch_add(&in_use, (long long)size);
    return (char *)block + HEAD;
}

static void *count_allocate(size_t size, void *user)
{
    (void)user;
    return counted(malloc(size + HEAD), size);
}

static void count_release(void *at, void *user)
{
    size_t size;
    (void)user;
    if (!at) return;
    memcpy(&size, (char *)at - HEAD, sizeof size);
    atomic_fetch_sub(&in_use, (long long)size);
    free((char *)at - HEAD);
}

static void *count_resize(void *at, size_t size, void *user)
{
    size_t old = 0;
    if (at) memcpy(&old, (char *)at - HEAD, sizeof old);
    void *block = count_allocate(size, user);
    if (!block) return NULL;
    if (at) memcpy(block, at, old < size ? old : size);
    count_release(at, user);
    return block;
}

static long long resident_bytes(void)
{
    long long all, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f) return 0;
    if (fscanf(f, "%lld %lld", &all, &resident) != 2) resident = 0;
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Each name is another one, so that each release is one of its own.  On a busy
 * machine too few may answer one in time: it is kept for more nodes then. */
static void batch_run(hf_client *c, int *number)
{
    char name[32];
    for (int i = 0; i < BATCH; i++) {
        hf_lock *l = NULL;
        snprintf(name, sizeof name, "n%d", (*number)++);
        CHECK_INT(hf_lock_open(c, name, &l, NULL), HF_OK);
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
        int status = hf_lock_release(l, NULL, NULL);
        hf_lock_close(l);
        CHECK(status == HF_OK || status == HF_UNAVAILABLE);
    }
}

/* Batch after batch takes no more than the first ones did, but for what is on
 * its way to a node that hangs: for the time of one answer. */
static void stays_bounded(hf_client *c, int *number)
{
    batch_run(c, number);
    batch_run(c, number);
    long long used = atomic_load(&in_use), resident = resident_bytes();
    for (int i = 0; i < BATCHES; i++) batch_run(c, number);
    used = atomic_load(&in_use) - used;
    resident = resident_bytes() - resident;
    printf("    %d locks: the library has %lld bytes more, the process %lld\n",
           BATCHES * BATCH, used, resident);
    CHECK(used < BATCHES * BATCH * BYTES_EACH / 2);
#ifndef __SANITIZE_ADDRESS__ /* it keeps what was freed */
    CHECK(resident < 8 * 1024 * 1024);
#endif
}

static hf_client *counted_client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redlock_begin(&r, SOME_MS);
    o.timeout_ms = 300; /* a stopped one is given up soon */
    o.allocator = (struct hf_allocator){count_allocate, count_resize,
                                        count_release, NULL};
    return redlock_client(&r, SOME_MS, &o);
}

static int is_empty(void *arg)
{
    return redis_number(arg, "EVAL \"return #redis.call('KEYS', 'n*')\" 0")
           == 0;
}

/* It is back, is caught up with and used, and nothing is left of all that: what
 * it took while it hung, and of which no release was kept, ends by itself. */
static void ends_well(hf_client *c, int *number)
{
    CHECK(redlock_until_voters(c, REDLOCK_NODES));
    batch_run(c, number);
    for (int i = 0; i < REDLOCK_NODES; i++)
        CHECK(rig_until(is_empty, &r.five.nodes[i].redis));
    rig_close(c);
    CHECK_INT(atomic_load(&in_use), 0);
}

TEST(redlock_heal, what_is_kept_for_a_dead_node_is_bounded)
{
    int number = 0;
    hf_client *c = counted_client();
    five_kill(&r.five, 4);
    stays_bounded(c, &number);
    five_restart(&r.five, 4);
    ends_well(c, &number);
}

TEST(redlock_heal, what_is_kept_for_a_stopped_node_is_bounded)
{
    int number = 0;
    hf_client *c = counted_client();
    five_stop(&r.five, 4);
    stays_bounded(c, &number);
    five_cont(&r.five, 4);
    ends_well(c, &number);
}
