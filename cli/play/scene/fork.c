/*
 * play/scene/fork.c: a client forks while it has the lock.  Its child has a
 * copy of all it knows, ends soon, and cleans up: it releases the lock.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 300);
    client_forks(p, A);
    play_wait(p, 100);
    client_waits(p, B, 400);
    play_wait(p, 200);
    client_releases(p, A);
    if (play_is_naive(p)) return;
    play_wait(p, 100);
    play_needs(p, client_waits(p, B, 20000), "client B has the lock at last");
    play_wait(p, 200);
}

const struct scene scene_fork = {
    .title = "A fork, and a child that cleans up",
    .story = "Client A has the lock and forks a child, which ends soon and "
             "releases, as programs do at their end, what it knows of. Client "
             "B waits for the lock.",
    .naive_way = "DEL lock at the end of each process that knows of it",
    .holdfast_way = "a handle of the parent is refused in the child",
    .difference = "After a fork two processes have the same lock, value and "
                  "name. holdfast knows which process acquired: in a child "
                  "every call on the parent's handles returns HF_FORKED, and "
                  "the store is not asked.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 1,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
