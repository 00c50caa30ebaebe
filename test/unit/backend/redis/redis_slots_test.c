/*
 * redis_slots_test.c: slots of keys, and maps as servers tell them.  One rule:
 * an answer is fed as bytes, as it would come.
 */
#include "backend/redis/cluster/hash_slot.h"

#include <string.h>

#include "test.h"

static struct reader reader;
static struct hash_slot_map map;

static void reader_end(void *arg)
{
    (void)arg;
    hf__redis_reader_free(&reader);
}

/* The value that these bytes are. */
static const struct resp *value_of(const char *bytes)
{
    const struct resp *v;
    test_cleanup(reader_end, NULL);
    CHECK_INT(hf__redis_reader_begin(&reader, &hf__alloc_default), 0);
    CHECK_INT(hf__redis_reader_feed(&reader, bytes, strlen(bytes)), 0);
    CHECK_INT(hf__redis_reader_next(&reader, &v), 1);
    return v;
}

static int slot(const char *key)
{
    return hf__redis_hash_slot_of(key, strlen(key));
}

TEST(redis_slots, of_keys_are_those_of_the_specification)
{
    CHECK_INT(slot("123456789"), 0x31c3);
    CHECK_INT(slot("foo"), 12182);
    CHECK_INT(slot(""), 0);
}

TEST(redis_slots, are_those_of_the_first_tag_that_is_not_empty)
{
    CHECK_INT(slot("{foo}"), slot("foo"));
    CHECK_INT(slot("a{foo}b{bar}"), slot("foo"));
    CHECK_INT(slot("{{foo}}"), slot("{foo"));
    CHECK_INT(slot("}{foo}"), slot("foo"));
    CHECK(slot("{}foo") != slot("foo"));
    CHECK(slot("foo{") != slot("foo"));
    CHECK(slot("{}{foo}") != slot("foo"));
}

TEST(redis_slots, have_each_a_tag)
{
    for (int i = 0; i < HASH_SLOTS; i += 1021) {
        char tag[HASH_SLOT_TAG_MAX];
        hf__redis_hash_slot_tag((uint16_t)i, tag);
        CHECK_INT(slot(tag), i);
    }
}

#define HOST(h) "$9\r\n" h "\r\n"
#define ID "$2\r\nid\r\n"

TEST(redis_slots, are_read_with_their_masters)
{
    CHECK_INT(
        hf__redis_hash_slots_read(
            value_of("*2\r\n"
                     "*4\r\n:0\r\n:5\r\n"
                     "*3\r\n" HOST("127.0.0.1") ":7000\r\n" ID "*3\r\n" HOST(
                         "127.0.0.1") ":7003\r\n" ID "*3\r\n:9\r\n:16383\r\n"
                                      "*4\r\n$1\r\nh\r\n:7001\r\n" ID "*0\r\n"),
            &map),
        0);
    CHECK_INT(map.len, 2);
    CHECK_STR(map.owners[0].host, "127.0.0.1");
    CHECK_INT(map.owners[0].port, 7000);
    CHECK_STR(map.owners[1].host, "h");
    CHECK_INT(map.slots[5], 0);
    CHECK_INT(map.slots[6], HASH_SLOT_NONE);
    CHECK_INT(map.slots[16383], 1);
}

TEST(redis_slots, of_one_master_may_be_told_in_many_ranges)
{
    CHECK_INT(hf__redis_hash_slots_read(
                  value_of("*2\r\n"
                           "*3\r\n:0\r\n:0\r\n*2\r\n" HOST(
                               "127.0.0.1") ":7000\r\n"
                                            "*3\r\n:2\r\n:2\r\n*2\r\n" HOST(
                                                "127.0.0.1") ":7000\r\n"),
                  &map),
              0);
    CHECK_INT(map.len, 1);
    CHECK_INT(map.slots[2], 0);
}

TEST(redis_slots, of_a_master_without_an_address_are_those_of_who_was_asked)
{
    CHECK_INT(hf__redis_hash_slots_read(value_of("*1\r\n*3\r\n:0\r\n:1\r\n"
                                                 "*2\r\n$-1\r\n:7000\r\n"),
                                        &map),
              0);
    CHECK_STR(map.owners[0].host, "");
}

TEST(redis_slots, that_lead_nowhere_are_nobodys)
{
    CHECK_INT(hf__redis_hash_slots_read(value_of("*2\r\n*3\r\n:0\r\n:1\r\n"
                                                 "*2\r\n$1\r\n?\r\n:7000\r\n"
                                                 "*3\r\n:2\r\n:3\r\n"
                                                 "*2\r\n$1\r\nh\r\n:7001\r\n"),
                                        &map),
              0);
    CHECK_INT(map.slots[0], HASH_SLOT_NONE);
    CHECK_INT(map.slots[2], 0);
}

TEST(redis_slots, out_of_range_or_of_another_shape_are_refused)
{
    static const char *const wrong[] = {
        "*0\r\n",
        ":1\r\n",
        "-ERR no\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n",
        "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:2\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:0\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n:7\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\n?\r\n:1\r\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (hf__redis_hash_slots_read(value_of(wrong[i]), &map) == 0)
            TEST_FAIL("taken: %s", wrong[i]);
}

static int redirect(const char *error, struct redirect *out)
{
    return hf__redis_hash_slot_redirect(value_of(error), out);
}

TEST(redis_slots, that_have_moved_say_where_to)
{
    struct redirect to;
    CHECK(redirect("-MOVED 3999 127.0.0.1:6381\r\n", &to));
    CHECK(!to.is_ask);
    CHECK_INT(to.slot, 3999);
    CHECK_STR(to.to.host, "127.0.0.1");
    CHECK_INT(to.to.port, 6381);
    CHECK(redirect("-ASK 0 ::1:6381\r\n", &to));
    CHECK(to.is_ask);
    CHECK_STR(to.to.host, "::1");
    CHECK(redirect("-MOVED 1 :6381\r\n", &to));
    CHECK_STR(to.to.host, "");
}

TEST(redis_slots, that_are_said_to_have_moved_to_nonsense_have_not)
{
    static const char *const wrong[] = {
        "-MOVED\r\n",        "-MOVED 1\r\n",      "-MOVED 16384 h:1\r\n",
        "-MOVED -1 h:1\r\n", "-MOVED 1 h:0\r\n",  "-MOVED 1 h:65536\r\n",
        "-MOVED 1 h:\r\n",   "-MOVED 1 h\r\n",    "-MOVEDX 1 h:1\r\n",
        "-MOVED x1 h:1\r\n", "-MOVED 1x h:1\r\n", "+MOVED 1 h:1\r\n",
        "-ASKING 1 h:1\r\n", "-MOVED 1 h:1x\r\n", "-ERR MOVED 1 h:1\r\n",
    };
    struct redirect to;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (redirect(wrong[i], &to)) TEST_FAIL("taken: %s", wrong[i]);
}
