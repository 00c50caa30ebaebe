/*
 * play/scene/forgetful.c: a server of three restarts without its data, and
 * votes again for another client.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    store_dies(p, 2); /* A is granted the lock by the other two */
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 200);
    store_restarts(p, 2, 0);
    store_dies(p, 1);
    store_restarts(p, 1, 1);
    play_wait(p, 100);
    client_waits(p, B, 1500);
    play_wait(p, 300);
}

const struct scene scene_forgetful = {
    .title = "A server restarts without its data, and votes again",
    .story = "Two of three servers grant the lock to client A. One of them "
             "restarts with an empty disk. Client B asks all three.",
    .naive_way = "SET lock A NX PX on each server; a majority counts",
    .holdfast_way = "the same majority, but an emptied server may not vote",
    .difference = "A server that has forgotten its vote gives it twice. "
                  "holdfast marks each member; one that comes back without "
                  "its mark may not vote until it is safe.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 3,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
