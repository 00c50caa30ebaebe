/*
 * play/scene/late_answer.c: the lock is granted at once, and the answer takes
 * longer than the lease.  A client that counts from the answer has a lock that
 * is another client's already.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_tries(p, A), "client A reaches the store"))
        return;
    client_releases(p, A);
    play_wait(p, 200);
    line_delays(p, 900);
    client_begins(p, A, 0);
    play_wait(p, 100);
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    client_got_it(p, A);
    play_wait(p, 200);
}

const struct scene scene_late_answer = {
    .title = "The answer is later than the lease is long",
    .story = "Client A asks for the lock, which is granted at once; but the "
             "answer is on its way for longer than the lease. Meanwhile client "
             "B is granted the lock.",
    .naive_way = "SET lock A NX PX; OK means that it is mine",
    .holdfast_way = "the lease counts from the moment the request was sent",
    .difference = "An answer says what was so when it was sent. holdfast "
                  "counts the lease from before its request: what arrives "
                  "after the lease is no grant.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 1,
    .is_far = 1,
    .lease_ms = 600,
    .is_fixed = 1,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
