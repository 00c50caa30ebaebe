/*
 * redisson_outage_test.c: what Redisson's tests do with servers that stop,
 * start and die, as far as one server goes.  One rule: no call hangs, no round
 * fails that could wait, and nothing that was given up comes to life later.
 */
#include <signal.h>
#include <string.h>

#include "lib/holder.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

static struct lab_server r;

static hf_client *client_with_patience(int64_t patience_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1000;
    o.patience_ms = patience_ms;
    return rig_client(&o);
}

struct caller {
    hf_lock *lock;
    struct hf_acquire_options how;
    atomic_int started;
    int status;
};

static void caller_run(void *arg)
{
    struct caller *c = arg;
    atomic_store(&c->started, 1);
    c->status = hf_lock_acquire(c->lock, &c->how, NULL, NULL);
}

/* Tokens are closed before their client: first test cleanup to run. */
static void cancel_end(void *arg)
{
    rig_join();
    hf_cancel_close(arg);
}

/* testLockIsNotRenewedAfterInterruptedTryLock: the request is on its way when
 * its caller gives up, and is granted to nobody when the server goes on. */
TEST(redisson_outage, a_try_cancelled_after_its_send_leaves_no_lock)
{
    static struct caller c;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *client = client_with_patience(20000);
    hf_lock *l = rig_lock(client, "a");
    hf_lock *other = rig_lock(client_with_patience(20000), "a");
    CHECK_INT(rig_probe(l), HF_OK); /* connected, the script is there */
    CHECK_INT(rig_probe(other), HF_OK);
    c = (struct caller){.lock = l, .how = rig_options(0, 0, 0)};
    CHECK_INT(hf_cancel_open(client, &c.how.cancel), HF_OK);
    test_cleanup(cancel_end, c.how.cancel);
    redis_pause(&r);
    rig_spawn(caller_run, &c);
    CHECK(rig_until_equal(&c.started, 1));
    rig_pause_ms(100);
    hf_cancel_fire(c.how.cancel);
    rig_join();
    redis_resume(&r);
    CHECK_INT(c.status, HF_CANCELLED);
    /* The lease is 30 s: what lets it in is the release, not the end. */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
}

/* testRedisFailed, of the spin lock. */
TEST(redisson_outage, spinning_on_a_stopped_server_is_unavailable)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(client_with_patience(500), "a");
    struct hf_acquire_options o = rig_options(60000, 10000, HF_ACQUIRE_FIXED);
    o.backoff = HF_BACKOFF_EXPONENTIAL;
    CHECK_INT(rig_probe(l), HF_OK);
    redis_shutdown(&r, 0);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < 20000);
}

/* testAutoExpire, of the spin lock. */
TEST(redisson_outage, who_spins_gets_a_killed_holders_lock)
{
    static struct lab_proc p;
    static struct holder h;
    redis_begin(&r, NULL);
    h = (struct holder){r.url, "a", 1500, 0};
    holder_start(&p, &h);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.backoff = HF_BACKOFF_EXPONENTIAL;
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    proc_signal(&p, SIGKILL);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
}

#define LOOPS 5

static atomic_int stop;

struct looper {
    hf_lock *lock;
    atomic_int rounds;
    int last;
    int failure; /* the last status that was not HF_OK */
    int errors;
};

static void looper_run(void *arg)
{
    struct looper *p = arg;
    while (!atomic_load(&stop)) {
        p->last = rig_acquire(p->lock, 0, RIG_PATIENCE_MS * 3, NULL);
        if (p->last == HF_OK) p->last = hf_lock_release(p->lock, NULL, NULL);
        if (p->last != HF_OK) {
            p->failure = p->last;
            p->errors++;
        }
        atomic_fetch_add(&p->rounds, 1);
        rig_pause_ms(5);
    }
}

static int has_gone_on(void *arg)
{
    const struct looper *p = arg;
    for (int i = 0; i < LOOPS; i++)
        if (atomic_load(&p[i].rounds) < 30) return 0;
    return 1;
}

/* testLockFailoverInCluster, testReattachInSentinel3: with one server the
 * fail-over is its restart.  There, READONLY and lost locks are overlooked;
 * here, no round may fail. */
TEST(redisson_outage, rounds_go_on_across_restarts_without_an_error)
{
    static struct looper p[LOOPS];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    atomic_store(&stop, 0);
    for (int i = 0; i < LOOPS; i++) {
        memset(&p[i], 0, sizeof p[i]);
        o.timeout_ms = o.patience_ms = RIG_PATIENCE_MS;
        p[i].lock = rig_lock(rig_client(&o), i < 2 ? "a" : "b");
        rig_spawn(looper_run, &p[i]);
    }
    for (int i = 0; i < 3; i++) {
        rig_pause_ms(200);
        redis_shutdown(&r, 1);
        rig_pause_ms(100);
        redis_start(&r);
        for (int k = 0; k < LOOPS; k++) atomic_store(&p[k].rounds, 0);
        if (!rig_until(has_gone_on, p)) break;
    }
    int gone_on = has_gone_on(p);
    atomic_store(&stop, 1);
    rig_join();
    CHECK(gone_on);
    for (int i = 0; i < LOOPS; i++)
        if (p[i].errors > 0)
            TEST_FAIL("%d errors, the last: %s", p[i].errors,
                      hf_status_name(p[i].failure));
}
