/*
 * redlock_ticket_test.c: a hold of a quorum that is given back by its ticket,
 * while a server is away.  One rule: what no majority has any more is released,
 * even if the other members cannot be asked.
 */
#include "lib/redlock.h"

#define LEASE_MS 30000 /* ends in no test */

static struct redlock r;
static char ticket[HF_TICKET_MAX];
static uint64_t fence; /* of that hold */

/* Held on 0, 1 and 2 alone; the others can be reached again. */
static void detach_on_three(void)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, LEASE_MS, HF_ACQUIRE_DETACHED);
    hf_hold *g;
    redlock_begin(&r, LEASE_MS);
    hf_client *c = redlock_client(&r, 0, NULL);
    hf_lock *l = rig_lock(c, "a");
    five_sever(&r.five, 3, 1);
    five_sever(&r.five, 4, 1);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    fence = hf_hold_fence(g);
    rig_close(c);
    five_sever(&r.five, 3, 0);
    five_sever(&r.five, 4, 0);
    CHECK_INT(redlock_has(&r, 3, "a") + redlock_has(&r, 4, "a"), 0);
}

static int ticket_release(void)
{
    hf_lock *l = rig_lock(redlock_newcomer(&r, 0, NULL), "a");
    struct hf_error err = {0};
    int status = hf_ticket_release(l, ticket, &err);
    if (status != HF_OK) printf("    %s\n", err.text);
    return status;
}

TEST(redlock_ticket, is_released_when_one_that_had_it_cannot_be_reached)
{
    detach_on_three();
    five_sever(&r.five, 0, 1);
    CHECK_INT(ticket_release(), HF_OK);
    CHECK_INT(redlock_has(&r, 1, "a") + redlock_has(&r, 2, "a"), 0);
    hf_lock *next = rig_lock(redlock_newcomer(&r, 0, NULL), "a");
    CHECK_INT(rig_acquire(next, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* The proposal to a member that did not grant it may still be on its way: that
 * member now counts up to the number of the hold, and refuses it. */
TEST(redlock_ticket, is_released_for_good_where_it_was_not_granted)
{
    detach_on_three();
    CHECK_INT(ticket_release(), HF_OK);
    for (int i = 3; i < 5; i++) {
        struct lab_server *s = &r.five.nodes[i].redis;
        CHECK_INT(redis_number(s, "EXISTS redisson_lock_token:{a}"), 1);
        CHECK((uint64_t)redis_number(s, "GET redisson_lock_token:{a}")
              >= fence);
    }
}

/* What a contender that lost the vote has not taken back yet. */
TEST(redlock_ticket, is_released_although_a_minority_is_granted_to_another)
{
    struct lab_server *stray = &r.five.nodes[4].redis;
    detach_on_three();
    redis_say(stray, "HSET a 0f0f0f0f-1111-4222-8333-444444444444:1 1");
    CHECK_INT(redis_number(stray, "PEXPIRE a 60000"), 1);
    five_sever(&r.five, 0, 1);
    CHECK_INT(ticket_release(), HF_OK);
    CHECK_INT(redlock_has(&r, 1, "a") + redlock_has(&r, 2, "a"), 0);
    CHECK_INT(redlock_has(&r, 4, "a"), 1);
}

/* With too few of them left nothing is known. */
TEST(redlock_ticket, is_unavailable_when_no_majority_can_be_reached)
{
    detach_on_three();
    for (int i = 0; i < 3; i++) five_sever(&r.five, i, 1);
    CHECK_INT(ticket_release(), HF_UNAVAILABLE);
}

/* Most of them say that they have nothing: it had ended before. */
TEST(redlock_ticket, is_expired_when_a_majority_has_nothing)
{
    detach_on_three();
    redis_say(&r.five.nodes[0].redis, "DEL a");
    five_sever(&r.five, 1, 1);
    CHECK_INT(ticket_release(), HF_EXPIRED);
}
