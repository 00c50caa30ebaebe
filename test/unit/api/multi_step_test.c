/*
 * multi_step_test.c: what a call on a set of locks asks next, with answers that
 * the test makes up.  One rule: nothing is sent, and every batch is looked at.
 */
#include <string.h>

#include "api/hold/set.h"
#include "api/multi/multi.h"
#include "engine/locks.h"
#include "lib/rig.h"

static struct {
    hf_multi *multi;
    struct multi_call *call;
} t;

static void call_end(void *arg)
{
    (void)arg;
    struct allocator alloc = t.call->alloc;
    hf__set_cancel(t.call->set, t.call->parts[0].client);
    hf__free(&alloc, t.call);
    hf_multi_close(t.multi);
}

/* A call for three locks, about to take its first step. */
static void call_of(hf_lock *const *l, struct hf_acquire_options o)
{
    CHECK_INT(hf_multi_open(l, 3, &t.multi, NULL), HF_OK);
    t.call = hf__multi_call_new(t.multi, 7, NULL);
    CHECK(t.call != NULL);
    test_cleanup(call_end, NULL);
    t.call->options = o;
}

/* For "a", "b" and "c". */
static void call_begin(struct hf_acquire_options o)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    hf_lock *l[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(c, "c")};
    call_of(l, o);
}

/* The next step asks for `names` in `phase`, and of each `type`. */
static void asks(const char *names, enum multi_phase phase, enum op_type type)
{
    CHECK_INT(hf__multi_step(t.call), strlen(names));
    CHECK_INT(t.call->phase, phase);
    for (size_t i = 0; i < 3; i++) {
        const struct multi_part *p = &t.call->parts[i];
        int is_named = strchr(names, p->lock->entry->name[0]) != NULL;
        CHECK_INT(p->is_asked != 0, is_named);
        if (is_named) CHECK_INT(p->op.type, type);
    }
}

/* Those of `names` are granted, the others get `status`. */
static void answer(const char *names, int status)
{
    for (size_t i = 0; i < 3; i++) {
        struct multi_part *p = &t.call->parts[i];
        if (!p->is_asked) continue;
        int is_named = strchr(names, p->lock->entry->name[0]) != NULL;
        p->op.status = is_named ? HF_OK : status;
    }
}

static int64_t wait_us(size_t i)
{
    return t.call->parts[i].op.wait_us;
}

static void is_over(int status)
{
    CHECK_INT(hf__multi_step(t.call), 0);
    CHECK_INT(t.call->phase, MULTI_OVER);
    CHECK_INT(t.call->seq.status, status);
}

/* As far as the third refusal: "b", then "a", then "b" again. */
static void refuse_thrice(void)
{
    asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
    answer("ac", HF_TAKEN);
    asks("ac", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("ac", HF_OK);
    asks("b", MULTI_ONE, OP_TYPE_ACQUIRE);
    answer("b", HF_OK);
    asks("ac", MULTI_ALL, OP_TYPE_ACQUIRE);
    answer("c", HF_TAKEN);
    asks("bc", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("bc", HF_OK);
    asks("a", MULTI_ONE, OP_TYPE_ACQUIRE);
    answer("a", HF_OK);
    asks("bc", MULTI_ALL, OP_TYPE_ACQUIRE);
    answer("c", HF_TAKEN);
    asks("ac", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("ac", HF_OK);
}

TEST(multi_step, tries_all_at_once_and_waits_for_who_refused_with_none_held)
{
    call_begin(rig_options(0, 0, 0));
    asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
    for (size_t i = 0; i < 3; i++) CHECK(t.call->parts[i].op.tries_once);
    answer("ac", HF_TAKEN);
    asks("ac", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("ac", HF_OK);
    asks("b", MULTI_ONE, OP_TYPE_ACQUIRE);
    CHECK(!t.call->parts[1].op.tries_once);
    CHECK_INT(wait_us(1), -1);
}

TEST(multi_step, takes_them_in_order_after_the_third_refusal)
{
    call_begin(rig_options(0, 0, 0));
    refuse_thrice();
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        asks(names[i], MULTI_ORDER, OP_TYPE_ACQUIRE);
        CHECK(!t.call->parts[i].op.tries_once);
        CHECK(wait_us(i) >= 100000 && wait_us(i) <= 200000);
        answer(names[i], HF_OK);
    }
}

TEST(multi_step, lets_go_of_all_when_a_turn_in_order_takes_too_long)
{
    call_begin(rig_options(0, 0, 0));
    refuse_thrice();
    asks("a", MULTI_ORDER, OP_TYPE_ACQUIRE);
    answer("a", HF_OK);
    asks("b", MULTI_ORDER, OP_TYPE_ACQUIRE);
    answer("", HF_TIMEOUT);
    asks("a", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("a", HF_OK);
    asks("b", MULTI_ONE, OP_TYPE_ACQUIRE);
    CHECK_INT(wait_us(1), -1);
    CHECK_INT(t.call->order_us, 400000); /* longer next time */
}

TEST(multi_step, waits_in_order_for_a_part_of_a_fixed_lease_only)
{
    call_begin(rig_options(0, 200, HF_ACQUIRE_FIXED));
    refuse_thrice();
    asks("a", MULTI_ORDER, OP_TYPE_ACQUIRE);
    CHECK(wait_us(0) > 0 && wait_us(0) <= 50000);
}

TEST(multi_step, waits_in_order_for_a_part_of_a_lease_that_no_thread_renews)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.flags = HF_CLIENT_OWN_LOOP;
    rig_begin_on("memory:");
    hf_client *c = rig_client(&o), *d = rig_client_at("memory:zz", &o);
    hf_lock *l[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(d, "c")};
    call_of(l, rig_options(0, 4000, 0));
    refuse_thrice();
    t.call->order_us = 60000000;
    asks("a", MULTI_ORDER, OP_TYPE_ACQUIRE);
    CHECK(wait_us(0) > 0 && wait_us(0) <= 1000000);
}

TEST(multi_step, gives_up_at_what_no_waiting_mends)
{
    static const int status[] = {HF_CONFLICT, HF_DENIED, HF_CANCELLED,
                                 HF_CLOSED,   HF_NOMEM,  HF_UNAVAILABLE};
    call_begin(rig_options(0, 0, 0));
    for (size_t i = 0; i < sizeof status / sizeof status[0]; i++) {
        t.call->phase = MULTI_BEGIN;
        asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
        answer("ab", status[i]);
        t.call->parts[0].op.status = HF_TAKEN; /* which alone would wait */
        asks("b", MULTI_UNDO, OP_TYPE_RELEASE);
        answer("", HF_UNAVAILABLE); /* the engine repeats it */
        is_over(status[i]);
    }
}

TEST(multi_step, of_one_try_ends_with_the_first_refusal)
{
    call_begin(rig_options(RIG_TRY, 0, 0));
    asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
    CHECK_INT(wait_us(0), 0);
    answer("a", HF_TAKEN);
    asks("a", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("a", HF_OK);
    is_over(HF_TAKEN);
}

TEST(multi_step, whose_time_is_over_has_timed_out)
{
    call_begin(rig_options(1, 0, 0));
    asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
    answer("a", HF_TAKEN);
    rig_pause_ms(20);
    asks("a", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("a", HF_OK);
    is_over(HF_TIMEOUT);
}

TEST(multi_step, of_a_client_that_is_closing_gives_up)
{
    call_begin(rig_options(0, 0, 0));
    asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
    answer("ac", HF_TAKEN);
    atomic_store(&t.call->stop, 1);
    asks("ac", MULTI_UNDO, OP_TYPE_RELEASE);
    answer("ac", HF_OK);
    is_over(HF_CLOSED);
}

TEST(multi_step, waits_for_what_it_gives_back_no_longer_than_for_the_rest)
{
    call_begin(rig_options(30000, 0, 0));
    asks("abc", MULTI_ALL, OP_TYPE_ACQUIRE);
    answer("ac", HF_TAKEN);
    asks("ac", MULTI_UNDO, OP_TYPE_RELEASE);
    CHECK(wait_us(0) > 0 && wait_us(0) <= 30000000);
    t.call->deadline_us = 1; /* long ago */
    answer("", HF_TIMEOUT);
    is_over(HF_TIMEOUT);
}
