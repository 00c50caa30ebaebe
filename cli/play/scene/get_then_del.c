/*
 * play/scene/get_then_del.c: client A looks whether the lock is its own, and
 * then deletes it: in between its lease ends.
 */
#include "play/play.h"

enum { A, B, C };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 200);
    if (play_is_naive(p)) {
        client_says(p, A, "GET lock");
        client_ends(p, A, "GET lock: it is mine");
    }
    client_pauses(p, A);
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    play_wait(p, 100);
    client_resumes(p, A);
    if (play_is_naive(p))
        client_says(p, A, "DEL lock");
    else
        client_releases(p, A);
    play_wait(p, 100);
    client_tries(p, C);
    play_wait(p, 200);
}

const struct scene scene_get_then_del = {
    .title = "GET, then DEL: the lock changes hands in between",
    .story = "Client A wants to release, and is paused just before. Its lease "
             "ends, and client B has the lock. Then A goes on. Client C tries "
             "to get the lock.",
    .naive_way = "GET lock; if it is mine: DEL lock",
    .holdfast_way = "the server compares and deletes in one step",
    .difference = "Between GET and DEL anything may happen. holdfast's release "
                  "is a script: the server compares and deletes in one step.",
    .faults = FAULT_OVERLAP,
    .clients = 3,
    .stores = 1,
    .lease_ms = 800,
    .is_fixed = 1,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
