/* use.h: what a name is in use as. */
#ifndef HF_RULES_USE_H
#define HF_RULES_USE_H

#include "rules/model.h"

/* Is it about what is stored under one name? */
int hf__rules_use_is_asked(const struct request *req);

/* What the name of `req` is in use as, as a sentence, if that bars it; else
 * NULL. */
const char *hf__rules_use_conflict(struct store *s, int64_t now_us,
                                   const struct request *req);

#endif
