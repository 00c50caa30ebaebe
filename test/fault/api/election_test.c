/*
 * election_test.c: leaders that die, and leaders that cannot reach the store.
 * One rule: a leader that has lost its post is told before another candidate
 * can lead.
 */
#include <signal.h>
#include <string.h>

#include "lib/proc.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/rig_started.h"

#define LEASE_MS 4000

static int leader_run(struct lab_proc *self, const void *arg)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_campaign_options co = HF_CAMPAIGN_OPTIONS_INIT;
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    hf_election *e = NULL;
    o.lease_ms = LEASE_MS;
    co.value = "the first";
    co.value_len = 9;
    if (hf_client_open(arg, &o, &c, NULL) != HF_OK) return 1;
    if (hf_election_open(c, "post", NULL, &e, NULL) != HF_OK) return 1;
    if (hf_election_campaign(e, &co, NULL, NULL) != HF_OK) return 1;
    proc_say(self, "leads");
    while (proc_hear(self, line, 120000)) continue;
    return 0;
}

static hf_election *election(hf_client *c, const struct hf_election_options *o)
{
    hf_election *e = NULL;
    CHECK_INT(hf_election_open(c, "post", o, &e, NULL), HF_OK);
    return e;
}

static void is_succeeded(const char *kind)
{
    static struct lab_proc p;
    static char url[128];
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_leader l = HF_LEADER_INIT;
    rig_begin_on(kind);
    snprintf(url, sizeof url, "%s", rig_url());
    proc_start(&p, leader_run, url);
    CHECK(proc_hears(&p, "leads", RIG_PATIENCE_MS));
    hf_election *e = election(rig_client(NULL), NULL);
    CHECK_INT(hf_election_look(e, &l, NULL), HF_OK);
    CHECK_STR(l.data, "the first");
    hf_leader_free(e, &l);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    o.wait_ms = RIG_WAIT_MS;
    CHECK_INT(hf_election_campaign(e, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_election_look(e, &l, NULL), HF_OK);
    CHECK(l.is_me && l.data == NULL);
    hf_election_close(e);
}

TEST(election, of_a_leader_that_was_killed_is_won_by_the_next)
{
    is_succeeded("redis");
}

TEST(election, in_a_file_of_a_leader_that_was_killed_is_won_by_the_next)
{
    is_succeeded("file:");
}

static struct told {
    atomic_int at_risk, lost;
    atomic_int had_time; /* at the first AT_RISK it still led */
} told;

static void note(hf_election *e, const struct hf_event *ev, void *user)
{
    struct told *t = user;
    if (ev->state == HF_STATE_AT_RISK) {
        if (atomic_load(&t->lost) == 0 && ev->valid_ms > 0)
            atomic_store(&t->had_time, 1);
        atomic_fetch_add(&t->at_risk, 1);
    }
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&t->lost, 1);
    /* The callback may call anything; what it finds agrees with the event. */
    if (ev->state == HF_STATE_LOST
        && hf_hold_state(hf_election_hold(e)) != HF_STATE_LOST)
        atomic_store(&t->had_time, 0);
}

TEST(election, that_cannot_be_kept_is_at_risk_before_it_is_lost)
{
    static struct lab_server r;
    static struct lab_proxy proxy;
    char url[64];
    struct hf_election_options o = HF_ELECTION_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&proxy, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy.port);
    memset(&told, 0, sizeof told);
    o.lease_ms = LEASE_MS;
    o.on_state = note;
    o.user = &told;
    hf_election *e = election(rig_client_at(url, NULL), &o);
    hf_election *other = election(rig_client(NULL), NULL);
    hf_hold *mine = NULL;
    CHECK_INT(hf_election_campaign(e, NULL, &mine, NULL), HF_OK);
    CHECK_INT(hf_hold_state(mine), HF_STATE_HELD);
    proxy_sever(&proxy, 1);
    CHECK_INT(hf_election_campaign(other, NULL, NULL, NULL), HF_OK);
    /* The new leader leads: the old one knew before that it does not. */
    CHECK(mine != NULL && hf_hold_valid_ms(mine) == 0);
    CHECK(rig_until_equal(&told.lost, 1));
    CHECK(atomic_load(&told.at_risk) >= 1 && atomic_load(&told.had_time));
    hf_election_close(other);
    proxy_sever(&proxy, 0);
    hf_election_close(e);
}

TEST(election, is_not_held_on_this_host_when_the_store_is_away)
{
    static struct lab_server r;
    static struct lab_proxy proxy;
    char url[160];
    struct hf_error err = {0};
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&proxy, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?fallback=local",
             proxy.port);
    co.patience_ms = 300;
    hf_election *e = election(rig_client_at(url, &co), NULL);
    proxy_sever(&proxy, 1);
    o.wait_ms = RIG_WAIT_MS;
    CHECK_INT(hf_election_campaign(e, &o, NULL, &err), HF_UNAVAILABLE);
    CHECK(hf_election_hold(e) == NULL);
    proxy_sever(&proxy, 0);
    hf_election_close(e);
}

/* The client's own patience would outlast the test. */
static int await_ends(struct lab_server *r,
                      void (*kill_it)(struct lab_server *))
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_await_options o = HF_AWAIT_OPTIONS_INIT;
    struct hf_leader l = HF_LEADER_INIT, next = HF_LEADER_INIT;
    co.timeout_ms = co.patience_ms = 10 * RIG_PATIENCE_MS;
    hf_election *e = election(rig_client(&co), NULL);
    CHECK_INT(hf_election_look(e, &l, NULL), HF_OK);
    kill_it(r);
    o.wait_ms = 300;
    int64_t began_ms = rig_now_ms();
    int status = hf_election_await(e, &l, &o, &next, NULL);
    CHECK(rig_now_ms() - began_ms < RIG_PATIENCE_MS);
    if (r->pid > 0) redis_resume(r);
    hf_election_close(e);
    return status;
}

TEST(election, a_wait_for_a_change_ends_in_time_when_the_store_hangs)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    CHECK_INT(await_ends(&r, redis_pause), HF_UNAVAILABLE);
}

static void redis_drop(struct lab_server *r)
{
    redis_shutdown(r, 0);
}

TEST(election, a_wait_for_a_change_ends_in_time_when_the_store_is_gone)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    CHECK_INT(await_ends(&r, redis_drop), HF_UNAVAILABLE);
}

struct waiter {
    hf_election *e;
    struct hf_leader seen;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_await_options o = HF_AWAIT_OPTIONS_INIT;
    struct hf_leader next = HF_LEADER_INIT;
    o.wait_ms = 5000;
    o.look_ms = 100;
    w->status = hf_election_await(w->e, &w->seen, &o, &next, NULL);
}

/* The last look has only the rest of the wait for its answer: no answer in that
 * time does not mean that the store is away. */
TEST(election, a_wait_that_saw_no_change_is_over_although_the_store_hangs_then)
{
    static struct lab_server r;
    static struct waiter w;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    co.timeout_ms = co.patience_ms = 10 * RIG_PATIENCE_MS;
    w.e = election(rig_client(&co), NULL);
    hf_leader_init(&w.seen);
    CHECK_INT(hf_election_look(w.e, &w.seen, NULL), HF_OK);
    int64_t before = redis_info(&r, "total_commands_processed");
    rig_spawn(waiter_run, &w);
    while (redis_info(&r, "total_commands_processed") < before + 100)
        rig_pause_ms(10);
    redis_pause(&r);
    rig_join();
    redis_resume(&r);
    CHECK_INT(w.status, HF_TIMEOUT);
    hf_election_close(w.e);
}

/* Whichever answer is lost, the candidate leads with its value or does not
 * lead. */
TEST(election, leaves_nothing_half_done_whichever_answer_is_lost)
{
    static struct lab_server r;
    static struct lab_proxy proxy;
    char url[64];
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_leader l = HF_LEADER_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&proxy, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", proxy.port);
    co.lease_ms = 1500; /* a grant that nobody saw is waited out */
    hf_election *e = election(rig_client_at(url, &co), NULL);
    hf_election *eye = election(rig_client(NULL), NULL);
    o.value = "mine";
    o.value_len = 4;
    o.wait_ms = RIG_WAIT_MS;
    for (long cut = 0; cut < 1200; cut += 37) {
        proxy_arm(&proxy, PROXY_DOWN, cut, (int)(cut % 2));
        int status = hf_election_campaign(e, &o, NULL, NULL);
        proxy_arm(&proxy, PROXY_DOWN, -1, 0);
        int leads = hf_hold_state(hf_election_hold(e)) == HF_STATE_HELD;
        CHECK_INT(leads, status == HF_OK);
        CHECK_INT(hf_election_look(eye, &l, NULL), HF_OK);
        if (leads) CHECK_STR(l.data, "mine");
        hf_leader_free(eye, &l);
        if (leads) CHECK_INT(hf_election_resign(e, NULL), HF_OK);
    }
    hf_election_close(eye);
    hf_election_close(e);
}

/* ---- closing ------------------------------------------------------------- */

static void on_campaigned(hf_election *e, int status, hf_hold *hold,
                          const struct hf_error *err, void *user)
{
    (void)e, (void)status, (void)hold, (void)err;
    atomic_fetch_add((atomic_int *)user, 1);
}

static void on_begun(hf_client *c, int status, hf_once *once,
                     const struct hf_once_result *result,
                     const struct hf_error *err, void *user)
{
    (void)c, (void)result, (void)err;
    /* A run is given together with its lock, or not at all. */
    int is_whole = once && hf_hold_parts(hf_once_hold(once)) == 1;
    if (status == HF_OK ? is_whole : !once)
        atomic_fetch_add((atomic_int *)user, 1);
}

static int is_locked(hf_lock *lock)
{
    int locked = 0;
    CHECK_INT(hf_lock_is_locked(lock, &locked, NULL), HF_OK);
    return locked;
}

/* The lock is granted, and the request after it is not answered. */
static void close_while_it_hangs(enum rig_mode mode, int is_run)
{
    static struct lab_server r;
    static atomic_int calls;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_campaign_options co = HF_CAMPAIGN_OPTIONS_INIT;
    hf_client *c;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *looks = rig_lock(rig_client(NULL), "post");
    o.flags = mode == RIG_OWN_LOOP ? HF_CLIENT_OWN_LOOP : 0;
    o.timeout_ms = 500;
    atomic_store(&calls, 0);
    CHECK_INT(hf_client_open(r.url, &o, &c, NULL), HF_OK);
    hf_election *e = election(c, NULL);
    co.value = "mine";
    co.value_len = 4;
    if (is_run)
        CHECK_INT(hf_once_begin_start(c, "post", NULL, on_begun, &calls, NULL),
                  HF_OK);
    else
        CHECK_INT(
            hf_election_campaign_start(e, &co, on_campaigned, &calls, NULL),
            HF_OK);
    while (!is_locked(looks)) rig_turn(c, 1);
    redis_pause(&r);
    hf_client_close(c);
    redis_resume(&r);
    CHECK_INT(atomic_load(&calls), 1);
}

TEST(election, ends_with_its_client_while_the_server_hangs)
{
    close_while_it_hangs(RIG_THREAD, 0);
}

TEST(election, ends_with_its_client_in_its_own_loop_while_the_server_hangs)
{
    close_while_it_hangs(RIG_OWN_LOOP, 0);
}

TEST(once, ends_with_its_client_while_the_server_hangs)
{
    close_while_it_hangs(RIG_THREAD, 1);
}

TEST(once, ends_with_its_client_in_its_own_loop_while_the_server_hangs)
{
    close_while_it_hangs(RIG_OWN_LOOP, 1);
}
