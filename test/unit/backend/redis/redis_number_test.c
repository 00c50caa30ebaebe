/*
 * redis_number_test.c: a server that answers in the right shape, with numbers
 * that no server can mean.  One rule: a number outside [0, BALLOT_MAX] is not
 * used: the answer is refused, with an error text, and counts as none.
 */
#include <string.h>

#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define T INT64_C(1700000000000000)
#define MOST "9223372036854775807"
#define LEAST "-9223372036854775808"
#define NOW "1700000000000000"
#define PAST_END "9007199250000001" /* BALLOT_MAX + 1 */

static struct script s;
static struct fake_env f;
static struct fake_answer a;
static struct request req;

static void begin(void)
{
    script_begin(&s);
    server_open(&f, s.url);
    script_greet(&s, &f);
    server_wait_link(&f, 1);
}

/* Send a request, and let the server answer it with this. */
static void answer(enum verb op, enum lock_kind kind, unsigned flags,
                   const char *said)
{
    req = server_request(op, "job", 1, T);
    req.kind = kind;
    req.flags = flags;
    req.permits = 1;
    req.deadline_us = hf__clock_us() + 30 * US_PER_S;
    if (op == VERB_TALLY || op == VERB_VALUE_READ) req.ballot = 0;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_expect(&s, &f, op == VERB_BOOT ? "CONFIG" : "EVALSHA");
    script_say(&s, said);
    fake_wait(&f, &a);
}

static void check_refused(const char *why)
{
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    CHECK_INT(a.reply.fence, 0);
    CHECK_INT(a.reply.counter, 0);
    if (!strstr(a.text, why) || !strstr(a.text, "unexpected answer"))
        TEST_FAIL("\"%s\" does not say \"%s\"", a.text, why);
}

#define FENCE "the fencing token is no number from 0 to 9007199250000000"

TEST(redis_number, a_token_that_a_guard_could_not_pass_on_is_refused)
{
    begin();
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE, ":" MOST "\r\n");
    check_refused(FENCE);
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE, ":" PAST_END "\r\n");
    check_refused(FENCE);
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE,
           "*4\r\n:1\r\n:" MOST "\r\n:" NOW "\r\n:-1\r\n");
    check_refused(FENCE);
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE,
           "*4\r\n:1\r\n:" LEAST "\r\n:" NOW "\r\n:-1\r\n");
    check_refused(FENCE);
    answer(VERB_PROPOSE, KIND_PERMIT, REQ_SERVER_FENCE, ":" MOST "\r\n");
    check_refused(FENCE);
    answer(VERB_PROPOSE, KIND_PERMIT, REQ_SERVER_FENCE,
           "*5\r\n:1\r\n:" MOST "\r\n:" NOW "\r\n:-1\r\n:0\r\n");
    check_refused(FENCE);
    answer(VERB_PROPOSE, KIND_BARRIER, REQ_SERVER_FENCE,
           "*3\r\n:1\r\n:" MOST "\r\n:" NOW "\r\n");
    check_refused(FENCE);
}

TEST(redis_number, a_token_at_the_end_of_the_range_is_taken)
{
    begin();
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE, ":9007199250000000\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.fence, BALLOT_MAX);
}

TEST(redis_number, a_refusal_is_about_one_request_and_keeps_the_link)
{
    begin();
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE, ":" MOST "\r\n");
    check_refused(FENCE);
    CHECK(f.is_up);
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE, ":" NOW "\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_number, a_counter_out_of_range_is_refused)
{
    begin();
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE,
           "*4\r\n:0\r\n:" MOST "\r\n:" NOW "\r\n:-1\r\n");
    check_refused("the counter is no number");
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE,
           "*4\r\n:-1\r\n:-1\r\n:" NOW "\r\n:-1\r\n");
    check_refused("the counter is no number");
    answer(VERB_PROPOSE, KIND_PERMIT, REQ_SERVER_FENCE,
           "*5\r\n:-1\r\n:" LEAST "\r\n:" NOW "\r\n:-1\r\n:0\r\n");
    check_refused("the counter is no number");
    answer(VERB_BREAK, KIND_PLAIN, 0, "*3\r\n:1\r\n:" MOST "\r\n:" NOW "\r\n");
    check_refused("the counter is no number");
}

TEST(redis_number, a_clock_out_of_range_is_refused)
{
    begin();
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE,
           "*4\r\n:0\r\n:1\r\n:" LEAST "\r\n:-1\r\n");
    check_refused("the clock is no number");
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_QUORUM, ":" MOST "\r\n");
    check_refused("the clock is no number");
    answer(VERB_RELEASE, KIND_PLAIN, 0, "*2\r\n:0\r\n:" MOST "\r\n");
    check_refused("the clock is no number");
    answer(VERB_RENEW, KIND_PLAIN, 0, "*2\r\n:" LEAST "\r\n:100\r\n");
    check_refused("the clock is no number");
    answer(VERB_PROPOSE, KIND_LATCH, 0,
           "*4\r\n:1\r\n:0\r\n:" MOST "\r\n:1\r\n");
    check_refused("the clock is no number");
    answer(VERB_VALUE_READ, KIND_PLAIN, 0,
           "*4\r\n:1\r\n:" MOST "\r\n:-1\r\n$1\r\nx\r\n");
    check_refused("the clock is no number");
    answer(VERB_TALLY, KIND_PERMIT, 0,
           "*7\r\n:1\r\n:" LEAST "\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
    check_refused("the clock is no number");
}

TEST(redis_number, a_deletion_out_of_range_is_refused)
{
    begin();
    answer(VERB_PROPOSE, KIND_LATCH, 0,
           "*4\r\n:0\r\n:3\r\n:" NOW "\r\n:" MOST "\r\n");
    check_refused("the last deletion is no number");
    answer(VERB_PROPOSE, KIND_LATCH, 0,
           "*4\r\n:0\r\n:3\r\n:" NOW "\r\n:" LEAST "\r\n");
    check_refused("the last deletion is no number");
}

/* The clock is kept by the link, and what is sent next tells it. */
TEST(redis_number, a_clock_out_of_range_is_not_kept)
{
    begin();
    answer(VERB_VALUE_READ, KIND_PLAIN, 0,
           "*4\r\n:1\r\n:" MOST "\r\n:-1\r\n$1\r\nx\r\n");
    check_refused("the clock is no number");
    answer(VERB_RELEASE, KIND_READ, 0, ":0\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_number, a_time_to_ask_again_out_of_range_is_refused)
{
    begin();
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE | REQ_QUEUE,
           "*6\r\n:0\r\n:1\r\n:" NOW "\r\n:9\r\n:0\r\n:9007199250000000\r\n");
    check_refused("the time to ask again is no number");
    answer(VERB_PROPOSE, KIND_PLAIN, REQ_SERVER_FENCE | REQ_QUEUE,
           "*6\r\n:0\r\n:1\r\n:" NOW "\r\n:9\r\n:0\r\n:" MOST "\r\n");
    check_refused("the time to ask again is no number");
    answer(VERB_PROPOSE, KIND_PERMIT, REQ_SERVER_FENCE,
           "*5\r\n:0\r\n:0\r\n:" NOW "\r\n:9\r\n:-5\r\n");
    check_refused("the time to ask again is no number");
}

/* A key may have any end, and no harm in it: it is only waited for. */
TEST(redis_number, time_left_without_end_is_as_long_as_can_be_counted)
{
    begin();
    static const char *const busy[] = {
        "*4\r\n:0\r\n:1\r\n:" NOW "\r\n:" MOST "\r\n",
        "*5\r\n:0\r\n:0\r\n:" NOW "\r\n:" MOST "\r\n:0\r\n",
        "*5\r\n:0\r\n:1\r\n:" NOW "\r\n:" MOST "\r\n:0\r\n"};
    static const enum lock_kind kinds[] = {KIND_PLAIN, KIND_PERMIT, KIND_READ};
    for (int i = 0; i < 3; i++) {
        answer(VERB_PROPOSE, kinds[i], REQ_SERVER_FENCE, busy[i]);
        CHECK_INT(a.reply.verdict, V_BUSY);
        CHECK_INT(a.reply.ttl_us, BALLOT_MAX * US_PER_MS);
    }
    answer(VERB_RENEW, KIND_PLAIN, 0, "*2\r\n:" NOW "\r\n:" MOST "\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.ttl_us, BALLOT_MAX * US_PER_MS);
}

/* left_us and the lease's milliseconds are the two numbers in the middle. */
static void boot_answer(const char *left, const char *lease)
{
    char said[512];
    snprintf(said, sizeof said,
             "*2\r\n$1\r\na\r\n$1\r\nb\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
             "*10\r\n:1\r\n:" NOW "\r\n:%s\r\n:%s\r\n$1\r\ni\r\n"
             "$5\r\n7.0.1\r\n$1\r\ng\r\n:0\r\n:0\r\n:0\r\n",
             left, lease);
    answer(VERB_BOOT, KIND_PLAIN, 0, said);
}

TEST(redis_number, a_member_s_times_out_of_range_are_refused)
{
    begin();
    boot_answer("0", "30000");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    boot_answer(MOST, "30000");
    check_refused("the quarantine is no number");
    boot_answer("-1", "30000");
    check_refused("the quarantine is no number");
    boot_answer("0", MOST);
    check_refused("the longest lease is no number");
    boot_answer("0", "9007199250000000");
    check_refused("the longest lease is no number");
}

TEST(redis_number, permits_are_added_up_without_an_overflow)
{
    begin();
    answer(VERB_INSPECT, KIND_PERMIT, 0,
           "*11\r\n:1\r\n:" NOW "\r\n:" MOST "\r\n:" MOST "\r\n:" MOST
           "\r\n:" MOST "\r\n:" MOST "\r\n:" MOST "\r\n:" MOST
           "\r\n:0\r\n$-1\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.info.permits, 0);
    CHECK_INT(a.info.fence, 0);
}

TEST(redis_number, a_token_in_a_record_that_nobody_can_have_is_not_told)
{
    begin();
    answer(VERB_INSPECT, KIND_PLAIN, 0,
           "*15\r\n$4\r\nhash\r\n:" MOST "\r\n:" NOW "\r\n$19\r\n" MOST
           "\r\n:0\r\n$-1\r\n$39\r\nv1 u:1 1 1 " MOST
           " 1 1 h l \r\n$-1\r\n$3\r\nu:1\r\n$1\r\n1\r\n:0\r\n:0\r\n"
           ":0\r\n$-1\r\n:-2\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.info.fence, 0);
    CHECK_INT(a.info.ttl_ms, BALLOT_MAX);
}
