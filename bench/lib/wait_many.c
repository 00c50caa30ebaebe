/*
 * wait_many.c: mode=wait: many waiters for as many locks that another runner
 * holds (mode=hold).  None of them is ever granted: what is measured is what
 * it costs to wait.
 */
#define _POSIX_C_SOURCE 200809L
#include "wait_many.h"

#include <stdatomic.h>
#include <stdio.h>

#include "crowd.h"
#include "runner.h"
#include "tool.h"

#define SETTLE_NS (3 * NS_PER_S) /* all have asked, and subscribed */

static void on_end(hf_lock *lock, int status, hf_hold *hold,
                   const struct hf_error *err, void *user)
{
    (void)lock;
    (void)hold;
    (void)err;
    if (status != HF_CLOSED) atomic_fetch_add((atomic_int *)user, 1);
}

static void waiter_start(hf_client *client, int i, atomic_int *ended)
{
    struct hf_error err;
    hf_lock *lock;
    char name[64];

    snprintf(name, sizeof(name), "hold-%d", i);
    if (hf_lock_open(client, name, &lock, &err) != HF_OK
        || hf_lock_acquire_start(lock, NULL, on_end, ended, &err) != HF_OK)
        fail("%s", err.text);
}

void wait_many_run(const struct options *o)
{
    static atomic_int ended;
    hf_client *client = crowd_client(o, 0, NULL, NULL);
    struct hf_error err;
    hf_lock *lock;

    /* The first one opens the connections and the tables. */
    if (hf_lock_open(client, "hold-0", &lock, &err) != HF_OK)
        fail("%s", err.text);
    if (hf_lock_try(lock, NULL, &err) != HF_TAKEN) fail("hold-0 is not held");
    int64_t base_kb = rss_self_kb();
    for (int i = 0; i < o->count; i++) waiter_start(client, i, &ended);
    pause_ns(SETTLE_NS);
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns(), start = now_ns();
    pause_ns((uint64_t)(o->secs * (double)NS_PER_S));
    cpu_ns = cpu_self_ns() - cpu_ns;
    runner_report_hold(0, now_ns() - start, cpu_ns, atomic_load(&ended),
                       base_kb);
}
