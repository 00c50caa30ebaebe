/*
 * redisson_defects_test.c: defects seen in Redisson, on a real server, and that
 * they are not ours.  The numbers are those of docs/conformance.md.  One rule:
 * each is provoked, not waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

static struct lab_server r;

static hf_client *client_at(const char *url, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    o.timeout_ms = 1000;
    o.patience_ms = 20000;
    return rig_client_at(url, &o);
}

/* Defect 1: there, the token form takes "no expiry" for "yours". */
TEST(redisson_defects, a_lock_without_an_end_is_granted_to_nobody)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(client_at(r.url, 0), "a");
    void *mark = &r; /* nothing is given */
    hf_hold *g = mark;
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    redis_say(&r, "HSET a 0f0f0f0f-1111-4222-8333-444444444444:1 1");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_acquire(l, &o, &g, &err), HF_TIMEOUT);
    CHECK(g == mark);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(redis_number(&r, "HLEN a"), 1);
    CHECK_INT(redis_number(&r, "PTTL a"), -1);
}

struct waiter {
    hf_lock *lock;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
}

/* The same key, seen by a waiter: there, it sleeps without a bound. */
TEST(redisson_defects, who_waits_for_a_lock_without_an_end_looks_again)
{
    static struct waiter w;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    w = (struct waiter){rig_lock(client_at(r.url, 0), "a"), 1};
    redis_say(&r, "HSET a 0f0f0f0f-1111-4222-8333-444444444444:1 1");
    rig_spawn(waiter_run, &w);
    rig_pause_ms(500);
    redis_say(&r, "DEL a"); /* and nobody is told */
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

static const char *const odd_names[] = {"foo{bar", "{}x", "a}b", "a}b{c}d",
                                        "{",       "}",   "}{",  "{{x}"};
#define ODD_NAMES ((int)(sizeof odd_names / sizeof odd_names[0]))

/* Defect 8: there, such a lock is taken and cannot be released. */
TEST(redisson_defects, names_with_unbalanced_braces_are_released)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = client_at(r.url, 0), *d = client_at(r.url, 0);
    for (int i = 0; i < ODD_NAMES; i++) {
        static struct waiter w;
        hf_lock *l = rig_lock(c, odd_names[i]);
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        w = (struct waiter){rig_lock(d, odd_names[i]), 1};
        rig_spawn(waiter_run, &w);
        rig_pause_ms(20);
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        rig_join();
        CHECK_INT(w.status, HF_OK); /* woken, or the lease of 30 s */
    }
}

static int cluster_is_up(void *arg)
{
    (void)arg;
    return strstr(redis_say(&r, "CLUSTER INFO"), "cluster_state:ok") != NULL;
}

/* One server that checks slots as a whole cluster would. */
static void cluster_begin(void)
{
    static char bus[8];
    static const char *const args[] = {"--cluster-enabled", "yes",
                                       "--cluster-port", bus, NULL};
    snprintf(bus, sizeof bus, "%d", redis_free_port());
    redis_begin(&r, args);
    rig_begin_at(r.url);
    redis_say(&r, "CLUSTER ADDSLOTSRANGE 0 16383");
    CHECK(rig_until(cluster_is_up, NULL));
}

/* Defect 8 in a cluster: such a name works, or it is refused before anything is
 * taken. */
TEST(redisson_defects, no_name_is_taken_that_cannot_be_released)
{
    cluster_begin();
    hf_client *c = client_at(r.url, 0);
    CHECK_INT(rig_probe(rig_lock(c, "plain")), HF_OK);
    for (int i = 0; i < ODD_NAMES; i++) {
        hf_lock *l = rig_lock(c, odd_names[i]);
        int status = hf_lock_try(l, NULL, NULL);
        if (status == HF_OK)
            CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        else
            CHECK_INT(status, HF_UNSUPPORTED);
        CHECK_INT(redis_number(&r, "EXISTS %s", odd_names[i]), 0);
    }
}

#define KEPT 150 /* more than one batch of renewals */
#define KEPT_RENEW_MS 600

static struct hf_acquire_options kept_options(void)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 60000, 0);
    o.renew_ms = KEPT_RENEW_MS;
    return o;
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

/* Defect 14, as far as one server goes: there, one error ends the renewals of
 * a tick. */
TEST(redisson_defects, a_lock_that_cannot_be_renewed_does_not_harm_others)
{
    static hf_hold *kept[KEPT];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = client_at(r.url, 60000);
    struct hf_acquire_options o = kept_options();
    for (int i = 0; i < KEPT; i++) {
        char name[16];
        snprintf(name, sizeof name, "kept-%d", i);
        CHECK_INT(hf_lock_acquire(rig_lock(c, name), &o, &kept[i], NULL),
                  HF_OK);
    }
    redis_say(&r, "SET kept-0 something");
    redis_say(&r, "SET kept-40 something");
    redis_say(&r, "DEL kept-80");
    rig_pause_ms(9 * KEPT_RENEW_MS);
    for (int i = 0; i < KEPT; i++) {
        int harmed = i == 0 || i == 40 || i == 80;
        if (harmed)
            CHECK(rig_until(is_lost, kept[i]));
        else
            CHECK_INT(hf_hold_state(kept[i]), HF_STATE_HELD);
    }
}

static long errors_of(const char *code)
{
    char field[48];
    snprintf(field, sizeof field, "errorstat_%s:count=", code);
    const char *at = strstr(redis_say(&r, "INFO errorstats"), field);
    return at ? strtol(at + strlen(field), NULL, 10) : 0;
}

#define SPREAD 150 /* more than one batch */

/* Defect 21: a cluster behind one address: there, one renewal mixes slots. */
TEST(redisson_defects, locks_of_many_slots_are_all_renewed)
{
    static hf_lock *locks[SPREAD];
    cluster_begin();
    hf_client *c = client_at(r.url, 60000);
    struct hf_acquire_options o = kept_options();
    for (int i = 0; i < SPREAD; i++) {
        char name[16];
        snprintf(name, sizeof name, "spread-%d", i);
        locks[i] = rig_lock(c, name);
        CHECK_INT(hf_lock_acquire(locks[i], &o, NULL, NULL), HF_OK);
    }
    rig_pause_ms(9 * KEPT_RENEW_MS);
    for (int i = 0; i < SPREAD; i++)
        CHECK_INT(hf_lock_release(locks[i], NULL, NULL), HF_OK);
    /* Batches that were on their way when the first was refused; without that
     * lesson it would be all of them. */
    CHECK(errors_of("CROSSSLOT") < 10);
}

static struct lab_proxy proxy;

/* A client whose line can be cut, connected and with its scripts there. */
static hf_lock *lock_over_proxy(void)
{
    char url[64];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&proxy, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy.port);
    hf_lock *l = rig_lock(client_at(url, 0), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    return l;
}

static void count_is(hf_lock *direct, int count)
{
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(direct, &info, NULL), HF_OK);
    CHECK_INT(info.owner_count, count);
    CHECK_INT(info.locked, count > 0);
}

/* Defect 20: the answer is lost with the line, the request is sent again. */
TEST(redisson_defects, an_acquire_that_is_sent_again_counts_once)
{
    int64_t left = -1;
    hf_lock *l = lock_over_proxy();
    hf_lock *direct = rig_lock(client_at(r.url, 0), "a");
    proxy_arm(&proxy, PROXY_DOWN, 0, 0);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(atomic_load(&proxy.cuts), 1);
    count_is(direct, 1);
    CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
    CHECK_INT(left, 0);
    count_is(direct, 0);
}

TEST(redisson_defects, a_reentry_that_is_sent_again_counts_once)
{
    hf_lock *l = lock_over_proxy();
    hf_lock *direct = rig_lock(client_at(r.url, 0), "a");
    hf_hold *first, *g;
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &first), HF_OK);
    proxy_arm(&proxy, PROXY_DOWN, 0, 0);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(atomic_load(&proxy.cuts), 1);
    CHECK_INT(hf_hold_count(g), 2);
    count_is(direct, 2);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    count_is(direct, 1);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    count_is(direct, 0);
}

/* What the unlock latch is for there: a release that is sent again. */
TEST(redisson_defects, a_release_that_is_sent_again_releases_once)
{
    int64_t left = -1;
    hf_lock *l = lock_over_proxy();
    hf_lock *direct = rig_lock(client_at(r.url, 0), "a");
    for (int i = 0; i < 3; i++)
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    for (int i = 2; i >= 0; i--) {
        proxy_arm(&proxy, PROXY_DOWN, 0, 0);
        CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
        CHECK_INT(atomic_load(&proxy.cuts), 1);
        CHECK_INT(left, i);
        count_is(direct, i);
    }
}
