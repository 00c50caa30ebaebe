/*
 * sql_core_test.c: the core of the stores in a database, with a driver that
 * answers when the test says so.  One rule: whatever comes between a READ and
 * its SWAP, the reply is about the row that was stored.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/sql.h"
#include "lib/fake_env.h"
#include "test.h"

#define T0 (INT64_C(1700000000) * US_PER_S)
#define JOBS_MAX 8

/* One row, and the jobs that wait for their answers. */
struct backend_conn {
    struct sql_core *core;
    struct sql_row row;
    unsigned char state[4096];
    struct sql_job *jobs[JOBS_MAX];
    int jobs_len;
};

static struct backend_conn conn;
static struct fake_env f;
static struct sql_driver driver;

static void job_start(struct backend_conn *c, struct sql_job *job)
{
    CHECK(c->jobs_len < JOBS_MAX);
    c->jobs[c->jobs_len++] = job;
}

static struct sql_job *job_take(enum sql_step step)
{
    CHECK(conn.jobs_len > 0);
    struct sql_job *job = conn.jobs[0];
    conn.jobs_len--;
    memmove(conn.jobs, conn.jobs + 1, sizeof conn.jobs - sizeof conn.jobs[0]);
    CHECK_INT(job->step, step);
    return job;
}

static int conn_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    (void)url;
    (void)err;
    conn = (struct backend_conn){0};
    conn.core = hf__sql_core_open(env, &conn, &driver, "test:here");
    CHECK(conn.core != NULL);
    *out = &conn;
    env->link(env, 1, T0, NULL);
    return HF_OK;
}

static void conn_submit(struct backend_conn *c, struct request *req)
{
    hf__sql_core_submit(c->core, req);
}

static void conn_flush(struct backend_conn *c)
{
    hf__sql_core_flush(c->core);
}

static int conn_process(struct backend_conn *c, int fd, unsigned ready)
{
    (void)c;
    (void)fd;
    (void)ready;
    return 0;
}

static void conn_close(struct backend_conn *c)
{
    c->jobs_len = 0;
    hf__sql_core_close(c->core);
}

static const struct backend backend = {.abi = BACKEND_ABI,
                                       .scheme = "test",
                                       .open = conn_open,
                                       .submit = conn_submit,
                                       .flush = conn_flush,
                                       .process = conn_process,
                                       .close = conn_close};

static void fake_end(void *arg)
{
    (void)arg;
    fake_close(&f);
    CHECK_INT(f.allocs_open, 0);
}

static void begin(unsigned flags)
{
    driver = (struct sql_driver){
        .engine = "test", .flags = flags, .start = job_start};
    fake_init(&f, &backend);
    CHECK_INT(fake_open(&f, "test:", NULL), HF_OK);
    test_cleanup(fake_end, NULL);
}

static struct request request_of(enum verb verb, const char *owner)
{
    static int64_t ballot = T0;
    struct request req = {.verb = verb,
                          .flags = REQ_SERVER_FENCE,
                          .name = "n",
                          .name_len = 1,
                          .attempt = 1,
                          .ballot = ++ballot,
                          .count = 1,
                          .lease_us = 30 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US};
    snprintf(req.owner, sizeof req.owner, "%s", owner);
    return req;
}

static void send(struct request *req, struct fake_answer *answer)
{
    fake_submit(&f, req, answer);
    conn_flush(&conn);
}

/* As a database does it; 0: the version was another. */
static int swap(struct sql_job *job)
{
    if (job->next.version != conn.row.version) {
        hf__sql_answer_row(job, &conn.row, T0, NULL);
        return 0;
    }
    conn.row = job->next;
    conn.row.is_there = 1;
    conn.row.version++;
    if (job->next.state_len > 0)
        memcpy(conn.state, job->next.state, job->next.state_len);
    conn.row.state = conn.state;
    hf__sql_answer_swapped(job);
    return 1;
}

TEST(sql_core, a_proposal_reads_and_then_swaps)
{
    struct fake_answer answer;
    begin(0);
    struct request req = request_of(VERB_PROPOSE, "a:1");
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    CHECK(!answer.is_done);
    struct sql_job *job = job_take(SQL_SWAP);
    CHECK_INT(job->next.version, 0);
    CHECK_INT(job->tell, SQL_TELL_NONE);
    CHECK(swap(job));
    CHECK_INT(answer.reply.verdict, V_GRANTED);
    CHECK_STR(conn.row.plain.owner, "a:1");
    CHECK_INT(conn.row.plain.counter, answer.reply.fence);
}

TEST(sql_core, of_two_at_once_the_later_swap_reads_again_and_is_busy)
{
    struct fake_answer first, second;
    begin(0);
    struct request a = request_of(VERB_PROPOSE, "a:1");
    struct request b = request_of(VERB_PROPOSE, "b:1");
    send(&a, &first);
    send(&b, &second);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    CHECK(swap(job_take(SQL_SWAP)));
    CHECK(!swap(job_take(SQL_SWAP)));
    CHECK_INT(first.reply.verdict, V_GRANTED);
    CHECK_INT(second.reply.verdict, V_BUSY);
    CHECK_INT(conn.jobs_len, 0);
}

static void hold(const char *owner)
{
    struct fake_answer answer;
    struct request req = request_of(VERB_PROPOSE, owner);
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    CHECK(swap(job_take(SQL_SWAP)));
    CHECK_INT(answer.reply.verdict, V_GRANTED);
}

TEST(sql_core, looking_never_writes_and_a_release_is_news)
{
    struct fake_answer answer;
    begin(0);
    hold("a:1");
    struct request look = request_of(VERB_INSPECT, "b:1");
    send(&look, &answer);
    /* Its lease is over: that is told, and not written down. */
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0 + 60 * US_PER_S, NULL);
    CHECK_INT(answer.reply.verdict, V_GRANTED);
    CHECK_INT(answer.info.locked, 0);
    struct request req = request_of(VERB_RELEASE, "a:1");
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    CHECK_INT(conn.jobs[0]->tell, SQL_TELL_NEWS);
    CHECK(swap(job_take(SQL_SWAP)));
    CHECK_STR(conn.row.plain.owner, "");
}

TEST(sql_core, a_lost_connection_leaves_only_what_was_written_in_doubt)
{
    struct fake_answer reads, writes;
    begin(0);
    struct request a = request_of(VERB_PROPOSE, "a:1");
    struct request b = request_of(VERB_PROPOSE, "b:1");
    send(&a, &writes);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    send(&b, &reads);
    conn.jobs_len = 0;
    hf__sql_core_lost(conn.core, HF_UNAVAILABLE, "connection lost");
    CHECK_INT(writes.reply.verdict, V_UNKNOWN);
    CHECK_INT(reads.reply.verdict, V_UNSENT);
    CHECK_STR(reads.text, "test:here: connection lost");
}

TEST(sql_core, plain_locks_take_the_fast_way_unless_the_row_says_otherwise)
{
    struct fake_answer answer;
    begin(SQL_HAS_FAST);
    struct request req = request_of(VERB_PROPOSE, "a:1");
    send(&req, &answer);
    struct reply rep = {.verdict = V_GRANTED, .fence = 7, .node_us = T0};
    hf__sql_answer_reply(job_take(SQL_FAST), &rep);
    CHECK_INT(answer.reply.fence, 7);
    req = request_of(VERB_PROPOSE, "a:1");
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_FAST), &conn.row, T0, NULL);
    CHECK(swap(job_take(SQL_SWAP)));
    CHECK_INT(answer.reply.verdict, V_GRANTED);
    req = request_of(VERB_PROPOSE, "b:1");
    req.flags |= REQ_QUEUE;
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    CHECK(swap(job_take(SQL_SWAP)));
    CHECK_INT(answer.reply.verdict, V_BUSY);
    CHECK(conn.row.state_len > 0);
}

TEST(sql_core, a_release_hands_over_to_the_queue)
{
    struct fake_answer answer;
    begin(0);
    hold("a:1");
    struct request req = request_of(VERB_PROPOSE, "b:1");
    req.flags |= REQ_QUEUE;
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0, NULL);
    CHECK_INT(conn.jobs[0]->tell, SQL_TELL_NONE);
    CHECK(swap(job_take(SQL_SWAP)));
    req = request_of(VERB_RELEASE, "a:1");
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &conn.row, T0 + 1, NULL);
    struct sql_job *job = job_take(SQL_SWAP);
    CHECK_INT(job->tell, SQL_TELL_HANDOFF);
    CHECK_STR(job->handoff.owner, "b:1");
    CHECK(swap(job));
    CHECK_STR(conn.row.plain.owner, "b:1");
    CHECK_INT((int64_t)conn.row.state_len, 0);
}

TEST(sql_core, a_name_is_watched_once_for_all_kinds)
{
    struct fake_answer one, two, three;
    begin(0);
    struct request plain = request_of(VERB_WATCH, "a:1");
    struct request write = plain, off = plain, last = plain;
    write.kind = last.kind = KIND_WRITE;
    off.verb = last.verb = VERB_UNWATCH;
    send(&plain, &one);
    hf__sql_answer_done(job_take(SQL_WATCH), T0);
    send(&write, &two);
    CHECK(one.is_done && two.is_done);
    CHECK_INT(conn.jobs_len, 0);
    CHECK(hf__sql_watch_find(conn.core, "n", 1) != NULL);
    send(&off, &three);
    CHECK_INT(conn.jobs_len, 0);
    hf__sql_watch_wake_all(conn.core);
    CHECK_INT(f.wakes, 1);
    send(&last, &one);
    hf__sql_answer_done(job_take(SQL_UNWATCH), T0);
    CHECK(hf__sql_watch_first(conn.core) == NULL);
}

TEST(sql_core, bytes_of_another_program_are_a_conflict)
{
    struct fake_answer answer;
    begin(0);
    struct request req = request_of(VERB_PROPOSE, "a:1");
    struct sql_row row = {
        .is_there = 1, .version = 1, .state = "hello", .state_len = 5};
    send(&req, &answer);
    hf__sql_answer_row(job_take(SQL_READ), &row, T0, NULL);
    CHECK_INT(answer.reply.verdict, V_ERROR);
    CHECK_INT(answer.reply.status, HF_CONFLICT);
}
