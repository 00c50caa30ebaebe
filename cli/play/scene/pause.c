/*
 * play/scene/pause.c: client A is granted the lock, looks whether it still has
 * it, and is stopped before it writes: by a garbage collection, a page fault,
 * or the lid of a laptop.  Its lease ends, client B is granted the lock and
 * writes.  Then A goes on, and writes.
 */
#include "play/play.h"

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
    .acts = acts_pause,
};
