/*
 * handle_test.c: handles at the moments that no caller can time.  One rule: a
 * client is not freed under a thread that has one of its handles in hand, and
 * nothing is held that has no handle.
 */
#include "api/hold/handle.h"

#include <stdlib.h>
#include <string.h>

#include "api/hold/set.h"
#include "lib/rig.h"

/* ---- a client that is being closed --------------------------------------- */

static int grips_of(hf_client *c)
{
    struct grip g;
    hf_hold *hold = NULL;
    CHECK_INT(hf__handle_reserve(c, &hold), HF_OK); /* for the mutex */
    int grips = c->grips - 1;
    hf__handle_cancel(hold, c);
    CHECK_INT(hf__handle_take(hold, &g, 0), -1);
    return grips;
}

/* What was granted is let go of with the client in hand. */
TEST(handle, of_a_client_that_is_being_closed_is_in_hand_until_cancelled)
{
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    struct grip g = {.client = c};
    CHECK_INT(hf__handle_reserve(c, &hold), HF_OK);
    hf__handles_shut(c);
    CHECK_INT(hf__handle_fill(hold, c, &g), HF_CLOSED);
    CHECK_INT(grips_of(c), 1);
    hf__handle_cancel(hold, c);
    CHECK_INT(grips_of(c), 0);
}

static int is_free(void *lock)
{
    return rig_probe(lock) == HF_OK;
}

/* The set's own client is closed between its last lock and its handle. */
TEST(handle, that_a_set_cannot_get_any_more_leaves_nothing_held)
{
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(d, "a"), rig_lock(d, "b")};
    hf_client *e = rig_client(NULL);
    hf_lock *others[] = {rig_lock(e, "a"), rig_lock(e, "b")};
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_try(locks[i], NULL, NULL), HF_OK);
    struct hold_set *set = hf__set_reserve(c, 2);
    CHECK(set != NULL);
    hf__handles_shut(c);
    CHECK_INT(hf__set_claim(set, c, locks, hf_holder_self(), &hold, NULL),
              HF_CLOSED);
    CHECK_INT(grips_of(c), 0);
    for (int i = 0; i < 2; i++) CHECK(rig_until(is_free, others[i]));
}

struct late {
    hf_client *client;
    hf_hold *handle;
    struct op op;
    atomic_int is_told;
    atomic_int is_closed;
};

static struct late late;

static void late_told(struct op *op)
{
    hf__handle_cancel(late.handle, late.client);
    atomic_store(&late.is_told, op->status == HF_CLOSED);
}

static void late_close(void *arg)
{
    (void)arg;
    hf_client_close(late.client);
    atomic_store(&late.is_closed, 1);
}

static int late_is_shut(void *arg)
{
    (void)arg;
    hf__pump_lock(&late.client->pump);
    int is_shut = late.client->pump.engine.closing;
    hf__pump_unlock(&late.client->pump);
    return is_shut;
}

/* Another thread has found the client open, and starts the call now. */
TEST(handle, of_what_is_started_too_late_does_not_keep_its_loop_from_closing)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err;
    rig_begin_on("memory:");
    memset(&late, 0, sizeof late);
    o.flags = HF_CLIENT_OWN_LOOP;
    CHECK_INT(hf_client_open(rig_url(), &o, &late.client, &err), HF_OK);
    CHECK_INT(hf__handle_reserve(late.client, &late.handle), HF_OK);
    rig_spawn(late_close, NULL);
    CHECK(rig_until(late_is_shut, NULL));
    rig_pause_ms(20); /* it waits for the handle now */
    struct op *op = &late.op;
    hf__call_init(op, OP_TYPE_LIST, NULL, 0);
    op->complete = late_told;
    hf__pump_start_all(&late.client->pump, &op, 1);
    CHECK(rig_until_equal(&late.is_closed, 1));
    CHECK_INT(atomic_load(&late.is_told), 1);
}

/* ---- a set that is started ----------------------------------------------- */

static struct {
    hf_client *other; /* closed while the set is being started */
    atomic_int is_armed;
    atomic_int is_closing;
    atomic_int is_closed;
    atomic_int was_closed; /* before the start was over */
} race;

static void race_close(void *arg)
{
    (void)arg;
    while (!atomic_load(&race.is_closing)) rig_pause_ms(1);
    hf_client_close(race.other);
    atomic_store(&race.is_closed, 1);
}

/* Called for the second part: the first one is prepared. */
static void *race_allocate(size_t size, void *user)
{
    (void)user;
    if (atomic_exchange(&race.is_armed, 0)) {
        atomic_store(&race.is_closing, 1);
        for (int i = 0; i < 200 && !atomic_load(&race.is_closed); i++)
            rig_pause_ms(1);
        atomic_store(&race.was_closed, atomic_load(&race.is_closed));
    }
    return malloc(size ? size : 1);
}

static void *race_resize(void *p, size_t size, void *user)
{
    (void)user;
    return realloc(p, size);
}

static void race_free(void *p, void *user)
{
    (void)user;
    free(p);
}

static void on_extended(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold;
    (void)status;
    (void)err;
    atomic_fetch_add((atomic_int *)user, 1);
}

/* The set is of the client `c`, its first part of the other one. */
TEST(handle, of_a_part_is_in_hand_from_its_preparation_to_its_start)
{
    static atomic_int calls;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err;
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    memset(&race, 0, sizeof race);
    atomic_store(&calls, 0);
    CHECK_INT(hf_client_open(rig_url(), NULL, &race.other, &err), HF_OK);
    hf_lock *first = NULL; /* it goes with its client */
    CHECK_INT(hf_lock_open(race.other, "a", &first, &err), HF_OK);
    o.allocator.allocate = race_allocate;
    o.allocator.resize = race_resize;
    o.allocator.release = race_free;
    hf_client *c = rig_client(&o);
    hf_lock *locks[] = {first, rig_lock(c, "b")};
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_try(locks[i], NULL, NULL), HF_OK);
    struct hold_set *set = hf__set_reserve(c, 2);
    CHECK(set != NULL);
    CHECK_INT(hf__set_claim(set, c, locks, hf_holder_self(), &hold, NULL),
              HF_OK);
    rig_spawn(race_close, NULL);
    struct grip g;
    CHECK_INT(hf__handle_take(hold, &g, 0), 0);
    g.set->alloc = hf__alloc_default; /* only that of the second part counts */
    hf__handle_drop(&g);
    atomic_store(&race.is_armed, 1);
    int status = hf_hold_extend_start(hold, 0, on_extended, &calls, NULL);
    CHECK(rig_until_equal(&race.is_closed, 1));
    CHECK_INT(atomic_load(&race.was_closed), 0);
    CHECK_INT(status, HF_OK);
    CHECK(rig_until_equal(&calls, 1));
}

/* ---- the rest ------------------------------------------------------------ */

static atomic_int heard;

static void hear(hf_hold *hold, const struct hf_event *ev, void *user)
{
    (void)hold;
    (void)ev;
    (void)user;
    atomic_fetch_add(&heard, 1);
}

/* Another thread looks at the hold while it is released. */
TEST(handle, that_is_gone_is_told_nothing_although_it_is_in_hand)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options a = rig_options(RIG_TRY, 500, HF_ACQUIRE_FIXED);
    struct grip g;
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    atomic_store(&heard, 0);
    o.flags = HF_CLIENT_OWN_LOOP; /* nothing is told before it is processed */
    hf_client *c = rig_client(&o);
    CHECK_INT(hf_lock_acquire(rig_lock(c, "a"), &a, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_on_state(hold, hear, NULL, NULL), HF_OK);
    CHECK_INT(hf__handle_take(hold, &g, 0), 0);
    rig_pause_ms(600);
    CHECK_INT(hf_hold_state(hold), HF_STATE_LOST);
    CHECK_INT(hf_hold_release_start(hold, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_client_process(c), HF_OK);
    CHECK_INT(atomic_load(&heard), 0);
    hf__handle_drop(&g);
}

TEST(handle, spends_one_generation_for_each_acquire)
{
    rig_begin_on("memory:");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uintptr_t before = 0;
    for (int i = 0; i < 3; i++) {
        hf_hold *hold = NULL;
        CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
        CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
        uintptr_t now = (uintptr_t)hold >> (sizeof hold > 4 ? 32 : 20);
        if (i > 0) CHECK_INT(now - before, 1);
        before = now;
    }
}
