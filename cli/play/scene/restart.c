/*
 * play/scene/restart.c: the server of the lock crashes and is started again.
 * Without a disk it knows of no lock; with one that was written before each
 * answer it knows of all.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 300);
    store_dies(p, 0);
    play_wait(p, 200);
    store_restarts(p, 0, 0);
    play_wait(p, 100);
    client_waits(p, B, 600);
    play_wait(p, 300);
}

static const char *const forgets[] = {"--save", "", "--appendonly", "no", NULL};
static const char *const keeps[] = {"--appendonly", "yes", "--appendfsync",
                                    "always", NULL};

const struct scene scene_restart = {
    .title = "The server crashes, restarts, and knows of no lock",
    .story = "Client A has the lock. The server is killed, and is started "
             "again at once. Client B asks for the lock.",
    .naive_way = "SET lock A NX PX, on a server without persistence",
    .holdfast_way = "the same server, with appendfsync always",
    .difference = "A lock is no cache entry: a server that has granted it must "
                  "still know it after a crash. With appendfsync always each "
                  "grant is on disk before it is answered; holdfast doctor "
                  "looks for it.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 1,
    .lease_ms = 20000,
    .store_args = keeps,
    .naive_args = forgets,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
