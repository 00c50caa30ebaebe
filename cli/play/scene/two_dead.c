/*
 * play/scene/two_dead.c: two of five servers are dead, and the lock can be had
 * all the same; of one server it cannot.
 */
#include "play/play.h"

enum { A };

static void acts(struct play *p)
{
    int first = play_choose(p, play_is_naive(p) ? 1 : 5);
    store_dies(p, first);
    if (!play_is_naive(p)) store_dies(p, (first + 1 + play_choose(p, 4)) % 5);
    play_wait(p, 200);
    if (!client_waits(p, A, play_is_naive(p) ? 1000 : 20000)) {
        play_says(p, FAULT_STUCK, "nobody can get the lock");
        return;
    }
    play_says(p, FAULT_NONE, "client A gets the lock from the other three");
    play_wait(p, 400);
    client_releases(p, A);
}

const struct scene scene_two_dead = {
    .title = "Servers die: one alone, or two of five",
    .story = "Servers are killed. Then client A asks for the lock.",
    .naive_way = "one server has the lock, and is killed",
    .holdfast_way = "five independent servers, of which two are killed",
    .difference = "A majority of five is three: any two may be dead. Of one "
                  "server none may.",
    .faults = FAULT_STUCK,
    .clients = 1,
    .stores = 5,
    .naive_stores = 1,
    .lease_ms = 2000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
