/*
 * clock.h: the only place that reads a clock.
 */
#ifndef HF_SYS_CLOCK_H
#define HF_SYS_CLOCK_H

#include <stdint.h>

/* Local time for leases and deadlines, microseconds.  Counts while the machine
 * is suspended (CLOCK_BOOTTIME), never steps. */
int64_t hf__clock_us(void);

/* Wall clock, microseconds since 1970.  For records that people read, and for
 * stores that have no clock of their own; never for deadlines. */
int64_t hf__clock_wall_us(void);

#endif
