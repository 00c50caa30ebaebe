/* report.h: what a store tells about its locks. */
#ifndef HF_RULES_REPORT_H
#define HF_RULES_REPORT_H

#include "rules/model.h"

/* Fill `info` with what is known of `e` (NULL: nothing) for `req`; returns the
 * holder's fence, or 0. */
int64_t hf__rules_report_info(const struct entry *e, int64_t now_us,
                              const struct request *req, struct hf_info *info);

/* Fill the holder's part of `info` from "<pid> <host> <label>". */
void hf__rules_report_holder(const char *text, struct hf_info *info);

/* Answer VERB_LIST. */
void hf__rules_report_list(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);

#endif
