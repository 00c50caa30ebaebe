/*
 * work.c: what the workloads share that hold two runners against each other.
 */
#define _POSIX_C_SOURCE 200809L
#include "work.h"

int pair_run(struct bench *b, const struct work *w, const struct spec *ours,
             const struct spec *reference, struct pair *p)
{
    if (measure_pair(b, ours, reference, b->rounds, p) == 0) return 0;
    table_skip(&b->table, w->name, "a runner failed, see above");
    return -1;
}

void row_add_noted(struct bench *b, const struct work *w, const char *what,
                   const struct pair *p, enum figure f, enum judge judge,
                   double bound, const char *note)
{
    struct row row = {w->name,     what,  p->ours[f], p->reference[f],
                      p->ratio[f], judge, bound,      ""};

    table_add(&b->table, row, note);
}

void row_add(struct bench *b, const struct work *w, const char *what,
             const struct pair *p, enum figure f, enum judge judge,
             double bound)
{
    row_add_noted(b, w, what, p, f, judge, bound, NULL);
}

void health_add(struct bench *b, const struct work *w, const struct pair *p)
{
    if (p->ours[FAILS] > 0)
        row_add(b, w, "failed releases", p, FAILS, JUDGE_OURS_IS, 0);
    if (p->ours[VIOLATIONS] > 0)
        row_add(b, w, "two holders", p, VIOLATIONS, JUDGE_OURS_IS, 0);
}
