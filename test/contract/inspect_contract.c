/*
 * inspect_contract.c: asking about a lock.  One rule: the store is asked, and
 * the answer is the same for everybody except for `mine` and `count`.
 */
#include <string.h>
#include <unistd.h>

#include "lib/rig.h"

TEST(inspect, of_a_free_lock_says_so)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_looker(), "a");
    struct hf_info info;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = sizeof info;
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 0);
    CHECK_INT(info.shared, 0);
    CHECK_INT(info.mine, 0);
    CHECK_STR(info.layout, "");
    CHECK_INT(info.foreign, 0);
    CHECK_INT(info.detached, 0);
    CHECK_INT(info.ttl_ms, -2);
    CHECK_INT(info.count, 0);
    CHECK_INT(info.owner_count, 0);
    CHECK_STR(info.owner, "");
}

TEST(inspect, tells_who_holds_it_from_where_since_when)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_info info = HF_INFO_INIT;
    hf_hold *g, *again;
    char tail[32];
    rig_begin();
    o.label = "night shift";
    hf_lock *l = rig_lock(rig_client(&o), "a");
    hf_lock *other = rig_lock(rig_looker(), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, &again, NULL), HF_OK);
    rig_pause_ms(20);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.mine, 0);
    CHECK_INT(info.count, 0);
    /* A server that keeps locks by session knows the session only. */
    if (!rig_has(HF_CAP_LIST)) return;
    CHECK_INT(info.owner_count, 2);
    CHECK_INT(info.foreign, 0);
    CHECK_STR(info.layout, rig_is_foreign() ? "shedlock" : "holdfast");
    CHECK_INT(info.detached, 0);
    CHECK_INT(info.pid, getpid());
    CHECK_STR(info.label, "night shift");
    CHECK(info.host[0] != 0);
    CHECK(info.fence == hf_hold_fence(g));
    CHECK(info.since_ms > 0 && info.since_ms <= info.now_ms);
    CHECK(info.now_ms - info.since_ms < 30000);
    snprintf(tail, sizeof tail, ":%llu", (unsigned long long)hf_holder_self());
    CHECK(strlen(info.owner) > strlen(tail));
    CHECK_STR(info.owner + strlen(info.owner) - strlen(tail), tail);
}

TEST(inspect, tells_a_holder_what_is_his)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t x = hf_holder_new(), y = hf_holder_new();
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(rig_acquire(l, x, 0, NULL), HF_OK);
    CHECK_INT(rig_inspect_as(l, x, &info), HF_OK);
    CHECK_INT(info.mine, 1);
    CHECK_INT(info.count, 1);
    CHECK_INT(rig_inspect_as(l, y, &info), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.mine, 0);
    CHECK_INT(info.count, 0);
}

/* testIsLocked, testIsHeldByCurrentThread, testGetHoldCount */
TEST(inspect, short_questions_follow_the_lock)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int held = 0; held <= 3; held++) {
        int locked = 9, mine = 9;
        int64_t count = 9;
        CHECK_INT(hf_lock_is_locked(l, &locked, NULL), HF_OK);
        CHECK_INT(hf_lock_is_mine(l, &mine, NULL), HF_OK);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(locked, held > 0);
        CHECK_INT(mine, held > 0);
        CHECK_INT(count, held);
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    }
}

struct asker {
    hf_lock *lock;
    int locked, mine;
    int64_t count;
};

static void asker_run(void *arg)
{
    struct asker *a = arg;
    a->locked = a->mine = 9;
    a->count = 9;
    hf_lock_is_locked(a->lock, &a->locked, NULL);
    hf_lock_is_mine(a->lock, &a->mine, NULL);
    hf_lock_hold_count(a->lock, &a->count, NULL);
}

/* testIsLockedOtherThread, testIsHeldByCurrentThreadOtherThread */
TEST(inspect, another_thread_sees_it_locked_but_not_its_own)
{
    static struct asker a;
    rig_begin();
    a.lock = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(a.lock, NULL, NULL), HF_OK);
    rig_spawn(asker_run, &a);
    rig_join();
    CHECK_INT(a.locked, 1);
    CHECK_INT(a.mine, 0);
    CHECK_INT(a.count, 0);
    CHECK_INT(hf_lock_release(a.lock, NULL, NULL), HF_OK);
    rig_spawn(asker_run, &a);
    rig_join();
    CHECK_INT(a.locked, 0);
    CHECK_INT(a.mine, 0);
}

TEST(inspect, remembers_the_highest_fence_of_a_free_lock)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_looker(), "a");
    struct hf_info info = HF_INFO_INIT;
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 0);
    CHECK(info.fence >= fence);
}

TEST(inspect, does_not_disturb_the_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_looker(), "a");
    struct hf_acquire_options o = rig_options(0, 20000, HF_ACQUIRE_FIXED);
    struct hf_info info = HF_INFO_INIT;
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    int64_t before_ms = hf_hold_valid_ms(g);
    for (int i = 0; i < 10; i++)
        CHECK_INT(hf_lock_inspect(i % 2 ? l : other, &info, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(g) <= before_ms);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}
