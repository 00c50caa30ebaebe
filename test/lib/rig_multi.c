/*
 * rig_multi.c: sets of locks for behaviour tests; see rig_multi.h.
 */
#include "lib/rig_multi.h"

#include <string.h>

hf_multi *rig_multi(hf_lock *const *locks, size_t len)
{
    hf_multi *m = NULL;
    struct hf_error err = {0};
    if (hf_multi_open(locks, len, &m, &err) != HF_OK) TEST_FAIL("%s", err.text);
    return m;
}

void three_open(struct three *t)
{
    static const char *const names[] = {"a", "b", "c"};
    t->client = rig_client(NULL);
    for (int i = 0; i < 3; i++) t->locks[i] = rig_lock(t->client, names[i]);
    t->multi = rig_multi(t->locks, 3);
}

int three_are_free(const struct three *t)
{
    int free = 0;
    for (int i = 0; i < 3; i++) free += rig_until_free(t->locks[i]);
    return free == 3;
}

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(w->wait_ms, 0, 0);
    o.cancel = w->cancel;
    atomic_store(&w->started, 1);
    hf_hold *hold;
    w->status = hf_multi_acquire(w->multi, &o, &hold, &w->err);
    atomic_store(&w->ended, 1);
    if (w->status == HF_OK) hf_hold_release(hold, NULL);
}

static void waiter_end(void *arg)
{
    (void)arg;
    rig_join();
}

void waiter_start(struct waiter *w, hf_multi *m, hf_cancel *cancel,
                  int64_t wait_ms)
{
    memset(w, 0, sizeof *w);
    w->multi = m;
    w->cancel = cancel;
    w->wait_ms = wait_ms;
    test_cleanup(waiter_end, NULL);
    rig_spawn(waiter_run, w);
    CHECK(rig_until_equal(&w->started, 1));
    rig_pause_ms(200);
}

hf_cancel *rig_cancel(hf_client *c)
{
    hf_cancel *cancel = NULL;
    CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
    return cancel;
}
