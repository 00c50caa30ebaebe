/*
 * barrier_contract.c: waiting until all parties have arrived.  One rule: a
 * party that passed did so together with as many live parties as it takes.
 */
#include <string.h>

#include "lib/rig_gate.h"

#define PARTIES 3

/* All went on together, each with an index of its own. */
static void check_together(struct gate_wait *w, int len)
{
    unsigned seen = 0;
    for (int i = 0; i < len; i++) {
        CHECK_INT(gate_ended(&w[i]), HF_OK);
        CHECK(w[i].passed.generation == w[0].passed.generation);
        CHECK(w[i].passed.index >= 0 && w[i].passed.index < len);
        seen |= 1u << w[i].passed.index;
    }
    CHECK_INT(seen, (1u << len) - 1);
}

TEST(barrier, lets_all_go_when_the_last_comes)
{
    static struct gate_wait w[PARTIES];
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_barrier *b = NULL;
    for (int i = 0; i < PARTIES; i++) {
        CHECK(i == 0 || atomic_load(&w[0].ended) == 0);
        b = rig_barrier(rig_client(NULL), "a", PARTIES);
        gate_wait_barrier(&w[i], b, RIG_WAIT_MS, NULL);
        CHECK(rig_until_waiting(b, (i + 1) % PARTIES));
    }
    check_together(w, PARTIES);
    CHECK_INT(w[PARTIES - 1].passed.index, PARTIES - 1);
}

TEST(barrier, may_have_all_its_parties_in_one_process)
{
    static struct gate_wait w[PARTIES];
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", PARTIES);
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    gate_start_barrier(&w[1], b, RIG_WAIT_MS, NULL);
    gate_start_barrier(&w[2], b, RIG_WAIT_MS, NULL);
    check_together(w, PARTIES);
}

TEST(barrier, of_one_party_lets_it_go_at_once)
{
    struct hf_passed first = HF_PASSED_INIT, second = HF_PASSED_INIT;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 1);
    CHECK_INT(rig_barrier_wait(b, RIG_TRY, &first, NULL), HF_OK);
    CHECK_INT(rig_barrier_wait(b, RIG_NO_LIMIT, &second, NULL), HF_OK);
    CHECK_INT(first.index, 0);
    CHECK(second.generation > first.generation);
}

#define ROUNDS 40

static struct {
    hf_barrier *barriers[PARTIES];
    atomic_int arrived[ROUNDS];
    uint64_t generations[PARTIES][ROUNDS];
    atomic_int early, failed;
} march;

static void march_run(void *arg)
{
    int party = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct hf_passed p = HF_PASSED_INIT;
        atomic_fetch_add(&march.arrived[i], 1);
        if (rig_barrier_wait(march.barriers[party], RIG_WAIT_MS, &p, NULL)
            != HF_OK)
            atomic_fetch_add(&march.failed, 1);
        if (atomic_load(&march.arrived[i]) != PARTIES)
            atomic_fetch_add(&march.early, 1);
        march.generations[party][i] = p.generation;
    }
}

TEST(barrier, can_be_used_again_at_once)
{
    static int parties[PARTIES];
    memset(&march, 0, sizeof march);
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    for (int i = 0; i < PARTIES; i++) {
        parties[i] = i;
        march.barriers[i] = rig_barrier(rig_client(NULL), "a", PARTIES);
    }
    for (int i = 0; i < PARTIES; i++) rig_spawn(march_run, &parties[i]);
    rig_join();
    CHECK_INT(atomic_load(&march.failed), 0);
    CHECK_INT(atomic_load(&march.early), 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(march.generations[0][i] == march.generations[1][i]);
        CHECK(march.generations[0][i] == march.generations[2][i]);
        CHECK(i == 0 || march.generations[0][i] > march.generations[0][i - 1]);
    }
}

TEST(barrier, who_times_out_is_taken_off)
{
    static struct gate_wait w[2];
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    CHECK_INT(rig_barrier_wait(b, 2000, NULL, &err), HF_TIMEOUT);
    CHECK(strstr(err.text, "barrier: 1 still missing"));
    CHECK(rig_until_waiting(b, 0));
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    CHECK_INT(atomic_load(&w[0].ended), 0);
    gate_wait_barrier(&w[1], b, RIG_WAIT_MS, NULL);
    check_together(w, 2);
}

TEST(barrier, who_is_cancelled_is_taken_off)
{
    static struct gate_wait w, started;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_barrier *b = rig_barrier(c, "a", PARTIES);
    hf_cancel *cancel = rig_gate_cancel(c);
    gate_wait_barrier(&w, b, RIG_NO_LIMIT, cancel);
    gate_start_barrier(&started, b, RIG_NO_LIMIT, cancel);
    CHECK(rig_until_waiting(b, 2));
    hf_cancel_fire(cancel);
    CHECK_INT(gate_ended(&w), HF_CANCELLED);
    CHECK_INT(gate_ended(&started), HF_CANCELLED);
    CHECK(rig_until_waiting(b, 0));
}

TEST(barrier, who_closes_its_client_is_taken_off)
{
    static struct gate_wait w;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    gate_start_barrier(&w, rig_barrier(c, "a", 2), RIG_NO_LIMIT, NULL);
    CHECK(rig_until_waiting(b, 1));
    rig_close(c);
    CHECK_INT(gate_ended(&w), HF_CLOSED);
    CHECK(rig_until_waiting(b, 0));
}

TEST(barrier, who_only_tries_is_not_counted_unless_it_is_the_last)
{
    static struct gate_wait w;
    struct hf_passed p = HF_PASSED_INIT;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    CHECK_INT(rig_barrier_wait(b, RIG_TRY, NULL, NULL), HF_TAKEN);
    gate_wait_barrier(&w, b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    CHECK_INT(atomic_load(&w.ended), 0);
    CHECK_INT(rig_barrier_wait(b, RIG_TRY, &p, NULL), HF_OK);
    CHECK_INT(gate_ended(&w), HF_OK);
    CHECK(p.generation == w.passed.generation);
}

/* For longer than the lease of a waiting party in the store. */
TEST(barrier, who_waits_for_long_stays_counted)
{
    static struct gate_wait w[2];
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    gate_wait_barrier(&w[0], b, RIG_NO_LIMIT, NULL);
    CHECK(rig_until_waiting(b, 1));
    rig_pause_ms(4500);
    gate_wait_barrier(&w[1], b, RIG_WAIT_MS, NULL);
    check_together(w, 2);
}

TEST(barrier, of_another_number_of_parties_is_a_conflict)
{
    static struct gate_wait w[2];
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_barrier *two = rig_barrier(c, "a", 2), *four = rig_barrier(c, "a", 4);
    gate_wait_barrier(&w[0], two, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(two, 1));
    CHECK_INT(rig_barrier_wait(four, RIG_NO_LIMIT, NULL, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "barrier: others wait there for 2 parties"));
    CHECK(rig_until_waiting(two, 1));
    gate_wait_barrier(&w[1], two, RIG_WAIT_MS, NULL);
    check_together(w, 2);
}

TEST(barrier, may_have_any_name)
{
    static const char *const names[] = {"a",       "{a}b", "b{a}", "a}b{c}d",
                                        "foo{bar", "{}x",  "}{",   "\xff"};
    static struct gate_wait w[sizeof names / sizeof names[0]][2];
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        gate_start_barrier(&w[i][0], rig_barrier(c, names[i], 2), RIG_WAIT_MS,
                           NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hf_barrier *b = rig_barrier(d, names[i], 2);
        CHECK_STR(hf_barrier_name(b), names[i]);
        gate_start_barrier(&w[i][1], b, RIG_WAIT_MS, NULL);
        check_together(w[i], 2);
    }
}

TEST(barrier, and_other_kinds_do_not_share_a_name)
{
    static struct gate_wait w;
    int64_t waiting;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_barrier *a = rig_barrier(c, "a", 2), *b = rig_barrier(c, "b", 2),
               *l = rig_barrier(c, "l", 2);
    gate_wait_barrier(&w, a, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(a, 1));
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_set(rig_latch(c, "a"), 1, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_try(rig_lock(c, "b"), NULL, NULL), HF_OK);
    CHECK_INT(hf_latch_set(rig_latch(c, "l"), 1, NULL), HF_OK);
    CHECK_INT(rig_barrier_wait(b, RIG_NO_LIMIT, NULL, NULL), HF_CONFLICT);
    CHECK_INT(rig_barrier_wait(l, RIG_NO_LIMIT, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_barrier_waiting(b, &waiting, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_release(rig_lock(c, "b"), NULL, NULL), HF_OK);
    CHECK_INT(rig_latch_left(rig_latch(c, "l")), 1);
    CHECK_INT(rig_barrier_wait(a, RIG_TRY, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w), HF_OK);
}

TEST(barrier, refuses_bad_arguments)
{
    struct hf_wait_options o = rig_wait_options(-2);
    struct hf_error err = {0};
    hf_barrier *b = NULL;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_barrier_open(c, NULL, 2, &b, NULL), HF_INVALID);
    CHECK_INT(hf_barrier_open(c, "", 2, &b, NULL), HF_INVALID);
    CHECK_INT(hf_barrier_open(c, "a", 0, &b, &err), HF_INVALID);
    CHECK_STR(err.text, "0 parties: out of range: 1 to 1000");
    CHECK_INT(hf_barrier_open(c, "a", HF_BARRIER_PARTIES_MAX + 1, &b, NULL),
              HF_INVALID);
    b = rig_barrier(c, "a", HF_BARRIER_PARTIES_MAX);
    CHECK_INT(hf_barrier_wait(b, &o, NULL, NULL), HF_INVALID);
    CHECK_INT(hf_barrier_wait_start(b, &o, NULL, NULL, NULL), HF_INVALID);
}

TEST(barrier, of_a_store_without_numbers_is_unsupported)
{
    hf_barrier *b = NULL;
    rig_begin();
    CHECK_INT(hf_barrier_open(rig_client(NULL), "a", 2, &b, NULL),
              rig_has(HF_CAP_TALLY) ? HF_OK : HF_UNSUPPORTED);
}
