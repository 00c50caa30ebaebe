/*
 * storm.h: processes that contend for one lock while something happens to its
 * store.  One rule: what they saw is counted in memory that all share, so that
 * a process that is stuck shows, too.
 *
 *     static struct storm s;
 *     storm_begin(&s, url, 4);          before the test opens a client
 *     ... kill the primary ...
 *     storm_until_moving(&s);           each of them works again
 *     storm_end(&s);                    and none saw what must not be
 */
#ifndef HF_TEST_STORM_H
#define HF_TEST_STORM_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/proc.h"

#define STORM_PROCS_MAX 8
#define STORM_NAME "storm"
#define STORM_LEASE_MS 2000
#define STORM_WAIT_MS 3000 /* of every acquire */

/* What all share. */
struct storm_seen {
    atomic_int stop;
    atomic_llong fence; /* the highest that was released */
    atomic_int grants[STORM_PROCS_MAX];
    atomic_int failures; /* TIMEOUT, UNAVAILABLE: nobody's fault */
    atomic_int late;     /* calls that ended well beyond their deadline */
    atomic_int stale;    /* tokens at or below one released before */
    atomic_int strange;  /* any other status */
};

struct storm {
    const char *url;
    int len;
    struct lab_proc procs[STORM_PROCS_MAX];
    struct storm_seen *seen;
};

/* Start `len` processes; `s` static, `url` borrowed until the test ends. */
void storm_begin(struct storm *s, const char *url, int len);

/* Wait until each has been granted the lock some more times. */
void storm_until_moving(struct storm *s);

/* Stop them, and check that none was late, stale or strange. */
void storm_end(struct storm *s);

#endif
