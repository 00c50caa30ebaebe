/*
 * probe_clock_test.c: what looks at a clock tell of it.  Time is an argument.
 */
#include <string.h>

#include "api/quorum/probe.h"
#include "base/limits.h"
#include "test.h"

#define WALL INT64_C(1700000000000000) /* the wall clock minus ours */

static struct probe_clock looks;
static struct hf_probe_node node;

/* Looks every 100 ms for three seconds, each answered in `rtt_us`, at a clock
 * that is `ahead_us` ahead and runs `ppm` fast. */
static void look(int64_t ahead_us, int64_t ppm, int64_t rtt_us)
{
    memset(&looks, 0, sizeof looks);
    memset(&node, 0, sizeof node);
    for (int64_t t = 0; t <= 3 * US_PER_S; t += 100 * US_PER_MS) {
        int64_t at = t + rtt_us / 2;
        hf__probe_clock_add(&looks, t, t + rtt_us,
                            WALL + at + ahead_us + at * ppm / 1000000);
    }
}

static void judge(void)
{
    hf__probe_clock_judge(&looks, WALL, &node);
}

static int64_t apart(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

TEST(probe_clock, a_true_clock_has_no_offset_and_no_rate)
{
    look(0, 0, 200);
    judge();
    CHECK_INT(node.offset_us, 0);
    CHECK_INT(node.rate_ppm, 0);
    CHECK_INT(node.step_us, 0);
    CHECK(node.rate_error_ppm > 0);
    CHECK_INT(node.samples, 31);
}

TEST(probe_clock, an_offset_is_no_rate)
{
    look(-40 * US_PER_MS, 0, 200);
    judge();
    CHECK_INT(node.offset_us, -40 * US_PER_MS);
    CHECK_INT(node.rate_ppm, 0);
}

TEST(probe_clock, a_rate_is_found_to_within_its_error)
{
    look(0, 83000, 2000); /* as fast as chrony slews */
    judge();
    CHECK(apart(node.rate_ppm, 83000) <= node.rate_error_ppm);
    CHECK(node.rate_error_ppm < 1500);
    CHECK_INT(node.step_us, 0);
}

TEST(probe_clock, a_slow_link_makes_a_rate_less_sure)
{
    look(0, 0, 90 * US_PER_MS);
    judge();
    CHECK(node.rate_error_ppm > 20000);
}

TEST(probe_clock, one_slow_answer_does_not_count)
{
    look(0, 0, 200);
    looks.samples[0].half_us = 400 * US_PER_MS;
    looks.samples[0].node_us += 300 * US_PER_MS;
    judge();
    CHECK_INT(node.rate_ppm, 0);
    CHECK_INT(node.offset_us, 0);
}

TEST(probe_clock, a_jump_is_a_step_and_no_rate)
{
    look(0, 0, 200);
    for (int i = 15; i < looks.len; i++)
        looks.samples[i].node_us += 2 * US_PER_S;
    judge();
    CHECK_INT(node.step_us, 2 * US_PER_S);
    CHECK_INT(node.offset_us, 2 * US_PER_S);
    CHECK_INT(node.rate_error_ppm, 0);
}

TEST(probe_clock, a_jump_back_is_one_too)
{
    look(0, 0, 200);
    for (int i = 15; i < looks.len; i++)
        looks.samples[i].node_us -= 2 * US_PER_S;
    judge();
    CHECK_INT(node.step_us, -2 * US_PER_S);
}

TEST(probe_clock, one_look_tells_no_rate)
{
    look(5 * US_PER_MS, 0, 200);
    looks.len = 1;
    judge();
    CHECK_INT(node.offset_us, 5 * US_PER_MS);
    CHECK_INT(node.rate_error_ppm, 0);
}

TEST(probe_clock, nodes_are_held_against_the_median)
{
    static struct hf_probe p;
    memset(&p, 0, sizeof p);
    p.len = 4;
    p.nodes[0] = (struct hf_probe_node){.samples = 1, .offset_us = 10};
    p.nodes[1] = (struct hf_probe_node){.samples = 1, .offset_us = 900000};
    p.nodes[2] = (struct hf_probe_node){.samples = 0, .offset_us = -900000};
    p.nodes[3] = (struct hf_probe_node){.samples = 1, .offset_us = 30};
    hf__probe_clocks_compare(&p);
    CHECK_INT(p.nodes[0].skew_us, -20);
    CHECK_INT(p.nodes[1].skew_us, 899970);
    CHECK_INT(p.nodes[2].skew_us, 0);
    CHECK_INT(p.nodes[3].skew_us, 0);
}
