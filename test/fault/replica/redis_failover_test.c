/*
 * redis_failover_test.c: another server answers than the one that granted the
 * lock.  One rule: a holder hears at once what has become of its lock; leases
 * here are too long for an ordinary renewal to tell.
 */
#include <pthread.h>
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define LONG_MS 900000 /* renewed every five minutes */

static struct lab_server r, r2;

/* The last event, and how often each state was told. */
static struct {
    pthread_mutex_t mutex;
    struct hf_event last;
    atomic_int lost;
    atomic_int failovers; /* lines of log */
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static atomic_int granted;

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state != HF_STATE_LOST) return;
    pthread_mutex_lock(&seen.mutex);
    seen.last = *ev;
    pthread_mutex_unlock(&seen.mutex);
    atomic_fetch_add(&seen.lost, 1);
}

static void on_log(int level, const char *line, void *user)
{
    (void)level;
    (void)user;
    if (strstr(line, "failover noticed")) atomic_fetch_add(&seen.failovers, 1);
}

static hf_client *client_at(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    atomic_store(&seen.lost, 0);
    atomic_store(&seen.failovers, 0);
    o.lease_ms = LONG_MS;
    o.on_state = on_state;
    o.log = on_log;
    return rig_client_at(url, &o);
}

static hf_hold *hold(hf_lock *l, unsigned flags)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, flags);
    hf_hold *g = NULL;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    return g;
}

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

static void check_last(const char *words)
{
    pthread_mutex_lock(&seen.mutex);
    struct hf_event ev = seen.last;
    pthread_mutex_unlock(&seen.mutex);
    if (!strstr(ev.text, words))
        TEST_FAIL("\"%s\" lacks \"%s\"", ev.text, words);
}

/* ---- a server that has forgotten ---------------------------------------- */

TEST(redis_failover, what_a_restart_has_lost_is_told_at_once)
{
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    hf_hold *g = hold(l, 0);
    redis_shutdown(&r, 0);
    redis_start(&r);
    CHECK(rig_until_equal(&seen.lost, 1));
    CHECK_INT(seen.last.status, HF_EXPIRED);
    check_last("it is gone: there was a failover, or a restart");
    CHECK_INT(atomic_load(&seen.failovers), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_EXPIRED);
}

TEST(redis_failover, a_fixed_lease_that_was_lost_is_told_too)
{
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    hold(l, HF_ACQUIRE_FIXED);
    redis_shutdown(&r, 0);
    redis_start(&r);
    CHECK(rig_until_equal(&seen.lost, 1));
    CHECK_INT(seen.last.status, HF_EXPIRED);
    check_last("it is gone from the store");
}

TEST(redis_failover, what_is_not_fed_and_so_not_renewed_is_told_too)
{
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.feed_ms = 1;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    rig_pause_ms(50);
    redis_shutdown(&r, 0);
    redis_start(&r);
    CHECK(rig_until_equal(&seen.lost, 1));
    check_last("it is gone from the store");
}

TEST(redis_failover, many_locks_are_all_checked)
{
    enum { LOCKS = 500 };
    char name[16];
    begin();
    hf_client *c = client_at(r.url);
    for (int i = 0; i < LOCKS; i++) {
        snprintf(name, sizeof name, "lock-%d", i);
        hold(rig_lock(c, name), i % 2 ? HF_ACQUIRE_FIXED : 0);
    }
    redis_shutdown(&r, 0);
    redis_start(&r);
    CHECK(rig_until_equal(&seen.lost, LOCKS));
}

/* ---- a server that has not ----------------------------------------------- */

static int is_renewed(void *arg)
{
    (void)arg;
    return redis_number(&r, "PTTL a") > LONG_MS / 2;
}

static int is_shorter(void *hold_of_it)
{
    return hf_hold_valid_ms(hold_of_it) <= 60000;
}

TEST(redis_failover, what_has_survived_is_renewed_at_once)
{
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    hf_hold *g = hold(l, 0);
    CHECK_INT(redis_number(&r, "PEXPIRE a 60000"), 1);
    redis_shutdown(&r, 1);
    redis_start(&r);
    CHECK(rig_until(is_renewed, NULL));
    CHECK_INT(atomic_load(&seen.lost), 0);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(redis_failover, a_fixed_lease_that_has_survived_is_not_lengthened)
{
    begin();
    hf_client *c = client_at(r.url);
    hf_lock *l = rig_lock(c, "a"), *b = rig_lock(c, "b");
    hf_hold *g = hold(l, HF_ACQUIRE_FIXED);
    hold(b, 0);
    CHECK_INT(redis_number(&r, "PEXPIRE a 60000"), 1);
    CHECK_INT(redis_number(&r, "DEL b"), 1);
    redis_shutdown(&r, 1);
    redis_start(&r);
    CHECK(rig_until_equal(&seen.lost, 1)); /* b: the check is through */
    rig_pause_ms(200);
    CHECK(redis_number(&r, "PTTL a") <= 60000);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
}

TEST(redis_failover, a_fixed_lease_counts_for_as_long_as_the_store_says)
{
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    hf_hold *g = hold(l, HF_ACQUIRE_FIXED);
    CHECK_INT(redis_number(&r, "PEXPIRE a 60000"), 1); /* as it once was */
    redis_shutdown(&r, 1);
    redis_start(&r);
    CHECK(rig_until(is_shorter, g));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
}

/* The server knows the lock as it was before it was released and taken anew: of
 * the same owner, but not of this hold. */
TEST(redis_failover, an_earlier_hold_of_ours_is_not_taken_for_this_one)
{
    char before[256];
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    hf_hold *g = hold(l, HF_ACQUIRE_FIXED);
    snprintf(before, sizeof before, "%s", redis_say(&r, "HGET a hf"));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    hold(l, HF_ACQUIRE_FIXED);
    CHECK_INT(redis_number(&r, "HSET a hf \"%s\"", before), 0);
    redis_shutdown(&r, 1);
    redis_start(&r);
    CHECK(rig_until_equal(&seen.lost, 1));
    CHECK_INT(seen.last.status, HF_EXPIRED);
    check_last("it was taken away; what is there is another grant");
}

TEST(redis_failover, the_same_server_again_is_no_failover)
{
    begin();
    hf_lock *l = rig_lock(client_at(r.url), "a");
    hold(l, 0);
    CHECK_INT(redis_number(&r, "PEXPIRE a 60000"), 1);
    redis_say(&r, "CLIENT KILL TYPE normal");
    CHECK_INT(hf_lock_inspect(l, &(struct hf_info)HF_INFO_INIT, NULL), HF_OK);
    CHECK(redis_number(&r, "PTTL a") <= 60000);
    CHECK_INT(atomic_load(&seen.failovers), 0);
}

/* ---- another server ------------------------------------------------------ */

/* Behind the same address: a holds it, then the other server answers. */
static void other_server(unsigned flags)
{
    static struct lab_proxy p;
    char url[64];
    begin();
    redis_begin(&r2, NULL);
    proxy_begin(&p, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p.port);
    hold(rig_lock(client_at(url), "a"), flags);
    hf_client *other = rig_client_at(r2.url, NULL);
    CHECK_INT(hf_lock_try(rig_lock(other, "a"), NULL, NULL), HF_OK);
    proxy_aim(&p, r2.port);
    proxy_sever(&p, 1);
    rig_pause_ms(100);
    proxy_sever(&p, 0);
    CHECK(rig_until_equal(&seen.lost, 1));
    CHECK_INT(seen.last.status, HF_LOST);
}

static void check_owner(void)
{
    char owner[HF_OWNER_MAX];
    redis_say(&r2, "HGET a hf"); /* "v1 <owner> ..." */
    snprintf(owner, sizeof owner, "%.*s", (int)strcspn(r2.reply + 3, " "),
             r2.reply + 3);
    check_last(owner);
}

TEST(redis_failover, who_has_taken_it_is_named)
{
    other_server(0);
    check_owner();
}

TEST(redis_failover, who_has_taken_a_fixed_lease_is_named)
{
    other_server(HF_ACQUIRE_FIXED);
    check_owner();
}

static int is_heard(void *arg)
{
    const char *said =
        redis_say(arg, "PUBSUB NUMSUB redisson_lock__channel:{a}");
    return strstr(said, "1") != NULL;
}

static void wait_for_it(void *arg)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    if (hf_lock_acquire(arg, &o, NULL, NULL) == HF_OK)
        atomic_fetch_add(&granted, 1);
}

/* The old server still has the line on which messages came: nothing of it would
 * tell that they come no more. */
TEST(redis_failover, who_waits_is_woken_by_the_server_that_answers_now)
{
    static struct lab_proxy p;
    char url[64];
    begin();
    redis_begin(&r2, NULL);
    proxy_begin(&p, r.port);
    atomic_store(&granted, 0);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p.port);
    hf_lock *other = rig_lock(rig_client_at(r2.url, NULL), "a");
    hold(rig_lock(client_at(r.url), "a"), 0);
    hold(other, 0);
    rig_spawn(wait_for_it, rig_lock(client_at(url), "a"));
    CHECK(rig_until(is_heard, &r));
    proxy_aim(&p, r2.port);
    redis_say(&r, "CLIENT KILL TYPE normal");
    CHECK(rig_until(is_heard, &r2));
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&granted, 1));
}

/* ---- replicas ------------------------------------------------------------ */

TEST(redis_failover, a_replica_names_its_primary)
{
    struct hf_error err = {0};
    char words[64];
    begin();
    redis_begin(&r2, NULL);
    CHECK_STR(redis_say(&r2, "REPLICAOF 127.0.0.1 %d", r.port), "OK");
    hf_lock *l = rig_lock(rig_client_at(r2.url, NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    snprintf(words, sizeof words, "it is a replica of redis://127.0.0.1:%d",
             r.port);
    if (!strstr(err.text, words)) TEST_FAIL("%s", err.text);
}

TEST(redis_failover, a_primary_that_is_demoted_in_use_is_left_and_found_again)
{
    struct hf_error err = {0};
    begin();
    redis_begin(&r2, NULL);
    hf_lock *l = rig_lock(client_at(r.url), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "REPLICAOF 127.0.0.1 %d", r2.port), "OK");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    if (!strstr(err.text, "replica")) TEST_FAIL("%s", err.text);
    CHECK_STR(redis_say(&r, "REPLICAOF NO ONE"), "OK");
    hf_client *c = rig_client_at(
        r.url, &(struct hf_client_options){.struct_size =
                                               sizeof(struct hf_client_options),
                                           .patience_ms = RIG_PATIENCE_MS});
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, RIG_WAIT_MS, NULL), HF_OK);
}
