/*
 * work_many.c: what many locks cost: held and renewed (W6), and beside one
 * that is busy (grow).
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>

#include "work.h"

#define HOLD_COUNT 10000
#define HOLD_LEASE_MS 10000
#define GROW_LEASE_MS 30000
#define GROW_RATE_MIN 0.7

static void ours_add(struct bench *b, const struct work *w, const char *what,
                     const struct pair *p, enum figure f, enum judge judge,
                     double bound)
{
    struct row row = {w->name,     what,  p->ours[f], p->reference[f],
                      p->ratio[f], judge, bound,      ""};

    table_add(&b->table, row, NULL);
}

void work_w6(struct bench *b, const struct work *w)
{
    struct spec ours = {.runner = "peer",
                        .peer = "holdfast",
                        .mode = "hold",
                        .count = HOLD_COUNT,
                        .lease_ms = HOLD_LEASE_MS};
    struct spec raw = ours;
    struct pair p;

    ours.secs = b->hold_secs;
    raw.secs = b->hold_secs;
    raw.runner = "raw";
    raw.peer = "raw";
    raw.plain = "set";
    if (measure_pair(b, &ours, &raw, 1, &p) != 0) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    ours_add(b, w, "client CPU s", &p, CPU_SECONDS, JUDGE_RATIO_MAX, 2);
    ours_add(b, w, "resident MB", &p, RSS_MB, JUDGE_OURS_MAX, 20);
    ours_add(b, w, "commands/s", &p, COMMANDS_PER_S, JUDGE_OURS_MAX, 150);
    ours_add(b, w, "locks lost", &p, LOST, JUDGE_OURS_IS, 0);
    p.reference[BYTES_PER_LOCK] = NAN; /* the reference keeps nothing */
    p.ratio[BYTES_PER_LOCK] = NAN;
    ours_add(b, w, "bytes per held lock", &p, BYTES_PER_LOCK, JUDGE_OURS_MAX,
             950);
}

static int grow_step(struct bench *b, const struct work *w, int known, int held,
                     const char *what)
{
    struct spec ours = {.runner = "peer",
                        .peer = "holdfast",
                        .threads = 1,
                        .lease_ms = GROW_LEASE_MS};
    struct spec alone = ours;
    struct pair p;
    char note[NOTE_MAX];

    ours.known = known;
    ours.held = held;
    if (measure_pair(b, &ours, &alone, b->rounds, &p) != 0) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return -1;
    }
    snprintf(note, sizeof(note), "CPU %.1f/%.1f us/op, resident %.0f/%.0f MB",
             p.ours[CPU_PER_OP], p.reference[CPU_PER_OP], p.ours[RSS_MB],
             p.reference[RSS_MB]);
    struct row row = {w->name,       what,
                      p.ours[RATE],  p.reference[RATE],
                      p.ratio[RATE], JUDGE_RATIO_MIN,
                      GROW_RATE_MIN, ""};
    table_add(&b->table, row, note);
    return 0;
}

/* The reference here is holdfast itself with no other lock. */
void work_grow(struct bench *b, const struct work *w)
{
    static const struct {
        int known, held;
        const char *what;
    } steps[] = {
        {1000, 0, "ops/s, 1,000 known"},     {10000, 0, "ops/s, 10,000 known"},
        {100000, 0, "ops/s, 100,000 known"}, {0, 1000, "ops/s, 1,000 held"},
        {0, 10000, "ops/s, 10,000 held"},    {0, 100000, "ops/s, 100,000 held"},
    };

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (grow_step(b, w, steps[i].known, steps[i].held, steps[i].what))
            return;
}
