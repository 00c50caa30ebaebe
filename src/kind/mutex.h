/*
 * mutex.h: the plain lock: one owner, reentrant; or readers where the store
 * can.  A kind only shapes the request; the machine is core/hold.c.
 */
#ifndef HF_KIND_MUTEX_H
#define HF_KIND_MUTEX_H

#include "core/hold.h"

/* Fill what the kind decides of `req`, for the effect `send` of `h`. */
void hf__mutex_shape(struct request *req, const struct hold *h,
                     const struct hold_send *send);

#endif
