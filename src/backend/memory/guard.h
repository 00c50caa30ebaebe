/* guard.h: values that refuse stale holders. */
#ifndef HF_MEMORY_GUARD_H
#define HF_MEMORY_GUARD_H

#include "backend/memory/model.h"

/* Answer VERB_GUARD. */
void hf__memory_guard_apply(struct store *s, int64_t now_us,
                            const struct request *req, struct reply *rep);

/* Drop a guarded value that has ended. */
void hf__memory_guard_sweep(struct store *s, struct entry *e, int64_t now_us);

/* Forget all guards and what they guard. */
void hf__memory_guard_free_all(struct store *s);

#endif
