/*
 * kind.c: what makes one kind of lock differ from another: a row of data, and
 * the shape of its requests.
 */
#include "kind/kind.h"

#include "core/mutation.h"

#define ANY (1u << HF_ORDER_ANY)
#define FAIR (ANY | 1u << HF_ORDER_FAIR)
#define WRITERS (FAIR | 1u << HF_ORDER_WRITERS)

static const struct kind kinds[KINDS_LEN] = {
    /* One holder at a time, which may acquire it again. */
    [KIND_PLAIN] = {.word = "a plain lock",
                    .orders = FAIR,
                    .is_held = 1,
                    .is_detachable = 1,
                    .reenters = 1},
    /* The two sides of a read/write lock.  A holder that writes may read, too;
     * one that reads becomes the writer only as the last reader, at once. */
    [KIND_READ] = {.word = "a read lock",
                   .cap = HF_CAP_RW,
                   .hold_flags = HOLD_SHARED,
                   .orders = WRITERS,
                   .is_held = 1,
                   .reenters = 1},
    [KIND_WRITE] = {.word = "a write lock",
                    .cap = HF_CAP_RW,
                    .orders = WRITERS,
                    .is_held = 1,
                    .reenters = 1},
    /* Every acquire makes a holder of its own; what one acquire got is given
     * back as a whole. */
    [KIND_PERMIT] = {.word = "a semaphore",
                     .cap = HF_CAP_PERMIT,
                     .hold_flags = HOLD_MANY,
                     .orders = FAIR,
                     .is_held = 1,
                     .is_detachable = 1},
    /* What is waited for and then not held: a counter to be high enough, a
     * latch to come to zero, the other parties of a barrier. */
    [KIND_COUNT] = {.word = "a plain counter",
                    .cap = HF_CAP_TALLY,
                    .hold_flags = HOLD_ONCE | HOLD_MANY,
                    .orders = ANY},
    [KIND_LATCH] = {.word = "a latch",
                    .cap = HF_CAP_TALLY,
                    .hold_flags = HOLD_ONCE | HOLD_SHARED | HOLD_LOOKS,
                    .orders = ANY},
    /* A party that gives up must be taken off again, as from a queue. */
    [KIND_BARRIER] = {.word = "a barrier",
                      .cap = HF_CAP_TALLY,
                      .hold_flags = HOLD_ONCE | HOLD_SHARED | HOLD_QUEUES,
                      .orders = ANY},
};

const struct kind *hf__kind(enum lock_kind kind)
{
    return &kinds[kind];
}

void hf__kind_shape(struct request *req, const struct hold *h,
                    const struct hold_send *send)
{
    req->verb = send->verb;
    req->flags = h->conf->request_flags;
    if (h->flags & HOLD_DETACHED) req->flags |= REQ_DETACHED;
    if (h->flags & HOLD_ETERNAL) req->flags |= REQ_NO_EXPIRY;
    if (h->flags & HOLD_QUEUES) req->flags |= REQ_QUEUE;
    if (h->flags & HOLD_WRITERS) req->flags |= REQ_WRITERS;
    if (h->flags & HOLD_UPGRADE) req->flags |= REQ_UPGRADE;
    if (send->verb == VERB_RELEASE && h->unsure && !MUTATED(LEAVES_SURE))
        req->flags |= REQ_UNSURE;
    if (send->verb == VERB_RENEW && h->wish == WISH_ATTACH)
        req->flags |= REQ_ATTACH;
    req->attempt = send->attempt;
    req->ballot = send->ballot;
    if (send->verb == VERB_PROPOSE) req->block = send->block;
    if (send->verb == VERB_RENEW) req->fence = send->fence;
    req->count = (int32_t)send->count;
    req->lease_us = send->lease_us;
    req->window_us = h->conf->window_us;
    req->deadline_us = send->deadline_us;
    if (send->verb == VERB_PROPOSE)
        req->wanted_us = send->wanted_us;
    else
        req->until_us = send->until_us;
    req->round = send->round;
}
