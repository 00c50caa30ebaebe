/* kind.c: see kind.h. */
#include "kind/kind.h"

#include "core/mutation.h"

const struct kind *hf__kind(enum lock_kind kind)
{
    static const struct kind *const all[KINDS_LEN] = {
        [KIND_PLAIN] = &hf__kind_plain,     [KIND_READ] = &hf__kind_read,
        [KIND_WRITE] = &hf__kind_write,     [KIND_PERMIT] = &hf__kind_permit,
        [KIND_COUNT] = &hf__kind_count,     [KIND_LATCH] = &hf__kind_latch,
        [KIND_BARRIER] = &hf__kind_barrier,
    };
    return all[kind];
}

void hf__kind_shape(struct request *req, const struct hold *h,
                    const struct hold_send *send)
{
    req->op = send->op;
    req->flags = h->conf->request_flags;
    if (h->flags & HOLD_DETACHED) req->flags |= REQ_DETACHED;
    if (h->flags & HOLD_ETERNAL) req->flags |= REQ_NO_EXPIRY;
    if (h->flags & HOLD_QUEUES) req->flags |= REQ_QUEUE;
    if (h->flags & HOLD_WRITERS) req->flags |= REQ_WRITERS;
    if (h->flags & HOLD_UPGRADE) req->flags |= REQ_UPGRADE;
    if (send->op == OP_RELEASE && h->unsure && !MUTATED(LEAVES_SURE))
        req->flags |= REQ_UNSURE;
    if (send->op == OP_RENEW && h->op == HOLD_OP_ATTACH)
        req->flags |= REQ_ATTACH;
    req->attempt = send->attempt;
    req->ballot = send->ballot;
    if (send->op == OP_PROPOSE) req->block = send->block;
    if (send->op == OP_RENEW) req->fence = send->fence;
    req->count = send->count;
    req->lease_us = send->lease_us;
    req->window_us = h->conf->window_us;
    req->deadline_us = send->deadline_us;
    req->wanted_us = send->wanted_us;
    req->until_us = send->until_us;
    req->round = send->round;
}
