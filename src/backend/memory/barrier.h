/* barrier.h: barriers.  `e` may be NULL, but to wait or to free it. */
#ifndef HF_MEMORY_BARRIER_H
#define HF_MEMORY_BARRIER_H

#include "backend/memory/model.h"

int hf__memory_barrier_is_used(struct store *s, struct entry *e,
                               int64_t now_us);
void hf__memory_barrier_wait(struct store *s, int64_t now_us, struct entry *e,
                             const struct request *req, struct reply *rep);
void hf__memory_barrier_leave(struct store *s, int64_t now_us, struct entry *e,
                              const struct request *req, struct reply *rep);
void hf__memory_barrier_tally(struct store *s, int64_t now_us, struct entry *e,
                              const struct request *req, struct reply *rep);
void hf__memory_barrier_free(struct store *s, struct entry *e);

#endif
