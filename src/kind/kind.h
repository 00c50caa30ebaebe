/*
 * kind.h: what makes one kind of lock differ from another.
 *
 * The machine is core/hold.c, for all of them; a kind is a row of data and the
 * shape of its requests.
 */
#ifndef HF_KIND_KIND_H
#define HF_KIND_KIND_H

#include "core/hold.h"

struct kind {
    const char *word;    /* "a read lock", for sentences */
    unsigned cap;        /* HF_CAP_* that a store needs for it; 0: none */
    unsigned hold_flags; /* HOLD_* that all its holds have */
    unsigned orders;     /* by bit, enum hf_order that it knows */
    int is_held;         /* 0: only waited for */
    int is_detachable;   /* a hold of it may outlive its process */
    int reenters;        /* its holder may acquire it once more */
};

const struct kind *hf__kind(enum lock_kind kind);

/* Fill what the machine decides of `req`, for the effect `send` of `h`. */
void hf__kind_shape(struct request *req, const struct hold *h,
                    const struct hold_send *send);

#endif
