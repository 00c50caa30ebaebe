/*
 * play/scene/pause.c: client A is granted the lock, looks whether it still has
 * it, and is stopped before it writes: by a garbage collection, a page fault,
 * or the lid of a laptop.  Its lease ends, client B is granted the lock and
 * writes.  Then A goes on, and writes.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock")
        || !play_needs(p, client_checks(p, A), "client A still has it"))
        return;
    play_wait(p, 200);
    client_pauses(p, A);
    play_wait(p, 200);
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    play_wait(p, 200);
    client_writes(p, B);
    play_wait(p, 200);
    client_resumes(p, A);
    client_writes(p, A);
    play_wait(p, 200);
    client_releases(p, B);
}

const struct scene scene_pause = {
    .title = "A holder is paused past its lease, and then writes",
    .story = "Client A has the lock and has just checked it. It is paused "
             "before its write, for longer than its lease. Meanwhile client B "
             "is granted the lock, and writes.",
    .naive_way = "SET lock A NX PX; the account takes every write",
    .holdfast_way = "the account refuses a fence that is too low",
    .difference = "No lock can stop a process that is paused between its check "
                  "and its write. The resource can: every grant has a higher "
                  "fence, and the account refuses a write with a lower one "
                  "than it has seen.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .lease_ms = 900,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
