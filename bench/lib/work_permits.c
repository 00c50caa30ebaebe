/*
 * work_permits.c: a semaphore that many threads want at once, against a server
 * that passes as many tokens.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "work.h"

static void row_add(struct bench *b, const struct work *w, const char *what,
                    const struct pair *p, enum figure f, enum judge judge,
                    double bound)
{
    struct row row = {w->name,     what,  p->ours[f], p->reference[f],
                      p->ratio[f], judge, bound,      ""};

    table_add(&b->table, row, NULL);
}

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
    if (measure_pair(b, &ours, &raw, b->rounds, &p) != 0) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    row_add(b, w, "acquires/s", &p, RATE, JUDGE_RATIO_MIN, 0.5);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_NOTHING, 0);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
    if (p.ours[FAILS] > 0)
        row_add(b, w, "failed releases", &p, FAILS, JUDGE_OURS_IS, 0);
}
