/*
 * stats_contract.c: what hf_client_stats() counts, on every store.
 */
#include <stdlib.h>

#include "lib/rig.h"
#include "lib/rig_semaphore.h"

static struct hf_stats stats_of(hf_client *c)
{
    struct hf_stats stats = HF_STATS_INIT;
    CHECK_INT(hf_client_stats(c, &stats, NULL), HF_OK);
    return stats;
}

static uint64_t sum_of(const uint64_t bins[HF_STATS_BINS])
{
    uint64_t sum = 0;
    for (int i = 0; i < HF_STATS_BINS; i++) sum += bins[i];
    return sum;
}

TEST(stats, count_acquires_by_their_end)
{
    hf_hold *hold;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(stats_of(c).granted, 0);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &hold), HF_OK);
    CHECK_INT(rig_acquire(l, hf_holder_new(), RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, hf_holder_new(), 50, NULL), HF_TIMEOUT);
    struct hf_stats s = stats_of(c);
    CHECK_INT(s.granted, 1);
    CHECK_INT(s.taken, 1);
    CHECK_INT(s.timed_out, 1);
    CHECK_INT(s.waiting, 0);
    CHECK_INT(s.unavailable + s.cancelled + s.failed + s.lost, 0);
    CHECK_INT(sum_of(s.wait_bins), s.granted);
}

TEST(stats, count_what_is_held_and_for_how_long)
{
    hf_hold *hold, *again;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &hold), HF_OK);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &again), HF_OK);
    struct hf_stats s = stats_of(c);
    CHECK_INT(s.held, 1);
    CHECK_INT(s.granted, 2);
    CHECK_INT(sum_of(s.hold_bins), 0);
    rig_pause_ms(20);
    CHECK_INT(hf_hold_release(again, NULL), HF_OK);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    s = stats_of(c);
    CHECK_INT(s.held, 0);
    CHECK_INT(sum_of(s.hold_bins), 1);
    CHECK(s.hold_us >= 20000);
}

static int cond_waits(void *arg)
{
    return stats_of(arg).waiting == 1;
}

static void acquire_and_release(void *arg)
{
    if (rig_acquire(arg, 0, RIG_PATIENCE_MS, NULL) == HF_OK)
        hf_lock_release(arg, NULL, NULL);
}

TEST(stats, show_an_acquire_that_waits)
{
    hf_hold *hold;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &hold), HF_OK);
    rig_spawn(acquire_and_release, l);
    CHECK(rig_until(cond_waits, c));
    rig_pause_ms(20);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    rig_join();
    CHECK_INT(stats_of(c).waiting, 0);
    CHECK_INT(stats_of(c).granted, 2);
    CHECK(stats_of(c).wait_us >= 20000);
}

TEST(stats, count_renewals_and_losses)
{
    hf_hold *hold;
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    rig_begin_with(0);
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_acquire(l, &o, &hold, NULL), HF_OK);
    if (hf_hold_valid_ms(hold) == INT64_MAX) return;
    CHECK(rig_until_renewed(l, 0, 2));
    struct hf_stats s = stats_of(c);
    CHECK(s.renewed >= 2);
    CHECK_INT(sum_of(s.renew_bins), s.renewed);
    CHECK_INT(s.lost, 0);
    if (!rig_has(HF_CAP_BREAK) || rig_has(HF_CAP_KERNEL)) return;
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    s = stats_of(c);
    CHECK_INT(s.lost, 1);
    CHECK_INT(s.held, 0);
    CHECK(hf_hold_release(hold, NULL) != HF_OK);
    CHECK_INT(stats_of(c).lost, 1);
}

TEST(stats, count_permits)
{
    hf_hold *first, *second;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_semaphore *two = rig_semaphore(c, "s", 2);
    CHECK_INT(hf_semaphore_acquire(two, NULL, &first, NULL), HF_OK);
    CHECK_INT(hf_semaphore_acquire(two, NULL, &second, NULL), HF_OK);
    struct hf_stats s = stats_of(c);
    CHECK_INT(s.held, 2);
    CHECK_INT(s.granted, 2);
    CHECK_INT(s.waiting, 0);
    CHECK_INT(s.cancelled, 0);
}

TEST(stats, count_no_latch)
{
    hf_latch *latch;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_latch_open(c, "l", &latch, NULL), HF_OK);
    CHECK_INT(hf_latch_set(latch, 1, NULL), HF_OK);
    CHECK_INT(hf_latch_down(latch, NULL, NULL), HF_OK);
    CHECK_INT(hf_latch_wait(latch, NULL, NULL), HF_OK);
    struct hf_stats s = stats_of(c);
    CHECK_INT(s.granted, 0);
    CHECK_INT(s.held, 0);
    CHECK_INT(s.waiting, 0);
}

TEST(stats, need_a_size)
{
    struct hf_stats stats = HF_STATS_INIT;
    struct hf_error err;
    rig_begin();
    hf_client *c = rig_client(NULL);
    stats.struct_size = 0;
    stats.granted = 7;
    CHECK_INT(hf_client_stats(c, &stats, &err), HF_INVALID);
    CHECK_INT(stats.granted, 7);
}
