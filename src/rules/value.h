/* value.h: versioned values. */
#ifndef HF_RULES_VALUE_H
#define HF_RULES_VALUE_H

#include "rules/model.h"

/* Answer VERB_VALUE_READ and VERB_VALUE_WRITE. */
void hf__rules_value_read(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep);
void hf__rules_value_write(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);

/* Does `e` (may be NULL) have a value at this time? */
int hf__rules_value_is_there(struct store *s, struct entry *e, int64_t now_us);

void hf__rules_value_free_all(struct store *s);

/* Its part of the state: cell.h. */
void hf__rules_value_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b);
void hf__rules_value_load(struct store *s, struct entry *e, struct unpack *u);

#endif
