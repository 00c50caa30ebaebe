/* guard.h: values that refuse stale holders. */
#ifndef HF_RULES_GUARD_H
#define HF_RULES_GUARD_H

#include "rules/model.h"

/* Answer VERB_GUARD. */
void hf__rules_guard_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);

/* Drop a guarded value that has ended. */
void hf__rules_guard_sweep(struct store *s, struct entry *e, int64_t now_us);

/* Forget all guards and what they guard. */
void hf__rules_guard_free_all(struct store *s);

/* Its part of the state: cell.h. */
void hf__rules_guard_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b);
void hf__rules_guard_load(struct store *s, struct entry *e, struct unpack *u);

#endif
