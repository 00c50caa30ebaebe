/*
 * zookeeper_jute_test.c: the bytes of ZooKeeper's protocol.  One rule: what is
 * cut off at any byte is not taken for whole.
 */
#include <string.h>

#include "backend/zookeeper/jute.h"
#include "test.h"

static struct jute_out out;

static void out_end(void *arg)
{
    hf__zookeeper_out_free(arg);
}

static void out_begin(void)
{
    out = (struct jute_out){.alloc = &hf__alloc_default};
    test_cleanup(out_end, &out);
}

static struct jute_in in_of(size_t len)
{
    return (struct jute_in){.at = (const unsigned char *)out.data + 4,
                            .left = len};
}

static void sample_put(void)
{
    hf__zookeeper_out_begin(&out);
    hf__zookeeper_out_int(&out, -2);
    hf__zookeeper_out_long(&out, INT64_MIN + 1);
    hf__zookeeper_out_bool(&out, 1);
    hf__zookeeper_out_text(&out, "name");
    hf__zookeeper_out_bytes(&out, "", 0);
    CHECK_INT(hf__zookeeper_out_end(&out), 0);
}

TEST(zookeeper_jute, gives_back_what_was_put)
{
    size_t len;
    out_begin();
    sample_put();
    struct jute_in in = in_of(out.len - 4);
    CHECK_INT(hf__zookeeper_in_int(&in), -2);
    CHECK_INT(hf__zookeeper_in_long(&in), INT64_MIN + 1);
    CHECK_INT(hf__zookeeper_in_bool(&in), 1);
    const char *text = hf__zookeeper_in_text(&in, &len);
    CHECK(len == 4 && !memcmp(text, "name", 4));
    CHECK(hf__zookeeper_in_text(&in, &len) != NULL && len == 0);
    CHECK(!in.is_bad && in.left == 0);
}

TEST(zookeeper_jute, numbers_are_big_endian)
{
    out_begin();
    hf__zookeeper_out_begin(&out);
    hf__zookeeper_out_int(&out, 0x01020304);
    CHECK_INT(hf__zookeeper_out_end(&out), 0);
    CHECK(out.len == 8 && !memcmp(out.data, "\0\0\0\4\1\2\3\4", 8));
}

TEST(zookeeper_jute, a_frame_is_whole_with_its_last_byte)
{
    out_begin();
    sample_put();
    for (size_t n = 0; n < out.len; n++)
        CHECK_INT(hf__zookeeper_frame(out.data, n), 0);
    CHECK_INT(hf__zookeeper_frame(out.data, out.len), (int64_t)out.len);
    CHECK_INT(hf__zookeeper_frame(out.data, out.len + 0), (int64_t)out.len);
}

TEST(zookeeper_jute, what_is_cut_off_is_bad)
{
    size_t len;
    out_begin();
    sample_put();
    for (size_t n = 0; n < out.len - 4; n++) {
        struct jute_in in = in_of(n);
        (void)hf__zookeeper_in_int(&in);
        (void)hf__zookeeper_in_long(&in);
        (void)hf__zookeeper_in_bool(&in);
        (void)hf__zookeeper_in_text(&in, &len);
        (void)hf__zookeeper_in_text(&in, &len);
        CHECK(in.is_bad);
    }
}

TEST(zookeeper_jute, lengths_that_are_nonsense_are_refused)
{
    size_t len;
    static const unsigned char below[] = {0xff, 0xff, 0xff, 0xfe};
    static const unsigned char none[] = {0xff, 0xff, 0xff, 0xff};
    static const unsigned char most[] = {0x7f, 0xff, 0xff, 0xff};
    CHECK_INT(hf__zookeeper_frame((const char *)below, 4), -1);
    CHECK_INT(hf__zookeeper_frame((const char *)most, 4), -1);
    struct jute_in in = {.at = below, .left = 4};
    CHECK(!hf__zookeeper_in_text(&in, &len) && in.is_bad);
    in = (struct jute_in){.at = most, .left = 4};
    CHECK(!hf__zookeeper_in_text(&in, &len) && in.is_bad);
    in = (struct jute_in){.at = none, .left = 4};
    CHECK(!hf__zookeeper_in_text(&in, &len) && !in.is_bad && len == 0);
}

static void *nothing(void *ptr, size_t size, void *user)
{
    (void)ptr;
    (void)size;
    (void)user;
    return NULL;
}

/* A frame without memory leaves no part of itself behind. */
TEST(zookeeper_jute, a_frame_without_memory_is_not_sent)
{
    struct allocator poor = hf__alloc_default;
    out_begin();
    sample_put();
    size_t before = out.len;
    poor.fn.resize = nothing;
    out.alloc = &poor;
    hf__zookeeper_out_begin(&out);
    for (int i = 0; i < 1000; i++) hf__zookeeper_out_long(&out, i);
    CHECK_INT(hf__zookeeper_out_end(&out), -1);
    CHECK_INT(out.len, before);
    out.alloc = &hf__alloc_default;
    sample_put();
    CHECK_INT(out.len, 2 * before);
}
