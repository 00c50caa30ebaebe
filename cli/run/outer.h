/*
 * run/outer.h: locks that an ancestor of this process holds.
 */
#ifndef HOLDFAST_CLI_RUN_OUTER_H
#define HOLDFAST_CLI_RUN_OUTER_H

#include <stdint.h>
#include <sys/types.h>

#include "run/run.h"

/* A holdfast around this one. */
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
/* The same for all our locks, with a sentence: waiting would never end. */
int outer_refuses(const struct run *r);
/* Why --reenter may not run under it, with a sentence: it shares the lock, and
 * we do not; or the store, which is asked, does not know it as the holder. */
int outer_is_weaker(const struct run *r, const struct outer *one);
int outer_is_gone(const struct run *r, const struct outer *one,
                  struct hf_error *err, int *status);

#endif
