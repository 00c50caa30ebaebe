/*
 * run/way/way.h: how the right to run the command is got and given back.
 */
#ifndef HOLDFAST_CLI_RUN_WAY_WAY_H
#define HOLDFAST_CLI_RUN_WAY_WAY_H

/* How it went. */
struct outcome {
    int code;
    const char *reason; /* of the event "end" */
};

struct run;

/* How the right to run is got and given back: all that run, run --slots,
 * once and elect differ in while the command runs. */
struct way {
    /* Acquire: set `hold`, and `detached` if it may outlive us, and return 1;
     * or return 0 and how holdfast ends without it. */
    int (*get)(struct run *r, struct outcome *end);
    /* The command has ended with `code`, or was never run: give it back. */
    void (*give)(struct run *r, int code);
    /* It is given back, and `end` tells how it went.  1 to run the command once
     * more; NULL: never. */
    int (*again)(struct run *r, struct outcome *end);
    /* No further run follows: free what is left.  May be NULL. */
    void (*close)(struct run *r);
};
extern const struct way way_lock, way_once, way_elect, way_slots;

#endif
