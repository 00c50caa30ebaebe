/*
 * runner.h: the runner's side of the protocol in README.md.
 *
 * A lock to be measured is a struct lock_peer; the runner owns the threads, the
 * clock, the shared page and the report, so that all peers are measured by the
 * same instructions.
 */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#include "hist.h"
#include "options.h"

/* One thread that locks and unlocks. */
struct worker {
    const struct options *options;
    int id;
    void *impl; /* the peer's own */
    uint64_t ops, handoffs, violations, fails, max_ns, end_ns;
    struct hist times; /* of lock and unlock; contended: of lock */
    struct hist wakes; /* from the last holder's unlock to our lock's return */
};

struct lock_peer {
    const char *name;
    /* Connect; make w->impl. */
    void (*open)(struct worker *w);
    /* From now on this name is locked.  Called again after the warm-up. */
    void (*name_set)(struct worker *w, const char *name);
    /* Once per name that all threads share, before any of them locks it.  May
     * be NULL. */
    void (*seed)(struct worker *w, const char *name);
    void (*lock)(struct worker *w);
    void (*unlock)(struct worker *w);
};

/* mode=loop, contend, holder or waiter; returns after the report. */
void runner_run(const struct options *o, const struct lock_peer *peer);

/* All of a program that has nothing but these: the one that peer= names.
 * Returns the status of main(). */
int runner_main(int argc, char **argv, const struct lock_peer *peers,
                size_t len);

/* The pieces, for runners with loops of their own. */

/* Print READY and wait for GO; ends the program if there is none. */
void runner_ready(void);

/* Count one operation of a loop that is not ours. */
void worker_count(struct worker *w, uint64_t took_ns, uint64_t now);

/* Forget what the warm-up counted. */
void worker_clear(struct worker *w);

/* Print END and its JSON, then wait for the driver's next word.  `cpu_ns` is
 * what the process used since GO. */
void runner_report(const struct worker *w, int len, uint64_t elapsed_ns,
                   uint64_t cpu_ns);

/* The same for locks that were only held. */
void runner_report_hold(uint64_t renewals, uint64_t elapsed_ns, uint64_t cpu_ns,
                        int64_t lost, int64_t rss_base_kb);

#endif
