/*
 * redis_command_test.c: the bytes of a command.  One rule: hiredis' formatter
 * would have written the same.
 */
#include <hiredis/hiredis.h>
#include <string.h>

#include "backend/redis/redis.h"
#include "test.h"

static struct backend_env env;
static struct backend_conn conn;

static void conn_free(void *arg)
{
    (void)arg;
    hf__redis_link_free(&conn.main);
}

static int64_t env_now(struct backend_env *e)
{
    (void)e;
    return 1;
}

static void begin(void)
{
    env.alloc = &hf__alloc_default;
    env.now = env_now;
    conn.env = &env;
    hf__redis_link_init(&conn.main, &conn, 0);
    test_cleanup(conn_free, NULL);
}

/* What was added to the output from `from` on is the command, as hiredis
 * writes it. */
static void check_output(size_t from)
{
    const struct bytes *out = &conn.main.out;
    char *text = NULL;
    int64_t len = redisFormatCommandArgv(&text, conn.cmd.argc, conn.cmd.argv,
                                         conn.cmd.lens);
    CHECK(len > 0 && out->len - from == (size_t)len
          && !memcmp(out->data + from, text, (size_t)len));
    redisFreeCommand(text);
}

TEST(redis_command, commands_of_every_length_are_those_of_hiredis)
{
    static char big[70000];
    static const size_t lens[] = {0, 1, 9, 10, 99, 100, 999, 1000, 69999};
    begin();
    memset(big, 'x', sizeof big);
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        size_t from = conn.main.out.len;
        hf__redis_cmd_begin(&conn.cmd, "EVALSHA");
        hf__redis_cmd_number(&conn.cmd, INT64_MIN);
        hf__redis_cmd_key(&conn.cmd, "token", "a\r\n$b", 5);
        hf__redis_cmd_bytes(&conn.cmd, big, lens[i]);
        CHECK(hf__redis_link_push(&conn.main, FLIGHT_REQUEST) != NULL);
        check_output(from);
    }
}

TEST(redis_command, an_argument_without_bytes_needs_no_memory_of_its_own)
{
    begin();
    hf__redis_cmd_begin(&conn.cmd, "SET");
    hf__redis_cmd_bytes(&conn.cmd, NULL, 0);
    CHECK(hf__redis_link_push(&conn.main, FLIGHT_REQUEST) != NULL);
    CHECK_INT(conn.main.out.len, strlen("*2\r\n$3\r\nSET\r\n$0\r\n\r\n"));
}

TEST(redis_command, a_command_of_the_most_arguments_is_that_of_hiredis)
{
    begin();
    hf__redis_cmd_begin(&conn.cmd, "RENEW");
    while (conn.cmd.argc < ARGS_MAX)
        hf__redis_cmd_text(&conn.cmd, "0123456789");
    CHECK(hf__redis_link_push(&conn.main, FLIGHT_REQUEST) != NULL);
    check_output(0);
    hf__redis_cmd_text(&conn.cmd, "one more");
    CHECK(hf__redis_link_push(&conn.main, FLIGHT_REQUEST) == NULL);
}

/* The last argument, as text. */
static void check_last(const char *want)
{
    int i = conn.cmd.argc - 1;
    CHECK(conn.cmd.lens[i] == strlen(want)
          && !memcmp(conn.cmd.argv[i], want, conn.cmd.lens[i]));
}

TEST(redis_command, a_side_key_has_the_tag_that_redisson_would_give_it)
{
    hf__redis_cmd_begin(&conn.cmd, "EVAL");
    hf__redis_cmd_side_key(&conn.cmd, "a", 1, "timeout");
    check_last("{a}:timeout");
    hf__redis_cmd_side_key(&conn.cmd, "b{a}", 4, "timeout");
    check_last("b{a}:timeout");
}

TEST(redis_command, a_side_key_is_in_the_slot_of_its_name_in_a_cluster)
{
    static const char *const names[] = {"a", "{}x", "a}b", "foo{bar", "b{a}c"};
    conn.cmd.is_sliced = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        hf__redis_cmd_begin(&conn.cmd, "EVAL");
        hf__redis_cmd_side_key(&conn.cmd, names[i], len, "timeout");
        CHECK_INT(hf__redis_hash_slot_of(conn.cmd.argv[1], conn.cmd.lens[1]),
                  hf__redis_hash_slot_of(names[i], len));
    }
    conn.cmd.is_sliced = 0;
}
