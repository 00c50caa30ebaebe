/*
 * callback_contract.c: a callback may call anything, and no call blocks
 * beyond its deadline, whatever callbacks and other calls of its holder do.
 */
#include <stdatomic.h>

#include "lib/rig.h"
#include "test.h"

#define LONG_MS 20000 /* a wait that must not be sat out */

/* ---- a state callback that blocks --------------------------------------- */

static struct {
    hf_lock *lock, *asked;
    atomic_int told, stop, rounds;
} state;

static void on_state(const struct hf_event *ev, void *user)
{
    int locked;
    (void)ev, (void)user;
    hf_lock_is_locked(state.asked, &locked, NULL);
    atomic_fetch_add(&state.told, 1);
}

/* Leases so short that most of them are at risk or lost. */
static void hold_briefly(void *arg)
{
    struct hf_acquire_options o = rig_options(LONG_MS, 20, HF_ACQUIRE_FIXED);
    (void)arg;
    while (!atomic_load(&state.stop)) {
        hf_lock_acquire(state.lock, &o, NULL, NULL);
        hf_lock_release(state.lock, NULL, NULL);
        rig_pause_ms(1);
        atomic_fetch_add(&state.rounds, 1);
    }
}

static int has_gone_on(void *arg)
{
    (void)arg;
    return atomic_load(&state.rounds) > 200 && atomic_load(&state.told) > 3;
}

static void hold_for_longer_than_the_lease(void *arg)
{
    struct hf_acquire_options o = rig_options(LONG_MS, 20, HF_ACQUIRE_FIXED);
    (void)arg;
    while (!atomic_load(&state.stop)) {
        if (hf_lock_acquire(state.lock, &o, NULL, NULL) == HF_OK)
            rig_pause_ms(30);
        hf_lock_release(state.lock, NULL, NULL);
    }
}

TEST(callback, of_state_may_block_without_stopping_the_client)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    rig_begin();
    o.on_state = on_state;
    hf_client *c = rig_client(&o);
    state.lock = rig_lock(c, "a");
    state.asked = rig_lock(c, "b");
    atomic_store(&state.told, 0);
    atomic_store(&state.stop, 0);
    atomic_store(&state.rounds, 0);
    for (int i = 0; i < 3; i++) rig_spawn(hold_briefly, NULL);
    rig_spawn(hold_for_longer_than_the_lease, NULL);
    int gone_on = rig_until(has_gone_on, NULL);
    atomic_store(&state.stop, 1);
    rig_join();
    CHECK(gone_on);
}

/* ---- a callback that waits while others go on, and while it all closes --- */

static struct {
    hf_lock *taken;
    atomic_int entered, status;
} wait;

static void on_acquired_wait(hf_lock *lock, int status, hf_hold *hold,
                             const struct hf_error *err, void *user)
{
    (void)lock, (void)status, (void)hold, (void)err, (void)user;
    atomic_fetch_add(&wait.entered, 1);
    atomic_store(&wait.status, rig_acquire(wait.taken, 0, LONG_MS, NULL));
}

static void on_acquired_count(hf_lock *lock, int status, hf_hold *hold,
                              const struct hf_error *err, void *user)
{
    (void)lock, (void)hold, (void)err;
    if (status == HF_OK) atomic_fetch_add((atomic_int *)user, 1);
}

TEST(callback, that_waits_holds_up_neither_others_nor_the_close)
{
    static atomic_int others;
    hf_client *c = NULL;
    hf_lock *l = NULL, *free_one = NULL;
    rig_begin();
    hf_lock *holder = rig_lock(rig_client(NULL), "taken");
    CHECK_INT(rig_acquire(holder, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "taken", &wait.taken, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "l", &l, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "free", &free_one, NULL), HF_OK);
    atomic_store(&wait.entered, 0);
    atomic_store(&wait.status, 1);
    atomic_store(&others, 0);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired_wait, NULL, NULL),
              HF_OK);
    CHECK(rig_until_equal(&wait.entered, 1));
    CHECK_INT(rig_acquire(free_one, 0, LONG_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(free_one, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(
        hf_lock_acquire_start(free_one, NULL, on_acquired_count, &others, NULL),
        HF_OK);
    CHECK(rig_until_equal(&others, 1));
    hf_client_close(c);
    CHECK_INT(atomic_load(&wait.status), HF_CLOSED);
    CHECK(rig_now_ms() - began_ms < LONG_MS / 2);
}

/* ---- a callback that waits for its own process --------------------------- */

static struct {
    hf_lock *held;
    int64_t wait_ms;
    atomic_int status, entered, go_on;
} own;

static hf_client *own_begin(int64_t wait_ms)
{
    struct hf_acquire_options o = rig_renewed(0);
    rig_begin();
    hf_client *c = rig_client(NULL);
    own.held = rig_lock(c, "held");
    own.wait_ms = wait_ms;
    atomic_store(&own.status, 1);
    atomic_store(&own.entered, 0);
    atomic_store(&own.go_on, 0);
    CHECK_INT(hf_lock_acquire(own.held, &o, NULL, NULL), HF_OK);
    return c;
}

static void wait_for_the_held(void *arg)
{
    (void)arg;
    atomic_store(&own.entered, 1);
    atomic_store(&own.status, rig_acquire(own.held, 0, own.wait_ms, NULL));
}

static void on_acquired_want(hf_lock *lock, int status, hf_hold *hold,
                             const struct hf_error *err, void *user)
{
    (void)lock, (void)status, (void)hold, (void)err;
    wait_for_the_held(user);
}

TEST(callback, that_waits_for_its_own_process_keeps_its_deadline)
{
    hf_client *c = own_begin(1000);
    hf_lock *l = rig_lock(c, "l");
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired_want, NULL, NULL),
              HF_OK);
    CHECK(rig_until_equal(&own.status, HF_TIMEOUT));
}

TEST(callback, that_waits_for_its_own_process_stops_no_renewal)
{
    hf_client *c = own_begin(LONG_MS);
    hf_lock *l = rig_lock(c, "l");
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired_want, NULL, NULL),
              HF_OK);
    CHECK(rig_until_equal(&own.entered, 1));
    CHECK(rig_until_renewed(own.held, 0, 5));
    CHECK_INT(atomic_load(&own.status), 1); /* the callback still waits */
    CHECK_INT(hf_lock_release(own.held, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&own.status, HF_OK));
}

static int may_go_on(void *arg)
{
    (void)arg;
    return atomic_load(&own.go_on);
}

static void on_acquired_linger(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user)
{
    (void)lock, (void)status, (void)hold, (void)err, (void)user;
    atomic_store(&own.entered, 2);
    rig_until(may_go_on, NULL);
    atomic_store(&own.entered, 3);
}

TEST(callback, that_takes_its_time_keeps_no_caller_beyond_its_deadline)
{
    hf_client *c = own_begin(4000);
    /* A waiter of the store's queue polls, and runs callbacks itself. */
    if (rig_has(HF_CAP_IN_ORDER)) return;
    hf_lock *l = rig_lock(c, "l");
    rig_spawn(wait_for_the_held, NULL);
    CHECK(rig_until_equal(&own.entered, 1));
    rig_pause_ms(1000); /* it sleeps by now */
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired_linger, NULL, NULL),
              HF_OK);
    rig_join();
    CHECK_INT(atomic_load(&own.status), HF_TIMEOUT);
    CHECK(rig_until_equal(&own.entered, 2));
    atomic_store(&own.go_on, 1);
    CHECK(rig_until_equal(&own.entered, 3));
}

/* ---- two threads that are one holder ------------------------------------- */

static struct {
    hf_lock *lock;
    uint64_t holder;
    atomic_int entered;
    int status;
    hf_hold *hold; /* what the one that waits longest got */
} one;

static void wait_as_the_holder(void *arg)
{
    (void)arg;
    atomic_fetch_add(&one.entered, 1);
    one.status = rig_acquire(one.lock, one.holder, LONG_MS, &one.hold);
}

TEST(callback, calls_of_one_holder_keep_their_own_deadlines)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    one.lock = rig_lock(c, "a");
    atomic_store(&one.entered, 0);
    one.holder = hf_holder_self(); /* so that this thread may release it */
    one.hold = NULL;
    CHECK_INT(rig_acquire(other, 0, 0, NULL), HF_OK);
    rig_spawn(wait_as_the_holder, NULL);
    CHECK(rig_until_equal(&one.entered, 1));
    rig_pause_ms(200); /* it is in the queue by now */
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(one.lock, one.holder, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(one.lock, one.holder, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(one.lock, NULL, NULL), HF_NOT_OWNER);
    CHECK(rig_now_ms() - began_ms < LONG_MS / 2);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(one.status, HF_OK);
    CHECK_INT(hf_hold_release(one.hold, NULL), HF_OK);
}
