/* barrier.h: barriers.  `e` may be NULL, but to wait or to free it. */
#ifndef HF_RULES_BARRIER_H
#define HF_RULES_BARRIER_H

#include "rules/model.h"

int hf__rules_barrier_is_used(struct store *s, struct entry *e, int64_t now_us);
void hf__rules_barrier_wait(struct store *s, int64_t now_us, struct entry *e,
                            const struct request *req, struct reply *rep);
void hf__rules_barrier_leave(struct store *s, int64_t now_us, struct entry *e,
                             const struct request *req, struct reply *rep);
void hf__rules_barrier_tally(struct store *s, int64_t now_us, struct entry *e,
                             const struct request *req, struct reply *rep);
void hf__rules_barrier_free(struct store *s, struct entry *e);

/* Its part of the state: cell.h. */
void hf__rules_barrier_save(const struct store *s, int64_t now_us,
                            const struct entry *e, unsigned tag,
                            struct cell_bytes *b);
void hf__rules_barrier_load(struct store *s, struct entry *e, struct unpack *u);

#endif
