/* boot.h: a store as a member of a quorum. */
#ifndef HF_RULES_BOOT_H
#define HF_RULES_BOOT_H

#include "rules/model.h"

/* Answer VERB_BOOT. */
void hf__rules_boot_apply(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep);

#endif
