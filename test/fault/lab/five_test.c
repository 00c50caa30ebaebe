/*
 * five_test.c: the rig of many servers does what it says.  One rule: each fault
 * is seen in one server and in no other.
 */
#include <string.h>
#include <time.h>

#include "lib/five.h"
#include "lib/rig.h"

#define NODES 5
#define JUMP_MS INT64_C(120000)
#define NEAR_MS 30000 /* two clocks that are read on a busy machine */

static struct lab_masters f;

static const char *say(int node, const char *words)
{
    return redis_say(&f.nodes[node].redis, "%s", words);
}

/* Take and give back a lock there, as a client does: through the proxy. */
static int lock_once(int node)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1500;
    o.patience_ms = 3000;
    hf_client *c = rig_client_at(f.nodes[node].url, &o);
    hf_lock *l = rig_lock(c, "a");
    int status = hf_lock_try(l, NULL, NULL);
    if (status == HF_OK) status = hf_lock_release(l, NULL, NULL);
    rig_close(c);
    return status;
}

static int64_t wall_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int is_near(int64_t a_ms, int64_t b_ms)
{
    return a_ms - b_ms < NEAR_MS && b_ms - a_ms < NEAR_MS;
}

TEST(five, are_independent_and_reached_through_their_proxies)
{
    five_begin(&f, NODES);
    for (int i = 0; i < NODES; i++) {
        CHECK_INT(lock_once(i), HF_OK);
        redis_say(&f.nodes[i].redis, "SET node %d", i);
    }
    for (int i = 0; i < NODES; i++) {
        CHECK_INT(redis_number(&f.nodes[i].redis, "GET node"), i);
        CHECK(atomic_load(&f.nodes[i].proxy.bytes[PROXY_UP]) > 0);
    }
}

TEST(five, one_that_is_killed_comes_back_with_its_data)
{
    five_begin(&f, 2);
    CHECK_STR(say(1, "SET x 1"), "OK");
    five_kill(&f, 1);
    CHECK_INT(lock_once(1), HF_UNAVAILABLE);
    CHECK_INT(lock_once(0), HF_OK);
    five_restart(&f, 1);
    CHECK_STR(say(1, "GET x"), "1");
    CHECK_INT(lock_once(1), HF_OK);
}

TEST(five, one_that_is_killed_comes_back_empty_if_told_so)
{
    five_begin(&f, 2);
    for (int i = 0; i < 2; i++) CHECK_STR(say(i, "SET x 1"), "OK");
    five_kill(&f, 1);
    five_restart_empty(&f, 1);
    CHECK_STR(say(1, "GET x"), "(nil)");
    CHECK_STR(say(0, "GET x"), "1");
}

TEST(five, one_that_is_stopped_does_not_answer_until_it_goes_on)
{
    five_begin(&f, 2);
    five_stop(&f, 0);
    CHECK_INT(lock_once(0), HF_UNAVAILABLE);
    CHECK_INT(lock_once(1), HF_OK);
    five_cont(&f, 0);
    /* What was sent meanwhile is carried out first, and released. */
    hf_lock *l = rig_lock(rig_client_at(f.nodes[0].url, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(five, one_that_is_slow_takes_its_time_both_ways)
{
    five_begin(&f, 2);
    hf_lock *slow = rig_lock(rig_client_at(f.nodes[0].url, NULL), "a");
    hf_lock *fast = rig_lock(rig_client_at(f.nodes[1].url, NULL), "a");
    CHECK_INT(hf_lock_try(slow, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(fast, NULL, NULL), HF_OK);
    five_delay(&f, 0, 200);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_release(slow, NULL, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms >= 400);
    five_delay(&f, 0, 0);
    CHECK_INT(rig_probe(slow), HF_OK);
    CHECK_INT(hf_lock_release(fast, NULL, NULL), HF_OK);
}

/* More than fits on the way at once: it must come whole and in order. */
TEST(five, a_delay_loses_nothing_of_a_long_answer)
{
    static struct lab_server through;
    five_begin(&f, 1);
    CHECK_STR(say(0, "SETRANGE long 60000 end"), "60003");
    CHECK_STR(say(0, "SETRANGE long 0 begin"), "60003");
    five_delay(&f, 0, 20);
    through.port = f.nodes[0].proxy.port;
    const char *reply = redis_say(&through, "STRLEN long");
    CHECK_STR(reply, "60003");
    redis_say(&through, "GET long");
    CHECK(!memcmp(through.reply, "begin", 5));
    CHECK(!memcmp(through.reply + 60000, "end", 4));
}

TEST(five, one_that_is_severed_cannot_be_reached_but_runs)
{
    five_begin(&f, 2);
    hf_lock *l = rig_lock(rig_client_at(f.nodes[0].url, NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    five_sever(&f, 0, 1);
    CHECK_INT(lock_once(0), HF_UNAVAILABLE);
    CHECK_INT(lock_once(1), HF_OK);
    CHECK_INT(redis_number(&f.nodes[0].redis, "EXISTS a"), 1);
    five_sever(&f, 0, 0);
    CHECK_INT(lock_once(0), HF_TAKEN);
}

TEST(five, a_clock_jumps_forward_and_what_it_kept_ends)
{
    five_begin(&f, 2);
    for (int i = 0; i < 2; i++) CHECK_STR(say(i, "SET x 1 PX 60000"), "OK");
    five_jump(&f, 0, JUMP_MS);
    CHECK(is_near(five_time_ms(&f, 0), wall_ms() + JUMP_MS));
    CHECK(is_near(five_time_ms(&f, 1), wall_ms()));
    CHECK_STR(say(0, "GET x"), "(nil)");
    CHECK_STR(say(1, "GET x"), "1");
}

TEST(five, a_clock_jumps_back_and_what_it_kept_lasts_longer)
{
    five_begin(&f, 2);
    for (int i = 0; i < 2; i++) CHECK_STR(say(i, "SET x 1 PX 60000"), "OK");
    five_jump(&f, 0, -JUMP_MS);
    CHECK(is_near(five_time_ms(&f, 0), wall_ms() - JUMP_MS));
    CHECK(redis_number(&f.nodes[0].redis, "PTTL x") > JUMP_MS);
    CHECK(redis_number(&f.nodes[1].redis, "PTTL x") <= 60000);
}

TEST(five, a_jumped_clock_stays_so_across_a_restart)
{
    five_begin(&f, 1);
    five_jump(&f, 0, JUMP_MS);
    five_kill(&f, 0);
    five_restart(&f, 0);
    CHECK(is_near(five_time_ms(&f, 0), wall_ms() + JUMP_MS));
    five_jump(&f, 0, -JUMP_MS);
    CHECK(is_near(five_time_ms(&f, 0), wall_ms()));
}
