/*
 * guarantee_kinds_test.c: what becomes of readers, permits, fair locks and
 * latches when a replica takes over.  One rule: afterwards each check asks the
 * replica alone, which was promoted by hand.
 */
#include <string.h>

#include "lib/fair.h"
#include "lib/rig_gate.h"
#include "lib/rig_redis.h"
#include "lib/rig_rw.h"
#include "lib/rig_semaphore.h"

#define LEASE_MS 600000

static struct lab_server primary, copy;
static struct fair_waiter waiter;

static void begin(void)
{
    redis_begin(&primary, NULL);
    redis_begin(&copy, NULL);
    rig_begin_at(primary.url);
    redis_follow(&copy, primary.port);
}

/* Of the primary; its grants count once the replica has them. */
static hf_client *client_waiting(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[96];
    o.lease_ms = LEASE_MS;
    o.patience_ms = RIG_PATIENCE_MS;
    snprintf(url, sizeof url, "%s?wait=1&wait_renew=on", primary.url);
    return rig_client_at(url, &o);
}

/* The primary is gone; a client of the replica in its place. */
static hf_client *client_promoted(void)
{
    redis_shutdown(&primary, 0);
    redis_resume(&copy); /* if it was cut off */
    CHECK_STR(redis_say(&copy, "REPLICAOF NO ONE"), "OK");
    return rig_client_at(copy.url, NULL);
}

static int is_copied(void *name)
{
    return redis_number(&copy, "EXISTS %s", (const char *)name) == 1;
}

/* The replica has `name`, and hears of nothing that is done from now on. */
static void replica_cut(char *name)
{
    CHECK(rig_until(is_copied, name));
    redis_pause(&copy);
    redis_say(&primary, "CLIENT KILL TYPE replica");
}

TEST(guarantee_kinds, a_reader_that_all_replicas_have_is_kept)
{
    struct rw held, next;
    hf_hold *g;
    begin();
    rw_open(&held, client_waiting(), "a", HF_ORDER_ANY);
    CHECK_INT(rig_acquire(held.read, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_replicas(g), 1);
    rw_open(&next, client_promoted(), "a", HF_ORDER_ANY);
    CHECK_INT(rig_probe(next.read), HF_OK);
    CHECK_INT(rig_probe(next.write), HF_TAKEN);
}

TEST(guarantee_kinds, permits_that_all_replicas_have_are_kept)
{
    begin();
    hf_semaphore *s = rig_semaphore(client_waiting(), "s", 2);
    CHECK_INT(rig_take(s, 2, RIG_WAIT_MS, NULL), HF_OK);
    hf_semaphore *next = rig_semaphore_as(client_promoted(), "s", NULL);
    CHECK_INT(rig_count(next).taken, 2);
    CHECK_INT(rig_take(next, 1, 0, NULL), HF_TAKEN);
}

/* It is given by a message, which no replica has heard of. */
TEST(guarantee_kinds, what_is_handed_over_counts_once_all_replicas_have_it)
{
    begin();
    hf_lock *l = fair_lock(client_waiting(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    waiter = (struct fair_waiter){.lock = fair_lock(client_waiting(), "a"),
                                  .is_kept = 1};
    fair_join(&waiter);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(waiter.status, HF_OK);
    CHECK_INT(hf_hold_replicas(waiter.hold), 1);
    CHECK_INT(rig_probe(rig_lock(client_promoted(), "a")), HF_TAKEN);
}

/* A semaphore has no quorum: its permits are what its server remembers. */
TEST(guarantee_limit, permits_that_the_replica_has_not_are_granted_again)
{
    hf_hold *mine, *theirs;
    begin();
    hf_semaphore *s = rig_semaphore_set(rig_client(NULL), "s", 1);
    replica_cut((char[]){"s"});
    CHECK_INT(hf_semaphore_try(s, &mine, NULL), HF_OK);
    hf_semaphore *next = rig_semaphore_as(client_promoted(), "s", NULL);
    CHECK_INT(rig_take(next, 1, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_valid_ms(mine) > 0);
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
}

/* wait= is for grants, and a count is none. */
TEST(guarantee_limit, a_count_that_the_replica_has_not_is_not_counted)
{
    int64_t left = -1;
    begin();
    hf_latch *l = rig_latch(client_waiting(), "a");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    replica_cut((char[]){"a"});
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_OK);
    CHECK_INT(left, 1);
    CHECK_INT(rig_latch_left(rig_latch(client_promoted(), "a")), 2);
}
