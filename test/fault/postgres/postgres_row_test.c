/*
 * postgres_row_test.c: a transaction of another program keeps a row locked.
 * One rule: that is the matter of this name alone; no other name waits for it
 * longer than the statements in front of it do.
 */
#include <stdio.h>
#include <string.h>

#include "lib/fake_env.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_postgres.h"
#include "lib/server.h"

#define NAMES 8
#define LOCKED 3

static struct fake_env f;
static char names[NAMES][8];

static void begin(void)
{
    rig_begin_on("postgres");
    postgres_connect(&f, rig_url());
    f.conf.timeout_us = RIG_PATIENCE_MS * US_PER_MS;
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "n%d", i);
}

static struct request request_of(enum verb verb, int i)
{
    struct request req = server_request(verb, names[i], 1 + (unsigned)i, 0);
    if (verb != VERB_RENEW) req.ballot = server_clock(NULL);
    req.flags = REQ_SERVER_FENCE;
    return req;
}

/* ---- the other program -------------------------------------------------- */

/* A copy, for the thread of the other program. */
static struct lab_postgres other;

static void row_keep(void *arg)
{
    lab_postgres_say(&other,
                     "SELECT 1 FROM holdfast_lock WHERE name = '%s' FOR UPDATE;"
                     "SELECT pg_sleep(%d)",
                     (const char *)arg, RIG_PATIENCE_MS / 1000);
}

static int is_kept(void *arg)
{
    (void)arg;
    return !strcmp(lab_postgres_say(rig_postgres_shared(),
                                    "SELECT count(*) FROM pg_stat_activity"
                                    " WHERE wait_event = 'PgSleep'"),
                   "1");
}

static void row_lock(const char *name)
{
    other = *rig_postgres_shared();
    rig_spawn(row_keep, (void *)name);
    CHECK(rig_until(is_kept, NULL));
}

static void row_unlock(void)
{
    LAB_CHECK(lab_postgres_do(rig_postgres_shared(),
                              "SELECT pg_terminate_backend(pid)"
                              " FROM pg_stat_activity"
                              " WHERE wait_event = 'PgSleep'"));
    rig_join();
}

/* ---- the tests ---------------------------------------------------------- */

TEST(postgres_row, a_locked_one_fails_its_own_renewal_and_no_other)
{
    static struct request reqs[NAMES];
    static struct fake_answer answers[NAMES];
    begin();
    for (int i = 0; i < NAMES; i++)
        CHECK_INT(server_do(&f, request_of(VERB_PROPOSE, i), NULL), V_GRANTED);
    row_lock(names[LOCKED]);
    for (int i = 0; i < NAMES; i++) {
        reqs[i] = request_of(VERB_RENEW, i);
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < NAMES; i++) {
        fake_wait(&f, &answers[i]);
        CHECK_INT(answers[i].reply.verdict, i == LOCKED ? V_ERROR : V_GRANTED);
    }
    CHECK_INT(answers[LOCKED].reply.status, HF_UNAVAILABLE);
    CHECK(strstr(answers[LOCKED].text, "another transaction holds the row"));
    row_unlock();
    CHECK_INT(server_do(&f, request_of(VERB_RENEW, LOCKED), NULL), V_GRANTED);
}

TEST(postgres_row, a_locked_one_refuses_every_change)
{
    static const enum verb verbs[] = {VERB_RELEASE, VERB_BREAK, VERB_PROPOSE};
    struct fake_answer a;
    begin();
    CHECK_INT(server_do(&f, request_of(VERB_PROPOSE, 0), NULL), V_GRANTED);
    row_lock(names[0]);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(server_do(&f, request_of(verbs[i], 0), &a), V_ERROR);
        CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    }
    /* What is held is held, and to see that needs no lock. */
    struct request req = request_of(verbs[2], 0);
    req.attempt = 99;
    CHECK_INT(server_do(&f, req, &a), V_BUSY);
    row_unlock();
    CHECK_INT(server_do(&f, request_of(VERB_RELEASE, 0), &a), V_GRANTED);
}
