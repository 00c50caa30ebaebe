/*
 * pump_keeper.h: the keeper thread, the program's own loop, and opening and
 * closing the pump.
 */
#ifndef HF_ENGINE_PUMP_KEEPER_H
#define HF_ENGINE_PUMP_KEEPER_H

#include <stdint.h>

struct hf_error;
struct pump;

int hf__pump_open(struct pump *p, struct hf_error *err);
int hf__pump_begin(struct pump *p, struct hf_error *err);
/* The first half of closing: what is under way ends with HF_CLOSED, and so does
 * whatever comes later. */
void hf__pump_shut(struct pump *p);
void hf__pump_close(struct pump *p, int64_t limit_us);

/* Own-loop mode: what is due, without blocking. */
void hf__pump_process(struct pump *p);

void *hf__keeper_main(void *arg);
/* Own-loop mode: set the timer of the program's loop. */
void hf__loop_arm(struct pump *p);

#endif
