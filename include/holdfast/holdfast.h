/*
 * holdfast.h: distributed locks; includes all other headers.
 *
 *     hf_client *client;
 *     hf_lock *lock;
 *     hf_hold *hold;
 *     struct hf_error err;
 *     if (hf_client_open("redis://127.0.0.1", NULL, &client, &err) != HF_OK)
 *         return;
 *     if (hf_lock_open(client, "nightly-report", &lock, &err) == HF_OK
 *         && hf_lock_acquire(lock, NULL, &hold, &err) == HF_OK) {
 *         write_with_token(hf_hold_fence(hold));
 *         hf_hold_release(hold, &err);
 *     }
 *     hf_client_close(client);
 *
 * Read these limits first:
 *  - A lock with a lease cannot stop a paused process.  Send hf_hold_fence()
 *    with every write, and let the resource refuse lower tokens: guard.h.
 *  - A client must not be used in the child after fork(): calls there return
 *    HF_FORKED.  Open a new client in the child.
 *  - What is guaranteed depends on the backend: README, "What is guaranteed".
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include "status.h"
#include "version.h"
#include "client.h"
#include "hold.h"
#include "lock.h"
#include "barrier.h"
#include "election.h"
#include "guard.h"
#include "latch.h"
#include "multi.h"
#include "once.h"
#include "orders.h"
#include "probe.h"
#include "quorum.h"
#include "schema.h"
#include "semaphore.h"
#include "stats.h"
#include "stock.h"
#include "value.h"

#endif
