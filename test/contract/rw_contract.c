/*
 * rw_contract.c: read/write locks: many readers or one writer.  One rule: what
 * is claimed here holds wherever HF_CAP_RW is said to be.
 */
#include <string.h>

#include "lib/rig_rw.h"

/* As another holder; `hold` may be NULL. */
#define TRY(lock, hold) rig_acquire(lock, hf_holder_new(), RIG_TRY, hold)

static struct rw a, b;

/* Two clients, and both sides of one lock at each; 0: no such store. */
static int begin(void)
{
    if (!rig_begin_with(HF_CAP_RW)) return 0;
    rw_open(&a, rig_client(NULL), "a", HF_ORDER_ANY);
    rw_open(&b, rig_client(NULL), "a", HF_ORDER_ANY);
    return 1;
}

TEST(rw, lets_many_readers_in)
{
    if (!begin()) return;
    for (int i = 0; i < 5; i++) {
        CHECK_INT(TRY(a.read, NULL), HF_OK);
        CHECK_INT(TRY(b.read, NULL), HF_OK);
    }
}

TEST(rw, readers_keep_writers_out_until_the_last_has_left)
{
    if (!begin()) return;
    hf_hold *other;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(TRY(b.read, &other), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_INT(hf_hold_release(other, NULL), HF_OK);
    CHECK_INT(rig_probe(a.write), HF_OK);
}

TEST(rw, the_token_that_is_told_is_that_of_the_reader_who_is)
{
    hf_hold *first;
    struct hf_info info = HF_INFO_INIT;
    if (!begin() || !rig_has(HF_CAP_QUEUE)) return; /* file: tells no reader */
    CHECK_INT(TRY(a.read, &first), HF_OK);
    CHECK_INT(TRY(b.read, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(b.read, &info, NULL), HF_OK);
    CHECK_INT(info.readers, 2);
    CHECK(info.fence == hf_hold_fence(first));
}

TEST(rw, a_writer_keeps_everybody_else_out)
{
    if (!begin()) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(a.read), HF_TAKEN);
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.read), HF_OK);
}

TEST(rw, both_sides_reenter)
{
    if (!begin()) return;
    hf_hold *first, *g;
    int64_t left = -1;
    hf_lock *sides[] = {a.read, a.write};
    for (int i = 0; i < 2; i++) {
        CHECK_INT(hf_lock_try(sides[i], &first, NULL), HF_OK);
        CHECK_INT(hf_lock_try(sides[i], &g, NULL), HF_OK);
        CHECK_INT(hf_hold_count(g), 2);
        CHECK_INT(hf_hold_release(first, NULL), HF_OK);
        CHECK_INT(hf_hold_count(g), 1);
        CHECK_INT(rig_probe(b.write), HF_TAKEN);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
        CHECK_INT(rig_probe(b.write), HF_OK);
        CHECK_INT(hf_lock_try(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_try(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_release(sides[i], &left, NULL), HF_OK);
        CHECK_INT(left, 1);
        CHECK_INT(rig_probe(b.write), HF_TAKEN);
        CHECK_INT(hf_lock_release(sides[i], &left, NULL), HF_OK);
        CHECK_INT(left, 0);
        CHECK_INT(rig_probe(b.write), HF_OK);
    }
}

TEST(rw, a_writer_may_read_and_others_may_not)
{
    if (!begin()) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(a.read), HF_TAKEN);
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_OK);
}

TEST(rw, a_writer_who_reads_is_a_reader_when_he_has_written)
{
    hf_hold *writes, *reads;
    if (!begin()) return;
    CHECK_INT(hf_lock_try(a.write, &writes, NULL), HF_OK);
    CHECK_INT(hf_lock_try(a.read, &reads, NULL), HF_OK);
    CHECK_INT(hf_hold_release(writes, NULL), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(hf_hold_state(reads), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(reads, NULL), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_OK);
}

/* A kernel lock cannot be changed from exclusive to shared without being free
 * in between. */
TEST(rw, waiting_readers_come_in_when_the_writer_goes_on_reading)
{
    static struct rw_actor readers[3];
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    struct hf_acquire_options o = rig_options(0, 60000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    for (int i = 0; i < 3; i++)
        rw_actor_start(&readers[i], i ? b.read : a.read, RIG_WAIT_MS);
    rig_pause_ms(200);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(rw_actor_until_in(&readers[i]));
        rw_actor_go(&readers[i]);
    }
    rig_join();
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
}

TEST(rw, the_only_reader_is_made_the_writer)
{
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, HF_ACQUIRE_UPGRADE);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.read), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_OK);
}

TEST(rw, one_of_two_readers_is_not_and_goes_on_reading)
{
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    hf_hold *mine, *other;
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, HF_ACQUIRE_UPGRADE);
    CHECK_INT(hf_lock_try(a.read, &mine, NULL), HF_OK);
    CHECK_INT(TRY(b.read, &other), HF_OK);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_state(mine), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(other, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
}

TEST(rw, an_upgrade_does_not_wait)
{
    if (!begin()) return;
    struct hf_acquire_options o = rig_options(1000, 0, HF_ACQUIRE_UPGRADE);
    struct hf_error err = {0};
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "would wait for each other") != NULL);
    o = rig_options(RIG_TRY, 0, HF_ACQUIRE_UPGRADE);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, &err), HF_INVALID);
}

TEST(rw, a_reader_who_asks_to_write_is_told_that_he_waits_for_himself)
{
    if (!begin()) return;
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(0, 0, 0);
    hf_hold *reads;
    CHECK_INT(hf_lock_try(a.read, &reads, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "wait for itself") != NULL);
    CHECK_INT(hf_hold_state(reads), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(reads, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
}

static void acquired(hf_lock *lock, int status, hf_hold *hold,
                     const struct hf_error *err, void *user)
{
    (void)lock;
    (void)hold;
    (void)err;
    atomic_store((atomic_int *)user, status == HF_OK ? 1 : 2);
}

TEST(rw, so_is_one_whose_read_hold_is_only_being_acquired)
{
    static atomic_int got;
    if (!begin()) return;
    uint64_t holder = hf_holder_new();
    struct hf_acquire_options o = rig_options(0, 0, 0);
    o.holder = holder;
    atomic_store(&got, 0);
    CHECK_INT(hf_lock_try(b.write, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(a.read, &o, acquired, &got, NULL), HF_OK);
    CHECK_INT(rig_acquire(a.write, holder, 5000, NULL), HF_INVALID);
    CHECK_INT(hf_lock_release(b.write, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&got, 1));
}

TEST(rw, who_is_about_to_write_does_not_read_before)
{
    static atomic_int got;
    if (!begin()) return;
    uint64_t holder = hf_holder_new();
    struct hf_acquire_options o = rig_options(0, 0, 0);
    o.holder = holder;
    atomic_store(&got, 0);
    CHECK_INT(hf_lock_try(b.read, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(a.write, &o, acquired, &got, NULL), HF_OK);
    CHECK_INT(rig_acquire(a.read, holder, 5000, NULL), HF_INVALID);
    CHECK_INT(hf_lock_release(b.read, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&got, 1));
    CHECK_INT(rig_acquire(a.read, holder, RIG_TRY, NULL), HF_OK);
}

TEST(rw, a_waiting_writer_comes_in_when_the_last_reader_leaves)
{
    static struct rw_actor w;
    if (!begin()) return;
    hf_hold *other;
    struct hf_acquire_options o = rig_options(0, 60000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire(b.read, &o, &other, NULL), HF_OK);
    rw_actor_start(&w, b.write, RIG_WAIT_MS);
    rig_pause_ms(100);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&w.is_in), 0);
    CHECK_INT(hf_hold_release(other, NULL), HF_OK);
    CHECK(rw_actor_until_in(&w));
    rw_actor_go(&w);
    rig_join();
    CHECK_INT(w.released, HF_OK);
}

TEST(rw, waiting_readers_and_writers_of_one_process_are_all_served)
{
    static struct rw_actor w[2], r[4];
    if (!begin()) return;
    CHECK_INT(hf_lock_try(b.write, NULL, NULL), HF_OK);
    for (int i = 0; i < 4; i++) {
        rw_actor_start(&r[i], a.read, RIG_WAIT_MS);
        rw_actor_go(&r[i]);
    }
    for (int i = 0; i < 2; i++) {
        rw_actor_start(&w[i], a.write, RIG_WAIT_MS);
        rw_actor_go(&w[i]);
    }
    rig_pause_ms(200);
    CHECK_INT(hf_lock_release(b.write, NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 4; i++) CHECK_INT(r[i].released, HF_OK);
    for (int i = 0; i < 2; i++) CHECK_INT(w[i].released, HF_OK);
    CHECK_INT(rig_probe(b.write), HF_OK);
}

TEST(rw, a_wait_that_times_out_leaves_nothing_behind)
{
    if (!begin()) return;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(b.write, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(rig_probe(b.read), HF_OK);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(b.read, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_OK);
}

TEST(rw, tokens_rise_from_readers_to_writers_and_back)
{
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    hf_hold *g;
    uint64_t last = 0;
    hf_lock *turns[] = {a.read, b.write, b.read, a.write, b.write, a.read};
    for (int i = 0; i < 6; i++) {
        CHECK_INT(hf_lock_try(turns[i], &g, NULL), HF_OK);
        CHECK(rig_fence_rises(last, hf_hold_fence(g)));
        last = hf_hold_fence(g);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

TEST(rw, each_reader_has_a_lease_of_his_own)
{
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, HF_ACQUIRE_FIXED);
    hf_hold *mine, *other;
    CHECK_INT(hf_lock_acquire(a.read, &o, &mine, NULL), HF_OK);
    o.holder = hf_holder_new();
    o.lease_ms = 60000;
    CHECK_INT(hf_lock_acquire(b.read, &o, &other, NULL), HF_OK);
    CHECK(rig_until(is_lost, mine));
    CHECK_INT(hf_hold_state(other), HF_STATE_HELD);
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_INT(hf_hold_release(other, NULL), HF_OK);
    CHECK_INT(rig_acquire(a.write, hf_holder_new(), RIG_WAIT_MS, NULL), HF_OK);
}

TEST(rw, a_waiting_writer_comes_in_when_the_last_lease_ends)
{
    if (!begin()) return;
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    o.lease_ms = 2000;
    o.holder = hf_holder_new();
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(b.write, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms >= 1900);
}

TEST(rw, the_watchdog_keeps_readers_and_writers)
{
    if (!begin()) return;
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    uint64_t holder = hf_holder_new();
    hf_hold *other = NULL;
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    CHECK(rig_until_renewed(a.write, 0, 8));
    CHECK(rig_until_renewed(a.read, 0, 8));
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    o = rig_renewed(RIG_WAIT_MS);
    o.holder = holder;
    if (!rig_has(HF_CAP_KERNEL))
        CHECK_INT(hf_lock_acquire(b.read, &o, &other, NULL), HF_OK);
    CHECK(rig_until_renewed(a.read, 0, 8));
    if (!rig_has(HF_CAP_KERNEL)) CHECK(rig_until_renewed(b.read, holder, 8));
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    if (rig_has(HF_CAP_KERNEL)) return;
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(hf_hold_release(other, NULL), HF_OK);
}

TEST(rw, entering_again_with_less_does_not_shorten_it)
{
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    struct hf_acquire_options o = rig_options(RIG_TRY, 60000, HF_ACQUIRE_FIXED);
    hf_lock *sides[] = {a.write, a.read};
    for (int i = 0; i < 2; i++) {
        int64_t ttl_ms = 0;
        o.lease_ms = 60000;
        CHECK_INT(hf_lock_acquire(sides[i], &o, NULL, NULL), HF_OK);
        o.lease_ms = 1000;
        CHECK_INT(hf_lock_acquire(sides[i], &o, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_ttl_ms(sides[i], &ttl_ms, NULL), HF_OK);
        CHECK(ttl_ms > 30000 && ttl_ms <= 60000);
        CHECK_INT(hf_lock_release(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_release(sides[i], NULL, NULL), HF_OK);
    }
}

TEST(rw, inspect_tells_who_writes_and_how_many_read)
{
    struct hf_info info = HF_INFO_INIT;
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    CHECK_INT(hf_lock_inspect(a.read, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 0);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(TRY(b.read, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(a.read, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.shared, 1);
    CHECK_INT(info.foreign, 0);
    CHECK_INT(info.readers, 2);
    CHECK_INT(info.mine, 1);
    CHECK_INT(info.count, 1);
    CHECK(info.pid > 0 && info.since_ms > 0);
    CHECK_INT(hf_lock_inspect(a.write, &info, NULL), HF_OK);
    CHECK_INT(info.mine, 0);
}

TEST(rw, inspect_tells_that_the_writer_reads_as_well)
{
    struct hf_info info = HF_INFO_INIT;
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(b.read, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.shared, 0);
    CHECK_INT(info.readers, 0);
    CHECK(strstr(info.owner, ":write") == NULL);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(a.write, &info, NULL), HF_OK);
    CHECK_INT(info.shared, 0);
    CHECK_INT(info.readers, 1);
    CHECK_INT(info.mine, 1);
}

TEST(rw, breaking_takes_it_from_all_readers_and_tells_them)
{
    int was = 0;
    if (!begin() || !rig_has(HF_CAP_BREAK) || rig_has(HF_CAP_KERNEL)) return;
    /* They hear of it when they renew.  By a short lease a renewal that is not
     * answered soon would take the link from the break. */
    struct hf_acquire_options o = rig_options(RIG_TRY, 30000, 0);
    o.renew_ms = 200;
    hf_hold *mine, *other;
    CHECK_INT(hf_lock_acquire(a.read, &o, &mine, NULL), HF_OK);
    o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire(b.read, &o, &other, NULL), HF_OK);
    CHECK_INT(hf_lock_break(a.write, &was, NULL), HF_OK);
    CHECK_INT(was, 1);
    CHECK_INT(TRY(b.write, NULL), HF_OK);
    CHECK(rig_until(is_lost, mine));
    CHECK(rig_until(is_lost, other));
}

TEST(rw, a_name_in_use_as_another_kind_is_a_conflict_and_stays)
{
    struct hf_error err = {0};
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    hf_lock *plain = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(plain, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(a.read, NULL, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "in use as a plain lock") != NULL);
    CHECK_INT(hf_lock_try(a.write, NULL, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "in use as a plain lock") != NULL);
    CHECK_INT(hf_lock_release(plain, NULL, NULL), HF_OK);
    hf_lock *sides[] = {a.read, a.write};
    for (int i = 0; i < 2; i++) {
        CHECK_INT(hf_lock_try(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_try(plain, NULL, &err), HF_CONFLICT);
        CHECK(strstr(err.text, "in use as a read/write lock") != NULL);
        CHECK_INT(hf_lock_release(sides[i], NULL, NULL), HF_OK);
    }
    CHECK_INT(hf_lock_try(plain, NULL, NULL), HF_OK);
}

TEST(rw, releasing_what_is_not_held_is_not_owner_every_time)
{
    if (!begin()) return;
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_try(b.read, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
}

TEST(rw, names_with_braces_work)
{
    static const char *const names[] = {"{x}", "x{y}z", "a}b", "a{b", "{}a"};
    if (!rig_begin_with(HF_CAP_RW)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct rw one, two;
        rw_open(&one, c, names[i], HF_ORDER_ANY);
        rw_open(&two, d, names[i], HF_ORDER_ANY);
        CHECK_INT(hf_lock_try(one.read, NULL, NULL), HF_OK);
        CHECK_INT(rig_probe(two.read), HF_OK);
        CHECK_INT(rig_probe(two.write), HF_TAKEN);
        CHECK_INT(hf_lock_release(one.read, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_try(two.write, NULL, NULL), HF_OK);
        CHECK_INT(rig_probe(one.read), HF_TAKEN);
        CHECK_INT(hf_lock_release(two.write, NULL, NULL), HF_OK);
    }
}

TEST(rw, stores_without_it_say_so)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_lock *lock = NULL;
    rig_begin();
    hf_client *c = rig_client(NULL);
    if (rig_has(HF_CAP_RW)) return;
    o.kind = HF_KIND_READ;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &lock, &err), HF_UNSUPPORTED);
    CHECK(lock == NULL && strstr(err.text, "no such locks") != NULL);
}

TEST(rw, sharing_is_refused_where_it_cannot_be_served)
{
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *plain = rig_lock(d, "a"), *l = NULL;
    struct hf_lock_options how = HF_LOCK_OPTIONS_INIT;
    struct hf_error err = {0};
    how.kind = HF_KIND_READ;
    if (!rig_has(HF_CAP_RW)) {
        CHECK_INT(hf_lock_open_as(c, "a", &how, &l, &err), HF_UNSUPPORTED);
        CHECK(err.text[0] != 0);
        CHECK_INT(rig_probe(plain), HF_OK);
        return;
    }
    /* To a kernel lock a plain lock and a writer are the same. */
    int plain_status = rig_has(HF_CAP_KERNEL) ? HF_TAKEN : HF_CONFLICT;
    l = rig_lock_as(c, "a", &how);
    hf_lock *other = rig_lock_as(d, "a", &how);
    how.kind = HF_KIND_WRITE;
    hf_lock *writer = rig_lock_as(d, "a", &how);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(plain), plain_status);
    CHECK_INT(rig_probe(writer), HF_TAKEN);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(plain), plain_status);
    CHECK_INT(rig_probe(writer), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(writer), HF_OK);
    CHECK_INT(rig_probe(plain), HF_OK);
}

TEST(rw, re_entry_does_not_quietly_change_what_is_held)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *read = NULL;
    struct hf_acquire_options o = rig_options(0, 0, 0);
    struct hf_lock_options how = HF_LOCK_OPTIONS_INIT;
    how.kind = HF_KIND_READ;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    o.flags = HF_ACQUIRE_DETACHED;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_UNSUPPORTED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    if (!rig_has(HF_CAP_RW)) {
        CHECK_INT(hf_lock_open_as(c, "a", &how, &read, NULL), HF_UNSUPPORTED);
        return;
    }
    read = rig_lock_as(c, "a", &how);
    CHECK_INT(hf_lock_acquire(read, &o, NULL, NULL), HF_UNSUPPORTED);
    o.flags = 0;
    hf_hold *reads;
    CHECK_INT(hf_lock_acquire(read, &o, &reads, NULL), HF_OK);
    /* Where the two are one kernel lock, it would wait for itself. */
    int status = rig_has(HF_CAP_KERNEL) ? HF_INVALID : HF_CONFLICT;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), status);
    CHECK_INT(hf_hold_state(reads), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(reads, NULL), HF_OK);
    CHECK_INT(hf_hold_state(reads), HF_STATE_NONE);
    CHECK_INT(hf_lock_release(read, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(read, &o, NULL, NULL), status);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}
