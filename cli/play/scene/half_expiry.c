/*
 * play/scene/half_expiry.c: SETNX, then EXPIRE, as two commands: client A
 * crashes in between, and nothing gives the lock an end.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (play_is_naive(p)) {
        client_says(p, A, "SETNX lock $me");
        client_believes(p, A, "SETNX lock A");
    } else {
        client_tries(p, A);
    }
    play_wait(p, 100);
    client_dies(p, A); /* it would have sent EXPIRE next */
    play_wait(p, 100);
    if (!client_waits(p, B, play_is_naive(p) ? 2000 : 20000))
        play_says(p, FAULT_STUCK,
                  "client B never gets the lock: EXPIRE was never sent");
    else
        play_says(p, FAULT_NONE,
                  "client B gets the lock when the lease of A has ended");
    play_wait(p, 200);
}

const struct scene scene_half_expiry = {
    .title = "A holder crashes between SETNX and EXPIRE",
    .story = "Client A sends SETNX and is killed before it sends EXPIRE. "
             "Client B waits for the lock.",
    .naive_way = "SETNX lock A, then EXPIRE lock",
    .holdfast_way = "the lock and its lease are made in one step",
    .difference = "What needs two commands can stop between them. The server "
                  "makes the lock and its lease in one step, or neither.",
    .faults = FAULT_STUCK,
    .clients = 2,
    .stores = 1,
    .lease_ms = 900,
    .naive = {"SETNX lock $me", "DEL lock"},
    .acts = acts,
};
