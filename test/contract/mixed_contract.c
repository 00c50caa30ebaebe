/*
 * mixed_contract.c: blocking and asynchronous callers of one client, on one
 * name.  Nobody may be forgotten: a lost wake-up would cost the holder's lease,
 * which is long here.
 */
#include <stdatomic.h>

#include "lib/rig.h"
#include "test.h"

#define THREADS 3
#define ROUNDS 400
#define LEASE_MS 60000

static struct {
    hf_lock *lock;
    atomic_int blocking, async, failed, stop;
} mix;

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user);

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock, (void)err;
    if (status != HF_OK
        || hf_hold_release_start(hold, on_released, user, NULL) != HF_OK)
        atomic_fetch_add(&mix.failed, 1);
}

static void acquire_again(void)
{
    struct hf_acquire_options o = rig_options(0, LEASE_MS, 0);
    if (hf_lock_acquire_start(mix.lock, &o, on_acquired, NULL, NULL) != HF_OK)
        atomic_fetch_add(&mix.failed, 1);
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold, (void)err, (void)user;
    if (status != HF_OK) atomic_fetch_add(&mix.failed, 1);
    if (atomic_fetch_add(&mix.async, 1) + 1 < ROUNDS) acquire_again();
}

static void block_on(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (rig_acquire(mix.lock, 0, LEASE_MS / 2, NULL) != HF_OK
            || hf_lock_release(mix.lock, NULL, NULL) != HF_OK)
            atomic_fetch_add(&mix.failed, 1);
        atomic_fetch_add(&mix.blocking, 1);
    }
}

TEST(mixed, nobody_is_forgotten)
{
    rig_begin();
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = LEASE_MS;
    mix.lock = rig_lock(rig_client(&o), "a");
    atomic_store(&mix.blocking, 0);
    atomic_store(&mix.async, 0);
    atomic_store(&mix.failed, 0);
    acquire_again();
    for (int i = 0; i < THREADS; i++) rig_spawn(block_on, NULL);
    rig_join();
    CHECK(rig_until_equal(&mix.async, ROUNDS));
    CHECK_INT(atomic_load(&mix.blocking), THREADS * ROUNDS);
    CHECK_INT(atomic_load(&mix.failed), 0);
}

/* ---- starting again while the client closes ---------------------------- */

static atomic_int refused;

static void on_closed(hf_lock *lock, int status, hf_hold *hold,
                      const struct hf_error *err, void *user)
{
    (void)hold, (void)err, (void)user;
    if (status == HF_OK) return;
    if (hf_lock_acquire_start(lock, NULL, on_closed, NULL, NULL) != HF_OK)
        atomic_fetch_add(&refused, 1);
}

TEST(mixed, callback_that_starts_again_does_not_keep_the_client_open)
{
    rig_begin();
    hf_client *c = NULL;
    hf_lock *other = rig_lock(rig_client(NULL), "a"), *l = NULL;
    atomic_store(&refused, 0);
    CHECK_INT(rig_acquire(other, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_closed, NULL, NULL), HF_OK);
    hf_client_close(c); /* the lock object goes with it */
    CHECK_INT(atomic_load(&refused), 1);
}
