/*
 * redisson_permit.c: semaphores that Java and we share: permits with leases
 * (RPermitExpirableSemaphore), and plain counters (RSemaphore).  One rule: what
 * one side does, the other is asked about.
 */
#include <string.h>

#include "lib/rig_semaphore.h"
#include "peer.h"

static struct lab_server server;
static struct peer java;

static hf_semaphore *begin(int64_t permits)
{
    peer_begin(&java, &server, 30000);
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    if (permits) CHECK_INT(hf_semaphore_try_set(s, permits, NULL, NULL), HF_OK);
    return s;
}

/* What it was given, for permit.give. */
static const char *java_takes(int permits, int64_t wait_ms, int64_t lease_ms)
{
    static char ids[PROC_LINE_MAX];
    snprintf(ids, sizeof ids, "%s",
             peer_ask(&java, "permit.take s %d %lld %lld", permits,
                      (long long)wait_ms, (long long)lease_ms));
    return ids;
}

/* ---- permits ------------------------------------------------------------ */

TEST(redisson_permit, what_java_has_set_is_there_for_us)
{
    peer_begin(&java, &server, 30000);
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_STR(peer_ask(&java, "permit.tryset s 3"), "true");
    CHECK_INT(rig_count(s).capacity, 3);
    CHECK_STR(peer_ask(&java, "permit.add s 2"), "ok");
    CHECK_INT(rig_count(s).capacity, 5);
    CHECK_INT(hf_semaphore_set(s, 4, 0, NULL, NULL), HF_OK);
    CHECK_INT(peer_number(&java, "permit.permits s"), 4);
    CHECK_STR(peer_ask(&java, "permit.tryset s 9"), "false");
    CHECK_STR(peer_ask(&java, "permit.set s 6"), "ok");
    CHECK_INT(rig_count(s).available, 6);
}

TEST(redisson_permit, what_java_has_taken_we_cannot_take)
{
    hf_semaphore *s = begin(3);
    const char *ids = java_takes(2, 0, PEER_LEASE_MS);
    CHECK_INT(strlen(ids), 2 * 32 + 1);
    CHECK_INT(rig_count(s).taken, 2);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_TAKEN);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(peer_number(&java, "permit.give s %s", ids), 2);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
}

TEST(redisson_permit, what_we_have_taken_java_cannot_take)
{
    hf_hold *p;
    hf_semaphore *s = begin(3);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK_INT(peer_number(&java, "permit.acquired s"), 2);
    CHECK_INT(peer_number(&java, "permit.available s"), 1);
    CHECK_INT(peer_number(&java, "permit.permits s"), 3);
    CHECK_STR(java_takes(2, 0, PEER_LEASE_MS), "none");
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(strlen(java_takes(3, 0, PEER_LEASE_MS)), 3 * 33 - 1);
}

TEST(redisson_permit, our_waiter_is_woken_by_javas_release)
{
    static struct taker t;
    hf_semaphore *s = begin(1);
    const char *id = java_takes(1, 0, PEER_LEASE_MS);
    taker_start(&t, s, 1, RIG_PATIENCE_MS);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(peer_number(&java, "permit.give s %s", id), 1);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK(rig_now_ms() - began_ms < PEER_SOON_MS);
}

TEST(redisson_permit, javas_waiter_is_woken_by_our_release)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    hf_hold *p;
    hf_semaphore *s = begin(2);
    o.permits = 2;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    peer_say(&java, "permit.take s 2 %d 1000", PEER_LEASE_MS);
    CHECK(peer_hear(&java, 500) == NULL);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    const char *ids = peer_hear(&java, PEER_SOON_MS);
    CHECK(ids && strlen(ids) == 2 * 33 - 1);
}

TEST(redisson_permit, javas_waiter_is_woken_when_there_are_more)
{
    hf_semaphore *s = begin(1);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    peer_say(&java, "permit.take s 1 %d 1000", PEER_LEASE_MS);
    CHECK(peer_hear(&java, 500) == NULL);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    const char *id = peer_hear(&java, PEER_SOON_MS);
    CHECK(id && strlen(id) == 32);
}

/* Defect 17: a number below zero on the channel would end Java's listener, and
 * with it every later wake-up. */
TEST(redisson_permit, javas_waiter_outlives_fewer_permits_than_are_out)
{
    hf_hold *p;
    hf_semaphore *s = begin(2);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    peer_say(&java, "permit.take s 1 %d 1000", PEER_LEASE_MS);
    CHECK(peer_hear(&java, 500) == NULL);
    CHECK_INT(hf_semaphore_set(s, 1, HF_SEMAPHORE_ANYWAY, NULL, NULL), HF_OK);
    CHECK(peer_hear(&java, 300) == NULL);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    const char *id = peer_hear(&java, PEER_SOON_MS);
    CHECK(id && strlen(id) == 32);
}

TEST(redisson_permit, what_a_dead_java_had_comes_back_to_us)
{
    hf_semaphore *s = begin(1);
    CHECK_INT(strlen(java_takes(1, 0, 2000)), 32);
    peer_kill(&java);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms > 1000);
}

TEST(redisson_permit, what_ended_with_our_lease_comes_to_java)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, HF_ACQUIRE_FIXED);
    hf_hold *p;
    hf_semaphore *s = begin(1);
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    CHECK_INT(strlen(java_takes(1, RIG_WAIT_MS, PEER_LEASE_MS)), 32);
    CHECK_INT(hf_hold_valid_ms(p), 0);
}

TEST(redisson_permit, what_we_keep_java_sees_renewed)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 4000, 0);
    hf_hold *p;
    hf_semaphore *s = begin(1);
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    CHECK_STR(java_takes(1, 6000, PEER_LEASE_MS), "none");
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

/* The id is the member of the sorted set, in hexadecimal. */
TEST(redisson_permit, what_java_takes_away_by_its_id_we_have_lost)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, 0);
    hf_hold *p;
    char id[64];
    hf_semaphore *s = begin(1);
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    snprintf(id, sizeof id, "%s",
             redis_say(&server,
                       "EVAL \"return (redis.call('ZRANGE', KEYS[1], 0, 0)[1]"
                       ":gsub('.', function(c) return string.format('%%02x', "
                       "string.byte(c)) end))\" 1 {s}:timeout"));
    CHECK(peer_number(&java, "permit.lease s %s", id) > 0);
    CHECK_INT(peer_number(&java, "permit.give s %s", id), 1);
    CHECK(rig_until(is_lost, p));
    CHECK_INT(rig_count(s).available, 1);
}

/* ---- plain counters ----------------------------------------------------- */

static hf_semaphore *counter_begin(int64_t value)
{
    peer_begin(&java, &server, 30000);
    return rig_counter(rig_client(NULL), "s", value);
}

TEST(redisson_permit, a_counter_is_the_same_for_both)
{
    hf_hold *p;
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    hf_semaphore *s = counter_begin(0);
    CHECK_STR(peer_ask(&java, "count.tryset s 5"), "true");
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK_INT(peer_number(&java, "count.available s"), 3);
    CHECK_STR(peer_ask(&java, "count.take s 3 0"), "true");
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK(p == NULL); /* a counter knows of no holds */
    CHECK_INT(hf_semaphore_add(s, 2, 0, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "count.give s 3"), "ok");
    CHECK_INT(rig_count(s).available, 5);
    CHECK_INT(peer_number(&java, "count.drain s"), 5);
    CHECK_STR(peer_ask(&java, "count.add s 7"), "ok");
    CHECK_INT(hf_semaphore_drain(s, &now, NULL), HF_OK);
    CHECK_INT(now.taken, 7);
    CHECK_INT(peer_number(&java, "count.available s"), 0);
}

TEST(redisson_permit, our_waiter_for_a_counter_is_woken_by_java)
{
    static struct taker t;
    hf_semaphore *s = counter_begin(0);
    taker_start(&t, s, 2, RIG_PATIENCE_MS);
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "count.give s 2"), "ok");
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK(rig_now_ms() - began_ms < PEER_SOON_MS);
}

TEST(redisson_permit, javas_waiter_for_a_counter_is_woken_by_us)
{
    hf_semaphore *s = counter_begin(0);
    peer_say(&java, "count.take s 2 %d", PEER_LEASE_MS);
    CHECK(peer_hear(&java, 500) == NULL);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
}

/* ---- both at once ------------------------------------------------------- */

#define ROUNDS 300
#define JAVA_THREADS 2
#define OUR_THREADS 2
#define MIX_MS 120000

struct mixer {
    hf_semaphore *sem;
    struct lab_server seen;
    int errors;
};

static void mixer_run(void *arg)
{
    struct mixer *m = arg;
    hf_hold *p;
    for (int i = 0; i < ROUNDS; i++) {
        if (rig_take(m->sem, 1, MIX_MS, &p) != HF_OK) {
            m->errors++;
            continue;
        }
        int64_t n = redis_number(&m->seen, "GET counter");
        redis_say(&m->seen, "SET counter %lld", (long long)n + 1);
        int status = p ? hf_hold_release(p, NULL)
                       : hf_semaphore_add(m->sem, 1, 0, NULL, NULL);
        if (status != HF_OK) m->errors++;
    }
}

static void mix(hf_semaphore *s, const char *word)
{
    static struct mixer mixers[OUR_THREADS];
    redis_say(&server, "SET counter 0");
    peer_say(&java, "%s.mix s %d %d", word, JAVA_THREADS, ROUNDS);
    for (int i = 0; i < OUR_THREADS; i++) {
        mixers[i] = (struct mixer){.sem = s, .seen = server};
        rig_spawn(mixer_run, &mixers[i]);
    }
    rig_join();
    CHECK_STR(peer_hear(&java, MIX_MS), "exact");
    for (int i = 0; i < OUR_THREADS; i++) CHECK_INT(mixers[i].errors, 0);
    CHECK_INT(redis_number(&server, "GET counter"),
              (JAVA_THREADS + OUR_THREADS) * ROUNDS);
    CHECK_INT(redis_number(&server, "GET s"), 1);
}

TEST(redisson_permit, one_permit_keeps_a_counter_exact)
{
    mix(begin(1), "permit");
    CHECK_INT(redis_number(&server, "ZCARD {s}:timeout"), 0);
}

TEST(redisson_permit, a_plain_counter_of_one_keeps_a_counter_exact)
{
    mix(counter_begin(1), "count");
}
