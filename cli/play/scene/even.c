/*
 * play/scene/even.c: four servers, of which half are up at a time.  If half of
 * them were enough, both halves would grant the lock.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    store_dies(p, 2);
    store_dies(p, 3);
    play_wait(p, 100);
    client_waits(p, A, 1000);
    play_wait(p, 200);
    store_dies(p, 0);
    store_dies(p, 1);
    store_restarts(p, 2, 0);
    store_restarts(p, 3, 0);
    play_wait(p, 100);
    client_waits(p, B, 1000);
    play_wait(p, 200);
    if (play_is_naive(p)) return;
    store_restarts(p, 0, 0);
    play_wait(p, 100);
    play_needs(p, client_waits(p, B, 20000), "three servers grant the lock");
    play_wait(p, 200);
}

const struct scene scene_even = {
    .title = "An even number of servers: half is not enough",
    .story = "Of four servers two are up, and client A asks for the lock. "
             "Then these two fail and the other two are up, and client B asks. "
             "All of them keep their data.",
    .naive_way = "SET lock A NX PX on each of four; two grants count",
    .holdfast_way = "more than half must grant: three of four",
    .difference = "Two halves have no server in common, so both can grant the "
                  "lock. Any two majorities share a server, which grants it "
                  "once. A majority of four is three: the fourth server makes "
                  "the lock no safer against failures than three do. Take an "
                  "odd number.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 4,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .naive_needs = 2,
    .acts = acts,
};
