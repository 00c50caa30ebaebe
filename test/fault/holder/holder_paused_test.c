/*
 * holder_paused_test.c: SIGSTOP of a holder past its lease, as a long pause of
 * its machine would do.  One rule: when it wakes it is told, and nothing it
 * still does can hurt the next holder: its release by the store, its writes by
 * the fence.
 */
#include <signal.h>
#include <string.h>

#include "lib/holder.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

/* The resource: it remembers the highest fence it has seen. */
static int64_t guarded_write(struct lab_server *r, uint64_t fence)
{
    return redis_number(r,
                        "EVAL \"local top = tonumber(redis.call('GET', "
                        "KEYS[1]) or '0') if tonumber(ARGV[1]) < top then "
                        "return 0 end redis.call('SET', KEYS[1], ARGV[1]) "
                        "return 1\" 1 resource %llu",
                        (unsigned long long)fence);
}

TEST(holder_paused, on_redis_it_is_told_and_harms_nobody)
{
    static struct lab_server r;
    static struct lab_proc p;
    static struct holder h;
    hf_hold *g;
    char line[PROC_LINE_MAX];
    int held = 0;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    h = (struct holder){r.url, "a", 900, 0};
    uint64_t fence = holder_start(&p, &h);
    CHECK_INT(guarded_write(&r, fence), 1);
    proc_signal(&p, SIGSTOP);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence);
    CHECK_INT(guarded_write(&r, hf_hold_fence(g)), 1);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    CHECK_INT(guarded_write(&r, fence), 0);
    proc_say(&p, "release");
    CHECK(proc_hear(&p, line, RIG_PATIENCE_MS));
    CHECK(!strcmp(line, "released LOST") || !strcmp(line, "released EXPIRED"));
    CHECK_INT(hf_lock_is_mine(l, &held, NULL), HF_OK);
    CHECK_INT(held, 1);
    CHECK_INT(rig_probe(rig_lock(rig_client(NULL), "a")), HF_TAKEN);
    CHECK_INT(guarded_write(&r, hf_hold_fence(g)), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(holder_paused, on_redis_it_is_told_though_nobody_took_the_lock)
{
    static struct lab_server r;
    static struct lab_proc p;
    static struct holder h;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    h = (struct holder){r.url, "a", 600, 0};
    holder_start(&p, &h);
    proc_signal(&p, SIGSTOP);
    rig_pause_ms(1500);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    /* It must not have taken it again behind our back. */
    rig_pause_ms(300);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    proc_say(&p, "release");
    CHECK(holder_says(&p, "released EXPIRED"));
}

TEST(holder_paused, shorter_than_its_lease_it_goes_on)
{
    static struct lab_server r;
    static struct lab_proc p;
    static struct holder h;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    h = (struct holder){r.url, "a", 6000, 0};
    holder_start(&p, &h);
    proc_signal(&p, SIGSTOP);
    rig_pause_ms(800);
    proc_signal(&p, SIGCONT);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 7000, NULL), HF_TIMEOUT);
    proc_say(&p, "release");
    CHECK(holder_says(&p, "released OK"));
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* The kernel knows no lease: a stopped process keeps what it has, and lets go
 * of a fixed lease when it wakes. */
TEST(holder_paused, in_a_file_it_keeps_the_lock_until_it_wakes)
{
    static struct lab_proc p;
    static struct holder h;
    rig_begin_on("file:");
    h = (struct holder){rig_url(), "a", 500, HF_ACQUIRE_FIXED};
    holder_start(&p, &h);
    proc_signal(&p, SIGSTOP);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 1500, NULL), HF_TIMEOUT);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}
