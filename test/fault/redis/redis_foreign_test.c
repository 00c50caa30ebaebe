/*
 * redis_foreign_test.c: what other programs store under a name, written here as
 * Redisson writes it.  One rule: what is not ours is neither changed nor
 * reported as something else, and its waiters are woken.
 */
#include <string.h>

#include "lib/ear.h"
#include "lib/fair.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/rig_semaphore.h"

#define JAVA "285475da-9152-4c83-822a-67ee2f116a79"
/* 16 bytes of a hash, in base64, as a group's values are called. */
#define VALUE "x3JJHMbDL1EzLkh9GBhXDw=="

static struct lab_server r;

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

/* ---- RFairLock ---- */

static void fair_queue(const char *thread, int64_t ends_ms)
{
    redis_say(&r, "RPUSH redisson_lock_queue:{a} " JAVA ":%s", thread);
    redis_say(&r, "ZADD redisson_lock_timeout:{a} %lld " JAVA ":%s",
              (long long)ends_ms, thread);
}

TEST(redis_foreign, breaking_a_fair_lock_wakes_its_first_living_waiter)
{
    int was_locked = 0;
    begin();
    int64_t now_ms =
        redis_number(&r, "EVAL \"return redis.call('TIME')[1]\" 0") * 1000;
    redis_say(&r, "HSET a " JAVA ":1 1");
    redis_say(&r, "PEXPIRE a 60000");
    fair_queue("2", now_ms - 1000); /* dead */
    fair_queue("3", now_ms + 300000);
    fair_queue("4", now_ms + 600000);
    ear_open(&r, "redisson_lock__channel:{a}:" JAVA ":3");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK(ear_hears("$1\r\n0\r\n"));
    /* Its places are its own business. */
    CHECK_INT(redis_number(&r, "LLEN redisson_lock_queue:{a}"), 3);
}

/* ---- RSemaphore, RCountDownLatch ---- */

static hf_latch *latch_ours(const char *name)
{
    hf_latch *latch;
    CHECK_INT(
        hf_latch_open_as(rig_client(NULL), name, HF_LATCH_OURS, &latch, NULL),
        HF_OK);
    return latch;
}

TEST(redis_foreign, a_number_of_java_is_no_latch_of_ours)
{
    int64_t left = -1;
    struct hf_error err;
    begin();
    redis_say(&r, "SET a 5");
    hf_latch *latch = latch_ours("a");
    CHECK_INT(hf_latch_down(latch, &left, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "another program"));
    CHECK_INT(hf_latch_count(latch, &left, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_set(latch, 3, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_delete(latch, NULL, NULL), HF_CONFLICT);
    hf_latch_close(latch);
    CHECK_STR(redis_say(&r, "GET a"), "5");
    /* A program that shares it with Java says that it is one. */
    CHECK_INT(hf_latch_open(rig_client(NULL), "a", &latch, NULL), HF_OK);
    CHECK_INT(hf_latch_down(latch, &left, NULL), HF_OK);
    CHECK_INT(left, 4);
    CHECK_INT(redis_number(&r, "EXISTS {a}:hf"), 0); /* Java's it stays */
    hf_latch_close(latch);
}

TEST(redis_foreign, our_own_latch_is_ours)
{
    int64_t left = -1;
    begin();
    hf_latch *latch = latch_ours("a");
    CHECK_INT(hf_latch_set(latch, 2, NULL), HF_OK);
    CHECK_INT(hf_latch_down(latch, &left, NULL), HF_OK);
    CHECK_INT(left, 1);
    CHECK_INT(hf_latch_down(latch, &left, NULL), HF_OK);
    CHECK_INT(left, 0);
    CHECK_INT(hf_latch_set(latch, 1, NULL), HF_OK);
    hf_latch_close(latch);
}

TEST(redis_foreign, a_number_of_java_is_no_semaphore_of_ours)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_semaphore_state st = HF_SEMAPHORE_STATE_INIT;
    begin();
    o.flags = HF_SEMAPHORE_OURS;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "a", &o);
    redis_say(&r, "SET a 5");
    CHECK_INT(hf_semaphore_try_set(s, 2, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_semaphore_set(s, 2, 0, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_semaphore_state(s, &st, NULL), HF_CONFLICT);
    CHECK_INT(hf_semaphore_delete(s, NULL, NULL), HF_CONFLICT);
    CHECK_STR(redis_say(&r, "GET a"), "5");
    CHECK_STR(redis_say(&r, "KEYS *"), "a\n");
}

TEST(redis_foreign, our_own_semaphore_is_ours_also_after_its_facts_have_ended)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_semaphore_state st = HF_SEMAPHORE_STATE_INIT;
    hf_hold *p;
    begin();
    o.flags = HF_SEMAPHORE_OURS;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "a", &o);
    CHECK_INT(hf_semaphore_try_set(s, 2, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    redis_say(&r, "DEL {a}:hf");
    CHECK_INT(hf_semaphore_state(s, &st, NULL), HF_OK);
    CHECK_INT(st.capacity, 2);
}

TEST(redis_foreign, a_semaphore_whose_number_an_acquire_has_set_is_ours)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_semaphore_state st = HF_SEMAPHORE_STATE_INIT;
    hf_hold *p;
    begin();
    o.flags = HF_SEMAPHORE_OURS;
    o.permits = 2;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "a", &o);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_semaphore_state(s, &st, NULL), HF_OK);
    CHECK_INT(st.capacity, 2);
}

TEST(redis_foreign, a_number_of_java_stays_whatever_it_is_opened_with)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    hf_hold *p;
    begin();
    o.permits = 2;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "a", &o);
    redis_say(&r, "SET a 5");
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "GET a"), "4");
}

/* As if it was not used for long; and was it used since? */
static void age(void)
{
    CHECK_INT(redis_number(&r, "PEXPIRE {a}:hf 60000"), 1);
}

static int is_young(void)
{
    return redis_number(&r, "PTTL {a}:hf") > 29LL * 86400000;
}

TEST(redis_foreign, a_latch_that_is_counted_stays_ours)
{
    int64_t left = -1;
    begin();
    hf_latch *latch = latch_ours("a");
    CHECK_INT(hf_latch_set(latch, 2, NULL), HF_OK);
    age();
    CHECK_INT(hf_latch_down(latch, &left, NULL), HF_OK);
    CHECK(is_young());
    hf_latch_close(latch);
}

TEST(redis_foreign, a_semaphore_that_is_used_stays_ours)
{
    hf_hold *p;
    begin();
    hf_semaphore *s = rig_semaphore_set(rig_client(NULL), "a", 2);
    CHECK(is_young());
    age();
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK(is_young());
    age();
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK(is_young());
}

TEST(redis_foreign, a_counter_that_is_used_stays_ours)
{
    hf_hold *p;
    begin();
    hf_semaphore *s = rig_counter(rig_client(NULL), "a", 2);
    CHECK(is_young());
    age();
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK(is_young());
    age();
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK(is_young());
    CHECK_INT(redis_number(&r, "DEL {a}:hf"), 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS {a}:hf"), 0);
}

/* ---- getMultiLock(group, values) ---- */

static void group_take(void)
{
    redis_say(&r, "HSET a " VALUE " " JAVA ":1 " VALUE ":" JAVA
                  ":1:expire_time 99999999999999 " VALUE ":" JAVA
                  ":1:lock_count 1");
    redis_say(&r, "PEXPIRE a 60000");
}

TEST(redis_foreign, a_group_of_java_is_a_conflict)
{
    struct hf_info info = HF_INFO_INIT;
    begin();
    group_take();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "HLEN a"), 3);
}

TEST(redis_foreign, a_group_taken_under_our_hold_survives_our_release)
{
    struct hf_error err;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    group_take();
    CHECK_INT(hf_lock_release(l, NULL, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "getMultiLock"));
    CHECK_INT(redis_number(&r, "HLEN a"), 3);
    CHECK_STR(redis_say(&r, "HGET a " VALUE), JAVA ":1");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_CONFLICT);
}

TEST(redis_foreign, a_group_taken_under_a_fair_hold_survives_its_release)
{
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    group_take();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "HLEN a"), 3);
}
