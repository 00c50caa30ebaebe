/*
 * own_loop_test.c: the program's own loop drives everything.  One rule: not one
 * thread is made, and no callback runs but inside hf_client_process().
 */
#include <dirent.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/rig.h"

struct told {
    int calls;
    int status;
    int is_inside; /* hf_client_process() is running */
    int outside;   /* callbacks that ran elsewhere */
    hf_hold *hold;
    int lost;
};

static int threads_count(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    CHECK(d != NULL);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)lock;
    (void)err;
    t->calls++;
    t->outside += !t->is_inside;
    t->status = status;
    if (hold) t->hold = hold;
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    struct told *t = user;
    (void)err;
    t->calls++;
    t->outside += !t->is_inside;
    t->status = status;
    CHECK(hold == t->hold);
}

static void on_state(const struct hf_event *ev, void *user)
{
    struct told *t = user;
    t->outside += !t->is_inside;
    t->lost += ev->state == HF_STATE_LOST;
}

static hf_client *loop_client(struct told *t, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(t, 0, sizeof *t);
    o.flags = HF_CLIENT_OWN_LOOP;
    o.lease_ms = lease_ms;
    o.on_state = on_state;
    o.state_user = t;
    hf_client *c = rig_client(&o);
    CHECK(hf_client_fd(c) >= 0);
    return c;
}

/* One turn of the loop: sleep in poll on the fd alone, then process. */
static void loop_turn(hf_client *c, struct told *t, int64_t timeout_ms)
{
    struct pollfd p = {hf_client_fd(c), POLLIN, 0};
    poll(&p, 1, (int)timeout_ms);
    t->is_inside = 1;
    int status = hf_client_process(c);
    t->is_inside = 0;
    CHECK_INT(status, HF_OK);
}

/* Turn until there were `calls` callbacks.  The fd alone must wake us. */
static void loop_until(hf_client *c, struct told *t, int calls)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (t->calls < calls) {
        CHECK(rig_now_ms() < end_ms);
        loop_turn(c, t, end_ms - rig_now_ms());
    }
    CHECK_INT(t->outside, 0);
}

static void loop_for(hf_client *c, struct told *t, int64_t ms)
{
    int64_t end_ms = rig_now_ms() + ms;
    while (rig_now_ms() < end_ms) loop_turn(c, t, end_ms - rig_now_ms());
}

static void acquire_renew_release(const char *kind)
{
    static struct told t;
    int is_locked = 1;
    rig_begin_on(kind);
    int threads = threads_count();
    hf_client *c = loop_client(&t, 900);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, &t, NULL), HF_OK);
    CHECK_INT(t.calls, 0); /* never before the call has returned */
    loop_until(c, &t, 1);
    CHECK_INT(t.status, HF_OK);
    CHECK(hf_hold_count(t.hold) == 1);
    loop_for(c, &t, 2500);
    CHECK_INT(t.lost, 0);
    CHECK_INT(hf_hold_state(t.hold), HF_STATE_HELD);
    CHECK_INT(threads_count(), threads);
    CHECK_INT(hf_hold_release_start(t.hold, on_released, &t, NULL), HF_OK);
    CHECK_INT(t.calls, 1);
    loop_until(c, &t, 2);
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(hf_hold_release(t.hold, NULL), HF_INVALID);
    CHECK_INT(hf_lock_is_locked(l, &is_locked, NULL), HF_OK);
    CHECK_INT(is_locked, 0);
    CHECK_INT(threads_count(), threads);
    CHECK_INT(t.outside, 0);
}

TEST(own_loop, drives_a_lock_in_memory)
{
    acquire_renew_release("memory:");
}

TEST(own_loop, drives_a_lock_in_a_file)
{
    acquire_renew_release("file:");
}

TEST(own_loop, drives_a_lock_of_a_quorum)
{
    acquire_renew_release("quorum:");
}

TEST(own_loop, drives_a_lock_on_redis)
{
    acquire_renew_release("redis");
}

static void wait_is_woken(const char *kind)
{
    static struct told t;
    rig_begin_on(kind);
    hf_client *c = loop_client(&t, 0);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, &t, NULL), HF_OK);
    loop_for(c, &t, 200);
    CHECK_INT(t.calls, 0);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    loop_until(c, &t, 1);
    CHECK_INT(t.status, HF_OK);
}

TEST(own_loop, is_woken_when_a_lock_in_memory_is_freed)
{
    wait_is_woken("memory:");
}

TEST(own_loop, is_woken_when_a_lock_in_a_file_is_freed)
{
    wait_is_woken("file:");
}

TEST(own_loop, is_woken_when_a_lock_of_a_quorum_is_freed)
{
    wait_is_woken("quorum:");
}

TEST(own_loop, is_woken_when_a_lock_on_redis_is_freed)
{
    wait_is_woken("redis");
}

TEST(own_loop, tells_of_a_lost_hold)
{
    static struct told t;
    rig_begin_on("memory:");
    hf_client *c = loop_client(&t, 0);
    hf_lock *l = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(0, 300, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, &t, NULL), HF_OK);
    loop_until(c, &t, 1);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (t.lost == 0 && rig_now_ms() < end_ms)
        loop_turn(c, &t, end_ms - rig_now_ms());
    CHECK_INT(t.lost, 1);
    CHECK_INT(hf_hold_state(t.hold), HF_STATE_LOST);
}

/* Loops that cannot poll a timer ask how long they may sleep. */
TEST(own_loop, tells_how_long_it_may_sleep)
{
    static struct told t;
    rig_begin_on("memory:");
    hf_client *c = loop_client(&t, 0);
    hf_lock *l = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(0, 20000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, &t, NULL), HF_OK);
    loop_until(c, &t, 1);
    loop_for(c, &t, 50);
    int64_t sleep_ms = hf_client_timeout_ms(c);
    CHECK(sleep_ms > 1000 && sleep_ms <= 20000); /* until it is at risk */
    CHECK_INT(hf_hold_release_start(t.hold, NULL, NULL, NULL), HF_OK);
    loop_for(c, &t, 50);
    CHECK_INT(hf_client_timeout_ms(c), -1);
}

TEST(own_loop, blocking_calls_work_too)
{
    static struct told t;
    int threads = threads_count();
    rig_begin_on("memory:");
    hf_client *c = loop_client(&t, 0);
    hf_lock *l = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(threads_count(), threads);
}
