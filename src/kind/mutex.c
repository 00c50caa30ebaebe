/* mutex.c: see mutex.h. */
#include "kind/mutex.h"

void hf__mutex_shape(struct request *req, const struct hold *h,
                     const struct hold_send *send)
{
    req->op = send->op;
    req->flags = h->conf->request_flags;
    if (h->flags & HOLD_SHARED) req->flags |= REQ_SHARED;
    if (h->flags & HOLD_DETACHED) req->flags |= REQ_DETACHED;
    if (h->flags & HOLD_ETERNAL) req->flags |= REQ_NO_EXPIRY;
    req->attempt = send->attempt;
    req->ballot = send->ballot;
    if (send->op == OP_PROPOSE) req->block = send->block;
    req->count = send->count;
    req->lease_us = send->lease_us;
    req->window_us = h->conf->window_us;
    req->deadline_us = send->deadline_us;
    req->wanted_us = send->wanted_us;
    req->until_us = send->until_us;
    req->round = send->round;
}
