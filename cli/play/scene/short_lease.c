/*
 * play/scene/short_lease.c: the work takes longer than the lease.  Without a
 * renewal the lock goes to client B in the middle of the work of client A.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    client_begins(p, B, 60000);
    play_wait(p, 1500); /* A works */
    if (play_is_naive(p)) {
        client_got_it(p, B);
        client_writes(p, B);
    }
    play_wait(p, 100);
    client_writes(p, A);
    client_releases(p, A);
    if (play_is_naive(p)) return;
    client_got_it(p, B);
    play_wait(p, 200);
    client_writes(p, B);
    play_wait(p, 200);
    client_releases(p, B);
}

const struct scene scene_short_lease = {
    .title = "The work takes longer than the lease",
    .story = "Client A works for longer than its lease, and writes at the "
             "end. Client B waits for the lock.",
    .naive_way = "SET lock A NX PX, with a lease that should be enough",
    .holdfast_way = "the lease is renewed while the holder works",
    .difference = "No fixed lease is long enough for all work and short enough "
                  "for a crash. holdfast renews it after each third of its "
                  "length, and tells the holder if that fails.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .lease_ms = 700,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
