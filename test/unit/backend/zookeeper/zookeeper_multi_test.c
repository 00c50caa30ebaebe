/*
 * zookeeper_multi_test.c: what a server says of a multi.
 */
#include "backend/zookeeper/cell.h"
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

static void part_put(int32_t type, int is_end)
{
    hf__zookeeper_out_int(&out, type);
    hf__zookeeper_out_bool(&out, is_end);
    hf__zookeeper_out_int(&out, is_end ? -1 : 0);
}

static void stat_put(void)
{
    for (int i = 0; i < 4; i++) hf__zookeeper_out_long(&out, i);
    for (int i = 0; i < 3; i++) hf__zookeeper_out_int(&out, i);
    hf__zookeeper_out_long(&out, 0);
    for (int i = 0; i < 2; i++) hf__zookeeper_out_int(&out, i);
    hf__zookeeper_out_long(&out, 0);
}

static struct jute_in told(size_t len)
{
    return (struct jute_in){.at = (const unsigned char *)out.data, .left = len};
}

/* A node made, one deleted, and data set. */
static void all_put(void)
{
    out_begin();
    part_put(ZK_CREATE, 0);
    hf__zookeeper_out_text(&out, "/t/a");
    part_put(ZK_DELETE, 0);
    part_put(ZK_SET_DATA, 0);
    stat_put();
    part_put(-1, 1);
}

TEST(zookeeper_multi, that_was_carried_out_has_no_error)
{
    int which = -1;
    all_put();
    struct jute_in in = told(out.len);
    CHECK_INT(hf__zookeeper_multi_read(&in, &which), ZK_OK);
    CHECK_INT(which, -1);
    CHECK(!in.is_bad);
    CHECK_INT(in.left, 0);
}

TEST(zookeeper_multi, that_is_cut_short_is_bad_wherever_it_is)
{
    all_put();
    for (size_t len = 0; len < out.len; len++) {
        int which = -1;
        struct jute_in in = told(len);
        (void)hf__zookeeper_multi_read(&in, &which);
        CHECK(in.is_bad);
    }
}

/* Each part tells an error then: of those before it none, and of those behind
 * it that another has failed. */
TEST(zookeeper_multi, that_failed_tells_which_part_and_why)
{
    static const int32_t errs[] = {ZK_OK, ZK_NOT_EMPTY, ZK_INCONSISTENT};
    int which = -1;
    out_begin();
    for (int i = 0; i < 3; i++) {
        part_put(-1, 0);
        hf__zookeeper_out_int(&out, errs[i]);
    }
    part_put(-1, 1);
    struct jute_in in = told(out.len);
    CHECK_INT(hf__zookeeper_multi_read(&in, &which), ZK_NOT_EMPTY);
    CHECK_INT(which, 1);
    CHECK(!in.is_bad);
}
