/*
 * work_fair.c: fair locks: how fast they go from one to the next (W4-fair), and
 * what the server pays for the length of its queue.  What scripts cost is the
 * server's own word (INFO commandstats).
 */
#define _POSIX_C_SOURCE 200809L
#include <hiredis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "tool.h"
#include "work.h"

#define FAIR_SECS 5
#define POLL_SECS 3
#define DEAD_SECS 4 /* the dead are known to be, and their lease is over */
#define READY_SECS 60
#define GROWTH_MAX 3 /* log(1000) / log(10) */

void work_w4_fair(struct bench *b, const struct work *w)
{
    struct spec ours = {.runner = "peer",
                        .peer = "holdfast-fair",
                        .mode = "contend",
                        .procs = 4,
                        .threads = 4,
                        .secs = FAIR_SECS};
    struct spec raw = ours;
    struct pair p;

    raw.runner = "raw";
    raw.peer = "raw-blpop";
    raw.plain = "set lpush";
    if (pair_run(b, w, &ours, &raw, &p) != 0) return;
    row_add(b, w, "hand-overs/s", &p, HANDOFFS, JUDGE_RATIO_MIN, 0.4);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_OURS_MAX, 3.1);
    row_add(b, w, "most/least of a thread", &p, SPREAD, JUDGE_OURS_MAX, 1.1);
    health_add(b, w, &p);
}

/* ---- the length of the queue -------------------------------------------- */

struct cost {
    double calls, us;
};

/* Of scripts, since server_count_begin(). */
static struct cost scripts_cost(struct server *s)
{
    struct cost c = {0, 0};
    redisReply *a = redisCommand(s->redis, "INFO commandstats");
    const char *at = a ? strstr(a->str, "cmdstat_evalsha:") : NULL;

    if (at
        && sscanf(at, "cmdstat_evalsha:calls=%lf,usec=%lf", &c.calls, &c.us)
               != 2)
        c = (struct cost){0, 0};
    if (a) freeReplyObject(a);
    return c;
}

static double cost_per_call(struct cost c)
{
    return c.calls > 0 ? c.us / c.calls : NAN;
}

/* Start a runner with `count` waiters in its queue; 0, or -1. */
static int queue_start(struct bench *b, int count, struct child *c)
{
    struct spec spec = {.runner = "peer",
                        .peer = "holdfast-fair",
                        .mode = "queue",
                        .count = count,
                        .lease_ms = 1000};

    if (spec_start(b, &spec, c) != 0) return -1;
    if (child_expect(c, "READY", READY_SECS)) return 0;
    child_close(c);
    return -1;
}

/* What each of them asks for every second, and then its release. */
static int served_measure(struct bench *b, int count, double *ask, double *give)
{
    struct child c;

    server_flush(&b->server);
    if (queue_start(b, count, &c) != 0) return -1;
    server_count_begin(&b->server);
    pause_ns(POLL_SECS * NS_PER_S);
    *ask = cost_per_call(scripts_cost(&b->server));
    server_count_begin(&b->server);
    child_send(&c, "GO\n");
    int is_over = child_expect(&c, "END", READY_SECS) != NULL;
    *give = cost_per_call(scripts_cost(&b->server));
    child_close(&c);
    return is_over ? 0 : -1;
}

/* All waiters are killed: what skipping them costs the next acquire, for each.
 */
static int skipped_measure(struct bench *b, int count, double *skip)
{
    struct child c;

    server_flush(&b->server);
    if (queue_start(b, count, &c) != 0) return -1;
    child_close(&c);
    pause_ns(DEAD_SECS * NS_PER_S);
    server_count_begin(&b->server);
    if (queue_start(b, 1, &c) != 0) return -1;
    *skip = scripts_cost(&b->server).us / count;
    child_close(&c);
    return 0;
}

static void growth_add(struct bench *b, const struct work *w, const char *what,
                       double of_ten, double of_many)
{
    struct row row = {
        w->name,         what,       of_many, of_ten, of_many / of_ten,
        JUDGE_RATIO_MAX, GROWTH_MAX, ""};

    table_add(&b->table, row, NULL);
}

/* What else the machine does only makes it more: the least of some rounds. */
static int least_measure(struct bench *b, int count, double out[3])
{
    double now[3];

    for (int round = 0; round < b->rounds; round++) {
        if (served_measure(b, count, &now[0], &now[1]) != 0
            || skipped_measure(b, count, &now[2]) != 0)
            return -1;
        for (int i = 0; i < 3; i++)
            if (round == 0 || now[i] < out[i]) out[i] = now[i];
    }
    return 0;
}

/* The reference here is a shorter queue: of ten, but of a hundred for the dead
 * waiters, which are skipped all at once. */
void work_queue(struct bench *b, const struct work *w)
{
    static const int lens[] = {10, 100, 1000};
    double us[3][3];

    for (int i = 0; i < 3; i++)
        if (least_measure(b, lens[i], us[i]) != 0) {
            table_skip(&b->table, w->name, "a runner failed, see above");
            return;
        }
    growth_add(b, w, "server us, ask, 100", us[0][0], us[1][0]);
    growth_add(b, w, "server us, ask, 1,000", us[0][0], us[2][0]);
    growth_add(b, w, "server us, release, 100", us[0][1], us[1][1]);
    growth_add(b, w, "server us, release, 1,000", us[0][1], us[2][1]);
    growth_add(b, w, "server us, skip, 1,000", us[1][2], us[2][2]);
}
