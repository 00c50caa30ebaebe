/*
 * play/scene/late_release.c: client A releases after its lease has ended, and
 * the lock is already of client B.  DEL asks nobody.
 */
#include "play/play.h"

enum { A, B, C };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    /* When the lease of A has ended. */
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    play_wait(p, 100);
    client_releases(p, A);
    play_wait(p, 100);
    client_tries(p, C);
    play_wait(p, 200);
}

const struct scene scene_late_release = {
    .title = "A late release frees the lock of another holder",
    .story = "The lease of client A has ended, and client B has the lock. "
             "Then client A releases. Client C tries to get the lock.",
    .naive_way = "DEL lock, by anyone",
    .holdfast_way = "a release names its hold; the server compares",
    .difference = "DEL frees the lock of any holder. A release of holdfast "
                  "names its hold: if that has ended, nothing is changed, and "
                  "the caller is told.",
    .faults = FAULT_OVERLAP,
    .clients = 3,
    .stores = 1,
    .lease_ms = 800,
    .is_fixed = 1,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
