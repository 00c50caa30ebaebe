/*
 * holder_killed_test.c: kill -9 of a process that holds a lock.  One rule: the
 * lock is free when the store can know that its holder is gone, not before.
 */
#include <signal.h>
#include <string.h>

#include "lib/holder.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

TEST(holder_killed, on_redis_the_next_gets_it_when_the_lease_ends)
{
    static struct lab_server r;
    static struct lab_proc p;
    static struct holder h;
    hf_hold *g;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    h = (struct holder){r.url, "a", 4000, 0};
    uint64_t fence = holder_start(&p, &h);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 6000, NULL), HF_TIMEOUT); /* it renews */
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    int64_t began_ms = rig_now_ms(); /* before: what it tells ends later */
    int64_t ttl_ms = redis_number(&r, "PTTL a");
    CHECK(ttl_ms > 0 && ttl_ms <= 4000);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(rig_now_ms() - began_ms >= ttl_ms - 10);
    CHECK(hf_hold_fence(g) > fence);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

static int waiter_run(struct lab_proc *self, const void *arg)
{
    hf_client *c = NULL;
    hf_lock *l = NULL;
    if (hf_client_open(arg, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "a", &l, NULL) != HF_OK) return 1;
    int status = rig_acquire(l, 0, 1000, NULL);
    proc_say(self, "%s", hf_status_name(status));
    rig_acquire(l, 0, RIG_NO_LIMIT, NULL);
    return 0;
}

TEST(holder_killed, on_redis_a_waiter_that_dies_is_in_nobodys_way)
{
    static struct lab_server r;
    static struct lab_proc p, w;
    static struct holder h;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    h = (struct holder){r.url, "a", 30000, 0};
    holder_start(&p, &h);
    proc_start(&w, waiter_run, r.url);
    CHECK(proc_hears(&w, "TIMEOUT", RIG_PATIENCE_MS));
    rig_pause_ms(200); /* it waits again now */
    proc_signal(&w, SIGKILL);
    CHECK_INT(proc_wait(&w, RIG_PATIENCE_MS), -SIGKILL);
    proc_say(&p, "release");
    CHECK(holder_says(&p, "released OK"));
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(holder_killed, in_a_file_the_next_gets_it_at_once)
{
    static struct lab_proc p;
    static struct holder h;
    hf_hold *g;
    rig_begin_on("file:");
    h = (struct holder){rig_url(), "a", 3600000, 0};
    uint64_t fence = holder_start(&p, &h);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK); /* lease: 1 h */
    CHECK(hf_hold_fence(g) > fence);
}

TEST(holder_killed, in_a_file_a_fixed_lease_dies_with_its_process_too)
{
    static struct lab_proc p;
    static struct holder h;
    rig_begin_on("file:");
    h = (struct holder){rig_url(), "a", 3600000, HF_ACQUIRE_FIXED};
    holder_start(&p, &h);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* A detached hold has no process: to kill the one that took it changes
 * nothing. */
TEST(holder_killed, in_a_file_a_detached_hold_stays_until_its_lease_ends)
{
    static struct lab_proc p;
    static struct holder h;
    rig_begin_on("file:");
    h = (struct holder){rig_url(), "a", 2000, HF_ACQUIRE_DETACHED};
    int64_t began_ms = rig_now_ms();
    holder_start(&p, &h);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms >= 2000 - 22);
}
