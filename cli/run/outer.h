/*
 * run/outer.h: locks that an ancestor of this process holds.
 */
#ifndef HOLDFAST_CLI_RUN_OUTER_H
#define HOLDFAST_CLI_RUN_OUTER_H

#include <stdint.h>
#include <sys/types.h>

#include "run/run.h"

/* A `holdfast run` around this one. */
struct outer {
    pid_t pid;
    char kind; /* 's': shared, 'x': not, 'n': one of N slots */
    uint64_t fence;
};

/* Note which store r->s.client is, before anything else here is called. */
void outer_setup(struct run *r);
/* Add what is held to the environment of the command. */
void outer_environment(const struct run *r);
/* 1 if an ancestor holds the lock NAME in a way that excludes us. */
int outer_holds(const struct run *r, struct outer *out);
/* 1, after a sentence, if that is so for any of our locks: waiting would never
 * end. */
int outer_refuses(const struct run *r);
/* 1, after a sentence, if --reenter may not run under that hold: it is shared
 * and ours is not; or the store, which is asked, knows another holder. */
int outer_is_weaker(const struct run *r, const struct outer *one);
int outer_is_gone(const struct run *r, const struct outer *one,
                  struct hf_error *err, int *status);

#endif
