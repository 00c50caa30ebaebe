/*
 * value_test.c: versioned values over lines that break and on servers that
 * hang.  One rule: OK means written, CHANGED means not written, and nothing is
 * written twice or late.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

static hf_client *impatient_client(const char *url, int64_t timeout_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = timeout_ms;
    o.patience_ms = 2 * timeout_ms;
    return rig_client_at(url, &o);
}

static uint64_t version_of(hf_client *c, char *text, size_t size)
{
    struct hf_value v = HF_VALUE_INIT;
    struct hf_error err = {0};
    if (hf_value_read(c, "a", &v, &err)) TEST_FAIL("read: %s", err.text);
    if (text) snprintf(text, size, "%s", v.data ? v.data : "");
    uint64_t version = v.version;
    hf_value_free(c, &v);
    return version;
}

/* Read and write over a line that is cut after `n` bytes; nobody else writes,
 * so it is never changed. */
static int write_cut(struct lab_proxy *p, hf_client *direct, enum lab_way way,
                     long n)
{
    char url[64], text[32], found[32];
    struct hf_error err = {0};
    uint64_t written = 0, before = version_of(direct, NULL, 0);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p->port);
    snprintf(text, sizeof text, "cut at %ld", n);
    proxy_arm(p, way, n, 0);
    hf_client *c = impatient_client(url, 400);
    int status =
        hf_value_write(c, "a", before, text, strlen(text), 0, &written, &err);
    uint64_t after = version_of(direct, found, sizeof found);
    if (status == HF_OK) {
        CHECK_INT(written, after);
        CHECK_STR(found, text);
    } else if (status != HF_UNAVAILABLE) {
        TEST_FAIL("cut after %ld: %s", n, err.text);
    }
    rig_close(c);
    return atomic_load(&p->cuts) > 0;
}

static void survives_cuts(enum lab_way way, long step)
{
    static struct lab_server r;
    static struct lab_proxy p;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    proxy_begin(&p, r.port);
    hf_client *direct = rig_client(NULL);
    write_cut(&p, direct, way, -1);
    long whole = atomic_load(&p.bytes[way]);
    CHECK(whole > 0);
    int cuts = 0;
    for (long n = whole - 1; n > 0 && n > whole - 40 * step; n -= step)
        cuts += write_cut(&p, direct, way, n);
    CHECK(cuts > 10);
}

TEST(value, over_a_line_that_breaks_on_the_way_up_is_written_or_not)
{
    survives_cuts(PROXY_UP, 23);
}

TEST(value, over_a_line_that_breaks_on_the_way_down_is_written_or_not)
{
    survives_cuts(PROXY_DOWN, 5);
}

TEST(value, is_not_written_by_a_server_that_finds_the_request_too_late)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = impatient_client(r.url, 1000), *other = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 0, NULL, NULL), HF_OK);
    redis_pause(&r);
    CHECK_INT(hf_value_write(c, "a", HF_VALUE_ANY, "2", 1, 0, NULL, NULL),
              HF_UNAVAILABLE);
    rig_pause_ms(1000); /* what lies in its buffer is too old now */
    redis_resume(&r);
    char text[8];
    version_of(other, text, sizeof text);
    CHECK_STR(text, "1");
    rig_pause_ms(100);
    version_of(other, text, sizeof text);
    CHECK_STR(text, "1");
    CHECK_INT(hf_value_write(c, "a", HF_VALUE_ANY, "3", 1, 0, NULL, NULL),
              HF_OK);
}

TEST(value, that_is_something_else_on_the_server_is_left_alone)
{
    static struct lab_server r;
    static const char *const makers[] = {
        "SET a 1",
        "RPUSH a 1",
        "HSET a field 1",
        "HSET a version 5",
        "HSET a version x value 1 by 1",
        "HSET a version -5 value 1 by 1",
        "HSET a version 0 value 1 by 1",
        "HSET a version nan value 1 by 1",
        "HSET a version 1.5 value 1 by 1",
        "HSET a version 1e300 value 1 by 1",
        "HSET a version 9007199254740992 value 1 by 1",
        "HSET a version 5 value 1 by 1 more 1"};
    struct hf_error err = {0};
    struct hf_value v = HF_VALUE_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        redis_say(&r, "DEL a");
        redis_say(&r, "%s", makers[i]);
        CHECK_INT(hf_value_read(c, "a", &v, &err), HF_CONFLICT);
        CHECK(strstr(err.text, "no value") != NULL);
        CHECK_INT(hf_value_write(c, "a", HF_VALUE_ANY, "2", 1, 0, NULL, NULL),
                  HF_CONFLICT);
        CHECK_INT(hf_value_delete(c, "a", HF_VALUE_ANY, NULL), HF_CONFLICT);
        CHECK_INT(redis_number(&r, "EXISTS a"), 1);
    }
}

/* What the layout page promises. */
TEST(value, is_a_hash_with_three_fields_on_the_server)
{
    static struct lab_server r;
    uint64_t written = 0;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "x", 1, 60000, &written, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "TYPE a"), "hash");
    CHECK_INT(redis_number(&r, "HLEN a"), 3);
    CHECK_INT(redis_number(&r, "HGET a version"), written);
    CHECK_STR(redis_say(&r, "HGET a value"), "x");
    CHECK(redis_number(&r, "PTTL a") > 0);
    CHECK_INT(hf_value_write(c, "a", written, "y", 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "PTTL a"), -1);
}

TEST(value, survives_a_flush_of_the_scripts)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 0, NULL, NULL), HF_OK);
    redis_say(&r, "SCRIPT FLUSH");
    CHECK_INT(hf_value_write(c, "a", HF_VALUE_ANY, "2", 1, 0, NULL, NULL),
              HF_OK);
    redis_say(&r, "SCRIPT FLUSH");
    char text[8];
    version_of(c, text, sizeof text);
    CHECK_STR(text, "2");
}
