/*
 * history_test.c: the judge of histories finds what it must, and nothing else.
 * One rule: each history here is bad in one way only, or in none.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/history.h"
#include "test.h"

static char path[128];

static void path_end(void *arg)
{
    (void)arg;
    unlink(path);
}

/* One operation: its client, its begin and end, what it did, its token, and
 * whether it was accepted. */
struct deed {
    unsigned client;
    int call, ret;
    const char *op;
    int token, ok;
};

static void history_write(const char *text)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/hf-history-XXXXXX", tmp ? tmp : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    CHECK(fd >= 0);
    test_cleanup(path_end, NULL);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static int judge(const struct deed *deeds, int len, struct history *h)
{
    static char text[8192];
    size_t at = 0;
    for (int i = 0; i < len; i++) {
        const struct deed *d = &deeds[i];
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "{\"c\":%u,\"call\":%d,\"ret\":%d,\"lock\":\"a\",\"op\":\"%s\","
            "\"token\":%d,\"ok\":%s}\n",
            d->client, d->call, d->ret, d->op, d->token,
            d->ok ? "true" : "false");
    }
    history_write(text);
    return history_judge(path, h);
}

TEST(history, one_after_the_other_is_sound)
{
    static const struct deed deeds[] = {
        {0, 10, 20, "acquire", 5, 1}, {0, 30, 31, "write", 5, 1},
        {0, 32, 33, "write", 5, 1},   {1, 15, 45, "acquire", 7, 1},
        {0, 34, 40, "release", 5, 1}, {1, 46, 47, "write", 7, 1},
        {0, 50, 60, "acquire", 0, 0},
    };
    struct history h;
    if (!judge(deeds, 7, &h)) TEST_FAIL("%s", h.why);
    CHECK_INT(h.ops, 7);
    CHECK_INT(h.acquired, 2);
    CHECK_INT(h.accepted, 3);
    CHECK_INT(h.last_ns[1], 15);
}

/* The order of lines means nothing, and overlapping operations may end in any
 * order. */
TEST(history, overlapping_acquires_may_have_any_order)
{
    static const struct deed deeds[] = {{1, 15, 45, "acquire", 5, 1},
                                        {0, 10, 20, "acquire", 7, 1}};
    struct history h;
    if (!judge(deeds, 2, &h)) TEST_FAIL("%s", h.why);
}

TEST(history, a_token_given_twice_is_found)
{
    static const struct deed deeds[] = {{0, 10, 40, "acquire", 5, 1},
                                        {1, 20, 30, "acquire", 5, 1}};
    struct history h;
    CHECK(!judge(deeds, 2, &h));
    CHECK_STR(h.why, "a: token 5 was given to clients 0 and 1");
}

TEST(history, a_token_that_falls_is_found)
{
    static const struct deed deeds[] = {{0, 10, 20, "acquire", 5, 1},
                                        {2, 11, 60, "acquire", 9, 1},
                                        {1, 30, 40, "acquire", 4, 1}};
    struct history h;
    CHECK(!judge(deeds, 3, &h));
    CHECK_STR(h.why, "a: acquire of client 1 with token 4 was called after "
                     "client 0 had returned with 5");
}

TEST(history, a_write_of_the_past_that_was_accepted_is_found)
{
    static const struct deed deeds[] = {
        {0, 10, 20, "acquire", 5, 1}, {1, 30, 40, "acquire", 6, 1},
        {1, 50, 51, "write", 6, 1},   {0, 60, 61, "write", 5, 1},
        {0, 70, 71, "write", 5, 0},
    };
    struct history h;
    CHECK(!judge(deeds, 5, &h));
    CHECK_STR(h.why, "a: write of client 0 with token 5 was called after "
                     "client 1 had returned with 6");
}

TEST(history, a_write_of_the_past_that_was_refused_is_sound)
{
    static const struct deed deeds[] = {{1, 50, 51, "write", 6, 1},
                                        {0, 60, 61, "write", 5, 0}};
    struct history h;
    CHECK(judge(deeds, 2, &h));
    CHECK_INT(h.refused, 1);
}

TEST(history, half_a_line_is_found)
{
    struct history h;
    history_write("{\"c\":0,\"call\":1,\"ret\":2,\"lock\":\"a\",\"op\":\"acq");
    CHECK(!history_judge(path, &h));
    CHECK(strstr(h.why, "what is: ") != NULL);
}
