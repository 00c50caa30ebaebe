/* value.h: versioned values. */
#ifndef HF_MEMORY_VALUE_H
#define HF_MEMORY_VALUE_H

#include "backend/memory/model.h"

/* Answer VERB_VALUE_READ and VERB_VALUE_WRITE. */
void hf__memory_value_read(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);
void hf__memory_value_write(struct store *s, int64_t now_us,
                            const struct request *req, struct reply *rep);

/* Does `e` (may be NULL) have a value at this time? */
int hf__memory_value_is_there(struct store *s, struct entry *e, int64_t now_us);

void hf__memory_value_free_all(struct store *s);

#endif
