/*
 * rules_value_test.c: values of a store, at times of the test's choosing.  One
 * rule: a version never falls, and a repeated write is one write.
 */
#include <stdio.h>
#include <string.h>

#include "rules/store.h"
#include "test.h"

#define T0 (INT64_C(1700000000) * US_PER_S)

static struct store *store;

static void store_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(store);
}

static void store_begin(void)
{
    store = hf__rules_store_open(&hf__alloc_default);
    CHECK(store != NULL);
    test_cleanup(store_end, NULL);
}

static struct reply put(int64_t now_us, uint64_t version, uint64_t attempt,
                        const char *text, int64_t life_us)
{
    struct request req = {.verb = VERB_VALUE_WRITE,
                          .name = "a",
                          .name_len = 1,
                          .owner = "me:1",
                          .attempt = attempt,
                          .version = version,
                          .lease_us = life_us};
    struct reply rep;
    if (!text) req.flags = REQ_DELETE;
    req.data = text;
    req.data_len = text ? strlen(text) : 0;
    hf__rules_store_apply(store, now_us, &req, &rep);
    return rep;
}

static struct reply get(int64_t now_us)
{
    struct request req = {.verb = VERB_VALUE_READ, .name = "a", .name_len = 1};
    struct reply rep;
    hf__rules_store_apply(store, now_us, &req, &rep);
    CHECK_INT(rep.verdict, V_GRANTED);
    return rep;
}

TEST(memory_value, version_is_the_clock_or_one_more)
{
    store_begin();
    CHECK_INT(put(T0, 0, 1, "x", 0).version, T0);
    CHECK_INT(put(T0, (uint64_t)T0, 2, "y", 0).version, T0 + 1);
    CHECK_INT(put(T0 - US_PER_S, HF_VALUE_ANY, 3, "z", 0).version, T0 + 2);
    CHECK_INT(put(T0 + 9, HF_VALUE_ANY, 4, "z", 0).version, T0 + 9);
}

TEST(memory_value, written_twice_by_one_attempt_is_written_once)
{
    store_begin();
    uint64_t version = put(T0, 0, 1, "x", 0).version;
    struct reply rep = put(T0 + 5, 0, 1, "x", 0);
    CHECK_INT(rep.verdict, V_GRANTED);
    CHECK_INT(rep.version, version);
    CHECK_INT(put(T0 + 6, 0, 2, "x", 0).verdict, V_OTHER);
}

TEST(memory_value, ends_when_the_clock_is_past_it)
{
    store_begin();
    put(T0, 0, 1, "x", 10 * US_PER_MS);
    CHECK_INT(get(T0).ttl_us, 10 * US_PER_MS);
    CHECK(get(T0 + 10 * US_PER_MS).version > 0);
    CHECK_INT(get(T0 + 11 * US_PER_MS).version, 0);
    CHECK_INT(put(T0 + 12 * US_PER_MS, 0, 2, "y", 0).verdict, V_GRANTED);
    CHECK_INT(get(T0 + US_PER_S).ttl_us, -1);
}

TEST(memory_value, is_gone_with_a_wipe_and_no_flush_of_locks)
{
    store_begin();
    put(T0, 0, 1, "x", 0);
    hf__rules_store_flush_locks(store);
    CHECK(get(T0).version > 0);
    hf__rules_store_wipe(store, 1);
    CHECK_INT(get(T0).version, 0);
}

TEST(memory_value, deleted_tells_no_version)
{
    store_begin();
    uint64_t version = put(T0, 0, 1, "x", 0).version;
    CHECK_INT(put(T0, version + 1, 2, NULL, 0).verdict, V_OTHER);
    struct reply rep = put(T0, version, 3, NULL, 0);
    CHECK_INT(rep.verdict, V_GRANTED);
    CHECK_INT(rep.version, 0);
    CHECK_INT(get(T0).version, 0);
}

TEST(memory_value, beside_a_lock_of_its_name_disturbs_nobody)
{
    struct request lock = {.verb = VERB_PROPOSE,
                           .name = "a",
                           .name_len = 1,
                           .owner = "me:1",
                           .attempt = 9,
                           .ballot = T0,
                           .count = 1,
                           .lease_us = US_PER_S,
                           .window_us = US_PER_S};
    struct reply rep;
    store_begin();
    put(T0, 0, 1, "x", 0);
    hf__rules_store_apply(store, T0, &lock, &rep);
    CHECK_INT(rep.verdict, V_GRANTED);
    put(T0, HF_VALUE_ANY, 2, NULL, 0);
    CHECK_INT(hf__rules_store_look(store, T0, "a", 1, NULL), 1);
}
