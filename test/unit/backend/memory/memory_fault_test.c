/*
 * memory_fault_test.c: what memory: URLs may ask to go wrong.
 */
#include <string.h>

#include "backend/memory/fault.h"
#include "test.h"

#define DRAWS 2000

static struct hf_error err;

static int plan_of(struct fault_plan *plan, const char *text)
{
    struct url url;
    CHECK_INT(hf__url_parse(&url, text, &err), HF_OK);
    return hf__memory_fault_parse(plan, &url, &err);
}

TEST(fault, a_plain_url_has_no_faults)
{
    struct fault_plan plan;
    CHECK_INT(plan_of(&plan, "memory:"), HF_OK);
    for (int i = 0; i < DRAWS; i++) {
        struct fault_fate fate = hf__memory_fault_draw(&plan, VERB_RENEW);
        CHECK(!fate.lost && !fate.refused && !fate.expired);
        CHECK_INT(fate.delay_us, 0);
    }
}

static void url_is_refused(const char *text, const char *option)
{
    struct fault_plan plan;
    CHECK_INT(plan_of(&plan, text), HF_INVALID);
    CHECK_INT(err.status, HF_INVALID);
    CHECK(strncmp(err.text, "memory: ", 8) == 0);
    CHECK(strstr(err.text, option) != NULL);
}

TEST(fault, bad_values_are_refused_with_a_sentence)
{
    url_is_refused("memory:?loss=101", "loss=101");
    url_is_refused("memory:?error=-1", "error=-1");
    url_is_refused("memory:?expire=x", "expire=x");
    url_is_refused("memory:?down=2", "down=2");
    url_is_refused("memory:?down", "down=");
    url_is_refused("memory:?seed=1.5", "seed=1.5");
    url_is_refused("memory:?delay_ms=9-3", "delay_ms=9-3");
    url_is_refused("memory:?delay_ms=-3", "delay_ms=-3");
    url_is_refused("memory:?delay_ms=3-", "delay_ms=3-");
    url_is_refused("memory:?delay_ms=99999", "delay_ms=99999");
    url_is_refused("memory:?delay_ms=11111111111111111111", "delay_ms=1");
    url_is_refused("memory:?clock_ms=soon", "clock_ms=soon");
}

struct tally {
    int lost, carried_out, refused, expired;
    int64_t delay_min_us, delay_max_us;
    uint64_t sum; /* of everything drawn, in order */
};

static struct tally tally_of(const char *url, enum verb op)
{
    struct fault_plan plan;
    struct tally t = {.delay_min_us = INT64_MAX};
    CHECK_INT(plan_of(&plan, url), HF_OK);
    for (int i = 0; i < DRAWS; i++) {
        struct fault_fate fate = hf__memory_fault_draw(&plan, op);
        t.lost += fate.lost;
        t.carried_out += fate.carried_out;
        t.refused += fate.refused;
        t.expired += fate.expired;
        if (fate.delay_us < t.delay_min_us) t.delay_min_us = fate.delay_us;
        if (fate.delay_us > t.delay_max_us) t.delay_max_us = fate.delay_us;
        t.sum = t.sum * 31 + (uint64_t)fate.delay_us
                + (uint64_t)(fate.lost + 2 * fate.refused);
    }
    return t;
}

static int is_about(int count, int percent)
{
    int expected = DRAWS * percent / 100, slack = DRAWS / 20;
    return count > expected - slack && count < expected + slack;
}

TEST(fault, percentages_come_out_about_right)
{
    CHECK(is_about(tally_of("memory:?error=30", VERB_PROPOSE).refused, 30));
    CHECK(is_about(tally_of("memory:?loss=40", VERB_RELEASE).lost, 40));
    CHECK(is_about(tally_of("memory:?loss=40", VERB_PROPOSE).carried_out, 20));
    CHECK(is_about(tally_of("memory:?expire=10", VERB_RENEW).expired, 10));
    CHECK_INT(tally_of("memory:?expire=100", VERB_PROPOSE).expired, 0);
    CHECK_INT(tally_of("memory:?loss=100", VERB_PROPOSE).lost, DRAWS);
}

TEST(fault, delays_stay_in_their_range_and_reach_its_ends)
{
    struct tally t = tally_of("memory:?delay_ms=5-7", VERB_PROPOSE);
    CHECK(t.delay_min_us >= 5000 && t.delay_min_us < 5200);
    CHECK(t.delay_max_us <= 7000 && t.delay_max_us > 6800);
    t = tally_of("memory:?delay_ms=20", VERB_WATCH);
    CHECK(t.delay_min_us == 20000 && t.delay_max_us == 20000);
}

TEST(fault, the_seed_decides_everything)
{
    const char *one = "memory:?seed=7&loss=20&error=20&delay_ms=0-9";
    const char *other = "memory:?seed=8&loss=20&error=20&delay_ms=0-9";
    uint64_t sum = tally_of(one, VERB_PROPOSE).sum;
    CHECK(sum == tally_of(one, VERB_PROPOSE).sum);
    CHECK(sum != tally_of(other, VERB_PROPOSE).sum);
}

TEST(fault, watches_are_neither_lost_nor_refused)
{
    struct tally t = tally_of("memory:?loss=100&error=100", VERB_WATCH);
    CHECK_INT(t.lost + t.refused, 0);
}
