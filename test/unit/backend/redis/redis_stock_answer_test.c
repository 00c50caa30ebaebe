/*
 * redis_stock_answer_test.c: a server that answers a sale's request with what
 * no script says.  One rule: it counts as no answer.
 */
#include <string.h>

#include "base/stock.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define NOW ":1700000000000\r\n"

static struct script s;
static struct fake_env f;
static struct fake_answer a;
static struct request req;
static struct stock_job job;

static void begin(void)
{
    script_begin(&s);
    server_open(&f, s.url);
    script_greet(&s, &f);
    server_wait_link(&f, 1);
}

static void answer(enum stock_do what, const char *said)
{
    job = (struct stock_job){
        .what = what, .segments = 4, .user = "u", .id = "r", .units = 1};
    req = server_request(VERB_STOCK, "s#0", 1, 0);
    req.stock = &job;
    req.deadline_us = hf__clock_us() + 30 * US_PER_S;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA");
    script_say(&s, said);
    fake_wait(&f, &a);
}

static void refused(enum stock_do what, const char *said)
{
    answer(what, said);
    if (a.reply.verdict != V_UNKNOWN) TEST_FAIL("taken: %s", said);
    /* Such a server is not believed: the link was given up. */
    script_greet(&s, &f);
    server_wait_link(&f, 1);
}

TEST(redis_stock_answer, of_the_right_shape_is_taken)
{
    begin();
    answer(STOCK_RESERVE, "*9\r\n:1\r\n:1\r\n:1\r\n" NOW
                          ":0\r\n:7\r\n:2\r\n:500\r\n$3\r\nabc\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(job.told.says, STOCK_RESERVED);
    CHECK_INT(job.told.order, 7);
    CHECK_STR(job.told.nonce, "abc");
    answer(STOCK_LOOK, "*4\r\n:9\r\n:0\r\n:0\r\n" NOW);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(job.told.says, STOCK_ABSENT);
}

TEST(redis_stock_answer, of_another_shape_is_none)
{
    begin();
    refused(STOCK_RESERVE, ":1\r\n");
    refused(STOCK_RESERVE, "*0\r\n");
    refused(STOCK_RESERVE, "*3\r\n:1\r\n:1\r\n:1\r\n");
    refused(STOCK_RESERVE, "*4\r\n:11\r\n:0\r\n:0\r\n" NOW);
    refused(STOCK_RESERVE, "*4\r\n:-1\r\n:0\r\n:0\r\n" NOW);
    refused(STOCK_RESERVE, "*4\r\n:1\r\n:9\r\n:0\r\n" NOW);
    refused(STOCK_RESERVE, "*4\r\n:1\r\n:1\r\n:1\r\n" NOW);
    refused(STOCK_RESERVE, "*4\r\n:1\r\n:1\r\n:1\r\n:-1\r\n");
    refused(STOCK_RESERVE,
            "*9\r\n:1\r\n:1\r\n:1\r\n" NOW ":0\r\n:7\r\n:2\r\n:500\r\n:1\r\n");
    refused(STOCK_RESERVE, "*9\r\n:1\r\n:1\r\n:1\r\n" NOW
                           ":0\r\n:7\r\n:2\r\n:500\r\n$12\r\nabcdefghijkl\r\n");
    refused(STOCK_RESERVE, "*9\r\n:1\r\n:1\r\n:1\r\n" NOW
                           ":0\r\n:-7\r\n:2\r\n:500\r\n$1\r\na\r\n");
    refused(STOCK_DONATE, "*5\r\n:0\r\n:0\r\n:1\r\n" NOW ":1\r\n");
    refused(STOCK_LOOK, "*5\r\n:0\r\n:0\r\n:1\r\n" NOW ":65\r\n");
}

#define BOOKS                                                                  \
    ":0\r\n:0\r\n:0\r\n" NOW ":2\r\n:0\r\n:0\r\n:1\r\n:1\r\n:0\r\n:0\r\n:9"    \
    "\r\n:9\r\n:0\r\n:3\r\n:6\r\n:0\r\n:0\r\n:0\r\n"

TEST(redis_stock_answer, with_a_transfer_to_no_segment_is_none)
{
    begin();
    answer(STOCK_LOOK, "*22\r\n" BOOKS ":1\r\n:5\r\n:3\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(job.told.transfers_len, 1);
    CHECK_INT(job.told.transfers[0].to, 1);
    CHECK_INT(job.told.avail, 6);
    refused(STOCK_LOOK, "*22\r\n" BOOKS ":2\r\n:5\r\n:3\r\n");
    refused(STOCK_LOOK, "*21\r\n" BOOKS ":1\r\n:5\r\n");
}
