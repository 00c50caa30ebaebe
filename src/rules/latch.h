/* latch.h: count-down latches.  `e` may be NULL, but to free it. */
#ifndef HF_RULES_LATCH_H
#define HF_RULES_LATCH_H

#include "rules/model.h"

int hf__rules_latch_is_used(const struct entry *e);
void hf__rules_latch_wait(struct store *s, int64_t now_us, struct entry *e,
                          const struct request *req, struct reply *rep);
void hf__rules_latch_tally(struct store *s, int64_t now_us, struct entry *e,
                           const struct request *req, struct reply *rep);
void hf__rules_latch_free(struct store *s, struct entry *e);

/* Its part of the state: cell.h. */
void hf__rules_latch_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b);
void hf__rules_latch_load(struct store *s, struct entry *e, struct unpack *u);

#endif
