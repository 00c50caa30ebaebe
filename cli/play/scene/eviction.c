/*
 * play/scene/eviction.c: the server is also a cache.  Its memory is full, and
 * of all keys with an expiry it throws away the one that ends first: the lock.
 */
#include "play/play.h"

#include <stdio.h>
#include <string.h>

enum { A, B };

/* Until the lock is gone; 1 if that was seen. */
static int cache_fills(struct play *p)
{
    for (int i = 0; i < 4000; i++) {
        char command[96];
        snprintf(command, sizeof(command),
                 "EVAL 'redis.call(\"SET\",KEYS[1],(\"x\"):rep(20000),\"EX\","
                 "9000)' 1 page:%d",
                 i);
        store_says(p, 0, command);
        if (strcmp(store_says(p, 0, "EXISTS lock"), "0") == 0) return 1;
    }
    return 0;
}

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock"))
        return;
    play_wait(p, 200);
    store_notes(p, 0, "the cache grows");
    if (!play_needs(p, cache_fills(p), "the lock is evicted")) return;
    store_notes(p, 0, "the lock was evicted");
    if (!play_needs(p, client_tries(p, B), "client B has the lock")) return;
    client_writes(p, B);
    client_writes(p, A);
    play_wait(p, 200);
}

static const char *const args[] = {"--maxmemory", "5mb", "--maxmemory-policy",
                                   "volatile-ttl", NULL};

const struct scene scene_eviction = {
    .title = "A cache that is full throws the lock away",
    .story = "The server of the lock is also a cache, with maxmemory-policy "
             "volatile-ttl. The cache grows until the lock is evicted. Client "
             "B is granted it, and writes. Then client A writes.",
    .naive_way = "SET lock A NX PX; the account takes every write",
    .holdfast_way = "the account refuses a fence that is too low",
    .difference = "No client can keep a server from forgetting: holdfast "
                  "notices it at the next renewal, and the fence protects the "
                  "account until then. Use noeviction for locks; holdfast "
                  "doctor looks for it.",
    .faults = FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .lease_ms = 3000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .store_args = args,
    .acts = acts,
};
