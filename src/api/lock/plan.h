/* plan.h: an acquire's options, checked and in microseconds. */
#ifndef HF_API_PLAN_H
#define HF_API_PLAN_H

#include "core/hold.h"

/* Fill `out` from `o` for a lock whose lease will be `lease_us`.
 * HF_OK, or HF_INVALID with `err` filled and `out` untouched. */
int hf__plan_make(struct hold_plan *out, const struct hf_acquire_options *o,
                  int64_t lease_us, struct hf_error *err);

#endif
