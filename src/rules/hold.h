/* hold.h: the hold of a plain lock. */
#ifndef HF_RULES_HOLD_H
#define HF_RULES_HOLD_H

#include "rules/model.h"

/* Redis compares whole milliseconds, and only a later one ends the key. */
static inline int held_is_over(const struct held *held, int64_t now_us)
{
    return us_to_ms(now_us) > held->expires_ms;
}

/* Give `e`, which is free or that owner's, to the owner that asks, with this
 * token; the counter is left to the caller.  HF_OK or HF_NOMEM. */
int hf__rules_hold_give(struct store *s, struct entry *e, int64_t now_us,
                        const struct request *req, int64_t fence);

/* Free the lock of `e`, if it has one. */
void hf__rules_hold_free(struct store *s, struct entry *e);

/* Set the end of its lease, and tell how long that is still. */
void hf__rules_hold_lease(const struct store *s, struct held *held,
                          int64_t now_us, int64_t lease_us);
int64_t hf__rules_hold_ttl_us(const struct held *held, int64_t now_us);

#endif
