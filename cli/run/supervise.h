/*
 * run/supervise.h: the hold, and what the supervisor does about it.
 */
#ifndef HOLDFAST_CLI_RUN_SUPERVISE_H
#define HOLDFAST_CLI_RUN_SUPERVISE_H

#include <stdint.h>

#include "run/run.h"

/* run/supervise.c: look at the lock and the clock, and do what is due. */
void supervise_prepare(struct run *r); /* before the start */
void supervise_begin(struct run *r, int64_t now_ms);
/* Before the loop sleeps: it is to be awake after `timeout_ms`; -1: never. */
void supervise_sleep(struct run *r, int64_t now_ms, int64_t timeout_ms);
void supervise_step(struct run *r, int64_t now_ms);
int supervise_timeout_ms(const struct run *r, int64_t now_ms);

/* run/hold.c: what is held, the worst of several locks. */
int hold_state(const struct run *r); /* enum hf_state */
int64_t hold_valid_ms(const struct run *r);
void hold_read(struct run *r); /* fill r->held, for the command */
/* Is there nothing more to give back, for it was lost?  Of several locks the
 * others are given back now, if the store answers in time. */
int hold_is_over(struct run *r);
/* Give back what is held.  If the command was ended because the lock could not
 * be kept, the store gets GIVE_MS to answer.  r->is_left says that it has not,
 * or that the lock was lost before: the client that is closed would wait for a
 * store that may not answer. */
void hold_give(struct run *r);
/* What the store last said to its renewal; "" if nothing went wrong. */
void hold_why(const struct run *r, char text[HF_ERROR_TEXT_MAX]);

/* run/keep.c: a hold that may outlive us, for --min-hold. */
int64_t keep_every_ms(const struct run *r);
void keep_step(struct run *r, int64_t now_ms);
void keep_rest(struct run *r, int64_t rest_ms);

#endif
