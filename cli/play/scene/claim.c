/*
 * play/scene/claim.c: the pause of pause.c with a lock that has no fence.  The
 * holder claims the account with a token that no other holder has.
 */
#include "play/play.h"

const struct scene scene_claim = {
    .title = "Without a fence: a claim with a unique token",
    .story = "The lock has no fence. Client A has the lock and has just "
             "checked it. It is paused before its write, for longer than its "
             "lease. Meanwhile client B is granted the lock, and writes.",
    .naive_way = "SET lock A NX PX; the account takes every write",
    .holdfast_way = "hf_guard_claim() first, then hf_guard_set_claimed()",
    .difference = "Each holder writes a token of its own to the account "
                  "before it works, and each write compares it in one step: "
                  "the claim of B has replaced that of A. A fence is stronger: "
                  "a client that is paused before its claim would take the "
                  "account from B.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .has_claims = 1,
    .lease_ms = 900,
    .query = "format=string&fence=off&patience=20s&timeout=20s",
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts_pause,
};
