/*
 * redis_replica_kinds_test.c: wait= for what is more than a plain lock.  One
 * rule: what no replica has is never granted, however it came about.
 */
#include <string.h>

#include "lib/fair.h"
#include "lib/rig_redis.h"
#include "lib/rig_rw.h"
#include "lib/rig_semaphore.h"

static struct lab_server r, copy;
static struct fair_waiter waiter;

/* A primary and its replica. */
static void begin(void)
{
    redis_begin(&r, NULL);
    redis_begin(&copy, NULL);
    rig_begin_at(r.url);
    redis_follow(&copy, r.port);
}

/* Of a client whose grants count once the replica has them. */
static hf_client *client_waiting(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[96];
    o.patience_ms = RIG_PATIENCE_MS;
    snprintf(url, sizeof url, "%s?wait=1", r.url);
    return rig_client_at(url, &o);
}

/* The message of a hand-over is no such grant: the waiter that hears it asks
 * the server. */
TEST(redis_replica_kinds, what_is_handed_over_counts_once_a_replica_has_it)
{
    begin();
    hf_lock *l = fair_lock(client_waiting(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    waiter = (struct fair_waiter){.lock = fair_lock(client_waiting(), "a"),
                                  .is_kept = 1};
    fair_join(&waiter);
    redis_pause(&copy);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_pause_ms(1000);
    int was_over = atomic_load(&waiter.is_over);
    redis_resume(&copy);
    CHECK_INT(was_over, 0);
    rig_join();
    CHECK_INT(waiter.status, HF_OK);
    CHECK_INT(redis_number(&copy, "EXISTS a"), 1);
}

TEST(redis_replica_kinds, a_read_lock_and_a_permit_count_once_it_has_them)
{
    hf_hold *p;
    struct rw a;
    begin();
    hf_client *c = client_waiting();
    rw_open(&a, c, "a", HF_ORDER_ANY);
    CHECK_INT(rig_acquire(a.read, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(redis_number(&copy, "HLEN a"), 2);
    hf_semaphore *s = rig_semaphore(c, "s", 2);
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, &p), HF_OK);
    CHECK_STR(redis_say(&copy, "GET s"), "1");
}

static int are_back(void *arg)
{
    (void)arg;
    return redis_number(&r, "GET s") == 2;
}

/* What was taken all the same is put back. */
TEST(redis_replica_kinds, permits_that_no_replica_has_are_not_out)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_hold *p;
    char url[96];
    begin();
    o.patience_ms = 4000;
    snprintf(url, sizeof url, "%s?wait=1", r.url);
    hf_semaphore *s = rig_semaphore(rig_client_at(url, &o), "s", 2);
    redis_pause(&copy);
    int status = hf_semaphore_try(s, &p, &err);
    redis_resume(&copy);
    CHECK_INT(status, HF_UNAVAILABLE);
    if (!strstr(err.text, "0 of 1 replicas")) TEST_FAIL("%s", err.text);
    CHECK(rig_until(are_back, NULL));
}
