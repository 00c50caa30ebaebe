/*
 * work_share.c: many clients want one name: how fast it goes from one to the
 * next, what that costs the server, and whether each gets its share.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "work.h"

#define FAIR_SECS 5 /* the time over which the shares are promised */

static const struct spec ours_shared = {
    .runner = "peer", .peer = "holdfast", .mode = "contend"};
static const struct spec raw_shared = {.runner = "raw",
                                       .peer = "raw-blpop",
                                       .mode = "contend",
                                       .plain = "set lpush"};

void work_w3_handover(struct bench *b, const struct work *w)
{
    struct spec ours = ours_shared, raw = raw_shared;
    struct pair p;
    char url[80];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d?handover=64",
             b->server.port);
    ours.url = url;
    ours.threads = raw.threads = 16;
    if (pair_run(b, w, &ours, &raw, &p) != 0) return;
    row_add(b, w, "hand-overs/s", &p, HANDOFFS, JUDGE_RATIO_MIN, 3);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_NOTHING, 0);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
    health_add(b, w, &p);
}

static void w4_run(struct bench *b, const struct work *w, const char *options,
                   enum judge rate, enum judge commands)
{
    struct spec ours = ours_shared, raw = raw_shared;
    struct pair p;
    char url[80];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d%s", b->server.port,
             options);
    ours.url = url;
    ours.procs = raw.procs = 4;
    ours.threads = raw.threads = 4;
    ours.secs = raw.secs = FAIR_SECS;
    if (pair_run(b, w, &ours, &raw, &p) != 0) return;
    row_add(b, w, "hand-overs/s", &p, HANDOFFS, rate, 0.35);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, commands, 5);
    row_add(b, w, "most/least of a thread", &p, SPREAD, JUDGE_OURS_MAX, 2);
    health_add(b, w, &p);
}

void work_w4(struct bench *b, const struct work *w)
{
    w4_run(b, w, "", JUDGE_RATIO_MIN, JUDGE_OURS_MAX);
}

void work_w4_handover(struct bench *b, const struct work *w)
{
    w4_run(b, w, "?handover=64", JUDGE_RATIO_MIN, JUDGE_OURS_MAX);
}
