/* rig_rw.c: see rig_rw.h. */
#include "lib/rig_rw.h"

static atomic_int entered;

static hf_lock *side_open(hf_client *client, const char *name, int kind,
                          int order)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.kind = kind;
    o.order = order;
    return rig_lock_as(client, name, &o);
}

void rw_open(struct rw *rw, hf_client *client, const char *name, int order)
{
    rw->read = side_open(client, name, HF_KIND_READ, order);
    rw->write = side_open(client, name, HF_KIND_WRITE, order);
}

static void actor_run(void *arg)
{
    struct rw_actor *a = arg;
    a->status = rig_acquire(a->lock, a->holder, a->wait_ms, &a->hold);
    if (a->status == HF_OK) {
        a->order = atomic_fetch_add(&entered, 1) + 1;
        atomic_store(&a->is_in, 1);
        (void)rig_until_equal(&a->may_go, 1);
        a->released = hf_hold_release(a->hold, NULL);
    }
}

void rw_actor_start(struct rw_actor *a, hf_lock *lock, int64_t wait_ms)
{
    a->lock = lock;
    a->wait_ms = wait_ms;
    a->holder = hf_holder_new();
    a->status = a->released = HF_INTERNAL;
    a->order = 0;
    atomic_store(&a->is_in, 0);
    atomic_store(&a->may_go, 0);
    rig_spawn(actor_run, a);
}

struct queue_view {
    hf_lock *lock;
    int64_t len;
};

static int is_queued(void *arg)
{
    struct queue_view *q = arg;
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(q->lock, &info, NULL) == HF_OK
           && info.queued == q->len;
}

void rw_actor_queue(struct rw_actor *a, hf_lock *lock, int64_t len)
{
    struct queue_view q = {.lock = lock, .len = len};
    rw_actor_start(a, lock, RIG_WAIT_MS);
    if (!rig_until(is_queued, &q))
        TEST_FAIL("%lld never queued", (long long)len);
}

int rw_actor_until_in(struct rw_actor *a)
{
    return rig_until_equal(&a->is_in, 1);
}

void rw_actor_go(struct rw_actor *a)
{
    atomic_store(&a->may_go, 1);
}
