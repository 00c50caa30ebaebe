/*
 * redlock_storm_test.c: many processes contend over five servers, to which
 * everything happens in turn.  One rule: what they saw is judged from outside
 * when it is over: never two equal or falling tokens, no stale write accepted,
 * and everybody works again.  seed=N makes it another storm.
 */
#include <stdlib.h>
#include <time.h>

#include "lib/redlock.h"
#include "lib/stress_run.h"
#include "sys/random.h"

#define STORM_MS 13000
#define CALM_MS 4000
#define CLIENTS 6 /* threads in all */

enum fault { KILLED, STOPPED, SLOW, CUT, SEVERED, FAULTS };

static struct redlock r;
static struct stress_run stress;

static struct {
    uint64_t seed;
    int began[FAULTS];
    int turn;
    enum fault of[REDLOCK_NODES]; /* FAULTS: it is well */
} storm;

static int64_t draw(int64_t least, int64_t most)
{
    uint64_t range = (uint64_t)(most - least + 1);
    return least + (int64_t)(hf__random_next(&storm.seed) % range);
}

static void fault_begin(int node)
{
    enum fault fault = (enum fault)(storm.turn++ % FAULTS);
    storm.of[node] = fault;
    storm.began[fault]++;
    if (fault == KILLED) five_kill(&r.five, node);
    if (fault == STOPPED) five_stop(&r.five, node);
    if (fault == SLOW) five_delay(&r.five, node, draw(5, 150));
    if (fault == SEVERED) five_sever(&r.five, node, 1);
    if (fault == CUT)
        proxy_arm(&r.five.nodes[node].proxy, PROXY_DOWN, draw(1, 400),
                  draw(0, 1) == 1);
}

static void fault_end(int node)
{
    enum fault fault = storm.of[node];
    if (fault == KILLED) five_restart(&r.five, node);
    if (fault == STOPPED) five_cont(&r.five, node);
    if (fault == SLOW) five_delay(&r.five, node, 0);
    if (fault == SEVERED) five_sever(&r.five, node, 0);
    if (fault == CUT) proxy_arm(&r.five.nodes[node].proxy, PROXY_DOWN, -1, 0);
    storm.of[node] = FAULTS;
}

/* One or two at a time, and sometimes a majority. */
static void storm_run(void)
{
    int64_t end_ms = rig_now_ms() + STORM_MS;
    int round = 0;
    storm.seed = test_arg("seed") ? strtoull(test_arg("seed"), NULL, 10) : 5;
    for (int i = 0; i < REDLOCK_NODES; i++) storm.of[i] = FAULTS;
    for (; rig_now_ms() < end_ms; round++) {
        int first = (int)draw(0, REDLOCK_NODES - 1);
        int len = round % 5 == 4 ? 3 : (int)draw(1, 2);
        for (int i = 0; i < len; i++) fault_begin((first + i) % REDLOCK_NODES);
        rig_pause_ms(draw(100, 700));
        for (int i = 0; i < len; i++) fault_end((first + i) % REDLOCK_NODES);
        rig_pause_ms(draw(50, 300));
    }
    printf(
        "    %d rounds: %d killed, %d stopped, %d slow, %d cut, %d severed\n",
        round, storm.began[KILLED], storm.began[STOPPED], storm.began[SLOW],
        storm.began[CUT], storm.began[SEVERED]);
    for (int i = 0; i < FAULTS; i++) CHECK(storm.began[i] > 0);
}

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

TEST(redlock_storm, tokens_rise_and_everybody_works_again)
{
    static const char *const words[] = {
        "--clients", "3",     "--threads",       "2", "--locks", "2",
        "--lease",   "800ms", "--pause-percent", "1", NULL};
    struct history h;
    redlock_begin(&r, 30000);
    stress_run_begin(&stress, r.url, r.five.nodes[0].redis.dir, words);
    storm_run();
    int64_t over_ns = now_ns();
    rig_pause_ms(CALM_MS);
    stress_run_end(&stress, &h);
    CHECK(h.acquired > CLIENTS && h.accepted > CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        if (h.last_ns[i] < over_ns) TEST_FAIL("client %d got nothing", i);
    CHECK(redlock_until_gone(&r, "holdfast-stress-0"));
    CHECK(redlock_until_gone(&r, "holdfast-stress-1"));
}
