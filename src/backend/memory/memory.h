/*
 * memory.h: a connection of the memory backend, to one space.
 *
 * One rule: the engine is called only while the space's mutex is free, and what
 * it is told is a copy.
 */
#ifndef HF_MEMORY_H
#define HF_MEMORY_H

#include "backend/backend.h"
#include "backend/memory/ear.h"
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

#endif
