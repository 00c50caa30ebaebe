/*
 * play/scene/crash.c: client A takes the lock and crashes.  SETNX has no
 * expiry: the lock belongs to a dead client for ever.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_tries(p, A), "client A has the lock")) return;
    play_wait(p, 300);
    client_dies(p, A);
    play_wait(p, 100);
    if (!client_waits(p, B, play_is_naive(p) ? 2000 : 20000))
        play_says(p, FAULT_STUCK,
                  "client B never gets the lock: its holder is dead");
    else
        play_says(p, FAULT_NONE,
                  "client B gets the lock when the lease of A has ended");
    play_wait(p, 200);
}

const struct scene scene_crash = {
    .title = "A holder crashes, and its lock has no expiry",
    .story = "Client A has the lock and is killed. Client B waits for the "
             "lock.",
    .naive_way = "SETNX lock A; DEL lock when done",
    .holdfast_way = "every lock has a lease, which its client renews",
    .difference = "A lock without an expiry outlives its holder. A lease ends "
                  "by itself soon after its holder is gone, and is renewed "
                  "while the holder lives.",
    .faults = FAULT_STUCK,
    .clients = 2,
    .stores = 1,
    .lease_ms = 900,
    .naive = {"SETNX lock $me", "DEL lock"},
    .acts = acts,
};
