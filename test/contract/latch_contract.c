/*
 * latch_contract.c: waiting until a number of events has happened.  One
 * rule: each event is counted once, and no call waits for an open latch.
 */
#include <string.h>

#include "lib/rig_gate.h"

TEST(latch, is_open_once_it_is_counted_down)
{
    int64_t left = -1;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_OK);
    CHECK_INT(left, 1);
    CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_OK);
    CHECK_INT(left, 0);
    CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_OK);
}

TEST(latch, of_our_own_is_counted_by_who_asks_for_no_other)
{
    hf_latch *l = NULL;
    int64_t left = -1;
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_latch_open_as(c, "a", 2, &l, &err), HF_INVALID);
    CHECK(strstr(err.text, "flags 0x2"));
    CHECK_INT(hf_latch_open_as(c, "a", HF_LATCH_OURS, &l, NULL), HF_OK);
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_OK);
    CHECK_INT(left, 1);
    hf_latch_close(l);
}

TEST(latch, that_was_never_set_is_open)
{
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(rig_latch_wait(l, RIG_NO_LIMIT, NULL), HF_OK);
    CHECK_INT(rig_latch_left(l), 0);
}

TEST(latch, that_is_set_is_not_set_again)
{
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 3, NULL), HF_OK);
    CHECK_INT(hf_latch_set(l, 9, &err), HF_TAKEN);
    CHECK_STR(err.text, "it is set already, with 3 left to count");
    CHECK_INT(rig_latch_left(l), 3);
}

TEST(latch, can_be_set_again_when_it_is_open)
{
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
        CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_TAKEN);
        CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
        CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_OK);
    }
}

TEST(latch, that_was_never_set_is_not_counted)
{
    struct hf_error err = {0};
    int64_t left = 77;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_down(l, &left, &err), HF_INVALID);
    CHECK_STR(err.text,
              "it was never set, or has come to zero: nothing was counted");
    CHECK_INT(left, 77);
    CHECK_INT(rig_latch_left(l), 0);
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    CHECK_INT(rig_latch_left(l), 1);
}

TEST(latch, has_a_count_within_bounds)
{
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 0, &err), HF_INVALID);
    CHECK_STR(err.text, "count of 0: out of range: 1 to 1000000000");
    CHECK_INT(hf_latch_set(l, -1, NULL), HF_INVALID);
    CHECK_INT(hf_latch_set(l, HF_LATCH_MAX + INT64_C(1), NULL), HF_INVALID);
    CHECK_INT(hf_latch_set_start(l, 0, NULL, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_latch_left(l), 0);
    CHECK_INT(hf_latch_set(l, HF_LATCH_MAX, NULL), HF_OK);
    CHECK_INT(rig_latch_left(l), HF_LATCH_MAX);
}

TEST(latch, lets_go_who_waits_when_another_counts_the_last)
{
    static struct gate_wait w;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    gate_wait_latch(&w, rig_latch(rig_client(NULL), "a"), RIG_WAIT_MS, NULL);
    rig_pause_ms(100);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    rig_pause_ms(50);
    CHECK_INT(atomic_load(&w.ended), 0);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w), HF_OK);
}

#define WAITERS 6

TEST(latch, lets_go_all_who_wait)
{
    static struct gate_wait w[WAITERS];
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_latch *l = rig_latch(c, "a"), *m = rig_latch(d, "a");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    for (int i = 0; i < WAITERS; i++)
        gate_wait_latch(&w[i], i % 2 ? l : m, RIG_WAIT_MS, NULL);
    rig_pause_ms(100);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    for (int i = 0; i < WAITERS; i++) CHECK_INT(gate_ended(&w[i]), HF_OK);
}

TEST(latch, wait_ends_with_timeout_and_says_what_is_left)
{
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 4, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_latch_wait(l, 2000, &err), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 2000);
    CHECK(strstr(err.text, "latch: 4 left to count"));
    CHECK_INT(rig_latch_left(l), 4);
}

TEST(latch, wait_can_be_cancelled)
{
    static struct gate_wait w, started;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_latch *l = rig_latch(c, "a");
    hf_cancel *cancel = rig_gate_cancel(c);
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    gate_wait_latch(&w, l, RIG_NO_LIMIT, cancel);
    gate_start_latch(&started, l, RIG_NO_LIMIT, cancel);
    rig_pause_ms(50);
    hf_cancel_fire(cancel);
    CHECK_INT(gate_ended(&w), HF_CANCELLED);
    CHECK_INT(gate_ended(&started), HF_CANCELLED);
    CHECK_INT(rig_latch_left(l), 1);
}

TEST(latch, wait_that_was_started_ends_once)
{
    static struct gate_wait now, later;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    gate_start_latch(&now, l, RIG_TRY, NULL);
    CHECK_INT(gate_ended(&now), HF_OK);
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    gate_start_latch(&later, l, RIG_WAIT_MS, NULL);
    rig_pause_ms(50);
    CHECK_INT(atomic_load(&later.ended), 0);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&later), HF_OK);
}

TEST(latch, wait_that_ends_well_carries_no_sentence_of_a_refusal)
{
    static struct gate_wait later;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    gate_start_latch(&later, l, RIG_WAIT_MS, NULL);
    rig_pause_ms(50);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&later), HF_OK);
    CHECK_STR(later.err.text, "");
}

TEST(latch, closing_the_client_ends_its_waits)
{
    static struct gate_wait w;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_latch *l = rig_latch(c, "a");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    gate_start_latch(&w, l, RIG_NO_LIMIT, NULL);
    rig_close(c);
    CHECK_INT(gate_ended(&w), HF_CLOSED);
}

/* Start a wait for a latch that is set, delete the latch, and tell how the wait
 * has ended. */
static int deleted_wait(hf_latch *l, hf_latch *other, struct gate_wait *w)
{
    int was_set = 0;
    CHECK_INT(hf_latch_set(l, 5, NULL), HF_OK);
    gate_wait_latch(w, other, RIG_WAIT_MS, NULL);
    rig_pause_ms(100);
    CHECK_INT(hf_latch_delete(l, &was_set, NULL), HF_OK);
    CHECK_INT(was_set, 1);
    return gate_ended(w);
}

/* Redisson's defect 18: nobody is woken there.  A wait that begins after the
 * deletion is over at once, so a busy machine gets further tries. */
TEST(latch, that_is_deleted_tells_those_who_wait)
{
    static struct gate_wait w;
    int status = HF_OK;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    hf_latch *other = rig_latch(rig_client(NULL), "a");
    for (int i = 0; i < 30 && status == HF_OK; i++)
        status = deleted_wait(l, other, &w);
    CHECK_INT(status, HF_LOST);
    CHECK(strstr(w.err.text, "it was deleted while it was waited for"));
}

TEST(latch, that_is_deleted_is_open_and_can_be_set)
{
    int was_set = 7;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_delete(l, &was_set, NULL), HF_OK);
    CHECK_INT(was_set, 0);
    CHECK_INT(hf_latch_set(l, 5, NULL), HF_OK);
    CHECK_INT(hf_latch_delete(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_OK);
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    CHECK_INT(rig_latch_wait(l, 2000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_OK);
}

struct told {
    atomic_int calls;
    int status;
    int64_t left;
    char text[HF_ERROR_TEXT_MAX];
};

static void on_told(hf_latch *latch, int status, int64_t left,
                    const struct hf_error *err, void *user)
{
    struct told *t = user;
    CHECK(latch != NULL);
    t->status = status;
    t->left = left;
    snprintf(t->text, sizeof t->text, "%s", err->text);
    atomic_fetch_add(&t->calls, 1);
}

static struct told *told_after(int began, struct told *t)
{
    CHECK_INT(began, HF_OK);
    CHECK(rig_until_equal(&t->calls, 1));
    return t;
}

TEST(latch, calls_that_were_started_answer_as_the_others_do)
{
    static struct told t[8];
    memset(t, 0, sizeof t);
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    told_after(hf_latch_down_start(l, on_told, &t[0], NULL), &t[0]);
    CHECK_INT(t[0].status, HF_INVALID);
    told_after(hf_latch_set_start(l, 2, on_told, &t[1], NULL), &t[1]);
    CHECK_INT(t[1].status, HF_OK);
    told_after(hf_latch_set_start(l, 3, on_told, &t[2], NULL), &t[2]);
    CHECK_INT(t[2].status, HF_TAKEN);
    CHECK_INT(t[2].left, 2);
    told_after(hf_latch_down_start(l, on_told, &t[3], NULL), &t[3]);
    CHECK_INT(t[3].status, HF_OK);
    CHECK_INT(t[3].left, 1);
    told_after(hf_latch_count_start(l, on_told, &t[4], NULL), &t[4]);
    CHECK_INT(t[4].left, 1);
    told_after(hf_latch_delete_start(l, on_told, &t[5], NULL), &t[5]);
    CHECK_INT(t[5].left, 1);
    told_after(hf_latch_delete_start(l, on_told, &t[6], NULL), &t[6]);
    CHECK_INT(t[6].status, HF_OK);
    CHECK_INT(t[6].left, 0);
}

#define COUNTERS 8
#define EACH 25

struct counter {
    hf_latch *latch;
    int failed;
    int zeros;
};

static void counter_run(void *arg)
{
    struct counter *c = arg;
    for (int i = 0; i < EACH; i++) {
        int64_t left = -1;
        if (hf_latch_down(c->latch, &left, NULL) != HF_OK) c->failed++;
        if (left == 0) c->zeros++;
    }
}

TEST(latch, that_many_count_comes_to_zero_once)
{
    static struct counter c[COUNTERS];
    static struct gate_wait w;
    int zeros = 0;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *clients[2] = {rig_client(NULL), rig_client(NULL)};
    hf_latch *l = rig_latch(clients[0], "a");
    CHECK_INT(hf_latch_set(l, COUNTERS * EACH, NULL), HF_OK);
    gate_wait_latch(&w, l, RIG_WAIT_MS, NULL);
    for (int i = 0; i < COUNTERS; i++) {
        c[i] = (struct counter){rig_latch(clients[i % 2], "a"), 0, 0};
        rig_spawn(counter_run, &c[i]);
    }
    CHECK_INT(gate_ended(&w), HF_OK);
    rig_join();
    for (int i = 0; i < COUNTERS; i++) {
        CHECK_INT(c[i].failed, 0);
        zeros += c[i].zeros;
    }
    CHECK_INT(zeros, 1);
    CHECK_INT(rig_latch_left(l), 0);
}

/* Redisson's defect 7: those with a tag of their own fail in a cluster. */
TEST(latch, may_have_any_name)
{
    static const char *const names[] = {"a",       "{a}",     "{a}b", "b{a}",
                                        "a}b{c}d", "foo{bar", "{}x",  "}{",
                                        "a b",     "\xff",    "a:b",  "a*"};
    static struct gate_wait w[sizeof names / sizeof names[0]];
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK_INT(hf_latch_set(rig_latch(c, names[i]), (int64_t)i + 1, NULL),
                  HF_OK);
        gate_start_latch(&w[i], rig_latch(d, names[i]), RIG_WAIT_MS, NULL);
    }
    rig_pause_ms(100);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hf_latch *l = rig_latch(c, names[i]);
        CHECK_STR(hf_latch_name(l), names[i]);
        CHECK_INT(rig_latch_left(l), (int64_t)i + 1);
        for (size_t k = 0; k <= i; k++)
            CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
        CHECK_INT(gate_ended(&w[i]), HF_OK);
    }
}

TEST(latch, and_a_lock_do_not_share_a_name)
{
    struct hf_error err = {0};
    int64_t left;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_latch *l = rig_latch(c, "a"), *m = rig_latch(c, "b");
    hf_lock *a = rig_lock(c, "a"), *b = rig_lock(c, "b");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_INT(hf_lock_try(a, NULL, &err), HF_CONFLICT);
    CHECK_INT(rig_latch_left(l), 2);
    CHECK_INT(hf_lock_try(b, NULL, NULL), HF_OK);
    CHECK_INT(hf_latch_set(m, 2, &err), HF_CONFLICT);
    CHECK_INT(hf_latch_down(m, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_count(m, &left, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_delete(m, NULL, NULL), HF_CONFLICT);
    CHECK_INT(rig_latch_wait(m, RIG_NO_LIMIT, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_release(b, NULL, NULL), HF_OK);
    CHECK_INT(hf_latch_set(m, 2, NULL), HF_OK);
}

TEST(latch, of_a_store_without_numbers_is_unsupported)
{
    struct hf_error err = {0};
    hf_latch *l = NULL;
    rig_begin();
    int status = hf_latch_open(rig_client(NULL), "a", &l, &err);
    CHECK_INT(status, rig_has(HF_CAP_TALLY) ? HF_OK : HF_UNSUPPORTED);
    if (status != HF_OK) CHECK(strncmp(err.text, "a latch: ", 9) == 0);
}

TEST(latch, refuses_bad_arguments)
{
    struct hf_wait_options o = rig_wait_options(-2);
    hf_latch *l = NULL;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_latch_open(c, NULL, &l, NULL), HF_INVALID);
    CHECK_INT(hf_latch_open(c, "", &l, NULL), HF_INVALID);
    l = rig_latch(c, "a");
    CHECK_INT(hf_latch_wait(l, &o, NULL), HF_INVALID);
    CHECK_INT(hf_latch_wait_start(l, &o, NULL, NULL, NULL), HF_INVALID);
    o = rig_wait_options(0);
    o.flags = 2;
    CHECK_INT(hf_latch_wait(l, &o, NULL), HF_INVALID);
}
