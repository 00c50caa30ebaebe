/*
 * gate.h: what latches and barriers have in common: they are lock objects of
 * another kind, under a name of their own so that the compiler tells them
 * apart, and are waited for in the same way.
 */
#ifndef HF_API_GATE_H
#define HF_API_GATE_H

#include "api/client/client.h"
#include "holdfast/wait.h"

/* Open a lock object of this kind; HF_UNSUPPORTED if the store lacks it. */
int hf__gate_open(hf_client *client, enum lock_kind kind, const char *name,
                  hf_lock **out, struct hf_error *err);

/* Prepare an operation that waits as `given` says, with a new holder id. */
int hf__gate_prepare(struct op *op, const hf_lock *lock,
                     const struct hf_wait_options *given, struct hf_error *err);

#endif
