/*
 * redisson_latch.c: one latch, counted and waited for by both sides.  One rule:
 * a waiter is woken by the other side's message, long before it would look
 * again without one.
 */
#include <string.h>

#include "lib/rig_gate.h"
#include "peer.h"

static struct lab_server server;
static struct peer java;
static struct gate_wait w;

#define LOOK_MS 4000 /* less than any look without a message takes */

/* Names that put Redisson's channel into braces of their own. */
static const char *const names[] = {"plain", "{tag}:job", "half{open"};
#define NAMES_LEN (sizeof names / sizeof names[0])

/* How many listen on the channel, by Redisson's rule. */
static int is_listened_to(void *name)
{
    const char *said = redis_say(
        &server, "PUBSUB NUMSUB redisson_countdownlatch__channel__{%s}",
        (const char *)name);
    const char *count = strchr(said, '\n');
    return count && count[1] != '0';
}

static void until_listened_to(const char *name)
{
    CHECK(rig_until(is_listened_to, (void *)(uintptr_t)name));
    rig_pause_ms(100); /* it looks once more after it has subscribed */
}

TEST(redisson_latch, both_sides_count_one_number)
{
    peer_begin(&java, &server, 30000);
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "latch.set a 3"), "true");
    CHECK_INT(rig_latch_left(l), 3);
    CHECK_INT(hf_latch_set(l, 9, NULL), HF_TAKEN);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(peer_number(&java, "latch.count a"), 2);
    CHECK_STR(peer_ask(&java, "latch.down a"), "ok");
    CHECK_INT(rig_latch_left(l), 1);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "latch.wait a 1000"), "true");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "latch.set a 5"), "false");
    CHECK_INT(peer_number(&java, "latch.count a"), 2);
}

TEST(redisson_latch, our_wait_ends_with_javas_last_count)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < NAMES_LEN; i++) {
        CHECK_STR(peer_ask(&java, "latch.set %s 1", names[i]), "true");
        gate_wait_latch(&w, rig_latch(c, names[i]), PEER_LEASE_MS, NULL);
        until_listened_to(names[i]);
        int64_t began_ms = rig_now_ms();
        CHECK_STR(peer_ask(&java, "latch.down %s", names[i]), "ok");
        CHECK_INT(gate_ended(&w), HF_OK);
        CHECK(rig_now_ms() - began_ms < LOOK_MS);
    }
}

TEST(redisson_latch, javas_wait_ends_with_our_last_count)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < NAMES_LEN; i++) {
        hf_latch *l = rig_latch(c, names[i]);
        CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
        peer_say(&java, "latch.wait %s %d", names[i], PEER_LEASE_MS);
        until_listened_to(names[i]);
        CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
        CHECK(peer_hear(&java, 100) == NULL);
        CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
    }
}

/* It never looks again by itself: only our message can have set it going. */
TEST(redisson_latch, our_deletion_wakes_javas_wait)
{
    peer_begin(&java, &server, 30000);
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    peer_say(&java, "latch.wait a %d", PEER_LEASE_MS);
    until_listened_to("a");
    CHECK_INT(hf_latch_delete(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
}

TEST(redisson_latch, javas_deletion_ends_our_wait)
{
    peer_begin(&java, &server, 30000);
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "latch.set a 2"), "true");
    gate_wait_latch(&w, l, PEER_LEASE_MS, NULL);
    until_listened_to("a");
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "latch.delete a"), "true");
    CHECK_INT(gate_ended(&w), HF_OK);
    CHECK(rig_now_ms() - began_ms < LOOK_MS);
}

/* There it is silent; here it is told. */
TEST(redisson_latch, a_count_too_many_leaves_nothing_behind)
{
    peer_begin(&java, &server, 30000);
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "latch.down a"), "ok");
    CHECK_STR(peer_ask(&java, "latch.down a"), "ok");
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_latch_left(l), 0);
    CHECK_INT(redis_number(&server, "EXISTS a"), 0);
    CHECK_STR(peer_ask(&java, "latch.set a 1"), "true");
}

#define ROUNDS 30

TEST(redisson_latch, is_used_again_and_again_by_both)
{
    peer_begin(&java, &server, 30000);
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
        gate_wait_latch(&w, l, PEER_LEASE_MS, NULL);
        CHECK_STR(peer_ask(&java, "latch.down a"), "ok");
        peer_say(&java, "latch.wait a %d", PEER_LEASE_MS);
        CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
        CHECK_INT(gate_ended(&w), HF_OK);
    }
}
