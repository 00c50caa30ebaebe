/*
 * redis_reply_test.c: the bounds of a reply.  One rule: they are ours, and the
 * same with every version of hiredis; test/install/hiredis_test.sh runs this
 * with hiredis 1.x too.
 */
#include "backend/redis/link/resp.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct reader r;
static const struct resp *v;

static void reader_end(void *arg)
{
    (void)arg;
    hf__redis_reader_free(&r);
}

static void begin(void)
{
    CHECK_INT(hf__redis_reader_begin(&r, &hf__alloc_default), 0);
    test_cleanup(reader_end, NULL);
}

static int say(const char *text)
{
    CHECK_INT(hf__redis_reader_feed(&r, text, strlen(text)), 0);
    return hf__redis_reader_next(&r, &v);
}

/* `depth` arrays, and `inside` the innermost. */
static int say_nested(int depth, const char *inside)
{
    int rc = 0;
    for (int i = 0; i < depth && rc == 0; i++) rc = say("*1\r\n");
    return rc < 0 ? rc : say(inside);
}

TEST(redis_reply, eight_arrays_in_each_other_are_read)
{
    static const char *const insides[] = {":7\r\n", "$-1\r\n", "$1\r\nx\r\n"};
    for (int i = 0; i < 3; i++) {
        begin();
        CHECK_INT(say_nested(REPLY_DEPTH_MAX, insides[i]), 1);
        const struct resp *at = v;
        for (int k = 0; k < REPLY_DEPTH_MAX; k++) at = hf__redis_resp_at(at, 0);
        CHECK(at != NULL && at->type != RESP_ARRAY);
    }
}

TEST(redis_reply, a_ninth_array_is_refused_and_is_no_lack_of_memory)
{
    static const char *const ninths[] = {"*0\r\n", "*1\r\n", "*-1\r\n"};
    for (int i = 0; i < 3; i++) {
        begin();
        CHECK_INT(say_nested(REPLY_DEPTH_MAX, ninths[i]), -1);
        CHECK(!hf__redis_reader_is_starved(&r));
    }
}

/* A million levels take no more than a few. */
TEST(redis_reply, a_reply_of_nothing_but_depth_is_refused_at_once)
{
    enum { LEVELS = 1000000 };
    char *text = malloc(LEVELS * 4);
    CHECK(text != NULL);
    for (int i = 0; i < LEVELS; i++) memcpy(text + i * 4, "*1\r\n", 4);
    begin();
    int fed = hf__redis_reader_feed(&r, text, LEVELS * 4);
    int rc = hf__redis_reader_next(&r, &v);
    free(text);
    CHECK_INT(fed, 0);
    CHECK_INT(rc, -1);
    CHECK(!hf__redis_reader_is_starved(&r));
}

TEST(redis_reply, the_next_connection_may_nest_again)
{
    begin();
    CHECK_INT(say_nested(REPLY_DEPTH_MAX, "*0\r\n"), -1);
    CHECK_INT(hf__redis_reader_begin(&r, &hf__alloc_default), 0);
    CHECK_INT(say_nested(REPLY_DEPTH_MAX, ":1\r\n"), 1);
}

/* Feed `len` bytes of one reply, in pieces; returns how many were taken. */
static size_t feed_bytes(size_t len)
{
    static char piece[65536];
    size_t fed = 0;
    memset(piece, 'x', sizeof piece);
    while (fed < len) {
        size_t n = len - fed < sizeof piece ? len - fed : sizeof piece;
        if (hf__redis_reader_feed(&r, piece, n) != 0) break;
        int rc = hf__redis_reader_next(&r, &v);
        if (rc != 0) break;
        fed += n;
    }
    return fed;
}

TEST(redis_reply, no_reply_is_longer_than_sixteen_mebibytes)
{
    begin();
    CHECK_INT(say("$1000000000\r\n"), 0);
    CHECK(feed_bytes((size_t)REPLY_LEN_MAX * 2) <= REPLY_LEN_MAX);
    begin();
    CHECK_INT(say("+"), 0);
    CHECK(feed_bytes((size_t)REPLY_LEN_MAX * 2) <= REPLY_LEN_MAX);
}

TEST(redis_reply, many_replies_may_be_longer_than_one)
{
    static char text[1024 * 1024 + 16];
    begin();
    int head = snprintf(text, sizeof text, "$%d\r\n", 1024 * 1024);
    memset(text + head, 'x', 1024 * 1024);
    memcpy(text + head + 1024 * 1024, "\r\n", 2);
    for (int i = 0; i < 40; i++) {
        size_t len = (size_t)head + 1024 * 1024 + 2;
        CHECK_INT(hf__redis_reader_feed(&r, text, len), 0);
        CHECK_INT(hf__redis_reader_next(&r, &v), 1);
        CHECK_INT(v->len, 1024 * 1024);
    }
}

TEST(redis_reply, a_length_that_is_only_announced_costs_nothing)
{
    begin();
    CHECK_INT(say("*1000000000\r\n:1\r\n"), 0);
    begin();
    CHECK(say("*9223372036854775807\r\n") <= 0);
    begin();
    CHECK(say("$9223372036854775807\r\n") <= 0);
}
