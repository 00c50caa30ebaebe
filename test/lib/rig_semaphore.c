/* rig_semaphore.c: semaphores for behaviour tests; see rig_semaphore.h. */
#include "lib/rig_semaphore.h"

hf_semaphore *rig_semaphore_as(hf_client *c, const char *name,
                               const struct hf_semaphore_options *options)
{
    hf_semaphore *sem = NULL;
    struct hf_error err = {0};
    if (hf_semaphore_open(c, name, options, &sem, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
    return sem;
}

hf_semaphore *rig_semaphore(hf_client *c, const char *name, int permits)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    o.permits = permits;
    return rig_semaphore_as(c, name, &o);
}

hf_semaphore *rig_semaphore_set(hf_client *c, const char *name, int permits)
{
    struct hf_error err = {0};
    hf_semaphore *sem = rig_semaphore(c, name, permits);
    if (hf_semaphore_try_set(sem, permits, NULL, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
    return sem;
}

hf_semaphore *rig_counter(hf_client *c, const char *name, int64_t value)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_error err = {0};
    o.flags = HF_SEMAPHORE_PLAIN;
    hf_semaphore *sem = rig_semaphore_as(c, name, &o);
    if (value && hf_semaphore_try_set(sem, value, NULL, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
    return sem;
}

int rig_take(hf_semaphore *sem, int64_t permits, int64_t wait_ms, hf_hold **out)
{
    hf_hold *own;
    struct hf_acquire_options o =
        rig_options(wait_ms ? wait_ms : RIG_TRY, 0, 0);
    o.permits = permits;
    return hf_semaphore_acquire(sem, &o, out ? out : &own, NULL);
}

struct hf_semaphore_state rig_count(hf_semaphore *sem)
{
    struct hf_semaphore_state state = HF_SEMAPHORE_STATE_INIT;
    struct hf_error err = {0};
    if (hf_semaphore_state(sem, &state, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
    return state;
}

static void taker_run(void *arg)
{
    struct taker *t = arg;
    atomic_store(&t->started, 1);
    t->status = hf_semaphore_acquire(t->sem, &t->how, &t->hold, &t->err);
    if (t->status == HF_OK) {
        if (t->order) t->place = atomic_fetch_add(t->order, 1) + 1;
        atomic_store(&t->got, 1);
        rig_pause_ms(t->keep_ms);
        t->release_status = t->hold ? hf_hold_release(t->hold, &t->err)
                                    : hf_semaphore_add(t->sem, t->how.permits,
                                                       0, NULL, &t->err);
    }
    atomic_store(&t->ended, 1);
}

static void takers_end(void *arg)
{
    (void)arg;
    rig_join();
}

void taker_start(struct taker *t, hf_semaphore *sem, int64_t permits,
                 int64_t wait_ms)
{
    t->sem = sem;
    t->how = rig_options(wait_ms, t->how.lease_ms, t->how.flags);
    t->how.permits = permits;
    t->place = 0;
    t->status = t->release_status = HF_INTERNAL;
    t->err = (struct hf_error){0};
    atomic_store(&t->started, 0);
    atomic_store(&t->got, 0);
    atomic_store(&t->ended, 0);
    test_cleanup(takers_end, NULL);
    rig_spawn(taker_run, t);
    CHECK(rig_until_equal(&t->started, 1));
    rig_pause_ms(200);
}
