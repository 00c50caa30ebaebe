/*
 * handle.h: the handles that callers have of their holds.
 *
 * A handle is a number in the shape of a pointer: a place in one table of the
 * process, and the generation of what is there.  A handle that was released,
 * or whose client was closed, therefore never matches what came after it.
 *
 * The rule: the table's mutex is taken with no other lock held, and no other
 * lock is taken inside it.
 */
#ifndef HF_API_HANDLE_H
#define HF_API_HANDLE_H

#include "api/client/client.h"
#include "holdfast/hold.h"

struct hold_set;

/* What a handle stands for.  Its client is not freed while it is in hand. */
struct grip {
    hf_hold *handle;
    hf_client *client;
    struct seat *seat;    /* a hold of the engine; or NULL */
    struct hold_set *set; /* several holds; or NULL */
};

/* Reserve a handle for something that is about to be acquired, and keep the
 * client open until one of the two below.  HF_OK or HF_NOMEM. */
int hf__handle_reserve(hf_client *c, hf_hold **out);
/* The acquire was granted: the handle stands for the hold.  HF_OK; or HF_CLOSED
 * if the client is being closed.  The client then waits until the handle is
 * cancelled: let go of what was granted first. */
int hf__handle_fill(hf_hold *handle, hf_client *c, const struct grip *grip);
/* The acquire was not granted. */
void hf__handle_cancel(hf_hold *handle, hf_client *c);

/* Give the reserved handle to the hold in `by`, which was granted and
 * is pinned for this.  HF_OK; or HF_CLOSED with `err` filled, and the hold is
 * unpinned. */
int hf__handle_given(hf_hold *handle, hf_client *c, const struct grip *by,
                     hf_hold **out, struct hf_error *err);

/* The handle is gone; what it stands for is not released by that. */
void hf__handle_forget(hf_hold *hold);

/* Take a handle in hand: what it stands for is not freed until the handle is
 * dropped.  0; or -1 if the handle is stale.  With `is_last` no other call can
 * take it any more, and what it stands for is let go when the last call has
 * dropped it. */
int hf__handle_take(hf_hold *handle, struct grip *out, int is_last);
void hf__handle_drop(const struct grip *grip);

/* The client is being closed: none of its handles can be taken from now on;
 * then wait for those that are in hand; then let go of what they stood for. */
void hf__handles_shut(hf_client *c);
/* 1 if no handle is in hand any more.  0 if some still are: the client has no
 * thread (HF_CLIENT_OWN_LOOP), so the caller must process it for them. */
int hf__handles_wait(hf_client *c);
void hf__handles_free(hf_client *c);

#endif
