/*
 * zookeeper_queue_test.c: which node is before a place, by a list.
 */
#include <string.h>

#include "backend/zookeeper/jute.h"
#include "backend/zookeeper/queue.h"
#include "test.h"

static struct jute_out out;

static void out_end(void *arg)
{
    hf__zookeeper_out_free(arg);
}

/* A list as the server tells it; NULL behind the last. */
static struct jute_in list_of(const char *const *nodes)
{
    int n = 0;
    while (nodes[n]) n++;
    out = (struct jute_out){.alloc = &hf__alloc_default};
    test_cleanup(out_end, &out);
    hf__zookeeper_out_int(&out, n);
    for (int i = 0; i < n; i++) hf__zookeeper_out_text(&out, nodes[i]);
    for (int i = 0; i < 4; i++) hf__zookeeper_out_long(&out, i);
    for (int i = 0; i < 3; i++) hf__zookeeper_out_int(&out, i);
    hf__zookeeper_out_long(&out, 0);
    hf__zookeeper_out_int(&out, 0);
    hf__zookeeper_out_int(&out, n);
    hf__zookeeper_out_long(&out, 4711);
    return (struct jute_in){.at = (const unsigned char *)out.data,
                            .left = out.len};
}

static int is_text(const char *text, size_t len, const char *wanted)
{
    return text && len == strlen(wanted) && !memcmp(text, wanted, len);
}

TEST(zookeeper_queue, the_lowest_number_is_the_first)
{
    static const char *const nodes[] = {"_c_b-lock-0000000012",
                                        "_c_a-lock-0000000011",
                                        "_c_c-lock-0000000010", NULL};
    struct queue_view v;
    struct jute_in in = list_of(nodes);
    hf__zookeeper_queue_read(&in, "_c_c-lock-", 10, &v);
    CHECK(v.has_own && !v.before && !v.strange && !v.is_bad);
    CHECK_INT(v.len, 3);
    CHECK_INT(v.lower, 0);
    CHECK_INT(v.pzxid, 4711);
    CHECK(is_text(v.first, v.first_len, nodes[2]));
}

TEST(zookeeper_queue, a_place_waits_for_the_one_right_before_it)
{
    static const char *const nodes[] = {
        "_c_b-lock-0000000012", "_c_a-__READ__0000000009",
        "_c_c-lock-0000000010", "_c_d-lock-0000000011", NULL};
    struct queue_view v;
    struct jute_in in = list_of(nodes);
    hf__zookeeper_queue_read(&in, "_c_d-lock-", 11, &v);
    CHECK(v.has_own && is_text(v.before, v.before_len, nodes[2]));
    CHECK_INT(v.lower, 2);
}

/* An equal number does not let two in: the other one counts as before. */
TEST(zookeeper_queue, an_equal_number_is_waited_for)
{
    static const char *const nodes[] = {"_c_b-lock-2147483647",
                                        "_c_a-lock-2147483647", NULL};
    struct queue_view v;
    struct jute_in in = list_of(nodes);
    hf__zookeeper_queue_read(&in, "_c_a-lock-", INT32_MAX, &v);
    CHECK(v.has_own && is_text(v.before, v.before_len, nodes[0]));
    hf__zookeeper_out_free(&out);
    in = list_of(nodes);
    hf__zookeeper_queue_read(&in, "_c_b-lock-", INT32_MAX, &v);
    CHECK(v.has_own && is_text(v.before, v.before_len, nodes[1]));
}

TEST(zookeeper_queue, a_list_without_ones_own_node_is_seen)
{
    static const char *const nodes[] = {"_c_b-lock-0000000012", NULL};
    struct queue_view v;
    struct jute_in in = list_of(nodes);
    hf__zookeeper_queue_read(&in, "_c_a-lock-", 13, &v);
    CHECK(!v.has_own);
}

TEST(zookeeper_queue, a_node_without_a_number_is_strange)
{
    static const char *const nodes[] = {"_c_a-lock-0000000012", "stray", NULL};
    struct queue_view v;
    struct jute_in in = list_of(nodes);
    hf__zookeeper_queue_read(&in, "_c_a-lock-", 12, &v);
    CHECK(is_text(v.strange, v.strange_len, "stray"));
}

TEST(zookeeper_queue, what_is_cut_off_is_bad)
{
    static const char *const nodes[] = {"_c_a-lock-0000000012", NULL};
    struct queue_view v;
    struct jute_in whole = list_of(nodes);
    for (size_t n = 0; n < whole.left; n++) {
        struct jute_in in = {.at = whole.at, .left = n};
        hf__zookeeper_queue_read(&in, "_c_a-lock-", 12, &v);
        CHECK(v.is_bad);
    }
}
