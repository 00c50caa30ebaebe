/*
 * ticket.h: holds that leave their process: by a ticket, or by a descriptor.
 */
#ifndef HF_API_TICKET_H
#define HF_API_TICKET_H

#include "api/client/client.h"

/* Let go of the hold without a release, and write its ticket; nothing is
 * changed unless this returns HF_OK. */
int hf__attach_ticket_of(hf_client *c, struct seat *s, char *ticket,
                         size_t size, struct hf_error *err);

/* Prepare an operation that takes over the hold of the ticket, and reserve its
 * handle.  HF_OK, or what is wrong. */
int hf__attach_prepare(struct op *op, hf_lock *lock, const char *ticket,
                       int64_t permits, int64_t lease_ms, struct hf_error *err);

/* A copy of the descriptor of its kernel lock. */
int hf__inherit_of(hf_client *c, struct seat *s, int *out_fd,
                   struct hf_error *err);

#endif
