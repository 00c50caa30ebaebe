/*
 * holdfast.h: distributed locks that tell the truth.
 *
 *     hf_client *c;  hf_lock *l;  struct hf_error err;
 *     hf_client_open("redis://127.0.0.1", NULL, &c, &err);
 *     hf_lock_open(c, "nightly-report", &l, &err);
 *     if (hf_lock_acquire(l, NULL, NULL, &err) == HF_OK) {
 *         ...
 *         hf_lock_release(l, NULL, &err);
 *     }
 *
 * Caveats, before anything else:
 *  - A lock with a lease cannot stop a paused process.  Send `grant.fence` with
 *    every write and let the resource refuse lower numbers: guard.h.
 *  - A client must not be used after fork() in the child; calls there return
 *    HF_FORKED.  Open a new one.
 *  - What is guaranteed depends on the backend: README, "What is guaranteed".
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include "status.h"
#include "version.h"
#include "client.h"
#include "lock.h"
#include "barrier.h"
#include "election.h"
#include "guard.h"
#include "latch.h"
#include "multi.h"
#include "once.h"
#include "probe.h"
#include "quorum.h"
#include "semaphore.h"
#include "value.h"

#endif
