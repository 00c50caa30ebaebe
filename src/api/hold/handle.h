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
    struct slot *slot;    /* a hold of the engine; or NULL */
    struct hold_set *set; /* several holds; or NULL */
};

/* Reserve a handle for something that is about to be acquired, and keep the
 * client open until one of the two below.  HF_OK or HF_NOMEM. */
int hf__handle_reserve(hf_client *c, hf_hold **out);
/* It is granted: the handle stands for it.  HF_OK, or HF_CLOSED: the client is
 * being closed, and waits until the handle is cancelled: let go of what was
 * granted before that. */
int hf__handle_fill(hf_hold *handle, hf_client *c, const struct grip *grip);
/* It is not. */
void hf__handle_cancel(hf_hold *handle, hf_client *c);

/* hold.c: what `by` says was granted, and is pinned for it, gets the reserved
 * handle.  HF_OK, or HF_CLOSED with `err` filled: it is let go. */
int hf__hold_given(hf_hold *handle, hf_client *c, const struct grip *by,
                   hf_hold **out, struct hf_error *err);

/* The handle is gone; what it stands for is not released by that. */
void hf__hold_forget(hf_hold *hold);

/* An operation on the hold that is in hand. */
void hf__hold_op(struct op *op, enum op_type type, const struct grip *g);

/* The same, started: made with the hold in hand, which it pins.  Then it goes,
 * and is freed when it is over or, HF_CLOSED, cannot go; or it is freed. */
struct started;
struct started *hf__started_new(enum op_type type, const struct grip *g,
                                int64_t lease_ms, hf_hold_fn fn, void *user,
                                struct hf_error *err);
/* It is one of several: the text of its error begins with "lock NAME: ". */
void hf__started_as_part(struct started *s);
int hf__started_go(struct started *s, struct hf_error *err);
/* Also if the client is being closed: the callback receives HF_CLOSED. */
void hf__started_go_anyway(struct started *s);
void hf__started_free(struct started *s);

/* Take a handle in hand: what it stands for is not freed meanwhile.  0, or -1:
 * it stands for nothing.  `is_last`: nobody can take it from now on, and what
 * it stands for is let go when the last has dropped it. */
int hf__handle_take(hf_hold *handle, struct grip *out, int is_last);
void hf__handle_drop(const struct grip *grip);

/* The client is being closed: none of its handles can be taken from now on;
 * then wait for those that are in hand; then let go of what they stood for. */
void hf__handles_shut(hf_client *c);
/* 1: there are none; 0: some are still in hand, and the client's loop, which is
 * the program's, is to be run for them. */
int hf__handles_wait(hf_client *c);
void hf__handles_free(hf_client *c);

#endif
