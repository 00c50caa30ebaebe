/*
 * redis_permit_fault_test.c: semaphores on a real Redis when something goes
 * wrong.  One rule: whatever happens, no permit is lost for good, and none is
 * given twice.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/proc.h"
#include "lib/proxy.h"
#include "lib/rig_redis.h"
#include "lib/rig_semaphore.h"

static struct lab_server r;

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

/* ---- processes that die ------------------------------------------------- */

struct child {
    const char *url;
    int order;
    int64_t permits;
    int64_t lease_ms;
};

static int child_run(struct lab_proc *self, const void *arg)
{
    const struct child *k = arg;
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_acquire_options how = HF_ACQUIRE_OPTIONS_INIT;
    hf_hold *p;
    hf_client *c = NULL;
    hf_semaphore *s = NULL;
    o.order = k->order;
    how.permits = k->permits;
    how.lease_ms = k->lease_ms;
    if (hf_client_open(k->url, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_semaphore_open(c, "s", &o, &s, NULL) != HF_OK) return 1;
    proc_say(self, "ready");
    int status = hf_semaphore_acquire(s, &how, &p, NULL);
    proc_say(self, "got %s", hf_status_name(status));
    rig_pause_ms(600000);
    return 0;
}

TEST(redis_permit_fault, permits_of_a_killed_process_come_back)
{
    static struct lab_proc p;
    static struct child k;
    begin();
    redis_say(&r, "SET s 3");
    k = (struct child){r.url, HF_ORDER_ANY, 2, 1500};
    proc_start(&p, child_run, &k);
    CHECK(proc_hears(&p, "ready", RIG_PATIENCE_MS));
    CHECK(proc_hears(&p, "got OK", RIG_PATIENCE_MS));
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(rig_take(s, 3, 2500, NULL), HF_TIMEOUT); /* they are renewed */
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK_INT(rig_take(s, 3, RIG_WAIT_MS, NULL), HF_OK);
}

static int queue_has_one(void *arg)
{
    (void)arg;
    return redis_number(&r, "ZCARD {s}:hf_queue") == 1;
}

/* A permit of another program, without an end. */
#define TAKE_BY_HAND "ZADD {s}:timeout 922337203685477 0123456789abcdef"

/* The permit is returned without a message.  The number rises first: with
 * nothing left and nothing taken it would be a semaphore of 0 permits for a
 * moment, and a waiter that asks in that moment is told HF_INVALID. */
static void give_by_hand(void)
{
    redis_say(&r, "INCR s");
    redis_say(&r, "ZREM {s}:timeout 0123456789abcdef");
}

/* A process that queues for what somebody else has is killed. */
static void waiter_kill(struct lab_proc *p)
{
    static struct child k;
    redis_say(&r, "SET s 0");
    redis_say(&r, TAKE_BY_HAND);
    k = (struct child){r.url, HF_ORDER_FAIR, 1, 0};
    proc_start(p, child_run, &k);
    CHECK(proc_hears(p, "ready", RIG_PATIENCE_MS));
    CHECK(rig_until(queue_has_one, NULL));
    proc_signal(p, SIGKILL);
}

/* The killed waiter is the first in the queue until its short lease there is
 * over. */
TEST(redis_permit_fault, a_waiter_that_was_killed_is_skipped)
{
    static struct lab_proc p;
    begin();
    waiter_kill(&p);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    give_by_hand();
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, NULL), HF_OK);
}

static int queue_is_gone(void *arg)
{
    (void)arg;
    return redis_number(&r, "EXISTS {s}:hf_queue {s}:hf_waiters") == 0;
}

TEST(redis_permit_fault, a_queue_of_the_dead_ends_by_itself)
{
    static struct lab_proc p;
    begin();
    waiter_kill(&p);
    CHECK(rig_until(queue_is_gone, NULL));
}

/* Defect 18 of docs/conformance.md: there, a lost message is slept through. */
TEST(redis_permit_fault, a_message_that_was_lost_costs_a_bounded_sleep)
{
    static struct taker t;
    begin();
    redis_say(&r, "SET s 0");
    redis_say(&r, TAKE_BY_HAND);
    taker_start(&t, rig_semaphore_as(rig_client(NULL), "s", NULL), 1,
                RIG_WAIT_MS);
    give_by_hand();
    rig_join();
    CHECK_INT(t.status, HF_OK);
}

TEST(redis_permit_fault, a_counter_that_rose_unheard_costs_a_bounded_sleep)
{
    static struct taker t;
    begin();
    taker_start(&t, rig_counter(rig_client(NULL), "s", 0), 2, RIG_WAIT_MS);
    redis_say(&r, "SET s 2");
    rig_join();
    CHECK_INT(t.status, HF_OK);
}

/* ---- lines that break --------------------------------------------------- */

/* The answer is lost, but not the request: the next acquire of the same holder
 * must not be refused because of it. */
TEST(redis_permit_fault, an_answer_that_was_lost_leaves_nothing_behind)
{
    static struct lab_proxy px;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *p;
    char url[64];
    begin();
    proxy_begin(&px, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", px.port);
    o.timeout_ms = 1000;
    o.patience_ms = 20000;
    hf_semaphore *s = rig_semaphore(rig_client_at(url, &o), "s", 2);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK); /* the scripts are known */
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    for (int i = 0; i < 6; i++) {
        proxy_arm(&px, PROXY_DOWN, 1 + i, i % 2);
        CHECK_INT(rig_take(s, 2, RIG_WAIT_MS, &p), HF_OK);
        CHECK_INT(redis_number(&r, "GET s"), 0);
        CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 2);
        proxy_arm(&px, PROXY_DOWN, 1 + i, i % 2);
        CHECK_INT(hf_hold_release(p, NULL), HF_OK);
        CHECK_INT(redis_number(&r, "GET s"), 2);
    }
    proxy_arm(&px, PROXY_DOWN, -1, 0);
}

struct answer {
    atomic_int count;
    int status;
    hf_hold *hold;
};

static void answered(hf_semaphore *sem, int status, hf_hold *hold,
                     const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)sem, (void)err;
    a->status = status;
    a->hold = hold;
    atomic_fetch_add(&a->count, 1);
}

/* How long the only permit that is taken still lasts, by the server's clock. */
static int64_t stored_ms(void)
{
    return redis_number(
        &r, "EVAL \"local t = redis.call('TIME') return redis.call('ZRANGE', "
            "KEYS[1], 0, 0, 'WITHSCORES')[2] - math.floor(t[1] * 1000 + t[2] / "
            "1000)\" 1 {s}:timeout");
}

/* A queued waiter asks again under the same attempt: the lease that its
 * first request was granted must last as long as it believes by the second. */
TEST(redis_permit_fault, in_order_a_lost_answer_makes_no_lease_too_long)
{
    static struct lab_proxy px;
    static struct answer a;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_semaphore_options so = HF_SEMAPHORE_OPTIONS_INIT;
    char url[64];
    a = (struct answer){0};
    begin();
    proxy_begin(&px, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", px.port);
    o.timeout_ms = 500;
    o.patience_ms = 60000;
    so.order = HF_ORDER_FAIR;
    hf_client *c = rig_client_at(url, &o);
    rig_semaphore_set(c, "s", 1);
    hf_semaphore *s = rig_semaphore_as(c, "s", &so);
    struct hf_acquire_options how =
        rig_options(RIG_WAIT_MS, 60000, HF_ACQUIRE_FIXED);
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, &a.hold), HF_OK);
    CHECK_INT(hf_hold_release(a.hold, NULL), HF_OK);
    proxy_delay(&px, PROXY_DOWN, 600000); /* the scripts are known */
    CHECK_INT(hf_semaphore_acquire_start(s, &how, answered, &a, NULL), HF_OK);
    rig_pause_ms(2000); /* it is not waited for any longer */
    CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 1);
    proxy_delay(&px, PROXY_DOWN, 0);
    CHECK(rig_until_equal(&a.count, 1));
    CHECK_INT(a.status, HF_OK);
    int64_t valid_ms = hf_hold_valid_ms(a.hold);
    CHECK(valid_ms > 0 && stored_ms() + 300 >= valid_ms);
    CHECK_INT(hf_hold_release(a.hold, NULL), HF_OK);
}

TEST(redis_permit_fault, a_change_whose_answer_was_lost_is_made_once)
{
    static struct lab_proxy px;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    char url[64];
    begin();
    proxy_begin(&px, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", px.port);
    o.timeout_ms = 1000;
    o.patience_ms = 20000;
    hf_semaphore *s = rig_counter(rig_client_at(url, &o), "s", 5);
    for (int i = 1; i <= 6; i++) {
        proxy_arm(&px, PROXY_DOWN, i, i % 2);
        CHECK_INT(hf_semaphore_add(s, 10, 0, &now, NULL), HF_OK);
        CHECK_INT(now.available, 5 + 10 * i);
        CHECK_INT(redis_number(&r, "GET s"), 5 + 10 * i);
    }
    proxy_arm(&px, PROXY_DOWN, 3, 0);
    CHECK_INT(hf_semaphore_drain(s, &now, NULL), HF_OK);
    CHECK_INT(now.taken, 65);
    proxy_arm(&px, PROXY_DOWN, -1, 0);
}

/* What the request with the lost answer took is released after the next
 * attempt. */
static int is_left(void *arg)
{
    return redis_number(&r, "GET s") == *(const int *)arg;
}

TEST(redis_permit_fault, a_counter_is_taken_from_once_when_the_answer_is_lost)
{
    static struct lab_proxy px;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[64];
    begin();
    proxy_begin(&px, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", px.port);
    o.timeout_ms = 1000;
    o.patience_ms = 20000;
    hf_semaphore *s = rig_counter(rig_client_at(url, &o), "s", 100);
    CHECK_INT(rig_take(s, 10, RIG_WAIT_MS, NULL), HF_OK);
    for (int i = 1; i <= 6; i++) {
        proxy_arm(&px, PROXY_DOWN, i, i % 2);
        CHECK_INT(rig_take(s, 10, RIG_WAIT_MS, NULL), HF_OK);
        int left = 90 - 10 * i;
        CHECK(rig_until(is_left, &left));
    }
    proxy_arm(&px, PROXY_DOWN, -1, 0);
}

/* ---- slots -------------------------------------------------------------- */

static int exists(void *arg)
{
    char text[40];
    snprintf(text, sizeof text, "EXISTS s#%s", (const char *)arg);
    return redis_number(&r, text) == 1;
}

/* Whichever is the quicker, each of them may have one of the two. */
static void collect_beside_each_other(hf_client *c[3])
{
    static struct taker t[2];
    hf_hold *p[2];
    hf_semaphore *s = rig_semaphore(c[0], "s", 2);
    for (int i = 0; i < 2; i++) CHECK_INT(rig_take(s, 1, 0, &p[i]), HF_OK);
    for (int i = 0; i < 2; i++) {
        redis_say(&r, "DEL s#gate");
        taker_start(&t[i], rig_semaphore(c[1 + i], "s", 2), 2, RIG_WAIT_MS);
        CHECK(rig_until(exists, "gate"));
    }
    char first[8]; /* its slot: the end of "s#1" or "s#2" */
    snprintf(first, sizeof first, "%s", hf_hold_name(p[0]) + strlen("s#"));
    CHECK(strcmp(first, "1") == 0 || strcmp(first, "2") == 0);
    CHECK_INT(hf_hold_release(p[0], NULL), HF_OK);
    CHECK(rig_until(exists, first));
    CHECK_INT(hf_hold_release(p[1], NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 2; i++) CHECK_INT(t[i].status, HF_OK);
}

TEST(redis_permit_fault, who_collects_slots_gives_them_back_with_a_lost_gate)
{
    hf_client *c[3];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[64];
    begin();
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?format=string", r.port);
    o.lease_ms = 3000;
    for (int i = 0; i < 3; i++) c[i] = rig_client_at(url, &o);
    for (int i = 0; i < 5; i++) collect_beside_each_other(c);
}

/* ---- servers that refuse ------------------------------------------------ */

TEST(redis_permit_fault, a_full_server_says_so_and_takes_permits_back)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *p, *more;
    struct hf_error err = {0};
    begin();
    o.lease_ms = 4000;
    o.patience_ms = 2000;
    hf_client *c = rig_client(&o);
    hf_semaphore *s = rig_semaphore(c, "s", 2);
    hf_semaphore *counter = rig_counter(c, "n", 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    CHECK_INT(hf_semaphore_try(s, &more, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "memory") != NULL);
    CHECK_INT(redis_number(&r, "GET s"), 1);
    rig_pause_ms(6000);
    CHECK(hf_hold_valid_ms(p) > 0); /* it is renewed */
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "GET s"), 2);
    CHECK_INT(hf_semaphore_add(counter, 1, 0, NULL, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 0"), "OK");
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
}

/* A user that may not write one of the keys writes none of them. */
static void denied(const char *rights)
{
    char url[96];
    hf_hold *p;
    struct hf_error err = {0};
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "SET s 3");
    CHECK_STR(redis_say(&r, "ACL SETUSER eve reset on >pw &* +@all %s", rights),
              "OK");
    snprintf(url, sizeof url, "redis://eve:pw@127.0.0.1:%d", r.port);
    hf_client *c = rig_client_at(url, NULL);
    hf_semaphore *s = rig_semaphore_as(c, "s", NULL);
    CHECK_INT(hf_semaphore_try(s, &p, &err), HF_DENIED);
    CHECK_INT(redis_number(&r, "GET s"), 3);
    CHECK_INT(redis_number(&r, "EXISTS {s}:timeout redisson_lock_token:{s}"),
              0);
    CHECK_INT(redis_number(&r, "HLEN {s}:hf"), 0);
}

TEST(redis_permit_fault, who_may_not_write_all_of_it_writes_none)
{
    begin();
    denied("%R~* ~{s}:*");                            /* not the number */
    denied("%R~* ~s ~redisson_lock_token:*");         /* nothing beside it */
    denied("%R~* ~s ~{s}:*");                         /* no fence */
    denied("%R~* ~s ~redisson_lock_token:* ~{s}:hf"); /* no permits */
    denied("~* -zadd");
    denied("~* -decrby");
    denied("~* -evalsha -eval");
}

TEST(redis_permit_fault, a_script_cache_that_was_flushed_is_filled_again)
{
    hf_hold *p;
    begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    hf_semaphore *n = rig_counter(rig_client(NULL), "n", 2);
    for (int i = 0; i < 3; i++) {
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_hold_extend(p, 0, NULL), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_hold_release(p, NULL), HF_OK);
        CHECK_INT(rig_take(n, 2, 0, &p), HF_OK);
        CHECK(p == NULL); /* a counter knows of no holds */
        CHECK_INT(hf_semaphore_add(n, 2, 0, NULL, NULL), HF_OK);
    }
    CHECK_INT(redis_number(&r, "GET s"), 2);
    CHECK_INT(redis_number(&r, "GET n"), 2);
}

TEST(redis_permit_fault, a_server_that_lost_all_is_told_the_number_again)
{
    static struct taker t;
    hf_hold *p[2], *none;
    begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_semaphore_try(s, &p[i], NULL), HF_OK);
    redis_say(&r, "FLUSHALL");
    taker_start(&t, rig_semaphore(rig_client(NULL), "s", 2), 2, RIG_WAIT_MS);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(hf_hold_release(p[i], NULL), HF_EXPIRED);
        CHECK_INT(hf_semaphore_try(s, &p[i], NULL), HF_OK);
    }
    CHECK_INT(hf_semaphore_try(s, &none, NULL), HF_TAKEN);
    CHECK_INT(rig_count(s).capacity, 2);
}

static int64_t calls(void)
{
    const char *at = redis_say(&r, "INFO commandstats");
    int64_t n = 0;
    for (; (at = strstr(at, "cmdstat_eval")) != NULL; at++) {
        const char *number = strstr(at, "calls=");
        if (number) n += strtoll(number + strlen("calls="), NULL, 10);
    }
    return n;
}

TEST(redis_permit_fault, the_number_costs_no_request_of_its_own)
{
    hf_hold *p;
    begin();
    hf_client *c = rig_client(NULL);
    hf_semaphore *known = rig_semaphore(c, "known", 1);
    CHECK_INT(hf_semaphore_try(known, &p, NULL), HF_OK); /* the script is */
    hf_semaphore *s = rig_semaphore(c, "s", 2);
    int64_t before = calls();
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(calls() - before, 1);
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

TEST(redis_permit_fault, permits_of_a_server_that_lost_them_are_lost)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *kept, *fixed;
    begin();
    o.lease_ms = 3000;
    hf_semaphore *s = rig_semaphore(rig_client(&o), "s", 2);
    struct hf_acquire_options how =
        rig_options(RIG_TRY, 60000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_semaphore_try(s, &kept, NULL), HF_OK);
    CHECK_INT(hf_semaphore_acquire(s, &how, &fixed, NULL), HF_OK);
    redis_shutdown(&r, 0);
    redis_start(&r);
    CHECK(rig_until(is_lost, kept));
    CHECK(rig_until(is_lost, fixed));
    CHECK_INT(hf_hold_valid_ms(kept), 0);
}

/* ---- clusters ----------------------------------------------------------- */

static const char *const odd[] = {"{",    "}",     "{}",      "a{b}c",
                                  "}{",   "{}x",   "foo{bar", "a}b",
                                  "{a}}", "plain", "a}b{c}d"};

TEST(redis_permit_fault, in_a_cluster_any_name_is_good)
{
    static struct lab_cluster c;
    static struct taker t;
    hf_hold *p;
    cluster_rig_begin(&c, 3, 0);
    hf_client *mine = rig_client(NULL), *theirs = rig_client(NULL);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
        o.order = HF_ORDER_FAIR;
        hf_semaphore *s = rig_semaphore(mine, odd[i], 2);
        hf_semaphore *other = rig_semaphore_as(theirs, odd[i], &o);
        CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
        taker_start(&t, other, 1, 4000); /* less than the longest sleep */
        CHECK_INT(hf_hold_extend(p, 20000, NULL), HF_OK);
        CHECK_INT(hf_hold_release(p, NULL), HF_OK);
        rig_join();
        if (t.status != HF_OK) TEST_FAIL("%s: %s", odd[i], t.err.text);
        CHECK_INT(rig_count(s).available, 2);
    }
}

/* ---- tickets ------------------------------------------------------------ */

/* The server has lost its counter, and counts by its clock again; the client
 * still proposes numbers above the tokens that it has seen. */
TEST(redis_permit_fault, a_token_below_its_number_makes_a_good_ticket)
{
    char ticket[HF_TICKET_MAX];
    struct hf_acquire_options o =
        rig_options(RIG_TRY, 30000, HF_ACQUIRE_DETACHED);
    hf_hold *p, *q;
    begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 1);
    redis_say(&r, "SET redisson_lock_token:{s} 4000000000000000");
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    redis_say(&r, "DEL redisson_lock_token:{s}");
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(p);
    CHECK(fence > 0 && fence < 4000000000000000);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK(hf_hold_fence(q) == fence);
    CHECK_INT(hf_hold_release(q, NULL), HF_OK);
    CHECK_INT(rig_count(other).available, 1);
}
