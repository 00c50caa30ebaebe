/*
 * clock.h: the wall clock of a server, made to jump.  One rule: only the wall
 * clock jumps; clocks that only count go on.
 *
 *     static struct lab_clock c;
 *     lab_clock_start(&c, "clock_shim.so");    built from clock_shim.c
 *     s.env = c.env;
 *     lab_server_start(&s, NULL);
 *     lab_clock_jump(&c, -3600000);            an hour back, at once
 */
#ifndef LAB_CLOCK_H
#define LAB_CLOCK_H

#include <stdint.h>

struct lab_clock {
    char path[128]; /* of the file with the offset */
    char file_env[160], preload_env[1024];
    const char *env[3];         /* for struct lab_server */
    _Atomic int64_t *offset_ns; /* of the wall clock; mapped */
};

/* Make the file; `shim` is the path of the library to preload. */
int lab_clock_start(struct lab_clock *c, const char *shim);

/* The clock jumps, forward or back, in all servers with its `env`. */
void lab_clock_jump(struct lab_clock *c, int64_t ms);

void lab_clock_stop(struct lab_clock *c);

#endif
