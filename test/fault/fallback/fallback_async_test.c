/*
 * fallback_async_test.c: fallback=local, with callbacks, tokens, the program's
 * own loop, and at the end of the client.  One rule: everything that a store's
 * hold does, a hold of this host does too.
 */
#include <dirent.h>
#include <poll.h>
#include <string.h>

#include "lib/rig_fallback.h"

static struct fall f;

/* What the callbacks have told. */
static struct {
    atomic_int acquired, extended, released, inspected;
    atomic_int status;
    hf_hold *hold;
    struct hf_info info;
} told;

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)err;
    atomic_store(&told.status, lock == user ? status : HF_INTERNAL);
    if (hold) told.hold = hold;
    atomic_fetch_add(&told.acquired, 1);
}

static void on_extended(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)err;
    atomic_store(&told.status, hold == user ? status : HF_INTERNAL);
    atomic_fetch_add(&told.extended, 1);
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)err;
    atomic_store(&told.status, hold == user ? status : HF_INTERNAL);
    atomic_fetch_add(&told.released, 1);
}

static void on_inspected(hf_lock *lock, int status, const struct hf_info *info,
                         const struct hf_error *err, void *user)
{
    (void)err;
    atomic_store(&told.status, lock == user ? status : HF_INTERNAL);
    if (info) told.info = *info;
    atomic_fetch_add(&told.inspected, 1);
}

/* The hold is given back as soon as it is there. */
static void on_acquired_to_release(hf_lock *lock, int status, hf_hold *hold,
                                   const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    (void)user;
    atomic_fetch_add(&told.acquired, 1);
    if (status == HF_OK)
        status = hf_hold_release_start(hold, on_released, hold, NULL);
    if (status != HF_OK) atomic_store(&told.status, status);
}

/* A lock of a client whose server has gone. */
static hf_lock *orphan_lock(void)
{
    fall_begin(&f, "local");
    memset(&told, 0, sizeof told);
    struct hf_client_options o = fall_options(&f);
    hf_lock *l = rig_lock(rig_client(&o), "a");
    fall_down(&f);
    return l;
}

/* Started, and granted on this host. */
static hf_hold *orphan_hold(hf_lock *l)
{
    int before = atomic_load(&told.acquired);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, l, NULL), HF_OK);
    CHECK(rig_until_equal(&told.acquired, before + 1));
    CHECK_INT(atomic_load(&told.status), HF_OK);
    CHECK_INT(hf_hold_guarantee(told.hold), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_state(told.hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_fence(told.hold), 0);
    return told.hold;
}

TEST(fallback_async, acquires_extends_and_releases_on_this_host)
{
    hf_lock *l = orphan_lock();
    hf_hold *g = orphan_hold(l);
    CHECK_INT(hf_hold_extend_start(g, 0, on_extended, g, NULL), HF_OK);
    CHECK(rig_until_equal(&told.extended, 1));
    CHECK_INT(atomic_load(&told.status), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_hold_release_start(g, on_released, g, NULL), HF_OK);
    CHECK(rig_until_equal(&told.released, 1));
    CHECK_INT(atomic_load(&told.status), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK_INT(hf_hold_release_start(g, on_released, g, NULL), HF_INVALID);
    CHECK_INT(atomic_load(&told.released), 1);
}

TEST(fallback_async, inspects_this_host)
{
    hf_lock *l = orphan_lock();
    orphan_hold(l);
    CHECK_INT(hf_lock_inspect_start(l, on_inspected, l, NULL), HF_OK);
    CHECK(rig_until_equal(&told.inspected, 1));
    CHECK_INT(atomic_load(&told.status), HF_OK);
    CHECK_INT(told.info.guarantee, HF_GUARANTEE_LOCAL);
    CHECK_INT(told.info.locked, 1);
}

TEST(fallback_async, a_release_inside_the_acquires_callback_is_of_this_host)
{
    hf_lock *l = orphan_lock();
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired_to_release, l, NULL),
              HF_OK);
    CHECK(rig_until_equal(&told.released, 1));
    CHECK_INT(atomic_load(&told.acquired), 1);
    CHECK_INT(atomic_load(&told.status), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(fallback_async, many_waiters_of_one_name_get_it_in_turn)
{
    enum { WAITERS = 20 };
    hf_lock *l = orphan_lock();
    struct hf_acquire_options o = rig_options(0, 0, 0);
    uint64_t first = hf_holder_new();
    for (uint64_t i = 0; i < WAITERS; i++) {
        o.holder = i == 0 ? first : hf_holder_new();
        CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, l, NULL), HF_OK);
    }
    for (int i = 1; i <= WAITERS; i++) {
        CHECK(rig_until_equal(&told.acquired, i));
        CHECK_INT(atomic_load(&told.status), HF_OK);
        CHECK_INT(hf_hold_release(told.hold, NULL), HF_OK);
    }
}

TEST(fallback_async, a_wait_on_this_host_can_be_cancelled)
{
    hf_lock *l = orphan_lock();
    struct hf_acquire_options o = rig_options(0, 0, 0);
    struct hf_client_options co = fall_options(&f);
    hf_client *c = rig_client(&co);
    hf_lock *waits = rig_lock(c, "a");
    orphan_hold(l);
    CHECK_INT(hf_cancel_open(c, &o.cancel), HF_OK);
    CHECK_INT(hf_lock_acquire_start(waits, &o, on_acquired, waits, NULL),
              HF_OK);
    rig_pause_ms(2 * FALL_PATIENCE_MS); /* it waits on this host by now */
    CHECK_INT(atomic_load(&told.acquired), 1);
    hf_cancel_fire(o.cancel);
    CHECK(rig_until_equal(&told.acquired, 2));
    CHECK_INT(atomic_load(&told.status), HF_CANCELLED);
    /* Fired before is cancelled, too, and at once. */
    CHECK_INT(hf_lock_acquire(waits, &o, NULL, NULL), HF_CANCELLED);
    hf_cancel_close(o.cancel);
}

static struct {
    atomic_int lost, fenced;
} heard;

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->fence != 0) atomic_fetch_add(&heard.fenced, 1);
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&heard.lost, 1);
}

TEST(fallback_async, changes_of_state_are_told_where_the_store_s_are)
{
    struct hf_acquire_options a = rig_options(RIG_TRY, 1000, HF_ACQUIRE_FIXED);
    struct hf_event ev = HF_EVENT_INIT;
    int lost = 0;
    fall_begin(&f, "local");
    memset(&heard, 0, sizeof heard);
    struct hf_client_options o = fall_options(&f);
    o.on_state = on_state;
    hf_client *c = rig_client(&o);
    hf_lock *l = rig_lock(c, "a");
    int fd = hf_client_event_fd(c);
    fall_down(&f);
    CHECK_INT(hf_lock_acquire(l, &a, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&heard.lost, 1));
    CHECK_INT(atomic_load(&heard.fenced), 0);
    CHECK(rig_until_readable(fd, RIG_PATIENCE_MS));
    while (hf_client_next_event(c, &ev) == HF_OK)
        lost += ev.state == HF_STATE_LOST && strcmp(ev.name, "a") == 0;
    CHECK_INT(lost, 1);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_EXPIRED);
}

/* ---- the program's own loop --------------------------------------------- */

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

/* Only the client's fd wakes us. */
static void loop_until(hf_client *c, atomic_int *counter, int wanted)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (atomic_load(counter) < wanted) {
        struct pollfd p = {hf_client_fd(c), POLLIN, 0};
        CHECK(rig_now_ms() < end_ms);
        poll(&p, 1, (int)(end_ms - rig_now_ms()));
        CHECK_INT(hf_client_process(c), HF_OK);
    }
}

TEST(fallback_async, the_program_s_own_loop_drives_this_host_too)
{
    fall_begin(&f, "local");
    memset(&told, 0, sizeof told);
    struct hf_client_options o = fall_options(&f);
    o.flags = HF_CLIENT_OWN_LOOP;
    int threads = threads_count();
    hf_client *c = rig_client(&o);
    hf_lock *l = rig_lock(c, "a");
    fall_down(&f);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, l, NULL), HF_OK);
    loop_until(c, &told.acquired, 1);
    CHECK_INT(atomic_load(&told.status), HF_OK);
    hf_hold *g = told.hold;
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_release_start(g, on_released, g, NULL), HF_OK);
    loop_until(c, &told.released, 1);
    CHECK_INT(atomic_load(&told.status), HF_OK);
    CHECK_INT(threads_count(), threads);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK); /* blocking ones as well */
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(threads_count(), threads);
}

TEST(fallback_async, the_program_s_own_loop_is_woken_by_this_host)
{
    hf_lock *holds = orphan_lock();
    struct hf_client_options o = fall_options(&f);
    o.flags = HF_CLIENT_OWN_LOOP;
    hf_client *c = rig_client(&o);
    hf_lock *l = rig_lock(c, "a");
    hf_hold *g = orphan_hold(holds);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, l, NULL), HF_OK);
    int64_t end_ms = rig_now_ms() + 3 * FALL_PATIENCE_MS;
    while (rig_now_ms() < end_ms) {
        struct pollfd p = {hf_client_fd(c), POLLIN, 0};
        poll(&p, 1, (int)(end_ms - rig_now_ms()));
        CHECK_INT(hf_client_process(c), HF_OK);
        CHECK(hf_client_timeout_ms(c) >= -1);
    }
    CHECK_INT(atomic_load(&told.acquired), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    loop_until(c, &told.acquired, 2);
    CHECK_INT(atomic_load(&told.status), HF_OK);
}

/* ---- the end ------------------------------------------------------------ */

/* Not the rig's: its locks go with the client, not before it. */
static hf_lock *lone_lock(hf_client **c)
{
    struct hf_client_options o = fall_options(&f);
    hf_lock *l = NULL;
    CHECK_INT(hf_client_open(f.url, &o, c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(*c, "a", &l, NULL), HF_OK);
    return l;
}

TEST(fallback_async, close_ends_a_wait_on_this_host)
{
    hf_client *c = NULL;
    hf_lock *l = orphan_lock(), *waits = lone_lock(&c);
    orphan_hold(l);
    CHECK_INT(hf_lock_acquire_start(waits, NULL, on_acquired, waits, NULL),
              HF_OK);
    rig_pause_ms(2 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&told.acquired), 1);
    hf_client_close(c);
    CHECK_INT(atomic_load(&told.acquired), 2);
    CHECK_INT(atomic_load(&told.status), HF_CLOSED);
}

static void blocked_run(void *arg)
{
    atomic_store(&told.status, hf_lock_acquire(arg, NULL, NULL, NULL));
    atomic_fetch_add(&told.acquired, 1);
}

TEST(fallback_async, close_ends_a_blocked_caller_s_wait_on_this_host)
{
    hf_client *c = NULL;
    hf_lock *l = orphan_lock(), *waits = lone_lock(&c);
    orphan_hold(l);
    rig_spawn(blocked_run, waits);
    rig_pause_ms(2 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&told.acquired), 1);
    hf_client_close(c);
    CHECK(rig_until_equal(&told.acquired, 2));
    CHECK_INT(atomic_load(&told.status), HF_CLOSED);
    rig_join();
}

TEST(fallback_async, close_gives_back_the_holds_of_this_host)
{
    hf_lock *l = orphan_lock();
    struct hf_client_options o = fall_options(&f);
    hf_client *c = rig_client(&o);
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    rig_close(c);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}
