/*
 * postgres_watch_test.c: waiters are told by NOTIFY.  One rule: what wakes them
 * here is the message; the connection itself asks nothing by itself.
 */
#include <string.h>

#include "lib/fake_env.h"
#include "lib/holder.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_postgres.h"
#include "lib/server.h"

static struct request request_of(enum verb verb, const char *name,
                                 uint64_t attempt)
{
    struct request req = server_request(verb, name, attempt, 0);
    if (verb == VERB_PROPOSE || verb == VERB_RELEASE)
        req.ballot = server_clock(NULL) + (int64_t)attempt;
    req.flags = REQ_SERVER_FENCE;
    return req;
}

static struct fake_env waiter, other;

TEST(postgres_watch, a_release_wakes_a_watched_name_and_no_other)
{
    struct fake_answer a;
    rig_begin_on("postgres");
    postgres_connect(&waiter, rig_url());
    postgres_connect(&other, rig_url());
    CHECK_INT(server_do(&other, request_of(VERB_PROPOSE, "a", 1), &a),
              V_GRANTED);
    CHECK_INT(server_do(&other, request_of(VERB_PROPOSE, "b", 2), &a),
              V_GRANTED);
    CHECK_INT(server_do(&waiter, request_of(VERB_WATCH, "a", 3), &a),
              V_GRANTED);
    CHECK_INT(server_do(&other, request_of(VERB_RELEASE, "b", 2), &a),
              V_GRANTED);
    CHECK_INT(waiter.wakes, 0);
    CHECK_INT(server_do(&other, request_of(VERB_RELEASE, "a", 1), &a),
              V_GRANTED);
    fake_wait_wakes(&waiter, 1);
    CHECK(!strcmp(waiter.woken, "a"));
}

/* Without a mark, nothing is told; the waiter that asks marks it, and is told
 * to look again, for it may have missed something. */
TEST(postgres_watch, a_lapsed_mark_is_written_anew_by_a_waiter_that_asks)
{
    struct fake_answer a;
    rig_begin_on("postgres");
    postgres_connect(&waiter, rig_url());
    postgres_connect(&other, rig_url());
    CHECK_INT(server_do(&other, request_of(VERB_PROPOSE, "a", 1), &a),
              V_GRANTED);
    CHECK_INT(server_do(&waiter, request_of(VERB_WATCH, "a", 3), &a),
              V_GRANTED);
    LAB_CHECK(lab_postgres_do(rig_postgres_shared(),
                              "UPDATE holdfast_lock SET waits_us = 0"));
    CHECK_INT(server_do(&waiter, request_of(VERB_PROPOSE, "a", 3), &a), V_BUSY);
    fake_wait_wakes(&waiter, 1);
    CHECK_INT(server_do(&other, request_of(VERB_RELEASE, "a", 1), &a),
              V_GRANTED);
    fake_wait_wakes(&waiter, 2);
}

TEST(postgres_watch, many_names_are_renewed_by_one_statement)
{
    static struct request reqs[200];
    static struct fake_answer answers[200];
    static char names[200][16];
    struct fake_answer a;
    rig_begin_on("postgres");
    postgres_connect(&other, rig_url());
    for (int i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        if (i % 10 == 9) continue; /* some are not held */
        CHECK_INT(server_do(&other,
                            request_of(VERB_PROPOSE, names[i], 1 + (unsigned)i),
                            &a),
                  V_GRANTED);
    }
    for (int i = 0; i < 200; i++) {
        reqs[i] = request_of(VERB_RENEW, names[i], 1 + (unsigned)i);
        fake_submit(&other, &reqs[i], &answers[i]);
    }
    other.backend->flush(other.conn);
    for (int i = 0; i < 200; i++) {
        fake_wait(&other, &answers[i]);
        CHECK_INT(answers[i].reply.verdict, i % 10 == 9 ? V_ABSENT : V_GRANTED);
    }
}

struct taker {
    hf_lock *lock;
    atomic_int ended;
    int status;
};

static void taker_run(void *arg)
{
    struct taker *t = arg;
    t->status = rig_acquire(t->lock, 0, RIG_PATIENCE_MS, NULL);
    atomic_store(&t->ended, 1);
}

static int is_waited_for(void *arg)
{
    (void)arg;
    return !strcmp(lab_postgres_say(rig_postgres_shared(),
                                    "SELECT waits_us > 0 FROM holdfast_lock "
                                    "WHERE name = 'a'"),
                   "t");
}

TEST(postgres_watch, a_lock_is_handed_over_between_processes)
{
    static struct lab_proc p;
    static struct taker t;
    rig_begin_on("postgres");
    struct holder h = {.url = rig_url(), .name = "a", .lease_ms = 30000};
    uint64_t fence = holder_start(&p, &h);
    t.lock = rig_lock(rig_client(NULL), "a");
    rig_spawn(taker_run, &t);
    CHECK(rig_until(is_waited_for, NULL));
    proc_say(&p, "release");
    CHECK(holder_says(&p, "released OK"));
    CHECK(rig_until_equal(&t.ended, 1));
    CHECK_INT(t.status, HF_OK);
    struct hf_info info;
    CHECK_INT(rig_inspect_as(t.lock, 0, &info), HF_OK);
    CHECK(info.fence > fence);
}
