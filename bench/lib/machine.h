/*
 * machine.h: what else the machine is doing, and how to keep it busy.
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>
#include <sys/types.h>

#define SPINNERS_MAX 16

struct machine_use {
    double busy; /* clock ticks of all cores not spent idle */
    double total;
    double known; /* of those, by the run's own processes */
};

/* Read the counters.  The known processes are these two and the spinners. */
void machine_read(struct machine_use *u, pid_t server, pid_t runner);

/* Percent of the machine that went to processes not of the run. */
double machine_noise(const struct machine_use *before,
                     const struct machine_use *after);

/* Start `count` processes that spin at the lowest priority, one pinned to each
 * core from the last one down; and end them. */
void spinners_start(int count);
void spinners_stop(void);

#endif
