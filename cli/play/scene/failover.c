/*
 * play/scene/failover.c: the primary dies before its replica has heard of the
 * lock.  The replica becomes the primary, and knows nothing.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    pair_lags(p);
    play_wait(p, 100);
    client_tries(p, A);
    play_wait(p, 200);
    pair_fails_over(p);
    pair_returns(p);
    play_wait(p, 100);
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    play_wait(p, 300);
}

const struct scene scene_failover = {
    .title = "A failover loses the lock",
    .story = "The replica lags behind. Client A is granted the lock by the "
             "primary, which dies. The replica becomes the primary, and "
             "client B asks it. The old primary comes back as its "
             "replica.",
    .naive_way = "SET lock A NX PX on the primary is enough",
    .holdfast_way = "wait=1: a grant counts when the replica has it",
    .difference = "Replication is asynchronous: a failover forgets what the "
                  "replica had not heard. With wait= nobody is told that it "
                  "has the lock before a replica has confirmed it.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 2,
    .is_pair = 1,
    .lease_ms = 20000,
    .query = "wait=1&timeout=2s&patience=2s",
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
