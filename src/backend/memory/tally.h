/* tally.h: the number of permits. */
#ifndef HF_MEMORY_TALLY_H
#define HF_MEMORY_TALLY_H

#include "backend/memory/permit.h"

/* Answer VERB_TALLY of a semaphore or a plain counter. */
void hf__memory_tally_apply(struct store *s, struct permits *p, int64_t now_us,
                            const struct request *req, struct reply *rep);

#endif
