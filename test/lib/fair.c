/*
 * fair.c: see fair.h.
 */
#include "lib/fair.h"

hf_lock *fair_lock_as(hf_client *client, const char *name, int order)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_lock *lock = NULL;
    o.order = order;
    if (hf_lock_open_as(client, name, &o, &lock, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
    return lock;
}

hf_lock *fair_lock(hf_client *client, const char *name)
{
    return fair_lock_as(client, name, HF_ORDER_FAIR);
}

int64_t fair_queued(hf_lock *lock)
{
    struct hf_info info = HF_INFO_INIT;
    if (hf_lock_inspect(lock, &info, NULL) != HF_OK) return -1;
    return info.queued;
}

int64_t fair_position(hf_lock *lock, uint64_t holder)
{
    struct hf_info info = HF_INFO_INIT;
    if (rig_inspect_as(lock, holder, &info) != HF_OK) return -1;
    return info.position;
}

struct length {
    hf_lock *lock;
    int64_t wanted;
};

static int is_so_long(void *arg)
{
    const struct length *l = arg;
    return fair_queued(l->lock) == l->wanted;
}

int fair_until_queued(hf_lock *lock, int64_t wanted)
{
    struct length l = {lock, wanted};
    return rig_until(is_so_long, &l);
}

void fair_run(void *arg)
{
    struct fair_waiter *w = arg;
    struct hf_acquire_options o = rig_options(
        w->wait_ms ? w->wait_ms : RIG_WAIT_MS, w->lease_ms, w->flags);
    o.cancel = w->cancel;
    atomic_store(&w->holder, hf_holder_self());
    w->status = hf_lock_acquire(w->lock, &o, &w->hold, NULL);
    if (w->status == HF_OK) {
        if (w->turns) w->turn = atomic_fetch_add(w->turns, 1) + 1;
        rig_pause_ms(w->hold_ms);
        if (!w->is_kept) w->release_status = hf_hold_release(w->hold, NULL);
    }
    atomic_store(&w->is_over, 1);
}

void fair_join(struct fair_waiter *w)
{
    int64_t queued = fair_queued(w->lock);
    CHECK(queued >= 0);
    rig_spawn(fair_run, w);
    CHECK(fair_until_queued(w->lock, queued + 1));
}
