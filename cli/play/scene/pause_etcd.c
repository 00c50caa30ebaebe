/*
 * play/scene/pause_etcd.c: the pause of pause.c with a lock on etcd, where each
 * grant is agreed on by a majority and on disk.  The lease ends all the same.
 */
#include "play/play.h"

const struct scene scene_pause_etcd = {
    .title = "etcd: the lease of a client that is paused",
    .story = "Client A has the lock on etcd and has just checked it. It is "
             "paused before its write, for longer than its lease. Meanwhile "
             "client B is granted the lock, and writes.",
    .naive_way = "a lease, and a transaction that puts the key if it is free",
    .holdfast_way = "the same store, and the account checks the fence",
    .difference = "Consensus keeps the servers of one opinion. It does not "
                  "reach a client that is paused, and the account does not ask "
                  "etcd. The fence is etcd's revision, which rises with each "
                  "grant, and the account compares it.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .is_etcd = 1,
    .has_resource = 1,
    .lease_ms = 2000,
    .naive = {"lock", "unlock"},
    .acts = acts_pause,
};
