/*
 * redisson_rw.c: our read/write locks and RReadWriteLock under one name.  One
 * rule: where a wait must have been ended by a message, every lease is far
 * longer than the wait that is allowed.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig_rw.h"
#include "peer.h"

static struct lab_server server;
static struct peer java, other;
static struct rw a;
static struct rw_actor w;

/* Names that put the siblings where Redisson's rule puts them. */
static const char *const names[] = {"plain", "{tag}:job", "job:{tag}",
                                    "half{open", "closed}only"};
#define NAMES_LEN (sizeof names / sizeof names[0])

static void begin(int64_t watchdog_ms)
{
    peer_begin(&java, &server, watchdog_ms);
    rw_open(&a, rig_client(NULL), "a", HF_ORDER_ANY);
}

static int64_t listeners(const char *name)
{
    const char *open = strchr(name, '{') ? "" : "{";
    const char *reply =
        redis_say(&server, "PUBSUB NUMSUB redisson_rwlock:%s%s%s", open, name,
                  *open ? "}" : "");
    const char *count = strchr(reply, '\n');
    return count ? strtoll(count + 1, NULL, 10) : 0;
}

static int is_listened_to(void *arg)
{
    return listeners(arg) > 0;
}

/* A thread of ours that sleeps until it is told. */
static void waiter(struct rw_actor *actor, hf_lock *lock)
{
    rw_actor_start(actor, lock, RIG_WAIT_MS);
    CHECK(rig_until(is_listened_to, (void *)hf_lock_name(lock)));
    rig_pause_ms(100); /* it tries once more after it has subscribed */
    CHECK_INT(atomic_load(&actor->is_in), 0);
}

static void waiter_end(struct rw_actor *actor, int64_t began_ms)
{
    CHECK(rw_actor_until_in(actor));
    CHECK(rig_now_ms() - began_ms < PEER_SOON_MS);
    rw_actor_go(actor);
    rig_join();
    CHECK_INT(actor->released, HF_OK);
}

/* ---- exclusion ---------------------------------------------------------- */

TEST(redisson_rw, what_java_writes_we_neither_read_nor_write)
{
    begin(30000);
    CHECK_STR(peer_ask(&java, "write.lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(rig_probe(a.read), HF_TAKEN);
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "write.unlock a"), "ok");
    CHECK_INT(rig_probe(a.write), HF_OK);
}

TEST(redisson_rw, what_we_write_java_neither_reads_nor_writes)
{
    begin(30000);
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.try a 0"), "false");
    CHECK_STR(peer_ask(&java, "write.try a 0"), "false");
    CHECK_STR(peer_ask(&java, "write.islocked a"), "true");
    CHECK_STR(peer_ask(&java, "write.unlock a"), "not owner");
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "write.islocked a"), "false");
    CHECK_STR(peer_ask(&java, "write.try a 0"), "true");
}

TEST(redisson_rw, readers_of_both_sides_read_together_and_keep_writers_out)
{
    begin(30000);
    peer_start(&other, &server, 30000);
    hf_hold *second = NULL;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.try a 0"), "true");
    CHECK_INT(rig_acquire(a.read, hf_holder_new(), RIG_TRY, &second), HF_OK);
    CHECK_STR(peer_ask(&other, "write.try a 0"), "false");
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_STR(peer_ask(&other, "write.try a 0"), "false");
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&other, "write.try a 0"), "false");
    CHECK_INT(hf_hold_release(second, NULL), HF_OK);
    CHECK_STR(peer_ask(&other, "write.try a 0"), "true");
}

/* Redisson drops the whole lock if it finds no living reader. */
TEST(redisson_rw, javas_unlock_leaves_our_reader_alone)
{
    begin(30000);
    peer_start(&other, &server, 30000);
    CHECK_STR(peer_ask(&java, "read.lock a 60000"), "ok");
    CHECK_STR(peer_ask(&java, "read.lock a 60000"), "ok");
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_STR(peer_ask(&other, "write.try a 0"), "false");
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&other, "write.try a 0"), "false");
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&other, "write.try a 0"), "true");
}

TEST(redisson_rw, our_release_leaves_javas_reader_alone)
{
    begin(30000);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.lock a 60000"), "ok");
    CHECK_STR(peer_ask(&java, "read.lock a 60000"), "ok");
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.count a"), "2");
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_INT(rig_probe(a.write), HF_OK);
}

TEST(redisson_rw, names_with_braces_mean_the_same_on_both_sides)
{
    begin(30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < NAMES_LEN; i++) {
        struct rw l;
        rw_open(&l, c, names[i], HF_ORDER_ANY);
        CHECK_STR(peer_ask(&java, "read.lock %s 60000", names[i]), "ok");
        CHECK_INT(hf_lock_try(l.read, NULL, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "read.unlock %s", names[i]), "ok");
        CHECK_STR(peer_ask(&java, "write.try %s 0", names[i]), "false");
        CHECK_INT(hf_lock_release(l.read, NULL, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "write.try %s 0", names[i]), "true");
        CHECK_INT(rig_probe(l.read), HF_TAKEN);
        CHECK_STR(peer_ask(&java, "write.unlock %s", names[i]), "ok");
    }
}

/* ---- waking ------------------------------------------------------------- */

TEST(redisson_rw, our_waiters_are_woken_by_javas_writer_and_last_reader)
{
    static const char *const words[] = {"write", "read"};
    begin(30000);
    for (int i = 0; i < 2; i++) {
        hf_lock *sides[] = {a.write, i ? a.write : a.read};
        for (int k = 0; k < 2; k++) {
            CHECK_STR(peer_ask(&java, "%s.lock a %d", words[i], PEER_LEASE_MS),
                      "ok");
            waiter(&w, sides[k]);
            int64_t began_ms = rig_now_ms();
            CHECK_STR(peer_ask(&java, "%s.unlock a", words[i]), "ok");
            waiter_end(&w, began_ms);
        }
    }
}

TEST(redisson_rw, javas_waiters_are_woken_by_our_writer_and_last_reader)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    begin(30000);
    hf_lock *ours[] = {a.write, a.write, a.read};
    const char *const theirs[] = {"write", "read", "write"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hf_lock_acquire(ours[i], &o, NULL, NULL), HF_OK);
        peer_say(&java, "%s.try a %d", theirs[i], PEER_LEASE_MS);
        CHECK(rig_until(is_listened_to, (void *)"a"));
        CHECK(peer_hear(&java, 200) == NULL);
        CHECK_INT(hf_lock_release(ours[i], NULL, NULL), HF_OK);
        CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
        CHECK_STR(peer_ask(&java, "%s.unlock a", theirs[i]), "ok");
    }
}

/* Redisson's own downgrade tells nobody: its readers sleep until the lease. */
TEST(redisson_rw, javas_waiting_reader_comes_in_when_our_writer_only_reads)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    begin(30000);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    peer_say(&java, "read.try a %d", PEER_LEASE_MS);
    CHECK(rig_until(is_listened_to, (void *)"a"));
    CHECK(peer_hear(&java, 200) == NULL);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
}

TEST(redisson_rw, our_waiting_reader_comes_in_when_javas_writer_only_reads)
{
    begin(30000);
    CHECK_STR(peer_ask(&java, "write.lock a 6000"), "ok");
    CHECK_STR(peer_ask(&java, "read.lock a 60000"), "ok");
    waiter(&w, a.read);
    CHECK_STR(peer_ask(&java, "write.unlock a"), "ok");
    /* Nothing was published: it looks again by itself. */
    CHECK(rw_actor_until_in(&w));
    rw_actor_go(&w);
    rig_join();
    CHECK_STR(peer_ask(&java, "read.count a"), "1");
}

/* ---- who holds what ----------------------------------------------------- */

TEST(redisson_rw, java_is_kept_out_of_what_was_upgraded)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_UPGRADE);
    begin(30000);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.try a 0 60000"), "true");
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.try a 0"), "false");
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.try a 0 60000"), "true");
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_STR(peer_ask(&java, "write.try a 0"), "false");
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "write.try a 0"), "true");
}

TEST(redisson_rw, both_watchdogs_keep_what_is_theirs)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_options(RIG_TRY, 4000, 0);
    begin(4000);
    peer_start(&other, &server, 4000);
    CHECK_INT(hf_lock_acquire(a.read, &o, &g, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.lock a"), "ok");
    rig_pause_ms(5000);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_STR(peer_ask(&other, "write.try a 0"), "false");
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    rig_pause_ms(5000);
    CHECK_STR(peer_ask(&java, "read.count a"), "1");
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    rig_pause_ms(5000);
    CHECK_STR(peer_ask(&other, "read.try a 0"), "false");
}

TEST(redisson_rw,
     a_dead_reader_of_javas_keeps_our_writer_out_for_its_lease_only)
{
    begin(2000);
    peer_start(&other, &server, 30000);
    CHECK_STR(peer_ask(&java, "read.lock a"), "ok");
    CHECK_STR(peer_ask(&other, "read.lock a 60000"), "ok");
    peer_kill(&java);
    CHECK_STR(peer_ask(&other, "read.unlock a"), "ok");
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_INT(rig_acquire(a.write, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(redisson_rw, force_unlock_takes_ours_away_and_we_are_told)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, 0);
    begin(30000);
    CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "write.force a"), "false");
    CHECK_STR(peer_ask(&java, "read.force a"), "true");
    CHECK_STR(peer_ask(&java, "write.try a 0 60000"), "true");
    CHECK(rig_until_state(a.read, 0, HF_STATE_LOST));
    CHECK_STR(peer_ask(&java, "write.unlock a"), "ok");
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "read.force a"), "false");
    CHECK_STR(peer_ask(&java, "write.force a"), "true");
    CHECK(rig_until_state(a.write, 0, HF_STATE_LOST));
}

TEST(redisson_rw, our_break_takes_javas_away_and_wakes_javas_waiter)
{
    int was = 0;
    begin(30000);
    peer_start(&other, &server, 30000);
    CHECK_STR(peer_ask(&java, "write.lock a %d", PEER_LEASE_MS), "ok");
    peer_say(&other, "read.try a %d", PEER_LEASE_MS);
    CHECK(rig_until(is_listened_to, (void *)"a"));
    CHECK(peer_hear(&other, 200) == NULL);
    CHECK_INT(hf_lock_break(a.read, &was, NULL), HF_OK);
    CHECK_INT(was, 1);
    CHECK_STR(peer_hear(&other, PEER_SOON_MS), "true");
    CHECK_STR(peer_ask(&java, "write.unlock a"), "not owner");
}

TEST(redisson_rw, our_tokens_rise_whatever_java_holds_in_between)
{
    hf_hold *g;
    uint64_t last = 0;
    begin(30000);
    for (int i = 0; i < 20; i++) {
        hf_lock *side = i % 3 ? a.read : a.write;
        CHECK_INT(hf_lock_try(side, &g, NULL), HF_OK);
        CHECK(hf_hold_fence(g) > last);
        last = hf_hold_fence(g);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "%s.try a 0", i % 2 ? "read" : "write"),
                  "true");
        CHECK_STR(peer_ask(&java, "%s.unlock a", i % 2 ? "read" : "write"),
                  "ok");
    }
}

TEST(redisson_rw, inspect_tells_javas_readers_and_writer)
{
    struct hf_info info = HF_INFO_INIT;
    begin(30000);
    CHECK_STR(peer_ask(&java, "read.lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_inspect(a.read, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.shared, 1);
    CHECK_INT(info.foreign, 1);
    CHECK_INT(info.readers, 1);
    CHECK_STR(info.layout, "redisson");
    CHECK_STR(peer_ask(&java, "read.unlock a"), "ok");
    CHECK_STR(peer_ask(&java, "write.lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_inspect(a.read, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.shared, 0);
    CHECK_INT(info.readers, 0);
    CHECK(strstr(info.owner, ":write") == NULL);
}

/* A Java lock whose name we hold as a plain one is granted to its reader: one
 * name, one kind (docs/redis-layout.md). */
TEST(redisson_rw, a_plain_lock_of_javas_is_a_conflict)
{
    begin(30000);
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_CONFLICT);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
}

/* ---- all at once -------------------------------------------------------- */

#define ROUNDS 300 /* of each thread: every second one writes */
#define THREADS 2  /* of each side */

struct mixer {
    uint32_t id;
    struct lab_server seen; /* a connection of its own */
    char wrong[128];
};

static int64_t counter_read(struct mixer *m)
{
    const char *reply = redis_say(&m->seen, "GET counter");
    return strtoll(reply, NULL, 10);
}

static void mixer_round(struct mixer *m, int writes)
{
    hf_lock *lock = writes ? a.write : a.read;
    if (rig_acquire(lock, 0, 60000, NULL) != HF_OK)
        snprintf(m->wrong, sizeof m->wrong, "not acquired");
    int64_t before = counter_read(m);
    if (writes)
        redis_say(&m->seen, "SET counter %lld", (long long)before + 1);
    else if (counter_read(m) != before)
        snprintf(m->wrong, sizeof m->wrong, "written while it was read");
    if (hf_lock_release(lock, NULL, NULL) != HF_OK)
        snprintf(m->wrong, sizeof m->wrong, "not released");
}

static void mixer_run(void *arg)
{
    struct mixer *m = arg;
    for (int i = 0; i < ROUNDS && !m->wrong[0]; i++) mixer_round(m, i % 2 == 0);
}

TEST(redisson_rw, a_counter_that_both_write_and_read_comes_out_exact)
{
    static struct mixer mixers[THREADS];
    begin(30000);
    peer_say(&java, "rwmix a %d %d", THREADS, ROUNDS);
    for (uint32_t i = 0; i < THREADS; i++) {
        mixers[i] = (struct mixer){.id = i, .seen = server};
        rig_spawn(mixer_run, &mixers[i]);
    }
    rig_join();
    for (int i = 0; i < THREADS; i++) CHECK_STR(mixers[i].wrong, "");
    CHECK_STR(peer_hear(&java, 60000), "exact");
    CHECK_INT(redis_number(&server, "GET counter"), THREADS * ROUNDS);
    CHECK_INT(redis_number(&server, "EXISTS a"), 0);
}
