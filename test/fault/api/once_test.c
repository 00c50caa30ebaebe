/*
 * once_test.c: runs whose process dies, and begins whose answers are lost.  One
 * rule: no caller is told to run what may have run already, and what certainly
 * did not run can be begun.
 */
#include <signal.h>
#include <string.h>

#include "lib/proc.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define LEASE_MS 1500
#define RUNNER_LEASE_MS 4000 /* no stall of the machine ends it */

static int runner_run(struct lab_proc *self, const void *arg)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    hf_once *run = NULL;
    o.lease_ms = RUNNER_LEASE_MS;
    if (hf_client_open(arg, &o, &c, NULL) != HF_OK) return 1;
    if (hf_once_begin(c, "job", NULL, &run, &r, NULL) != HF_OK) return 1;
    proc_say(self, r.outcome == HF_ONCE_MINE ? "mine" : "not mine");
    while (proc_hear(self, line, 120000)) continue;
    return 0;
}

static void runner_start(struct lab_proc *p)
{
    static char url[128];
    snprintf(url, sizeof url, "%s", rig_url());
    proc_start(p, runner_run, url);
    CHECK(proc_hears(p, "mine", RIG_PATIENCE_MS));
}

static void runner_kill(struct lab_proc *p)
{
    proc_signal(p, SIGKILL);
    CHECK_INT(proc_wait(p, RIG_PATIENCE_MS), -SIGKILL);
}

static int begin(hf_client *c, const struct hf_once_options *o, hf_once **run)
{
    struct hf_error err = {0};
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    if (hf_once_begin(c, "job", o, run, &r, &err))
        TEST_FAIL("begin: %s", err.text);
    hf_once_result_free(c, &r);
    return r.outcome;
}

static int try_begin(hf_client *c, hf_once **run)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    o.flags = HF_ONCE_TRY;
    return begin(c, &o, run);
}

/* Its runner is dead: what callers are told of it, and when it is run again. */
static void is_told_dead(hf_client *c)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    o.wait_ms = RIG_WAIT_MS; /* until the lock is known to be free */
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DIED);
    CHECK_INT(hf_once_look(c, "job", NULL, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_DIED);
    CHECK(r.pid > 0 && r.began_ms > 0 && r.ended_ms == 0);
    o.min_hold_ms = 3600000;
    o.flags = HF_ONCE_RETRY;
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DIED);
    o.min_hold_ms = 0;
    CHECK_INT(begin(c, &o, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
}

TEST(once, in_a_file_a_run_that_was_killed_has_died)
{
    static struct lab_proc p;
    hf_once *run;
    rig_begin_on("file:");
    runner_start(&p);
    hf_client *c = rig_client(NULL);
    CHECK_INT(try_begin(c, &run), HF_ONCE_RUNNING);
    runner_kill(&p);
    is_told_dead(c);
}

TEST(once, on_redis_a_run_that_was_killed_has_died_when_its_lease_ends)
{
    static struct lab_server r;
    static struct lab_proc p;
    hf_once *run;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    runner_start(&p);
    hf_client *c = rig_client(NULL);
    CHECK_INT(try_begin(c, &run), HF_ONCE_RUNNING);
    runner_kill(&p);
    is_told_dead(c);
}

TEST(once, that_died_is_begun_in_the_next_period)
{
    static struct lab_proc p;
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    hf_once *run;
    rig_begin_on("file:");
    runner_start(&p);
    runner_kill(&p);
    o.period_ms = 20;
    o.wait_ms = RIG_WAIT_MS;
    rig_pause_ms(60);
    CHECK_INT(begin(rig_client(NULL), &o, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

/* ---- lost answers ------------------------------------------------------- */

/* Begin over the line that is cut after `n` bytes; 1 if it was told to run. */
static int begin_cut(struct lab_proxy *p, long n, enum lab_way way)
{
    char url[64];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_once_options oo = HF_ONCE_OPTIONS_INIT;
    struct hf_error err = {0};
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    oo.flags = HF_ONCE_TRY;
    o.lease_ms = LEASE_MS;
    o.timeout_ms = 1000;
    o.patience_ms = 3000;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p->port);
    proxy_arm(p, way, n, 0);
    hf_client *c = rig_client_at(url, &o);
    int status = hf_once_begin(c, "job", &oo, &run, &r, &err);
    if (status == HF_OK) {
        CHECK_INT(r.outcome, HF_ONCE_MINE);
        status = hf_once_end(run, 0, "x", 1, &err);
    } else {
        status = HF_UNAVAILABLE == status ? 1 : status;
    }
    if (status < 0)
        TEST_FAIL("cut after %ld: %s: %s", n, hf_status_name(status), err.text);
    rig_close(c);
    return status == HF_OK;
}

static void survives_cuts(enum lab_way way, long step)
{
    static struct lab_server r;
    static struct lab_proxy p;
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    hf_once *run;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&p, r.port);
    hf_client *direct = rig_client(NULL);
    CHECK(begin_cut(&p, -1, way));
    long whole = atomic_load(&p.bytes[way]);
    int cuts = 0;
    o.wait_ms = RIG_WAIT_MS;
    CHECK(whole > 0);
    for (long n = whole - 1; n > 0 && n > whole - 40 * step; n -= step) {
        redis_say(&r, "FLUSHALL");
        int done = begin_cut(&p, n, way);
        cuts += atomic_load(&p.cuts) > 0;
        CHECK_INT(begin(direct, &o, &run), done ? HF_ONCE_DONE : HF_ONCE_MINE);
        if (run) CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
    }
    CHECK(cuts > 10);
}

TEST(once, begun_over_a_line_that_breaks_on_the_way_up_is_begun_or_not)
{
    survives_cuts(PROXY_UP, 61);
}

TEST(once, begun_over_a_line_that_breaks_on_the_way_down_is_begun_or_not)
{
    survives_cuts(PROXY_DOWN, 13);
}

TEST(once, is_not_run_under_a_lock_of_this_host_alone)
{
    char url[128];
    struct hf_error err = {0};
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    rig_begin_on("file:");
    snprintf(url, sizeof url,
             "redis://127.0.0.1:%d?patience=200ms&fallback=local"
             "&fallback_dir=%s",
             redis_dead_port(), rig_dir());
    hf_client *c = rig_client_at(url, NULL);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, &err), HF_UNAVAILABLE);
    CHECK(run == NULL);
    CHECK_INT(hf_once_look(c, "job", NULL, &r, &err), HF_UNAVAILABLE);
}

/* ---- a store that loses answers ----------------------------------------- */

#define LOSERS 4
#define JOBS 12
#define BEGINS 6

struct loser {
    hf_client *client;
    atomic_int *mine; /* by job */
    atomic_int strange;
};

static void lose(void *arg)
{
    struct loser *l = arg;
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    o.flags = HF_ONCE_TRY;
    for (int i = 0; i < JOBS * BEGINS; i++) {
        char name[16];
        struct hf_once_result r = HF_ONCE_RESULT_INIT;
        hf_once *run = NULL;
        snprintf(name, sizeof name, "job-%d", i % JOBS);
        int status = hf_once_begin(l->client, name, &o, &run, &r, NULL);
        if (status != HF_OK) {
            if (status != HF_UNAVAILABLE) atomic_store(&l->strange, status);
            continue;
        }
        hf_once_result_free(l->client, &r);
        if (!run) continue;
        atomic_fetch_add(&l->mine[i % JOBS], 1);
        status = hf_once_end(run, 0, NULL, 0, NULL);
        if (status != HF_OK && status != HF_UNAVAILABLE)
            atomic_store(&l->strange, status);
    }
}

TEST(once, is_run_at_most_once_however_many_answers_are_lost)
{
    static struct loser losers[LOSERS];
    static atomic_int mine[JOBS];
    char url[128];
    memset(losers, 0, sizeof losers);
    memset(mine, 0, sizeof mine);
    rig_begin_on("memory:");
    hf_client *keep = rig_client(NULL); /* the space stays as long */
    for (int i = 0; i < LOSERS; i++) {
        snprintf(url, sizeof url,
                 "%s?loss=25&seed=%d&timeout=10ms&patience=60ms", rig_url(),
                 i + 1);
        losers[i].client = rig_client_at(url, NULL);
        losers[i].mine = mine;
        rig_spawn(lose, &losers[i]);
    }
    rig_join();
    CHECK_INT(hf_client_caps(keep) & HF_CAP_VALUE, HF_CAP_VALUE);
    for (int i = 0; i < LOSERS; i++)
        CHECK_INT(atomic_load(&losers[i].strange), 0);
    int runs = 0;
    for (int i = 0; i < JOBS; i++) {
        CHECK(atomic_load(&mine[i]) <= 1);
        runs += atomic_load(&mine[i]);
    }
    CHECK(runs > 0);
}

/* Nobody else is there: what looks begun was begun by a call that failed. */
TEST(once, whose_begin_was_not_answered_is_begun_by_the_same_client)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_once_options oo = HF_ONCE_OPTIONS_INIT;
    char url[128], name[16];
    int failed = 0;
    rig_begin_on("memory:");
    hf_client *keep = rig_client(NULL);
    CHECK_INT(hf_client_caps(keep) & HF_CAP_VALUE, HF_CAP_VALUE);
    snprintf(url, sizeof url, "%s?loss=40&seed=7&timeout=5ms&patience=20ms",
             rig_url());
    o.lease_ms = 100;
    oo.wait_ms = RIG_WAIT_MS;
    hf_client *c = rig_client_at(url, &o);
    for (int i = 0; i < 40; i++) {
        struct hf_once_result r = HF_ONCE_RESULT_INIT;
        hf_once *run = NULL;
        snprintf(name, sizeof name, "job-%d", i);
        while (hf_once_begin(c, name, &oo, &run, &r, NULL) != HF_OK) failed++;
        if (r.outcome != HF_ONCE_MINE)
            TEST_FAIL("%s: outcome %d after a begin that failed", name,
                      r.outcome);
        (void)hf_once_end(run, 0, NULL, 0, NULL);
    }
    CHECK(failed > 10);
}

/* ---- a store that refuses ----------------------------------------------- */

/* Begin; then the server takes no more writes; the status of the last one. */
static int end_refused(struct lab_server *r, int is_run, struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_once *run;
    redis_begin(r, NULL);
    rig_begin_at(r->url);
    o.patience_ms = 300;
    CHECK_INT(begin(rig_client(&o), NULL, &run), HF_ONCE_MINE);
    CHECK_STR(redis_say(r, "CONFIG SET maxmemory 1"), "OK");
    return is_run ? hf_once_end(run, 0, NULL, 0, err)
                  : hf_once_abandon(run, err);
}

TEST(once, end_that_the_store_refuses_is_no_other_ones_begin)
{
    static struct lab_server r;
    struct hf_error err = {0};
    CHECK_INT(end_refused(&r, 1, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "OOM") != NULL);
}

/* Deleting needs no memory. */
TEST(once, can_be_abandoned_when_the_store_is_full)
{
    static struct lab_server r;
    struct hf_error err = {0};
    CHECK_INT(end_refused(&r, 0, &err), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS holdfast_once:{job}"), 0);
}
