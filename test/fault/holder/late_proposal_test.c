/*
 * late_proposal_test.c: a proposal that was on its way for long arrives when
 * its hold is over; or a release does.  One rule: whatever arrives late, the
 * holder that lost its lock learns of it at its next renewal, and no hold lasts
 * longer.
 *
 * The late request is sent by hand, on a connection of its own, in the name of
 * a client of this process.  The server's clock runs at a fiftieth, so that it
 * is late and not too old however busy the machine is.
 */
#include <stdio.h>
#include <string.h>

#include "lib/fair.h"
#include "lib/rig_redis.h"
#include "lib/rig_rw.h"
#include "lib/server.h"
#include "test.h"

#define RECORD "v1 %79s %llu %lld"

static struct lab_server r;
static struct fake_env f;
static struct fair_waiter next;

static const char *const slow_env[] = {"LD_PRELOAD=" TEST_CLOCK_SHIM,
                                       "HF_CLOCK_PPM=-980000", NULL};

static void begin_with(const char *const *env)
{
    memset(&r, 0, sizeof r);
    r.env = env;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    server_connect(&f, r.url);
}

static void begin(void)
{
    begin_with(slow_env);
}

/* The number by which it was granted, one lower, in the name of its owner. */
static struct request late_request(const char *record, enum lock_kind kind)
{
    struct request req = server_request(VERB_PROPOSE, "a", 0, 0);
    unsigned long long attempt = 0;
    long long number = 0;
    CHECK_INT(sscanf(record, RECORD, req.owner, &attempt, &number), 3);
    req.attempt = attempt;
    req.ballot = number - 1;
    req.kind = kind;
    req.flags = REQ_SERVER_FENCE | REQ_QUEUE;
    return req;
}

static int is_lost(hf_hold *g)
{
    int status = hf_hold_extend(g, 0, NULL);
    return (status == HF_LOST || status == HF_EXPIRED)
           && hf_hold_state(g) == HF_STATE_LOST;
}

/* ---- a fair lock -------------------------------------------------------- */

/* A holder, and one that waits behind it. */
static struct request fair_begin(hf_lock **l, hf_hold **g)
{
    begin();
    *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(*l, hf_holder_new(), 0, g), HF_OK);
    struct request late = late_request(redis_say(&r, "HGET a hf"), KIND_PLAIN);
    next = (struct fair_waiter){.lock = fair_lock(rig_client(NULL), "a"),
                                .is_kept = 1};
    fair_join(&next);
    return late;
}

/* The one that waited gives it back, once it has it. */
static void next_let_go(void)
{
    CHECK_INT(next.status, HF_OK);
    CHECK_INT(hf_hold_release(next.hold, NULL), HF_OK);
}

TEST(late_proposal, of_a_broken_fair_hold_gets_no_place)
{
    hf_lock *l = NULL;
    hf_hold *g = NULL;
    struct request late = fair_begin(&l, &g);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(server_do(&f, late, NULL), V_STALE);
    next_let_go();
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    CHECK(is_lost(g));
}

/* Nobody told the server that it was taken away. */
TEST(late_proposal, of_an_evicted_fair_hold_does_not_revive_it)
{
    hf_lock *l = NULL;
    hf_hold *g = NULL;
    struct request late = fair_begin(&l, &g);
    redis_say(&r, "DEL a");
    redis_say(&r, "PUBLISH redisson_lock__channel:{a} 0");
    rig_join();
    CHECK_INT(server_do(&f, late, NULL), V_BUSY);
    next_let_go();
    /* Given to the attempt that had it, with another token. */
    CHECK_INT(redis_number(&r, "HEXISTS a %s", late.owner), 1);
    CHECK(is_lost(g));
}

/* A number that runs ahead of a clock that was set back is remembered until it
 * is too old, not for three seconds. */
TEST(late_proposal, of_who_left_is_known_while_its_number_is_young)
{
    begin_with(NULL);
    int64_t ahead_us = server_clock(&f) + 60 * US_PER_S;
    struct request held =
        server_request(VERB_PROPOSE, "a", 1, server_clock(&f));
    held.flags = REQ_SERVER_FENCE;
    CHECK_INT(server_do(&f, held, NULL), V_GRANTED);
    struct request waits = server_request(VERB_PROPOSE, "a", 2, ahead_us);
    waits.flags = REQ_SERVER_FENCE | REQ_QUEUE;
    waits.owner[strlen(waits.owner) - 1] = '2';
    CHECK_INT(server_do(&f, waits, NULL), V_BUSY);
    struct request leaves = waits;
    leaves.verb = VERB_RELEASE;
    leaves.flags = REQ_QUEUE | REQ_UNSURE;
    CHECK_INT(server_do(&f, leaves, NULL), V_OTHER);
    rig_pause_ms(3200);
    /* Another one that leaves sweeps what is to be forgotten. */
    leaves.owner[strlen(leaves.owner) - 1] = '3';
    leaves.ballot = server_clock(&f);
    CHECK_INT(server_do(&f, leaves, NULL), V_OTHER);
    waits.ballot--;
    CHECK_INT(server_do(&f, waits, NULL), V_STALE);
}

/* ---- a read/write lock -------------------------------------------------- */

static struct request rw_begin(struct rw *a, hf_lock **l, int writes,
                               hf_hold **g)
{
    begin();
    rw_open(a, rig_client(NULL), "a", HF_ORDER_FAIR);
    *l = writes ? a->write : a->read;
    CHECK_INT(rig_acquire(*l, hf_holder_new(), 0, g), HF_OK);
    char key[OWNER_LEN_MAX + 64];
    snprintf(key, sizeof key, "%s",
             redis_say(&r, "KEYS {a}:*:rwlock_timeout:1"));
    key[strcspn(key, "\n")] = '\0';
    return late_request(redis_say(&r, "GET %s", key),
                        writes ? KIND_WRITE : KIND_READ);
}

static void rw_broken(int writes)
{
    struct rw a;
    hf_lock *l = NULL;
    hf_hold *g = NULL;
    struct request late = rw_begin(&a, &l, writes, &g);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK_INT(server_do(&f, late, NULL), V_STALE);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    CHECK(is_lost(g));
}

TEST(late_proposal, of_a_broken_writer_is_stale)
{
    rw_broken(1);
}

TEST(late_proposal, of_a_broken_reader_is_stale)
{
    rw_broken(0);
}

/* It would give the lock another token, which its holder does not know. */
TEST(late_proposal, of_a_writer_changes_nothing_while_it_holds)
{
    struct rw a;
    hf_lock *l = NULL;
    hf_hold *g = NULL;
    struct request late = rw_begin(&a, &l, 1, &g);
    CHECK_INT(server_do(&f, late, NULL), V_STALE);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(late_proposal, of_an_evicted_writer_does_not_revive_it)
{
    struct rw a;
    hf_lock *l = NULL;
    hf_hold *g = NULL;
    struct request late = rw_begin(&a, &l, 1, &g);
    redis_say(&r, "DEL a");
    CHECK_INT(server_do(&f, late, NULL), V_GRANTED);
    CHECK(is_lost(g));
}

/* ---- a late release ----------------------------------------------------- */

/* Another reader has the lock for long, so that the lock itself ends long after
 * the hold whose record the late release meets. */
TEST(late_release, does_not_lengthen_the_next_hold_of_a_reader)
{
    begin_with(NULL);
    struct request a = server_request(VERB_PROPOSE, "a", 1, server_clock(&f));
    a.kind = KIND_READ;
    a.flags = REQ_SERVER_FENCE;
    struct request other = a;
    other.owner[strlen(other.owner) - 1] = '2';
    other.lease_us = 600 * US_PER_S;
    CHECK_INT(server_do(&f, other, NULL), V_GRANTED);
    CHECK_INT(server_do(&f, a, NULL), V_GRANTED);
    struct request late = a;
    late.verb = VERB_RELEASE;
    CHECK_INT(server_do(&f, late, NULL), V_GRANTED);
    a.attempt = 2;
    a.ballot = server_clock(&f);
    CHECK_INT(server_do(&f, a, NULL), V_GRANTED);
    CHECK_INT(server_do(&f, late, NULL), V_OTHER);
    int64_t left_ms = redis_number(&r, "PTTL {a}:%s:rwlock_timeout:1", a.owner);
    CHECK(left_ms > 0 && left_ms <= a.lease_us / US_PER_MS);
    a.verb = VERB_RENEW;
    a.fence = 0;
    CHECK_INT(server_do(&f, a, NULL), V_GRANTED);
}

/* ---- request by request ------------------------------------------------- */

/* Granted, taken away behind the server's back with `taken`, and granted again
 * to the same attempt by a higher number: only the second grant is renewed. */
static void renewed_by_fence(const char *options, enum lock_kind kind,
                             const char *taken)
{
    struct fake_answer first, second;
    char url[128];
    begin();
    fake_close(&f);
    snprintf(url, sizeof url, "%s%s", r.url, options);
    server_connect(&f, url);
    struct request req = server_request(VERB_PROPOSE, "a", 1, server_clock(&f));
    req.kind = kind;
    req.permits = 1;
    req.flags = REQ_SERVER_FENCE;
    if (kind == KIND_PERMIT) redis_say(&r, "SET a 2");
    CHECK_INT(server_do(&f, req, &first), V_GRANTED);
    redis_say(&r, "%s", taken);
    req.ballot = first.reply.fence + 1;
    CHECK_INT(server_do(&f, req, &second), V_GRANTED);
    CHECK(second.reply.fence > first.reply.fence);
    req.verb = VERB_RENEW;
    req.fence = first.reply.fence;
    enum verdict verdict = server_do(&f, req, NULL);
    CHECK(verdict == V_OTHER || verdict == V_ABSENT);
    req.fence = second.reply.fence;
    CHECK_INT(server_do(&f, req, NULL), V_GRANTED);
    req.fence = 0; /* not compared */
    CHECK_INT(server_do(&f, req, NULL), V_GRANTED);
}

TEST(late_proposal, does_not_renew_a_plain_lock_of_another_token)
{
    renewed_by_fence("", KIND_PLAIN, "DEL a");
}

TEST(late_proposal, does_not_renew_a_string_of_another_token)
{
    renewed_by_fence("?format=string", KIND_PLAIN, "DEL a");
}

TEST(late_proposal, does_not_renew_a_reader_of_another_token)
{
    renewed_by_fence("", KIND_READ, "DEL a");
}

TEST(late_proposal, does_not_renew_a_permit_of_another_token)
{
    renewed_by_fence("", KIND_PERMIT, "DEL {a}:timeout");
}
