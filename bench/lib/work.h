/*
 * work.h: the workloads.  Each runs its measurements and adds its rows to the
 * bench's table; one that cannot be run adds a row that says so.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "measure.h"

struct work {
    const char *name;
    const char *about;
    void (*run)(struct bench *b, const struct work *w);
};

/* Measure two in turn, or say in the table that it cannot be; 0 or -1. */
int pair_run(struct bench *b, const struct work *w, const struct spec *ours,
             const struct spec *reference, struct pair *p);
void row_add(struct bench *b, const struct work *w, const char *what,
             const struct pair *p, enum figure f, enum judge judge,
             double bound);
void row_add_noted(struct bench *b, const struct work *w, const char *what,
                   const struct pair *p, enum figure f, enum judge judge,
                   double bound, const char *note);
/* Nothing may fail, and no two may be inside: a rate without that is void. */
void health_add(struct bench *b, const struct work *w, const struct pair *p);

/* Rates against plain C. */
void work_w1_busy(struct bench *b, const struct work *w);
void work_w1_idle(struct bench *b, const struct work *w);
void work_w1_string(struct bench *b, const struct work *w);
void work_w1_nofence(struct bench *b, const struct work *w);
void work_w1_tls(struct bench *b, const struct work *w);
void work_w2(struct bench *b, const struct work *w);
void work_w2_async(struct bench *b, const struct work *w);
void work_w3(struct bench *b, const struct work *w);
void work_readers(struct bench *b, const struct work *w);
void work_file(struct bench *b, const struct work *w);

/* Many clients want one name. */
void work_w3_handover(struct bench *b, const struct work *w);
void work_w4(struct bench *b, const struct work *w);
void work_w4_handover(struct bench *b, const struct work *w);

void work_permits(struct bench *b, const struct work *w);

/* Fair locks. */
void work_w4_fair(struct bench *b, const struct work *w);
void work_queue(struct bench *b, const struct work *w);

/* Five servers. */
void work_w5(struct bench *b, const struct work *w);
void work_w5_memory(struct bench *b, const struct work *w);

/* A resource that checks tokens. */
void work_guard(struct bench *b, const struct work *w);

/* Sales. */
void work_stock(struct bench *b, const struct work *w);
/* A sale that is drained into a database. */
void work_orders(struct bench *b, const struct work *w);

/* A primary behind Sentinels. */
void work_w8_sentinel(struct bench *b, const struct work *w);

/* A cluster of three masters. */
void work_cluster(struct bench *b, const struct work *w);

/* Many locks held. */
void work_w6(struct bench *b, const struct work *w);
void work_grow(struct bench *b, const struct work *w);
void work_w6_100k(struct bench *b, const struct work *w);
void work_waiters(struct bench *b, const struct work *w);

/* The stores that are modules: each with its own server. */
void work_engine(struct bench *b, const struct work *w);
void work_modules(struct bench *b, const struct work *w);

/* One thing in time. */
void work_w7(struct bench *b, const struct work *w);
void work_wake(struct bench *b, const struct work *w);
void work_start(struct bench *b, const struct work *w);

#endif
