/*
 * string_exclusion.c: one lock, a string library and us.  One rule: the side
 * that does not hold it gets nothing, changes nothing, and sees the truth about
 * it.
 */
#include "library.h"

LIBRARY_TEST(exclusion, what_it_holds_we_cannot_take)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

LIBRARY_TEST(exclusion, what_we_hold_it_cannot_take)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "false");
    CHECK_STR(peer_ask(&t->there, "try a 300 %d", PEER_LEASE_MS), "false");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}

LIBRARY_TEST(exclusion, what_we_enter_again_it_gets_only_at_the_last_release)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "false");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "true");
}

/* Neither side's bookkeeping may be a part of the other's lock. */
LIBRARY_TEST(exclusion, holds_without_a_fence_exclude_too)
{
    hf_lock *l = rig_lock(library_client(t, "&fence=off"), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "false");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "true");
}

LIBRARY_TEST(exclusion, what_we_try_in_vain_leaves_its_lock_as_it_was)
{
    char before[128];
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    snprintf(before, sizeof before, "%s", redis_say(&t->server, "GET a"));
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_STR(redis_say(&t->server, "GET a"), before);
    CHECK(redis_number(&t->server, "PTTL a") > 30000);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}

LIBRARY_TEST(exclusion, its_lock_is_shown_as_a_string)
{
    struct hf_info info = HF_INFO_INIT;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_STR(info.layout, "string");
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.foreign, 1);
    CHECK_INT(info.mine, 0);
    CHECK(info.ttl_ms > 30000 && info.ttl_ms <= PEER_LEASE_MS);
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

LIBRARY_TEST(exclusion, its_locks_are_in_our_list)
{
    struct seen seen = {0};
    hf_client *c = rig_client(NULL);
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_client_list(c, NULL, row_note, &seen, NULL), HF_OK);
    CHECK_STR(seen.name, "a");
    CHECK_STR(seen.info.layout, "string");
}

LIBRARY_TEST(exclusion, our_break_takes_its_lock_away)
{
    int was_locked = 0;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "not owner");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}
