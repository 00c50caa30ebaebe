/*
 * work_scale.c: 100,000 locks held, 10,000 waiters, and how long a waiter of
 * another process sleeps on after the release.
 */
#define _POSIX_C_SOURCE 200809L
#include <hiredis/hiredis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "work.h"

#define HELD 100000
#define HELD_LEASE_MS 30000
#define WAITERS 10000
#define WAKES 400

static void ours_add(struct bench *b, const struct work *w, const char *what,
                     double ours, enum judge judge, double bound,
                     const char *note)
{
    struct row row = {w->name, what, ours, NAN, NAN, judge, bound, ""};

    table_add(&b->table, row, note);
}

void work_w6_100k(struct bench *b, const struct work *w)
{
    struct spec ours = {.runner = "peer",
                        .peer = "holdfast",
                        .mode = "hold",
                        .count = HELD,
                        .lease_ms = HELD_LEASE_MS};
    double f[FIGURES];

    ours.secs = b->hold_secs;
    if (measure_once(b, &ours, f) != 0) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    ours_add(b, w, "% of a core", 100 * f[CPU_SECONDS] / b->hold_secs,
             JUDGE_OURS_MAX, 5, NULL);
    ours_add(b, w, "resident MB", f[RSS_MB], JUDGE_OURS_MAX, 100, NULL);
    ours_add(b, w, "bytes per held lock", f[BYTES_PER_LOCK], JUDGE_NOTHING, 0,
             NULL);
    ours_add(b, w, "locks lost", f[LOST], JUDGE_OURS_IS, 0, NULL);
    ours_add(b, w, "commands/s", f[COMMANDS_PER_S], JUDGE_NOTHING, 0, NULL);
}

/* Clients of the server that have subscribed to anything. */
static double subscribers_count(struct bench *b)
{
    double n = 0;
    redisReply *a = redisCommand(b->server.redis, "CLIENT LIST TYPE pubsub");

    if (!a || a->type != REDIS_REPLY_STRING) {
        if (a) freeReplyObject(a);
        return NAN;
    }
    for (const char *at = a->str; (at = strstr(at, "id=")) != NULL; at++)
        n += at == a->str || at[-1] == '\n';
    freeReplyObject(a);
    return n;
}

static int waiters_measure(struct bench *b, const struct spec *spec,
                           double f[FIGURES], double *subscribers)
{
    struct child c;
    int status = -1;

    if (spec_start(b, spec, &c) != 0) return -1;
    if (child_expect(&c, "READY", 60)) {
        *subscribers = subscribers_count(b);
        status = measure_started(b, spec, &c, f);
    }
    child_close(&c);
    return status;
}

void work_waiters(struct bench *b, const struct work *w)
{
    struct spec spec = {.runner = "peer",
                        .peer = "holdfast",
                        .mode = "hold",
                        .count = WAITERS,
                        .lease_ms = HELD_LEASE_MS};
    struct child holder;
    double f[FIGURES], subscribers = NAN;
    int status = -1;

    server_flush(&b->server);
    if (spec_start(b, &spec, &holder) == 0) {
        spec.mode = "wait";
        if (child_expect(&holder, "READY", 60))
            status = waiters_measure(b, &spec, f, &subscribers);
        child_close(&holder);
    }
    if (status != 0) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    ours_add(b, w, "subscribed connections", subscribers, JUDGE_OURS_IS, 1,
             NULL);
    ours_add(b, w, "bytes per waiter", f[BYTES_PER_LOCK], JUDGE_OURS_MAX, 2048,
             "with its lock object and its name");
    ours_add(b, w, "commands/s", f[COMMANDS_PER_S], JUDGE_NOTHING, 0, NULL);
}

void work_wake(struct bench *b, const struct work *w)
{
    struct spec spec = {.runner = "wake", .peer = "holdfast", .count = WAKES};
    struct child c;
    unsigned long long ours, bare, ours99, bare99;
    const char *json = NULL;

    server_flush(&b->server);
    if (spec_start(b, &spec, &c) == 0) json = child_expect(&c, "END", 60);
    int got = json
              && sscanf(json,
                        " {\"ours_ns\":%llu,\"bare_ns\":%llu,\"ours_p99_ns\":"
                        "%llu,\"bare_p99_ns\":%llu",
                        &ours, &bare, &ours99, &bare99)
                     == 4;
    child_close(&c);
    if (!got) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    char note[NOTE_MAX];
    snprintf(note, sizeof(note), "p99 %.0f/%.0f us", (double)ours99 / 1e3,
             (double)bare99 / 1e3);
    struct row row = {w->name,
                      "us to the next holder",
                      (double)ours / 1e3,
                      (double)bare / 1e3,
                      NAN,
                      JUDGE_RATIO_MAX,
                      2,
                      ""};
    table_add(&b->table, row, note);
}
