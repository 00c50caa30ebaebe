/* latch.h: count-down latches.  `e` may be NULL, but to free it. */
#ifndef HF_MEMORY_LATCH_H
#define HF_MEMORY_LATCH_H

#include "backend/memory/model.h"

int hf__memory_latch_is_used(const struct entry *e);
void hf__memory_latch_wait(struct store *s, int64_t now_us, struct entry *e,
                           const struct request *req, struct reply *rep);
void hf__memory_latch_tally(struct store *s, int64_t now_us, struct entry *e,
                            const struct request *req, struct reply *rep);
void hf__memory_latch_free(struct store *s, struct entry *e);

#endif
