/*
 * permit_order_contract.c: the longest waiter is granted its permits first.
 * One rule for all of it: no later caller is served before a queued waiter.
 */
#include "lib/rig_multi.h"
#include "lib/rig_semaphore.h"

static hf_semaphore *fair(hf_client *c)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    o.order = HF_ORDER_FAIR;
    return rig_semaphore_as(c, "s", &o);
}

/* One waiter is in the queue; a waiter that left may still have to be removed,
 * so tests wait for this. */
static int one_is_queued(void *sem)
{
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(hf_semaphore_lock(sem), &info, NULL), HF_OK);
    return info.queued == 1;
}

static int none_is_queued(void *sem)
{
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(hf_semaphore_lock(sem), &info, NULL), HF_OK);
    return info.queued == 0;
}

TEST(permit_order, is_that_of_their_coming)
{
    static struct taker t[4];
    static atomic_int order;
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    atomic_store(&order, 0);
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *of[2] = {fair(rig_client(NULL)), fair(rig_client(NULL))};
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    for (int i = 0; i < 4; i++) {
        t[i].order = &order;
        t[i].keep_ms = 20;
        taker_start(&t[i], of[i % 2], 1, RIG_WAIT_MS);
    }
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 4; i++) {
        CHECK_INT(t[i].status, HF_OK);
        CHECK_INT(t[i].place, i + 1);
    }
}

TEST(permit_order, one_who_wants_many_is_not_passed_by_those_who_want_few)
{
    static struct taker big, small;
    static atomic_int order;
    hf_hold *a, *b;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    atomic_store(&order, 0);
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    hf_semaphore *x = fair(rig_client(NULL)), *y = fair(rig_client(NULL));
    CHECK_INT(rig_take(s, 1, 0, &a), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, &b), HF_OK);
    big.order = small.order = &order;
    taker_start(&big, x, 2, RIG_WAIT_MS);
    taker_start(&small, y, 1, RIG_WAIT_MS);
    CHECK_INT(hf_hold_release(a, NULL), HF_OK);
    rig_pause_ms(300);
    CHECK_INT(atomic_load(&small.got), 0);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(b, NULL), HF_OK);
    rig_join();
    CHECK_INT(big.status, HF_OK);
    CHECK_INT(big.place, 1);
    CHECK_INT(small.place, 2);
}

TEST(permit_order, several_who_come_first_are_served_by_one_release)
{
    static struct taker t[3];
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    hf_semaphore *of = fair(rig_client(NULL));
    CHECK_INT(rig_take(s, 3, 0, &p), HF_OK);
    for (int i = 0; i < 3; i++) {
        t[i].keep_ms = 5000;
        taker_start(&t[i], of, 1, RIG_WAIT_MS);
    }
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    for (int i = 0; i < 3; i++) CHECK(rig_until_equal(&t[i].got, 1));
    CHECK_INT(atomic_load(&t[0].ended), 0);
    rig_join();
}

TEST(permit_order, who_gave_up_is_skipped_at_once)
{
    static struct taker first, second;
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *x = fair(rig_client(NULL)), *y = fair(rig_client(NULL));
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    taker_start(&first, x, 1, 2000);
    taker_start(&second, y, 1, RIG_WAIT_MS);
    CHECK(rig_until_equal(&first.ended, 1));
    CHECK_INT(first.status, HF_TIMEOUT);
    CHECK(rig_until(one_is_queued, s));
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(second.status, HF_OK);
    CHECK(none_is_queued(s));
}

TEST(permit_order, who_does_not_wait_stands_behind_those_who_do)
{
    static struct taker big;
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    taker_start(&big, fair(rig_client(NULL)), 2, RIG_WAIT_MS);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(rig_take(fair(rig_client(NULL)), 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(big.status, HF_OK);
}

static void cancel_run(void *arg)
{
    rig_pause_ms(300);
    hf_cancel_fire(arg);
}

TEST(permit_order, a_cancelled_waiter_leaves_no_place_behind)
{
    hf_hold *p, *none;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 1);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.cancel = rig_cancel(c);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    rig_spawn(cancel_run, o.cancel);
    int status = hf_semaphore_acquire(fair(c), &o, &none, NULL);
    rig_join();
    CHECK_INT(status, HF_CANCELLED);
    CHECK(rig_until(none_is_queued, s));
}
