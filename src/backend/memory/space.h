/*
 * space.h: the stores of this process, shared by all clients that open the same
 * memory: URL.
 *
 * A space is used by several threads, each under its own client's lock.  One
 * rule: it is touched only under its own mutex, and nothing of a client is ever
 * called while that is held.
 */
#ifndef HF_MEMORY_SPACE_H
#define HF_MEMORY_SPACE_H

#include <pthread.h>

#include "rules/store.h"

struct ear;

struct space {
    struct space *next;
    pthread_mutex_t mutex;
    struct store *store;
    int64_t clock_us; /* added to the wall clock */
    unsigned users;
    char name[];
};

/* The space of that name, made if there is none; NULL: no memory. */
struct space *hf__memory_space_join(const char *name);

/* Close the ear and leave; the last one frees the space. */
void hf__memory_space_leave(struct space *space, struct ear *ear);

/* The node's wall clock; space->mutex must be held. */
int64_t hf__memory_space_now_us(const struct space *space);

#endif
