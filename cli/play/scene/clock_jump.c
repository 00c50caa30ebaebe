/*
 * play/scene/clock_jump.c: the clock of one server jumps forward, and the lease
 * that it has granted ends at once.  It votes again, for another client.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, B, 20000),
                    "client B has used it before"))
        return;
    client_releases(p, B);
    play_wait(p, 100);
    store_dies(p, 2); /* A is granted the lock by the other two */
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 200);
    store_restarts(p, 2, 0);
    store_jumps(p, 1, 60);
    play_wait(p, 100);
    client_tries(p, B);
    play_wait(p, 300);
}

const struct scene scene_clock_jump = {
    .title = "Redlock: the clock of a server jumps forward",
    .story = "Two of three servers grant the lock to client A. The clock of "
             "one of them jumps an hour forward, so that the lease ends there. "
             "Client B asks all three.",
    .naive_way = "SET lock A NX PX on each server; a majority counts",
    .holdfast_way = "the same majority, without a server whose clock jumped",
    .difference = "A lease is as true as the clock that counts it. Each reply "
                  "to holdfast has the server's time. If that has jumped, the "
                  "server does not vote for as long as a lease may last.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 3,
    .has_clocks = 1,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
