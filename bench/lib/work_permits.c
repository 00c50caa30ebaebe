/*
 * work_permits.c: a semaphore that many threads want at once, against a server
 * that passes as many tokens.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "work.h"

void work_permits(struct bench *b, const struct work *w)
{
    struct spec ours = {.runner = "peer",
                        .peer = "holdfast-permits",
                        .mode = "contend",
                        .threads = 64,
                        .permits = 8};
    struct spec raw = {.runner = "raw",
                       .peer = "raw-blpop",
                       .mode = "contend",
                       .plain = "set lpush",
                       .threads = 64,
                       .permits = 8};
    struct pair p;
    char url[80];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", b->server.port);
    ours.url = url;
    if (pair_run(b, w, &ours, &raw, &p) != 0) return;
    row_add(b, w, "acquires/s", &p, RATE, JUDGE_RATIO_MIN, 0.5);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_NOTHING, 0);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
    /* Two may be inside. */
    if (p.ours[FAILS] > 0)
        row_add(b, w, "failed releases", &p, FAILS, JUDGE_OURS_IS, 0);
}
