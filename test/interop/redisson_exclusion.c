/*
 * redisson_exclusion.c: one lock, Java and us.  One rule: the side that does
 * not hold it gets nothing, changes nothing, and sees the truth about it.
 */
#include "peer.h"

static struct lab_server server;
static struct peer java;

TEST(redisson_exclusion, what_java_holds_we_cannot_take)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

TEST(redisson_exclusion, what_we_hold_java_cannot_take)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "try a 0"), "false");
    CHECK_STR(peer_ask(&java, "try a 300"), "false");
    CHECK_STR(peer_ask(&java, "fencedtry a 0"), "none");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "try a 0"), "true");
}

static void java_sees(const char *locked, int64_t ttl_from, int64_t ttl_to)
{
    CHECK_STR(peer_ask(&java, "islocked a"), locked);
    int64_t ttl_ms = peer_number(&java, "ttl a");
    CHECK(ttl_ms >= ttl_from && ttl_ms <= ttl_to);
}

static void we_see(hf_lock *l, int locked, int64_t ttl_from, int64_t ttl_to)
{
    int is_locked = -1;
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_is_locked(l, &is_locked, NULL), HF_OK);
    CHECK_INT(is_locked, locked);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    CHECK(ttl_ms >= ttl_from && ttl_ms <= ttl_to);
}

TEST(redisson_exclusion, both_see_the_same_lock_and_the_same_time_left)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, PEER_LEASE_MS, 0);
    struct hf_info info = HF_INFO_INIT;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    java_sees("false", -2, -2);
    we_see(l, 0, -2, -2);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    java_sees("true", 30001, PEER_LEASE_MS);
    we_see(l, 1, 30001, PEER_LEASE_MS);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    java_sees("true", 30001, PEER_LEASE_MS);
    we_see(l, 1, 30001, PEER_LEASE_MS);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.foreign, 1);
    CHECK_STR(info.layout, "redisson");
    CHECK_INT(info.mine, 0);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    java_sees("false", -2, -2);
    we_see(l, 0, -2, -2);
}

struct seen {
    const char *name;
    struct hf_info info;
};

static int row_note(const struct hf_list_row *row, void *user)
{
    struct seen *seen = user;
    seen->info = *row->info;
    seen->name = test_same_text(row->name, "a") ? "a" : "another";
    return 0;
}

TEST(redisson_exclusion, javas_locks_are_in_our_list)
{
    struct seen seen = {0};
    peer_begin(&java, &server, 30000);
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_client_list(c, NULL, row_note, &seen, NULL), HF_OK);
    CHECK_STR(seen.name, "a");
    CHECK_INT(seen.info.foreign, 1);
    CHECK_STR(seen.info.layout, "redisson");
    CHECK_INT(seen.info.owner_count, 1);
}

TEST(redisson_exclusion, java_cannot_unlock_what_we_hold)
{
    hf_hold *g = NULL;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "unlock a"), "not owner");
    CHECK_STR(peer_ask(&java, "fencedunlock a"), "not owner");
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* Ours is a release that is really sent: it was a hold of ours before. */
TEST(redisson_exclusion, we_cannot_release_what_java_holds)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "force a"), "true");
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_LOST);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(peer_number(&java, "count a"), 1);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
}

TEST(redisson_exclusion, java_enters_again_without_letting_us_in)
{
    struct hf_info info = HF_INFO_INIT;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 1; i <= 3; i++) {
        CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
        CHECK_INT(peer_number(&java, "count a"), i);
    }
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.owner_count, 3);
    CHECK_INT(info.count, 0);
    for (int i = 2; i >= 0; i--) {
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
        CHECK_STR(peer_ask(&java, "unlock a"), "ok");
        CHECK_INT(peer_number(&java, "count a"), i);
    }
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

TEST(redisson_exclusion, we_enter_again_without_letting_java_in)
{
    int64_t count = 0;
    int64_t left = -1;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
    }
    CHECK_INT(peer_number(&java, "count a"), 0);
    for (int i = 2; i >= 0; i--) {
        CHECK_STR(peer_ask(&java, "try a 0"), "false");
        CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
        CHECK_INT(left, i);
    }
    CHECK_STR(peer_ask(&java, "try a 0"), "true");
}

/* A hold is a client's and a thread's: numbers of threads alone prove nothing,
 * and Java's main thread is number 1. */
TEST(redisson_exclusion, the_same_thread_number_in_java_is_another_owner)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    for (uint64_t holder = 1; holder <= 40; holder++)
        CHECK_INT(rig_acquire(l, holder, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(rig_is_held_by(l, 1), 0);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    CHECK_INT(rig_acquire(l, 1, RIG_TRY, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "try a 0"), "false");
    CHECK_INT(peer_number(&java, "count a"), 0);
    CHECK_STR(peer_ask(&java, "unlock a"), "not owner");
}
