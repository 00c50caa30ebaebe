/*
 * memory.h: one connection to a space; shared by the files of this folder.
 *
 * One rule: the engine is called only while the space's mutex is free, and what
 * it is told is a copy.
 */
#ifndef HF_MEMORY_H
#define HF_MEMORY_H

#include "backend/backend.h"
#include "backend/memory/fault.h"
#include "backend/memory/space.h"

struct late;

struct backend_conn {
    struct backend_env *env;
    struct space *space;
    struct ear ear;
    struct fault_plan faults;
    struct request *first; /* submitted, not yet carried out */
    struct request **last;
    struct late *late; /* answers that wait for their time */
    int watched_fd;    /* the ear's, once the engine knows it; or -1 */
    int64_t timer_us;  /* as last told to the engine */
    struct boot boot;
    struct tally_told tally;
    struct hf_info info; /* copies for the reply under way */
    struct list_row *rows;
    char *data;     /* of a value */
    char where[64]; /* "memory:space", for error texts */
    char text[HF_ERROR_TEXT_MAX];
};

/* Carry out `req` with all its faults, and answer it now or later. */
void hf__memory_request_answer(struct backend_conn *c, struct request *req);

/* Fill `rep` with a failure. */
void hf__memory_request_fail(struct backend_conn *c, struct reply *rep,
                             enum verdict verdict, int status, const char *why);

/* When the first late answer is due, TIME_NEVER: there is none. */
int64_t hf__memory_late_due(const struct backend_conn *c);

/* Give the late answers that are due; returns 1 if there was one. */
int hf__memory_late_process(struct backend_conn *c);

/* Answer all late ones with V_UNKNOWN. */
void hf__memory_late_close(struct backend_conn *c);

#endif
