/*
 * multi_servers_test.c: sets of locks on real servers: what they cost, and what
 * is left of those that failed.  One rule: both are asked of the servers, not
 * of the library.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig_multi.h"
#include "lib/rig_redis.h"

#define NAMES 8
#define ROUNDS 20

static struct lab_server r, s;

static hf_multi *multi_named(hf_client *c, int len)
{
    hf_lock *locks[NAMES];
    char name[] = "a";
    for (int i = 0; i < len; i++, name[0]++) locks[i] = rig_lock(c, name);
    return rig_multi(locks, (size_t)len);
}

/* ---- what it costs ------------------------------------------------------- */

/* How often the server has found something to read, and how often it was asked
 * to run a script. */
struct cost {
    int64_t reads, scripts;
};

static struct cost cost_now(void)
{
    struct cost c = {.reads = redis_info(&r, "total_reads_processed")};
    const char *calls =
        strstr(redis_say(&r, "INFO commandstats"), "cmdstat_evalsha:calls=");
    if (calls) c.scripts = strtoll(strchr(calls, '=') + 1, NULL, 10);
    return c;
}

/* Since `before`, without the questions themselves. */
static struct cost cost_since(struct cost before)
{
    struct cost now = cost_now(), again = cost_now();
    return (struct cost){now.reads - before.reads - (again.reads - now.reads),
                         now.scripts - before.scripts};
}

TEST(multi_servers, of_one_server_is_taken_by_one_write_with_a_script_each)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    hf_multi *m = multi_named(c, NAMES);
    hf_hold *g = NULL;
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK); /* connects */
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    struct cost before = cost_now();
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
    struct cost all = cost_since(before);
    CHECK_INT(all.scripts, 2 * ROUNDS * NAMES);
    /* The end of a connection that asked is read, too, sooner or later. */
    CHECK(all.reads >= 2 * ROUNDS - 4 && all.reads <= 2 * ROUNDS + 4);
}

TEST(multi_servers, of_one_server_takes_one_round_trip_over_a_slow_line)
{
    static struct lab_proxy proxy;
    char url[64];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&proxy, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy.port);
    hf_multi *m = multi_named(rig_client_at(url, NULL), NAMES);
    hf_hold *g = NULL;
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    proxy_delay(&proxy, PROXY_DOWN, 700);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK);
    int64_t took_ms = rig_now_ms() - began_ms;
    proxy_delay(&proxy, PROXY_DOWN, 0);
    CHECK(took_ms >= 700);
    CHECK(took_ms < 700 * NAMES / 2); /* one after the other: 700 * NAMES */
}

/* A waiter that looked again and again would ask eight times in this. */
static int is_quiet(void *arg)
{
    (void)arg;
    struct cost before = cost_now();
    rig_pause_ms(2000);
    return cost_since(before).scripts <= 1;
}

/* On a busy machine it takes a while until the waiter has been refused, has
 * given back what it had, and listens. */
TEST(multi_servers, that_waits_asks_for_nothing_until_it_is_woken)
{
    static struct waiter w;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *other = rig_lock(rig_client(NULL), "b");
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    waiter_start(&w, multi_named(rig_client(NULL), 3), NULL, RIG_WAIT_MS);
    CHECK(rig_until(is_quiet, NULL));
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

/* ---- what is left -------------------------------------------------------- */

TEST(multi_servers, that_is_cancelled_leaves_no_key)
{
    static struct waiter w;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    hf_lock *other = rig_lock(rig_client(NULL), "c");
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    hf_multi *m = multi_named(c, 4);
    hf_cancel *cancel = rig_cancel(c);
    waiter_start(&w, m, cancel, RIG_WAIT_MS);
    hf_cancel_fire(cancel);
    rig_join();
    CHECK_INT(w.status, HF_CANCELLED);
    CHECK_INT(redis_number(&r, "EXISTS a b d"), 0);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a b c d"), 0);
}

TEST(multi_servers, that_is_refused_for_good_leaves_no_key)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_multi *m = multi_named(rig_client(NULL), 3);
    hf_hold *g = NULL;
    redis_say(&r, "SET b something");
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS a c"), 0);
}

/* Defect 13: there, the end of the acquire sets the lease on every key, also
 * on the counter of the tokens, which then begins anew. */
TEST(multi_servers, sets_no_end_to_the_tokens)
{
    hf_hold *g = NULL;
    uint64_t fence[2];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_multi *m = multi_named(rig_client(NULL), 2);
    struct hf_acquire_options o = rig_options(0, 3000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_multi_acquire(m, &o, &g, NULL), HF_OK);
    for (size_t i = 0; i < 2; i++) {
        fence[i] = hf_hold_fence(hf_hold_part(g, i));
        CHECK(fence[i] > 0);
    }
    CHECK_INT(redis_number(&r, "PTTL redisson_lock_token:{a}"), -1);
    CHECK_INT(redis_number(&r, "PTTL redisson_lock_token:{b}"), -1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    rig_pause_ms(3300);
    CHECK_INT(hf_multi_acquire(m, &o, &g, NULL), HF_OK);
    for (size_t i = 0; i < 2; i++)
        CHECK(hf_hold_fence(hf_hold_part(g, i)) > fence[i]);
}

/* The same defect: there, the lease is set on a key although another holder has
 * the lock by then. */
TEST(multi_servers, sets_no_end_to_what_became_another_s)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_multi *m = multi_named(rig_client(NULL), 2);
    hf_hold *g = NULL;
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK);
    redis_say(&r, "DEL a");
    redis_say(&r, "HSET a 0f0f0f0f-1111-4222-8333-444444444444:1 1");
    redis_say(&r, "PEXPIRE a 600000");
    CHECK_INT(hf_hold_extend(g, 2000, NULL), HF_LOST);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST);
    CHECK_INT(hf_hold_release(g, NULL), HF_LOST);
    CHECK(redis_number(&r, "PTTL a") > 500000);
    CHECK_INT(redis_number(&r, "EXISTS b"), 0);
}

static int is_acquired(void *arg)
{
    hf_hold *hold = NULL;
    return hf_multi_acquire(arg, NULL, &hold, NULL) == HF_OK;
}

TEST(multi_servers, with_a_dead_server_takes_nothing_of_the_others)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    redis_begin(&r, NULL);
    redis_begin(&s, NULL);
    rig_begin_at(r.url);
    o.patience_ms = 600;
    hf_client *c = rig_client(&o), *d = rig_client_at(s.url, &o);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(d, "a")};
    hf_multi *m = rig_multi(locks, 3);
    hf_hold *g = NULL;
    redis_shutdown(&s, 0);
    CHECK_INT(hf_multi_acquire(m, NULL, &g, &err), HF_UNAVAILABLE);
    CHECK_INT(err.status, HF_UNAVAILABLE);
    CHECK_INT(redis_number(&r, "EXISTS a b"), 0);
    redis_start(&s);
    CHECK(rig_until(is_acquired, m)); /* once it has connected again */
}

TEST(multi_servers, deadline_bounds_a_server_that_does_not_answer)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    o.patience_ms = 60000;
    o.timeout_ms = 60000;
    hf_multi *m = multi_named(rig_client(&o), 3);
    struct hf_acquire_options wait = rig_options(500, 0, 0);
    hf_hold *g = NULL;
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    redis_pause(&r);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_multi_acquire(m, &wait, &g, NULL), HF_UNAVAILABLE);
    int64_t took_ms = rig_now_ms() - began_ms;
    redis_resume(&r);
    CHECK(took_ms >= 500 && took_ms < 15000);
}

/* ---- giving back what cannot be given back ------------------------------- */

static int is_taken(void *arg)
{
    (void)arg;
    return redis_number(&r, "EXISTS a") == 1;
}

static int is_free(void *arg)
{
    return !is_taken(arg);
}

/* Cleanup: runs before the rig waits for its threads. */
static void stuck_end(void *arg)
{
    struct lab_proxy *proxy = arg;
    atomic_store(&proxy->stop, 1);
}

/* A set that has "a" and is refused "b", and whose commands get stuck from then
 * on.  Answers are delayed on its line, so that there is time to do this. */
static void stuck_begin(struct waiter *w, struct lab_proxy *proxy,
                        int64_t wait_ms, hf_cancel **cancel)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[64];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    o.patience_ms = o.timeout_ms = 60000;
    CHECK_INT(hf_lock_try(rig_lock(rig_client(NULL), "b"), NULL, NULL), HF_OK);
    proxy_begin(proxy, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy->port);
    hf_client *c = rig_client_at(url, &o);
    hf_lock *z = rig_lock(c, "z");
    CHECK_INT(hf_lock_try(z, NULL, NULL), HF_OK); /* connects */
    CHECK_INT(hf_lock_release(z, NULL, NULL), HF_OK);
    *cancel = rig_cancel(c);
    proxy_delay(proxy, PROXY_DOWN, 2000);
    waiter_start(w, multi_named(c, 2), *cancel, wait_ms);
    test_cleanup(stuck_end, proxy);
    CHECK(rig_until(is_taken, NULL));
    proxy_delay(proxy, PROXY_UP, 60000);
}

TEST(multi_servers, deadline_bounds_what_is_given_back)
{
    static struct lab_proxy proxy;
    static struct waiter w;
    hf_cancel *cancel;
    stuck_begin(&w, &proxy, 4000, &cancel);
    CHECK(rig_until_equal(&w.ended, 1)); /* long before the timeout */
    CHECK_INT(w.status, HF_TIMEOUT);
    proxy_delay(&proxy, PROXY_UP, 0);
    CHECK(rig_until(is_free, NULL)); /* it was on its way */
}

TEST(multi_servers, that_is_cancelled_does_not_wait_for_what_is_given_back)
{
    static struct lab_proxy proxy;
    static struct waiter w;
    hf_cancel *cancel;
    stuck_begin(&w, &proxy, RIG_NO_LIMIT, &cancel);
    rig_pause_ms(3000); /* until the answers are there */
    hf_cancel_fire(cancel);
    CHECK(rig_until_equal(&w.ended, 1)); /* long before the timeout */
    CHECK_INT(w.status, HF_CANCELLED);
    proxy_delay(&proxy, PROXY_UP, 0);
    CHECK(rig_until(is_free, NULL));
}
