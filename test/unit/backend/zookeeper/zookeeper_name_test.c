/*
 * zookeeper_name_test.c: names of locks as nodes, and nodes of a queue.
 */
#include <string.h>

#include "backend/zookeeper/name.h"
#include "test.h"

static const char *escaped(const char *name, size_t len)
{
    static char node[NODE_NAME_MAX + 1];
    hf__zookeeper_name_escape(name, len, node);
    return node;
}

TEST(zookeeper_name, plain_names_stay_as_they_are)
{
    CHECK_STR(escaped("stock-42:a.b", 12), "stock-42:a.b");
    CHECK_STR(escaped("{x}_y", 5), "{x}_y");
}

TEST(zookeeper_name, what_zookeeper_forbids_is_escaped)
{
    CHECK_STR(escaped("a/b", 3), "a%2Fb");
    CHECK_STR(escaped("%", 1), "%25");
    CHECK_STR(escaped(".", 1), "%2E");
    CHECK_STR(escaped("..", 2), "%2E.");
    CHECK_STR(escaped(".holdfast", 9), "%2Eholdfast");
    CHECK_STR(escaped("a\001 \377", 4), "a%01%20%FF");
}

TEST(zookeeper_name, every_byte_comes_back)
{
    char back[NAME_LEN_MAX + 1];
    for (int ch = 1; ch < 256; ch++) {
        char name[3] = {(char)ch, 'x', (char)ch};
        const char *node = escaped(name, 3);
        CHECK_INT(hf__zookeeper_name_unescape(node, strlen(node), back), 3);
        CHECK(!memcmp(back, name, 3));
    }
}

TEST(zookeeper_name, no_node_is_read_as_a_name_that_is_written_otherwise)
{
    static const char *const nodes[] = {"",    ".holdfast", "%41", "%2f", "%2",
                                        "a%2", "a%",        "a b", "%G0"};
    char back[NAME_LEN_MAX + 1];
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        CHECK_INT(hf__zookeeper_name_unescape(nodes[i], strlen(nodes[i]), back),
                  0);
}

TEST(zookeeper_name, the_longest_name_fits)
{
    char name[NAME_LEN_MAX], back[NAME_LEN_MAX + 1];
    memset(name, '/', sizeof name);
    const char *node = escaped(name, sizeof name);
    CHECK_INT(strlen(node), NODE_NAME_MAX);
    CHECK_INT(hf__zookeeper_name_unescape(node, strlen(node), back),
              NAME_LEN_MAX);
}

/* As Curator writes it: `_c_`, a uuid, `-lock-`. */
TEST(zookeeper_name, an_attempt_of_a_session_has_one_prefix)
{
    char a[NODE_PREFIX_MAX], b[NODE_PREFIX_MAX];
    hf__zookeeper_name_prefix("u:1", 7, 99, a);
    hf__zookeeper_name_prefix("u:1", 7, 99, b);
    CHECK_STR(a, b);
    CHECK_INT(strlen(a), 3 + NODE_UUID_LEN + 6);
    CHECK(!strncmp(a, "_c_", 3) && a[11] == '-' && a[17] == '4');
    CHECK_STR(a + 3 + NODE_UUID_LEN, "-lock-");
    hf__zookeeper_name_prefix("u:2", 7, 99, b);
    CHECK(strcmp(a, b) != 0);
    hf__zookeeper_name_prefix("u:1", 8, 99, b);
    CHECK(strcmp(a, b) != 0);
    hf__zookeeper_name_prefix("u:1", 7, 98, b);
    CHECK(strcmp(a, b) != 0);
}

static int64_t seq_of(const char *node)
{
    int64_t seq = -12345;
    if (hf__zookeeper_name_seq(node, strlen(node), &seq) != 0) return -1;
    return seq;
}

TEST(zookeeper_name, numbers_of_others_are_read_too)
{
    CHECK_INT(seq_of("_c_0f-lock-0000000012"), 12);
    CHECK_INT(seq_of("_c_0f-__READ__0000000013"), 13);
    CHECK_INT(seq_of("0123456789abcdef__lock__2147483647"), INT32_MAX);
    CHECK_INT(seq_of("stray"), -1);
    CHECK_INT(seq_of("lock-12"), -1);
}

/* Behind its end the server's counter is below zero. */
TEST(zookeeper_name, a_number_below_zero_is_known)
{
    CHECK_INT(seq_of("_c_0f-lock--2147483648"), INT32_MIN);
}
