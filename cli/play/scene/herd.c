/*
 * play/scene/herd.c: many clients wait for one lock.  Those that ask again and
 * again keep the server busy; those that are woken ask when it is of use.
 */
#include "play/play.h"

#include <stdio.h>

#define WAITERS 7
#define ASKS_FEW 6 /* of each: when it comes, and after wake-ups */

static void acts(struct play *p)
{
    const char *command = play_is_naive(p) ? "set" : "evalsha";
    char text[EVENT_TEXT_MAX];
    if (!play_needs(p, client_waits(p, 0, 20000), "client A has the lock"))
        return;
    int64_t before = store_counts(p, 0, command);
    for (int i = 1; i <= WAITERS; i++) client_begins(p, i, 60000);
    play_wait(p, 1500);
    int64_t asks = store_counts(p, 0, command) - before;
    snprintf(text, sizeof(text), "%d waiters asked %lld times in vain", WAITERS,
             (long long)asks);
    store_notes(p, 0, text);
    play_says(p, asks > ASKS_FEW * WAITERS ? FAULT_HERD : FAULT_NONE, text);
    client_releases(p, 0);
    play_wait(p, 200);
}

const struct scene scene_herd = {
    .title = "Many waiters: asking again and again, or being woken",
    .story = "Client A has the lock, and seven clients wait for it.",
    .naive_way = "SET lock B NX PX, again each 5 ms",
    .holdfast_way = "a release wakes a waiter",
    .difference = "Waiters that poll load the server, and get the lock late. "
                  "holdfast's waiters sleep until the release tells them, or "
                  "the lease ends.",
    .faults = FAULT_HERD,
    .clients = WAITERS + 1,
    .stores = 1,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
