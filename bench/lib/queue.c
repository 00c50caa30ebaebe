/*
 * queue.c: mode=queue: many waiters for one fair lock.  READY is printed when
 * the store has them all in its queue; from GO on the lock goes from one to the
 * next until all have had it.
 */
#define _POSIX_C_SOURCE 200809L
#include "queue.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include "crowd.h"
#include "runner.h"
#include "tool.h"

#define NAME "bench-queue"

static struct {
    sem_t ends; /* posted once for each waiter that had the lock */
    atomic_int failures;
} queue;

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold;
    (void)err;
    (void)user;
    if (status != HF_OK) atomic_fetch_add(&queue.failures, 1);
    sem_post(&queue.ends);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    (void)user;
    if (status == HF_CLOSED) return;
    if (status != HF_OK
        || hf_hold_release_start(hold, on_released, NULL, NULL) != HF_OK)
        fail("%s: %s", NAME, hf_status_name(status));
}

static hf_lock *fair_open(const struct options *o)
{
    struct hf_lock_options how = HF_LOCK_OPTIONS_INIT;
    struct hf_error err;
    hf_lock *lock;

    how.order = HF_ORDER_FAIR;
    if (hf_lock_open_as(crowd_client(o, 0, NULL, NULL), NAME, &how, &lock, &err)
        != HF_OK)
        fail("%s", err.text);
    return lock;
}

static void queue_fill(hf_lock *lock, int count)
{
    struct hf_error err;
    struct hf_info info = HF_INFO_INIT;

    for (int i = 0; i < count; i++)
        if (hf_lock_acquire_start(lock, NULL, on_acquired, NULL, &err) != HF_OK)
            fail("%s", err.text);
    while (info.queued < count) {
        if (hf_lock_inspect(lock, &info, &err) != HF_OK) fail("%s", err.text);
        pause_ns(NS_PER_S / 1000);
    }
}

void queue_run(const struct options *o)
{
    hf_lock *held = fair_open(o);
    struct hf_error err;

    if (sem_init(&queue.ends, 0, 0) != 0) fail("no semaphore");
    if (hf_lock_acquire(held, NULL, NULL, &err) != HF_OK) fail("%s", err.text);
    queue_fill(fair_open(o), o->count);
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns(), start = now_ns();
    if (hf_lock_release(held, NULL, &err) != HF_OK) fail("%s", err.text);
    for (int i = 0; i < o->count; i++)
        while (sem_wait(&queue.ends) != 0)
            ;
    uint64_t took = now_ns() - start;
    runner_report_hold((uint64_t)o->count, took, cpu_self_ns() - cpu_ns,
                       atomic_load(&queue.failures), 0);
}
