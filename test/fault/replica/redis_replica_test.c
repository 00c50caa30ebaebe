/*
 * redis_replica_test.c: wait= with real servers.  One rule: what no replica has
 * is never granted, and no holder loses its lock by it.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"

static struct lab_server r, copy;
static struct fake_env f;
static struct fake_answer a;
static struct request req;

static void check_text(const char *text, const char *words)
{
    if (!strstr(text, words)) TEST_FAIL("\"%s\" lacks \"%s\"", text, words);
}

/* A primary and its replica. */
static void begin_pair(void)
{
    redis_begin(&r, NULL);
    redis_begin(&copy, NULL);
    rig_begin_at(r.url);
    redis_follow(&copy, r.port);
}

static void begin_real(const char *user, const char *options)
{
    char url[160];
    snprintf(url, sizeof url, "redis://%s127.0.0.1:%d?%s", user, r.port,
             options);
    server_open(&f, url);
    req = server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
}

TEST(redis_replica, has_what_was_granted)
{
    char name[16], question[32];
    int tries = 0;
    begin_pair();
    begin_real("", "wait=1");
    int64_t end_us = hf__clock_us() + RIG_PATIENCE_MS * US_PER_MS;
    /* A grant that the replica has too late stays: each try has its name. */
    do {
        CHECK(hf__clock_us() < end_us);
        snprintf(name, sizeof name, "job-%d", tries++);
        req = server_request(VERB_PROPOSE, name, 1, server_clock(&f));
        fake_call(&f, &req, &a);
    } while (a.reply.verdict != V_GRANTED);
    CHECK_INT(a.reply.replicas, 1);
    snprintf(question, sizeof question, "EXISTS %s", name);
    CHECK_INT(redis_number(&copy, question), 1);
}

TEST(redis_replica, a_server_that_forbids_it_is_refused)
{
    redis_begin(&r, NULL);
    CHECK_STR(redis_say(&r, "ACL SETUSER eve on >pw ~* &* +@all -wait"), "OK");
    begin_real("eve:pw@", "wait=1");
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text(a.text, "wait: not permitted");
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_replica, who_may_not_count_the_replicas_must_say_how_many)
{
    redis_begin(&r, NULL);
    CHECK_STR(redis_say(&r, "ACL SETUSER eve on >pw ~* &* +@all -role -info"),
              "OK");
    begin_real("eve:pw@", "wait=majority");
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text(a.text, "say wait=k");
}

/* ---- with the whole library ---------------------------------------------- */

#define LEASE_MS 4000
#define LOCKS 20

static atomic_int lost;

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&lost, 1);
}

/* Of a client whose grants count once the replica has them. */
static hf_client *client_waiting(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[96];
    atomic_store(&lost, 0);
    o.lease_ms = LEASE_MS;
    o.timeout_ms = 2 * LEASE_MS; /* a WAIT could take longer than the lease */
    o.patience_ms = RIG_PATIENCE_MS;
    o.on_state = on_state;
    snprintf(url, sizeof url, "%s?wait=1", r.url);
    return rig_client_at(url, &o);
}

static int is_given_back(void *arg)
{
    (void)arg;
    return redis_number(&r, "EXISTS wanted") == 0;
}

TEST(redis_replica, that_is_missing_costs_nobody_the_lock_he_holds)
{
    struct hf_error err = {0};
    hf_hold *grant;
    begin_pair();
    hf_client *c = client_waiting();
    hf_lock *wanted = rig_lock(c, "wanted");
    for (int i = 0; i < LOCKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "held-%d", i);
        CHECK_INT(rig_acquire(rig_lock(c, name), 0, RIG_WAIT_MS, &grant),
                  HF_OK);
        CHECK_INT(hf_hold_replicas(grant), 1);
    }
    redis_pause(&copy);
    struct hf_acquire_options o = rig_options(3 * LEASE_MS, 0, 0);
    int status = hf_lock_acquire(wanted, &o, NULL, &err);
    redis_resume(&copy);
    CHECK_INT(status, HF_UNAVAILABLE);
    check_text(err.text, "wait: 0 of 1 replicas answered in time");
    CHECK_INT(atomic_load(&lost), 0);
    CHECK(rig_until(is_given_back, NULL));
    CHECK_INT(rig_acquire(wanted, 0, RIG_WAIT_MS, NULL), HF_OK);
}

static int is_short(void *hold)
{
    char text[HF_ERROR_TEXT_MAX];
    hf_hold_why(hold, text);
    return strstr(text, "wait: 0 of 1 replicas") != NULL;
}

static int is_well(void *hold)
{
    char text[HF_ERROR_TEXT_MAX];
    hf_hold_why(hold, text);
    return text[0] == '\0';
}

TEST(redis_replica, that_is_missing_is_why_a_hold_is_not_renewed)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[96];
    begin_pair();
    o.lease_ms = 9000;
    o.timeout_ms = 500;
    snprintf(url, sizeof url, "%s?wait=1&wait_renew=on", r.url);
    hf_lock *l = rig_lock(rig_client_at(url, &o), "job");
    hf_hold *g = NULL;
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(is_well(g));
    redis_pause(&copy);
    int is_told = rig_until(is_short, g);
    redis_resume(&copy);
    CHECK(is_told);
    CHECK(rig_until(is_well, g));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(is_well(g));
}
