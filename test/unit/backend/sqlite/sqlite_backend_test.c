/*
 * sqlite_backend_test.c: the SQLite store as the engine sees it, through its
 * vtable.  One rule: two connections to one file are two processes, but for the
 * process.
 */
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "lib/fake_env.h"
#include "lib/rig.h"
#include "sys/clock.h"

extern const struct backend *const hf_backend_module;

static struct fake_env a, b;

static void fake_end(void *arg)
{
    struct fake_env *f = arg;
    f->fail_allocs = 0;
    fake_close(f);
    CHECK_INT(f->allocs_open, 0);
}

static void conn_begin(struct fake_env *f, const char *uuid)
{
    struct hf_error err = {0};
    fake_init(f, hf_backend_module);
    f->conf.uuid = uuid;
    if (fake_open(f, rig_url(), &err) != HF_OK) TEST_FAIL("%s", err.text);
    test_cleanup(fake_end, f);
    CHECK(f->is_up);
}

static void begin(void)
{
    rig_begin_on("sqlite");
    conn_begin(&a, "a");
    conn_begin(&b, "b");
}

/* The clock, but never the same number twice: that would be stale. */
static int64_t ballot_next(void)
{
    static int64_t last;
    int64_t now_us = hf__clock_wall_us();
    last = now_us > last ? now_us : last + 1;
    return last;
}

static struct request request_of(enum verb verb, const char *owner,
                                 uint64_t attempt)
{
    struct request req = {.verb = verb,
                          .flags = REQ_SERVER_FENCE,
                          .name = "job",
                          .name_len = 3,
                          .attempt = attempt,
                          .ballot = ballot_next(),
                          .count = 1,
                          .lease_us = 60 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US,
                          .deadline_us = hf__clock_us() + 30 * US_PER_S};
    if (verb == VERB_PROPOSE) req.info = "1 host label";
    if (verb == VERB_RENEW) req.fence = 0;
    snprintf(req.owner, sizeof req.owner, "%s", owner);
    return req;
}

static enum verdict ask(struct fake_env *f, enum verb verb, const char *owner,
                        unsigned flags)
{
    struct fake_answer answer;
    struct request req = request_of(verb, owner, 1);
    req.flags |= flags;
    fake_call(f, &req, &answer);
    return answer.reply.verdict;
}

TEST(sqlite, connections_to_one_file_exclude_each_other)
{
    begin();
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", 0), V_BUSY);
    CHECK_INT(ask(&b, VERB_RELEASE, "b:1", 0), V_OTHER);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", 0), V_GRANTED);
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", 0), V_GRANTED);
}

TEST(sqlite, a_copy_of_a_proposal_is_granted_once_and_stale_after_the_release)
{
    struct fake_answer first, again;
    begin();
    struct request req = request_of(VERB_PROPOSE, "a:1", 7);
    struct request copy = req, late = req;
    fake_call(&a, &req, &first);
    fake_call(&b, &copy, &again);
    CHECK_INT(again.reply.verdict, V_GRANTED);
    CHECK_INT(again.reply.fence, first.reply.fence);
    struct request release = request_of(VERB_RELEASE, "a:1", 7);
    fake_call(&a, &release, &again);
    fake_call(&b, &late, &again);
    CHECK_INT(again.reply.verdict, V_STALE);
}

TEST(sqlite, what_is_stored_outlives_its_connections)
{
    rig_begin_on("sqlite");
    conn_begin(&a, "a");
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    fake_close(&a);
    conn_begin(&b, "b");
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", 0), V_BUSY);
    CHECK_INT(ask(&b, VERB_RENEW, "a:1", 0), V_GRANTED);
}

/* ---- waiting ------------------------------------------------------------ */

/* Wait for an event of the kernel, with no help of the timer. */
static void pump_by_fd(struct fake_env *f)
{
    struct pollfd p = {.fd = -1, .events = POLLIN};
    for (int i = 0; i < FAKE_FDS_MAX; i++)
        if (f->fds[i].events) p.fd = f->fds[i].fd;
    CHECK(p.fd >= 0);
    CHECK_INT(poll(&p, 1, FAKE_WAIT_MS), 1);
    f->backend->process(f->conn, p.fd, AWAIT_READ);
}

TEST(sqlite, a_release_elsewhere_is_told_by_the_kernel)
{
    begin();
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    CHECK_INT(ask(&b, VERB_WATCH, "b:1", 0), V_GRANTED);
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", 0), V_BUSY);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", 0), V_GRANTED);
    while (b.wakes == 0) pump_by_fd(&b);
    CHECK_STR(b.woken, "job");
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", 0), V_GRANTED);
}

TEST(sqlite, other_names_and_waiters_that_ask_again_wake_nobody)
{
    struct fake_answer answer;
    begin();
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    CHECK_INT(ask(&b, VERB_WATCH, "b:1", 0), V_GRANTED);
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:2", REQ_QUEUE), V_BUSY);
    CHECK_INT(ask(&a, VERB_RENEW, "a:1", 0), V_GRANTED);
    struct request req = request_of(VERB_PROPOSE, "a:3", 1);
    req.name = "other";
    req.name_len = 5;
    fake_call(&a, &req, &answer);
    req = request_of(VERB_RELEASE, "a:3", 1);
    req.name = "other";
    req.name_len = 5;
    fake_call(&a, &req, &answer);
    CHECK_INT(answer.reply.verdict, V_GRANTED);
    pump_by_fd(&b);
    for (int i = 0; i < 10; i++) fake_pump(&b, 10);
    CHECK_INT(b.wakes, 0);
}

TEST(sqlite, a_lock_is_handed_to_the_first_waiter_and_others_sleep_on)
{
    static struct fake_env other;
    begin();
    conn_begin(&other, "c");
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", REQ_QUEUE), V_GRANTED);
    CHECK_INT(ask(&b, VERB_WATCH, "b:1", REQ_QUEUE), V_GRANTED);
    CHECK_INT(ask(&other, VERB_WATCH, "c:1", REQ_QUEUE), V_GRANTED);
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", REQ_QUEUE), V_BUSY);
    CHECK_INT(ask(&other, VERB_PROPOSE, "c:1", REQ_QUEUE), V_BUSY);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", REQ_QUEUE), V_GRANTED);
    while (b.handed == 0) pump_by_fd(&b);
    CHECK_STR(b.handed_owner, "b:1");
    CHECK(b.handed_fence > 0);
    for (int i = 0; i < 10; i++) fake_pump(&other, 10);
    CHECK_INT(other.wakes + other.handed, 0);
    CHECK_INT(ask(&b, VERB_PROPOSE, "b:1", REQ_QUEUE), V_GRANTED);
}

TEST(sqlite, without_watches_no_event_is_asked_for)
{
    begin();
    CHECK_INT(ask(&b, VERB_WATCH, "b:1", 0), V_GRANTED);
    CHECK_INT(ask(&b, VERB_UNWATCH, "b:1", 0), V_GRANTED);
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", 0), V_GRANTED);
    for (int i = 0; i < 5; i++) fake_pump(&b, 10);
    CHECK_INT(b.wakes, 0);
}

/* ---- lists -------------------------------------------------------------- */

TEST(sqlite, a_list_has_every_lock_once_over_several_pages)
{
    enum { LOCKS = 150 };
    static char names[LOCKS][16];
    struct fake_answer answer;
    begin();
    for (int i = 0; i < LOCKS; i++) {
        struct request req = request_of(VERB_PROPOSE, "a:1", 1);
        snprintf(names[i], sizeof names[i], "lock-%d", i);
        req.name = names[i];
        req.name_len = strlen(names[i]);
        fake_call(&a, &req, &answer);
        CHECK_INT(answer.reply.verdict, V_GRANTED);
    }
    b.rows_len = 0;
    struct request list = {.verb = VERB_LIST, .name = "lock-*", .name_len = 6};
    do {
        fake_call(&b, &list, &answer);
        CHECK_INT(answer.reply.verdict, V_GRANTED);
        list.cursor = answer.reply.cursor;
    } while (list.cursor);
    CHECK_INT(b.rows_len, LOCKS);
}

/* ---- as a member of a quorum -------------------------------------------- */

static struct fake_answer boot(struct fake_env *f, unsigned flags)
{
    struct fake_answer answer;
    struct request req = {.verb = VERB_BOOT,
                          .flags = flags,
                          .name = "group-1",
                          .name_len = 7,
                          .lease_us = 30 * US_PER_S,
                          .window_us = 40 * US_PER_S};
    fake_call(f, &req, &answer);
    return answer;
}

TEST(sqlite, a_member_votes_only_with_its_marker)
{
    struct fake_answer answer;
    begin();
    struct request req = request_of(VERB_PROPOSE, "a:1", 1);
    req.flags |= REQ_QUORUM;
    req.group = "group-1";
    fake_call(&a, &req, &answer);
    CHECK_INT(answer.reply.verdict, V_UNSETTLED);
    answer = boot(&b, REQ_BOOT_NEW);
    CHECK_INT(answer.reply.verdict, V_GRANTED);
    CHECK_INT(answer.boot.left_us, 0);
    CHECK(answer.boot.identity[0] != '\0');
    req = request_of(VERB_PROPOSE, "a:1", 2);
    req.flags |= REQ_QUORUM;
    req.group = "group-1";
    fake_call(&a, &req, &answer);
    CHECK_INT(answer.reply.verdict, V_GRANTED);
    CHECK_INT(boot(&a, REQ_BOOT_NEW).reply.status, HF_CONFLICT);
}

/* Another file in its place, with the same content. */
static void file_copy(void)
{
    char path[256], copy[300], sql[400];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/locks.db", rig_dir());
    snprintf(copy, sizeof copy, "%s.copy", path);
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", copy);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(rename(copy, path), 0);
}

TEST(sqlite, a_member_whose_file_was_replaced_does_not_vote_at_once)
{
    char url[300];
    begin();
    fake_close(&a);
    fake_close(&b);
    snprintf(url, sizeof url, "%s?sync=full", rig_url());
    CHECK_INT(fake_open(&a, url, NULL), HF_OK);
    CHECK_INT(boot(&a, REQ_BOOT_NEW).boot.left_us, 0);
    fake_close(&a);
    CHECK_INT(fake_open(&a, url, NULL), HF_OK);
    CHECK_INT(boot(&a, 0).boot.left_us, 0);
    fake_close(&a);
    file_copy();
    CHECK_INT(fake_open(&a, url, NULL), HF_OK);
    CHECK(boot(&a, 0).boot.left_us > 0);
}

/* ---- a file that is locked ---------------------------------------------- */

static void db_end(void *arg)
{
    sqlite3_close(arg);
}

static sqlite3 *db_lock(void)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(rig_url() + strlen("sqlite:"), &db), SQLITE_OK);
    test_cleanup(db_end, db);
    CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

TEST(sqlite, while_the_file_is_locked_reading_goes_on_and_writing_ends_in_time)
{
    struct fake_answer answer;
    begin();
    (void)db_lock();
    CHECK_INT(ask(&a, VERB_INSPECT, "a:1", 0), V_GRANTED);
    struct request req = request_of(VERB_PROPOSE, "a:1", 1);
    req.deadline_us = hf__clock_us() + 300 * US_PER_MS;
    fake_call(&a, &req, &answer);
    CHECK_INT(answer.reply.verdict, V_UNSENT);
    CHECK_INT(answer.reply.status, HF_UNAVAILABLE);
    CHECK(strstr(answer.text, "keeps the database locked") != NULL);
}

TEST(sqlite, requests_that_waited_for_the_file_are_carried_out_in_order)
{
    static struct fake_answer answers[3];
    static struct request reqs[3];
    begin();
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    sqlite3 *db = db_lock();
    reqs[0] = request_of(VERB_RELEASE, "a:1", 1);
    reqs[1] = request_of(VERB_PROPOSE, "a:2", 2);
    reqs[2] = request_of(VERB_PROPOSE, "a:3", 3);
    for (int i = 0; i < 3; i++) fake_submit(&a, &reqs[i], &answers[i]);
    for (int i = 0; i < 10; i++) fake_pump(&a, 5);
    CHECK_INT(answers[0].is_done + answers[1].is_done + answers[2].is_done, 0);
    CHECK_INT(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    fake_wait(&a, &answers[2]);
    CHECK_INT(answers[0].reply.verdict, V_GRANTED);
    CHECK_INT(answers[1].reply.verdict, V_GRANTED);
    CHECK_INT(answers[2].reply.verdict, V_BUSY);
}

/* ---- no memory ---------------------------------------------------------- */

TEST(sqlite, without_memory_a_request_is_refused_and_nothing_changes)
{
    begin();
    CHECK_INT(ask(&a, VERB_PROPOSE, "a:1", 0), V_GRANTED);
    fake_close(&b);
    conn_begin(&b, "b");
    b.fail_allocs = 1;
    CHECK_INT(ask(&b, VERB_BREAK, "b:1", 0), V_ERROR);
    b.fail_allocs = 0;
    CHECK_INT(ask(&a, VERB_RENEW, "a:1", 0), V_GRANTED);
}
