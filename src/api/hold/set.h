/*
 * hold/set.h: several holds behind one handle: a set of locks, or permits that
 * are a lock each.
 */
#ifndef HF_API_HOLD_SET_H
#define HF_API_HOLD_SET_H

#include "api/hold/handle.h"

#define HOLD_SET_MAX 64 /* parts */

struct hold_set {
    struct allocator alloc; /* a copy: parts may be of several clients */
    hf_hold *own;           /* reserved for the set, until it is claimed */
    size_t len;
    hf_hold *parts[]; /* handles of their own, released with the set */
};

/* Reserve memory and handles for `len` locks that are about to be acquired, so
 * that nothing can fail for lack of them afterwards; NULL if there is no
 * memory.  The client is kept open until the set is claimed or cancelled. */
struct hold_set *hf__set_reserve(hf_client *c, size_t len);
void hf__set_cancel(struct hold_set *set, hf_client *c);

/* Free a claimed set; parts that are still held are released. */
void hf__set_free(struct hold_set *set);

/* The hold that `holder` has of `lock`, on its store or on this host, gets the
 * reserved handle.  HF_OK; or the handle is cancelled: HF_CLOSED, or nothing is
 * held: HF_EXPIRED. */
int hf__set_claim_one(hf_hold *handle, hf_client *c, hf_lock *lock,
                      uint64_t holder, hf_hold **out, struct hf_error *err);

/* What `holder` has of these locks becomes one hold: the set, which is taken,
 * or for one lock the hold itself.  HF_OK; or HF_CLOSED, or HF_EXPIRED if one
 * is not held any more, and the others are given back. */
int hf__set_claim(struct hold_set *set, hf_client *c, hf_lock *const *locks,
                  uint64_t holder, hf_hold **out, struct hf_error *err);

/* RELEASE or EXTEND every part, all of one client in one flush, even if some
 * fail.  Returns the status of the first that failed.  A released set is empty
 * afterwards. */
int hf__set_run(struct hold_set *set, enum op_type type, int64_t lease_ms,
                struct hf_error *err);

/* The same, answered through `fn`; of a release the handle is taken if this
 * returns HF_OK. */
int hf__set_start(const struct grip *g, int64_t lease_ms, int is_release,
                  hf_hold_fn fn, void *user, struct hf_error *err);

#endif
