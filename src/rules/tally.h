/* tally.h: the number of permits. */
#ifndef HF_RULES_TALLY_H
#define HF_RULES_TALLY_H

#include "rules/permit.h"

/* Answer VERB_TALLY of a semaphore or a plain counter. */
void hf__rules_tally_apply(struct store *s, struct permits *p, int64_t now_us,
                           const struct request *req, struct reply *rep);

#endif
