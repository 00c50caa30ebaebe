/*
 * redis_sentinel_failover_test.c: the primary dies, hangs or lags, and its
 * Sentinels promote another.  One rule: no call hangs, each client works
 * again without help, and a holder that has lost its lock is told.
 */
#include <pthread.h>
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/sentinel_rig.h"
#include "lib/storm.h"

static struct lab_sentinels g;
static struct storm storm;

/* ---- under load ---------------------------------------------------------- */

static int is_free(void *arg)
{
    return redis_number(arg, "EXISTS " STORM_NAME) == 0;
}

/* Nothing is left of the storm beyond its lease. */
static void check_calm(struct lab_server *primary)
{
    storm_end(&storm);
    CHECK(rig_until(is_free, primary));
}

TEST(redis_sentinel_failover, after_kill_9_everybody_works_again)
{
    sentinel_begin(&g);
    storm_begin(&storm, g.url, 5);
    redis_shutdown(&g.servers[0], 0);
    struct lab_server *now = sentinel_until_other(&g, &g.servers[0]);
    storm_until_moving(&storm);
    check_calm(now);
}

TEST(redis_sentinel_failover, after_a_primary_hung_everybody_works_again)
{
    sentinel_begin(&g);
    storm_begin(&storm, g.url, 5);
    redis_pause(&g.servers[0]);
    struct lab_server *now = sentinel_until_other(&g, &g.servers[0]);
    storm_until_moving(&storm);
    redis_resume(&g.servers[0]); /* a primary still, by its own word */
    storm_until_moving(&storm);
    check_calm(now);
}

TEST(redis_sentinel_failover, two_in_a_row_are_survived)
{
    sentinel_begin(&g);
    storm_begin(&storm, g.url, 3);
    redis_shutdown(&g.servers[0], 0);
    struct lab_server *second = sentinel_until_other(&g, &g.servers[0]);
    storm_until_moving(&storm);
    redis_start(&g.servers[0]); /* its Sentinels make it a replica */
    storm_until_moving(&storm);
    redis_shutdown(second, 0);
    struct lab_server *third = sentinel_until_other(&g, second);
    storm_until_moving(&storm);
    check_calm(third);
}

TEST(redis_sentinel_failover, the_sentinel_that_is_listened_to_may_die)
{
    sentinel_begin(&g);
    storm_begin(&storm, g.url, 3);
    redis_shutdown(&g.sentinels[0], 0);
    redis_shutdown(&g.servers[0], 0);
    struct lab_server *now = sentinel_until_other(&g, &g.servers[0]);
    storm_until_moving(&storm);
    check_calm(now);
}

/* ---- one holder ---------------------------------------------------------- */

/* What its client was told of last. */
static struct {
    pthread_mutex_t mutex;
    struct hf_event last;
    atomic_int lost;
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state != HF_STATE_LOST) return;
    pthread_mutex_lock(&seen.mutex);
    seen.last = *ev;
    pthread_mutex_unlock(&seen.mutex);
    atomic_fetch_add(&seen.lost, 1);
}

/* With a lease of which no ordinary renewal comes while a test runs. */
static hf_client *holder_client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    atomic_store(&seen.lost, 0);
    o.lease_ms = 900000;
    o.patience_ms = RIG_PATIENCE_MS;
    o.on_state = on_state;
    return rig_client_at(g.url, &o);
}

static int is_renewed(void *arg)
{
    return redis_number(arg, "PTTL a") > 800000;
}

TEST(redis_sentinel_failover, a_lock_that_the_replica_has_is_kept)
{
    hf_hold *grant;
    sentinel_begin(&g);
    hf_lock *l = rig_lock(holder_client(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &grant), HF_OK);
    CHECK_INT(redis_number(&g.servers[0], "PEXPIRE a 100000"), 1);
    CHECK_INT(redis_number(&g.servers[0], "WAIT 2 10000"), 2);
    redis_shutdown(&g.servers[0], 0);
    struct lab_server *now = sentinel_until_other(&g, &g.servers[0]);
    CHECK(rig_until(is_renewed, now));
    CHECK_INT(atomic_load(&seen.lost), 0);
    CHECK_INT(hf_hold_state(grant), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(grant, NULL), HF_OK);
}

/* ---- two primaries ------------------------------------------------------- */

/* A user that may not subscribe is told of no failover. */
static void deaf_url(char *url, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/password", g.servers[0].dir);
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    fputs("pw\n", out);
    CHECK_INT(fclose(out), 0);
    snprintf(url, size, "%s?sentinel_user=eve&sentinel_password_file=%s", g.url,
             path);
}

TEST(redis_sentinel_failover, an_old_primary_that_still_answers_is_found)
{
    hf_hold *hold = NULL;
    char url[400];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    sentinel_begin_with(&g, "user eve on >pw ~* &* +@all -subscribe\n");
    sentinel_until_ready(&g);
    deaf_url(url, sizeof url);
    o.lease_ms = 900000;
    o.patience_ms = RIG_PATIENCE_MS;
    hf_client *c = rig_client_at(url, &o);
    hf_lock *l = rig_lock(c, "a"), *m = rig_lock(c, "b");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &hold), HF_OK);
    redis_pause(&g.servers[0]);
    struct lab_server *now = sentinel_until_other(&g, &g.servers[0]);
    redis_resume(&g.servers[0]);
    /* The renewal is answered once more; but then the Sentinels are asked. */
    CHECK_INT(hf_hold_extend(hold, 0, NULL), HF_OK);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    do {
        CHECK(rig_now_ms() < end_ms);
        CHECK_INT(rig_acquire(m, 0, RIG_WAIT_MS, NULL), HF_OK);
        int status = hf_lock_release(m, NULL, NULL);
        CHECK(status == HF_OK || status == HF_EXPIRED); /* it moved between */
    } while (redis_number(now, "EXISTS redisson_lock_token:{b}") == 0);
}

/* ---- replicas that lag --------------------------------------------------- */

static struct lab_proxy lines[2];

static int lag_is_through(void *arg)
{
    const char *said = redis_say(arg, "INFO replication");
    return strstr(said, "master_link_status:up") != NULL;
}

/* From now on nothing of the primary reaches its replicas. */
static void replicas_cut(void)
{
    for (int i = 0; i < 2; i++) {
        struct lab_server *replica = &g.servers[i + 1];
        proxy_begin(&lines[i], g.servers[0].port);
        CHECK_STR(redis_say(replica, "REPLICAOF 127.0.0.1 %d", lines[i].port),
                  "OK");
        CHECK(rig_until(lag_is_through, replica));
        proxy_delay(&lines[i], PROXY_DOWN, 600000);
    }
}

TEST(redis_sentinel_failover, a_lost_lock_is_told_and_its_token_refused)
{
    char path[160];
    hf_hold *old, *new;
    sentinel_begin(&g);
    snprintf(path, sizeof path, "%s/guarded", g.servers[0].dir);
    hf_lock *l = rig_lock(holder_client(), "a");
    replicas_cut();
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &old), HF_OK);
    CHECK_INT(hf_guard_file_replace(path, hf_hold_fence(old), "old", 3, NULL),
              HF_OK);
    redis_shutdown(&g.servers[0], 0);
    struct lab_server *now = sentinel_until_other(&g, &g.servers[0]);
    CHECK(rig_until_equal(&seen.lost, 1)); /* the holder is told */
    CHECK_INT(redis_number(now, "EXISTS a"), 0);
    hf_client *other = rig_client_at(g.url, NULL);
    hf_lock *m = rig_lock(other, "a");
    CHECK_INT(rig_acquire(m, 0, RIG_WAIT_MS, &new), HF_OK);
    CHECK(hf_hold_fence(new) > hf_hold_fence(old));
    CHECK_INT(hf_guard_file_replace(path, hf_hold_fence(new), "new", 3, NULL),
              HF_OK);
    CHECK_INT(hf_guard_file_replace(path, hf_hold_fence(old), "old", 3, NULL),
              HF_STALE);
    CHECK_INT(hf_hold_release(new, NULL), HF_OK);
}

static int is_given_back(void *arg)
{
    return redis_number(arg, "EXISTS a") == 0;
}

TEST(redis_sentinel_failover, wait_all_takes_no_lock_that_could_be_lost)
{
    char url[200];
    struct hf_error err = {0};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    sentinel_begin(&g);
    snprintf(url, sizeof url, "%s?wait=all", g.url);
    replicas_cut();
    o.patience_ms = 1000;
    hf_lock *l = rig_lock(rig_client_at(url, &o), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    if (!strstr(err.text, "wait: 0 of 2 replicas")) TEST_FAIL("%s", err.text);
    CHECK(rig_until(is_given_back, &g.servers[0]));
    proxy_delay(&lines[0], PROXY_DOWN, 0);
    proxy_delay(&lines[1], PROXY_DOWN, 0);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}
