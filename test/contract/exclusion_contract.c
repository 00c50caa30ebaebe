/*
 * exclusion_contract.c: never two holders at once.  One rule: what the lock
 * protects is a load and a store that are atomic each but not together, so that
 * only the lock can make the sum come out.
 */
#include <string.h>

#include "lib/rig.h"

#define WORKERS 16

struct counter {
    atomic_long value;
    atomic_int inside;  /* holders at this moment */
    atomic_int overlap; /* how often there was more than one */
    atomic_int errors;
};

struct adder {
    struct counter *counter;
    hf_lock *lock;
    int rounds;
    int tries; /* poll with tries instead of waiting */
};

static void counter_add(struct counter *n)
{
    if (atomic_fetch_add_explicit(&n->inside, 1, memory_order_relaxed) != 0)
        atomic_fetch_add(&n->overlap, 1);
    long v = atomic_load_explicit(&n->value, memory_order_relaxed);
    atomic_store_explicit(&n->value, v + 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&n->inside, 1, memory_order_relaxed);
}

static int adder_get(const struct adder *a)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS * 3;
    if (!a->tries) return rig_acquire(a->lock, 0, RIG_PATIENCE_MS * 3, NULL);
    for (;;) {
        int status = hf_lock_try(a->lock, NULL, NULL);
        if (status != HF_TAKEN || rig_now_ms() > end_ms) return status;
        rig_pause_ms(1);
    }
}

static void adder_run(void *arg)
{
    struct adder *a = arg;
    for (int i = 0; i < a->rounds; i++) {
        if (adder_get(a) != HF_OK) {
            atomic_fetch_add(&a->counter->errors, 1);
            continue;
        }
        counter_add(a->counter);
        if (hf_lock_release(a->lock, NULL, NULL) != HF_OK)
            atomic_fetch_add(&a->counter->errors, 1);
    }
}

static void adders_run(struct adder *adders, struct counter *n, int rounds)
{
    for (int i = 0; i < WORKERS; i++) {
        adders[i].counter = n;
        adders[i].rounds = rounds;
        rig_spawn(adder_run, &adders[i]);
    }
    rig_join();
    CHECK_INT(atomic_load(&n->errors), 0);
    CHECK_INT(atomic_load(&n->overlap), 0);
    CHECK_INT(atomic_load(&n->value), WORKERS * rounds);
}

TEST(exclusion, sixteen_threads_of_one_client_count_exactly)
{
    static struct adder adders[WORKERS];
    static struct counter n;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "sum");
    memset(adders, 0, sizeof adders);
    memset(&n, 0, sizeof n);
    for (int i = 0; i < WORKERS; i++) adders[i].lock = l;
    adders_run(adders, &n, 100);
}

TEST(exclusion, sixteen_clients_count_exactly)
{
    static struct adder adders[WORKERS];
    static struct counter n;
    rig_begin();
    memset(adders, 0, sizeof adders);
    memset(&n, 0, sizeof n);
    for (int i = 0; i < WORKERS; i++)
        adders[i].lock = rig_lock(rig_client(NULL), "sum");
    adders_run(adders, &n, 20);
}

TEST(exclusion, threads_that_only_try_count_exactly)
{
    static struct adder adders[WORKERS];
    static struct counter n;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    memset(adders, 0, sizeof adders);
    memset(&n, 0, sizeof n);
    for (int i = 0; i < WORKERS; i++) {
        adders[i].lock = rig_lock(i % 2 ? c : d, "sum");
        adders[i].tries = 1;
    }
    adders_run(adders, &n, 10);
}

TEST(exclusion, many_names_at_once_do_not_mix_up)
{
    static struct adder adders[WORKERS];
    static struct counter n[4];
    rig_begin();
    hf_client *c = rig_client(NULL);
    memset(adders, 0, sizeof adders);
    memset(n, 0, sizeof n);
    for (int i = 0; i < WORKERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "sum-%d", i % 4);
        adders[i].lock = rig_lock(c, name);
        adders[i].counter = &n[i % 4];
        adders[i].rounds = 50;
        rig_spawn(adder_run, &adders[i]);
    }
    rig_join();
    for (int i = 0; i < 4; i++) {
        CHECK_INT(atomic_load(&n[i].errors), 0);
        CHECK_INT(atomic_load(&n[i].overlap), 0);
        CHECK_INT(atomic_load(&n[i].value), 4 * 50);
    }
}
