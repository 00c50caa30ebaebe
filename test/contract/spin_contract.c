/*
 * spin_contract.c: waiting by asking again.  One rule: a spinning waiter asks
 * for no wake-ups, and still gets the lock, or gives up in time.
 */
#include <string.h>

#include "lib/rig.h"

#define THREADS 4
#define TURNS 25

static struct hf_acquire_options spin_options(int kind, int64_t wait_ms)
{
    struct hf_acquire_options o = rig_options(wait_ms, 0, 0);
    o.backoff = kind;
    return o;
}

struct spinner {
    hf_lock *lock;
    struct hf_acquire_options options;
    atomic_int started, done;
    int status;
};

static void spinner_run(void *arg)
{
    struct spinner *s = arg;
    atomic_store(&s->started, 1);
    s->status = hf_lock_acquire(s->lock, &s->options, NULL, NULL);
    if (s->status == HF_OK) hf_lock_release(s->lock, NULL, NULL);
    atomic_store(&s->done, 1);
}

static void spinner_start(struct spinner *s, hf_lock *lock,
                          struct hf_acquire_options options)
{
    memset(s, 0, sizeof *s);
    s->lock = lock;
    s->options = options;
    rig_spawn(spinner_run, s);
    CHECK(rig_until_equal(&s->started, 1));
}

static void check_gets_it(int kind)
{
    static struct spinner s;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    spinner_start(&s, other, spin_options(kind, RIG_WAIT_MS));
    rig_pause_ms(150);
    CHECK_INT(atomic_load(&s.done), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&s.done, 1));
    CHECK_INT(s.status, HF_OK);
}

TEST(spin, with_exponential_pauses_gets_the_lock)
{
    check_gets_it(HF_BACKOFF_EXPONENTIAL);
}

TEST(spin, with_constant_pauses_gets_the_lock)
{
    check_gets_it(HF_BACKOFF_CONSTANT);
}

TEST(spin, with_jitter_gets_the_lock)
{
    check_gets_it(HF_BACKOFF_JITTER);
}

TEST(spin, asks_for_no_wake_ups)
{
    static struct spinner s;
    struct hf_info info = HF_INFO_INIT;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    spinner_start(&s, other, spin_options(HF_BACKOFF_CONSTANT, RIG_WAIT_MS));
    for (int i = 0; i < 10; i++) {
        rig_pause_ms(20);
        CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
        CHECK(info.waiters <= 0);
    }
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&s.done, 1));
    CHECK_INT(s.status, HF_OK);
}

/* A pause is cut short by the end of the wait. */
TEST(spin, gives_up_at_its_deadline)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = spin_options(HF_BACKOFF_CONSTANT, 1500);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    o.backoff_ms = 60000;
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(other, &o, NULL, NULL), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 1500);
    CHECK(rig_now_ms() - began_ms < 10000);
}

/* A pause is cut short by the end of the holder's lease, too. */
TEST(spin, looks_when_the_holders_time_is_over)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options fixed = rig_options(0, 400, HF_ACQUIRE_FIXED);
    struct hf_acquire_options o =
        spin_options(HF_BACKOFF_CONSTANT, RIG_WAIT_MS);
    if (rig_has(HF_CAP_KERNEL)) return; /* a kernel lock does not tell it */
    o.backoff_ms = 60000;
    CHECK_INT(hf_lock_acquire(l, &fixed, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(other, &o, NULL, NULL), HF_OK);
}

TEST(spin, ends_when_it_is_cancelled)
{
    static struct spinner s;
    static hf_cancel *cancel;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o =
        spin_options(HF_BACKOFF_CONSTANT, RIG_WAIT_MS);
    CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
    o.cancel = cancel;
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    spinner_start(&s, rig_lock(c, "a"), o);
    rig_pause_ms(50);
    hf_cancel_fire(cancel);
    rig_join();
    hf_cancel_close(cancel);
    CHECK_INT(s.status, HF_CANCELLED);
}

struct counter {
    hf_lock *lock;
    int kind;
    atomic_int *value;
    atomic_int *failed;
};

static void counter_run(void *arg)
{
    struct counter *n = arg;
    struct hf_acquire_options o = spin_options(n->kind, RIG_WAIT_MS);
    o.backoff_max_ms = 8;
    o.backoff_ms = 1;
    for (int i = 0; i < TURNS; i++) {
        if (hf_lock_acquire(n->lock, &o, NULL, NULL) != HF_OK) {
            atomic_fetch_add(n->failed, 1);
            continue;
        }
        /* In two steps: only the lock makes one of them. */
        int seen = atomic_load(n->value);
        atomic_store(n->value, seen + 1);
        hf_lock_release(n->lock, NULL, NULL);
    }
}

TEST(spin, of_many_excludes_them)
{
    static struct counter n[THREADS];
    static atomic_int value, failed;
    static const int kinds[] = {HF_BACKOFF_EXPONENTIAL, HF_BACKOFF_CONSTANT,
                                HF_BACKOFF_JITTER, HF_BACKOFF_JITTER};
    rig_begin();
    atomic_store(&value, 0);
    atomic_store(&failed, 0);
    for (int i = 0; i < THREADS; i++) {
        n[i] = (struct counter){rig_lock(rig_client(NULL), "a"), kinds[i],
                                &value, &failed};
        rig_spawn(counter_run, &n[i]);
    }
    rig_join();
    CHECK_INT(atomic_load(&failed), 0);
    CHECK_INT(atomic_load(&value), THREADS * TURNS);
}

static int status_of(hf_lock *l, struct hf_acquire_options o)
{
    struct hf_error err = {0};
    int status = hf_lock_acquire(l, &o, NULL, &err);
    CHECK(status == HF_OK || err.text[0] != '\0');
    return status;
}

TEST(spin, options_out_of_range_are_invalid)
{
    struct hf_acquire_options bad[8];
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 8; i++)
        bad[i] = spin_options(HF_BACKOFF_EXPONENTIAL, RIG_TRY);
    bad[0].backoff = 4;
    bad[1].backoff = -1;
    bad[2].backoff_ms = -1;
    bad[3].backoff_max_ms = -1;
    bad[4].backoff_factor = -1;
    bad[5].backoff_factor = 1001;
    bad[6].backoff_ms = 20;
    bad[6].backoff_max_ms = 10;
    bad[7].backoff = HF_BACKOFF_NONE;
    bad[7].backoff_ms = 10;
    for (int i = 0; i < 8; i++) CHECK_INT(status_of(l, bad[i]), HF_INVALID);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(spin, first_pause_may_be_longer_than_the_usual_longest)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = spin_options(HF_BACKOFF_EXPONENTIAL, RIG_TRY);
    o.backoff_ms = 1000;
    CHECK_INT(status_of(l, o), HF_OK);
}
