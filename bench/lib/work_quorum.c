/*
 * work_quorum.c: a lock over five servers (W5): all of them well, one stopped,
 * two killed; and its memory when some are gone for long (W5-memory).
 *
 * Servers fall ill under a client that is connected to them: to find out is
 * part of what is measured.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "child.h"
#include "five_raw.h"
#include "tool.h"

#define OPS 2000
#define COMMANDS 10  /* each of five is asked twice */
#define RAW_MAX 1.35 /* p50 against the reference */
#define SICK_MAX 1.2 /* against our own with all five */
#define GROWTH_KB_MAX 128
#define MEMORY_PARTS 6 /* the first is left out */

static struct five five;
static double took_us[OPS];

static double raw_p50(struct five_raw *r)
{
    for (int i = 0; i < OPS; i++) {
        uint64_t start = now_ns();
        five_raw_once(r);
        took_us[i] = (double)(now_ns() - start) / 1e3;
    }
    return median(took_us, OPS);
}

static double lock_p50(struct five_lock *l)
{
    for (int i = 0; i < OPS; i++) {
        uint64_t start = now_ns();
        five_lock_once(l);
        took_us[i] = (double)(now_ns() - start) / 1e3;
    }
    return median(took_us, OPS);
}

static double ours_p50(void)
{
    struct five_lock l;

    five_lock_open(&l, &five);
    double p50 = lock_p50(&l);
    five_lock_close(&l);
    return p50;
}

static void ratio_add(struct bench *b, const struct work *w, const char *what,
                      double *ours, double *reference, double bound)
{
    double ratio[ROUNDS_MAX];
    char note[NOTE_MAX];

    for (int i = 0; i < b->rounds; i++) ratio[i] = ours[i] / reference[i];
    double middle = median(ratio, b->rounds);
    snprintf(note, sizeof(note), "%.2f to %.2f in %d rounds", ratio[0],
             ratio[b->rounds - 1], b->rounds);
    struct row row = {w->name,
                      what,
                      median(ours, b->rounds),
                      median(reference, b->rounds),
                      middle,
                      JUDGE_RATIO_MAX,
                      bound,
                      ""};
    table_add(&b->table, row, note);
}

static void well_run(struct bench *b, const struct work *w)
{
    struct five_raw r;
    double ours[ROUNDS_MAX], raw[ROUNDS_MAX];

    five_raw_open(&r, &five);
    (void)raw_p50(&r);
    for (int i = 0; i < b->rounds; i++) {
        /* They take turns at being first, which may help or harm. */
        if (i % 2 == 0) raw[i] = raw_p50(&r);
        ours[i] = ours_p50();
        if (i % 2 == 1) raw[i] = raw_p50(&r);
    }
    ratio_add(b, w, "p50 us", ours, raw, RAW_MAX);
    five_raw_close(&r);
}

static void commands_run(struct bench *b, const struct work *w)
{
    struct five_lock l;
    double sum = 0;

    five_lock_open(&l, &five);
    for (int i = 0; i < FIVE; i++) server_count_begin(&five.servers[i]);
    for (int i = 0; i < OPS; i++) five_lock_once(&l);
    five_lock_close(&l); /* waits for the last answers */
    for (int i = 0; i < FIVE; i++)
        sum += server_count_end(&five.servers[i], "");
    struct row row = {w->name, "commands/op", sum / OPS, NAN,
                      NAN,     JUDGE_OURS_IS, COMMANDS,  ""};
    table_add(&b->table, row, NULL);
}

static void stopped_run(struct bench *b, const struct work *w)
{
    double well[ROUNDS_MAX], sick[ROUNDS_MAX];

    for (int i = 0; i < b->rounds; i++) {
        struct five_lock l;
        five_lock_open(&l, &five);
        well[i] = lock_p50(&l);
        kill(five.servers[4].pid, SIGSTOP);
        sick[i] = lock_p50(&l);
        kill(five.servers[4].pid, SIGCONT);
        five_lock_close(&l);
    }
    ratio_add(b, w, "p50 us, one stopped", sick, well, SICK_MAX);
}

/* They do not come back: later rounds begin without them. */
static void killed_run(struct bench *b, const struct work *w)
{
    double well[ROUNDS_MAX], sick[ROUNDS_MAX];
    struct five_lock l;

    for (int i = 0; i < b->rounds; i++) well[i] = ours_p50();
    five_lock_open(&l, &five);
    server_stop(&five.servers[3]);
    server_stop(&five.servers[4]);
    sick[0] = lock_p50(&l);
    five_lock_close(&l);
    for (int i = 1; i < b->rounds; i++) sick[i] = ours_p50();
    ratio_add(b, w, "p50 us, two killed", sick, well, SICK_MAX);
}

void work_w5(struct bench *b, const struct work *w)
{
    five_start(&five, b);
    well_run(b, w);
    commands_run(b, w);
    stopped_run(b, w);
    killed_run(b, w);
    five_stop(&five);
}

/* Lock and unlock for `secs` seconds, with pauses; returns how often. */
static double locks_in(struct five_lock *l, double secs)
{
    uint64_t end = now_ns() + (uint64_t)(secs * (double)NS_PER_S);
    double ops = 0;

    while (now_ns() < end && !child_interrupted()) {
        five_lock_once(l);
        pause_ns(NS_PER_MS);
        ops++;
    }
    return ops;
}

void work_w5_memory(struct bench *b, const struct work *w)
{
    struct five_lock l;
    double part = 3 * b->hold_secs / MEMORY_PARTS;
    char note[NOTE_MAX];

    five_start(&five, b);
    five_lock_open(&l, &five);
    kill(five.servers[3].pid, SIGSTOP);
    server_stop(&five.servers[4]);
    double ops = locks_in(&l, part);
    int64_t early_kb = rss_self_kb();
    ops += locks_in(&l, part * (MEMORY_PARTS - 1));
    int64_t late_kb = rss_self_kb();
    kill(five.servers[3].pid, SIGCONT);
    five_lock_close(&l);
    five_stop(&five);
    snprintf(note, sizeof(note), "%.0f locks, %.1f MB after %.0f and %.0f s",
             ops, (double)late_kb / 1024, part, part * MEMORY_PARTS);
    struct row row = {w->name,
                      "KB grown, 2 of 5 gone",
                      (double)(late_kb - early_kb),
                      NAN,
                      NAN,
                      JUDGE_OURS_MAX,
                      GROWTH_KB_MAX,
                      ""};
    table_add(&b->table, row, note);
}
