/*
 * redisson_fence.c: tokens of RFencedLock and fences of ours.  One rule: each
 * grant's number is above the one before it, whichever side granted it.
 */
#include <stdlib.h>

#include "peer.h"

#define ROUNDS 200

static struct lab_server server;
static struct peer java;

static uint64_t fence_take(hf_lock *l)
{
    hf_hold *g = NULL;
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    return fence;
}

static uint64_t token_take(int round)
{
    const char *how = round % 2 ? "fencedlock a" : "fencedtry a 1000";
    int64_t token = peer_number(&java, "%s", how);
    CHECK(token > 0);
    CHECK_STR(peer_ask(&java, "fencedunlock a"), "ok");
    return (uint64_t)token;
}

TEST(redisson_fence, numbers_rise_across_both_in_every_round)
{
    uint64_t last = 0;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t fence = fence_take(l);
        CHECK(fence > last);
        last = fence;
        for (int k = 0; k <= i % 3; k++) {
            uint64_t token = token_take(i + k);
            CHECK(token > last);
            last = token;
        }
    }
}

/* Ours must rise even above a counter that Java began, at 1. */
TEST(redisson_fence, our_first_fence_is_above_javas_tokens)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t token = token_take(1);
    CHECK_INT(token, 1);
    CHECK(fence_take(l) > token);
}

/* Every form by which Java can learn a token, and the one that only asks. */
TEST(redisson_fence, numbers_rise_in_every_form_that_returns_a_token)
{
    static const char *const forms[] = {"fencedlock a", "fencedlock a 60000",
                                        "fencedtry a", "fencedtry a 1000",
                                        "fencedtry a 1000 60000"};
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        uint64_t fence = fence_take(l);
        uint64_t token = (uint64_t)peer_number(&java, "%s", forms[i]);
        CHECK(token > fence);
        CHECK_INT(peer_number(&java, "token a"), token);
        CHECK_STR(peer_ask(&java, "fencedunlock a"), "ok");
        CHECK(fence_take(l) > token);
    }
}

TEST(redisson_fence, java_reads_our_fence_as_the_last_token)
{
    hf_hold *g = NULL;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(peer_number(&java, "token a"), hf_hold_fence(g));
}

TEST(redisson_fence, entering_again_gives_us_no_new_number)
{
    hf_hold *first = NULL, *again = NULL;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, &first, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, &again, NULL), HF_OK);
    CHECK_INT(hf_hold_fence(again), hf_hold_fence(first));
    CHECK_INT(peer_number(&java, "token a"), hf_hold_fence(first));
}

TEST(redisson_fence, numbers_rise_when_one_waits_for_the_other)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, PEER_LEASE_MS, 0);
    hf_hold *g = NULL;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 10; i++) {
        CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
        uint64_t fence = hf_hold_fence(g);
        peer_say(&java, i % 2 ? "fencedlock a" : "fencedtry a 60000");
        CHECK(peer_until_waiters(&server, "a", 1));
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
        const char *token = peer_hear(&java, PEER_SOON_MS);
        CHECK(token != NULL);
        CHECK((uint64_t)strtoull(token, NULL, 10) > fence);
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
        CHECK_STR(peer_ask(&java, "fencedunlock a"), "ok");
    }
}

TEST(redisson_fence, our_break_raises_the_fence_above_javas_token)
{
    struct hf_info info = HF_INFO_INIT;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t token = (uint64_t)peer_number(&java, "fencedlock a");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.fence, token);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.fence > token);
    CHECK(fence_take(l) > info.fence);
    CHECK_STR(peer_ask(&java, "fencedunlock a"), "not owner");
}

/* A hold of ours that Java took over is older than Java's token. */
TEST(redisson_fence, javas_token_after_a_force_is_above_our_fence)
{
    hf_hold *g = NULL;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "force a"), "true");
    CHECK((uint64_t)peer_number(&java, "fencedlock a") > hf_hold_fence(g));
}
