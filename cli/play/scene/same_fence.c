/*
 * play/scene/same_fence.c: the server that counts the fences forgets, and
 * counts from 1 again.  Two holders have the same fence, and the account cannot
 * tell them apart.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 200);
    store_dies(p, 0);
    play_wait(p, 100);
    store_restarts(p, 0, 1);
    play_wait(p, 100);
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    play_wait(p, 200);
    if (!play_needs(p, client_writes(p, B), "client B has written")) return;
    play_wait(p, 200);
    client_writes(p, A);
    play_wait(p, 200);
}

const struct scene scene_same_fence = {
    .title = "Two holders with the same fence",
    .story = "Client A has the lock. The server is killed, and comes back with "
             "an empty disk. Client B is granted the lock, and writes. Then "
             "client A writes.",
    .naive_way = "INCR fence after each grant; the account refuses lower ones",
    .holdfast_way = "a fence is never below the server's clock",
    .difference = "A counter is kept where the lock is, and is lost with it: "
                  "then the next holder has the fence of a former one. The "
                  "fences of holdfast begin at the server's clock, in "
                  "microseconds, so they go on rising also after the counter "
                  "is lost.",
    .faults = FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .naive_token = "INCR fence",
    .naive_write = "EVAL \"if tonumber(redis.call('GET', KEYS[1]) or 0) > "
                   "tonumber(ARGV[1]) then return 0 end "
                   "redis.call('SET', KEYS[1], ARGV[1]) "
                   "redis.call('SET', KEYS[2], ARGV[2]) return 1\" "
                   "2 account:fence account $token $me",
    .acts = acts,
};
