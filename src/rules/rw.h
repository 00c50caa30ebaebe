/* rw.h: read/write locks. */
#ifndef HF_RULES_RW_H
#define HF_RULES_RW_H

#include "rules/model.h"

/* Is it held by readers or a writer? */
int hf__rules_rw_is_held(const struct entry *e, int64_t now_us);

/* Answer VERB_PROPOSE, VERB_RENEW and VERB_RELEASE. */
void hf__rules_rw_apply(struct store *s, int64_t now_us,
                        const struct request *req, struct reply *rep);

/* Take the lock away from all its holders. */
void hf__rules_rw_break(struct store *s, struct entry *e, int64_t now_us);

/* Fill `info` for `req`; returns the fence of the holder that is shown, or 0 if
 * the lock is not held. */
int64_t hf__rules_rw_info(const struct entry *e, int64_t now_us,
                          const struct request *req, struct hf_info *info);

void hf__rules_rw_free(const struct allocator *alloc, struct share **shares);

/* Its part of the state: cell.h. */
void hf__rules_rw_save(const struct store *s, int64_t now_us,
                       const struct entry *e, unsigned tag,
                       struct cell_bytes *b);
void hf__rules_rw_load(struct store *s, struct entry *e, struct unpack *u);

#endif
