/*
 * play/scene/pause_quorum.c: the pause of pause.c with a lock on three servers
 * (Redlock): more servers do not help against it, the fence does.
 */
#include "play/play.h"

const struct scene scene_pause_quorum = {
    .title = "Redlock: a pause between the grant and the write",
    .story = "Three servers have granted the lock to client A, which has just "
             "checked it. It is paused before its write, for longer than its "
             "lease. Meanwhile client B is granted the lock, and writes.",
    .naive_way = "SET lock A NX PX on each server; a majority counts",
    .holdfast_way = "the same majority, and the account checks the fence",
    .difference = "A majority protects against servers that fail, not against "
                  "a client that is paused. The fence of a quorum rises from "
                  "grant to grant as that of one server does, and the account "
                  "refuses the write of A.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 3,
    .has_resource = 1,
    .lease_ms = 900,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts_pause,
};
