/*
 * work_rate.c: how many lock+unlock a second, next to the plain C that does
 * the same.  All targets about rates are in this file.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "machine.h"
#include "work.h"

#define RAW_PLAIN "set lpush"

static void latency_note(const struct pair *p, char *out, size_t size)
{
    snprintf(out, size, "p50 %.0f/%.0f us, p99 %.0f/%.0f us, noise %.0f %%",
             p->ours[P50_US], p->reference[P50_US], p->ours[P99_US],
             p->reference[P99_US], fmax(p->ours[NOISE], p->reference[NOISE]));
}

static const struct spec one_ours = {
    .runner = "peer", .peer = "holdfast", .threads = 1};
static const struct spec one_raw = {
    .runner = "raw", .peer = "raw", .threads = 1, .plain = RAW_PLAIN};

static void w1_run(struct bench *b, const struct work *w, double rate_min,
                   double cpu_max)
{
    struct pair p;
    char note[NOTE_MAX];

    if (pair_run(b, w, &one_ours, &one_raw, &p) != 0) return;
    latency_note(&p, note, sizeof(note));
    row_add_noted(b, w, "ops/s", &p, RATE, JUDGE_RATIO_MIN, rate_min, note);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_RATIO_MAX, cpu_max);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_OURS_IS, 2);
    health_add(b, w, &p);
}

void work_w1_busy(struct bench *b, const struct work *w)
{
    spinners_start(b->spinners);
    w1_run(b, w, 0.8, 1.4);
    spinners_stop();
}

void work_w1_idle(struct bench *b, const struct work *w)
{
    w1_run(b, w, 1.5, 1.3);
}

/* The same with other options in our URL, alone and beside a busy process. */
static void w1_options_run(struct bench *b, const struct work *w,
                           const char *options, const char *plain,
                           double rate_min)
{
    struct spec ours = one_ours;
    struct pair p;
    char note[NOTE_MAX], url[128];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d?%s", b->server.port,
             options);
    ours.url = url;
    ours.plain = plain;
    for (int busy = 0; busy < 2; busy++) {
        if (busy) spinners_start(b->spinners);
        int status = pair_run(b, w, &ours, &one_raw, &p);
        if (busy) spinners_stop();
        if (status != 0) return;
        latency_note(&p, note, sizeof(note));
        row_add_noted(b, w, busy ? "ops/s, busy" : "ops/s", &p, RATE,
                      JUDGE_RATIO_MIN, rate_min, note);
        row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
        health_add(b, w, &p);
    }
}

void work_w1_string(struct bench *b, const struct work *w)
{
    w1_options_run(b, w, "format=string", NULL, 0.8);
}

void work_w1_nofence(struct bench *b, const struct work *w)
{
    w1_options_run(b, w, "format=string&fence=off", RAW_PLAIN, 0.95);
}

static void rate_run(struct bench *b, const struct work *w,
                     const struct spec *ours, const struct spec *reference,
                     double rate_min)
{
    struct pair p;
    char note[NOTE_MAX];

    if (pair_run(b, w, ours, reference, &p) != 0) return;
    latency_note(&p, note, sizeof(note));
    row_add_noted(b, w, "ops/s", &p, RATE, JUDGE_RATIO_MIN, rate_min, note);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
    if (!ours->url)
        row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_NOTHING, 0);
    health_add(b, w, &p);
}

void work_w2(struct bench *b, const struct work *w)
{
    struct spec ours = one_ours, raw = one_raw;

    ours.threads = raw.threads = 64;
    rate_run(b, w, &ours, &raw, 1.6);
}

void work_w2_async(struct bench *b, const struct work *w)
{
    struct spec ours = one_ours, raw = one_raw;

    ours.peer = "holdfast-async";
    raw.peer = "raw-pipe64";
    rate_run(b, w, &ours, &raw, 0.6);
}

void work_w3(struct bench *b, const struct work *w)
{
    struct spec ours = one_ours, raw = one_raw;
    struct pair p;
    char note[NOTE_MAX];

    ours.threads = raw.threads = 16;
    ours.mode = raw.mode = "contend";
    raw.peer = "raw-blpop";
    if (pair_run(b, w, &ours, &raw, &p) != 0) return;
    latency_note(&p, note, sizeof(note));
    row_add_noted(b, w, "hand-overs/s", &p, HANDOFFS, JUDGE_RATIO_MIN, 0.4,
                  note);
    row_add(b, w, "ops/s", &p, RATE, JUDGE_NOTHING, 0);
    row_add(b, w, "commands/op", &p, COMMANDS_PER_OP, JUDGE_NOTHING, 0);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
    health_add(b, w, &p);
}

/* Many readers of one name, next to as many holders of names of their own. */
void work_readers(struct bench *b, const struct work *w)
{
    struct spec ours = one_ours, alone = one_ours;

    ours.peer = "holdfast-read";
    ours.threads = alone.threads = 16;
    rate_run(b, w, &ours, &alone, 0.8);
}

void work_file(struct bench *b, const struct work *w)
{
    struct spec ours = one_ours, raw = one_raw;
    char url[300];

    snprintf(url, sizeof(url), "%s/locks", b->dir);
    mkdir(url, 0700); /* an error shows when the runner opens it */
    snprintf(url, sizeof(url), "file:%s/locks", b->dir);
    ours.url = url;
    raw.peer = "flock";
    rate_run(b, w, &ours, &raw, 0.1);
}
