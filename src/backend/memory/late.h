/* late.h: answers that wait for their time. */
#ifndef HF_MEMORY_LATE_H
#define HF_MEMORY_LATE_H

#include "backend/memory/memory.h"

/* Carry out `req` as its fate wants it, and keep the answer. */
void hf__memory_late_add(struct backend_conn *c, struct request *req,
                         struct fault_fate fate);

/* When the first late answer is due, TIME_NEVER: there is none. */
int64_t hf__memory_late_due(const struct backend_conn *c);

/* Give the late answers that are due; returns 1 if there was one. */
int hf__memory_late_process(struct backend_conn *c);

/* Answer all late ones with V_UNKNOWN. */
void hf__memory_late_close(struct backend_conn *c);

#endif
