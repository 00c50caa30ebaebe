/*
 * play/scene/order.c: seven clients come one after the other, and wait.  Those
 * that poll are served as chance has it; a fair lock serves them in order.
 */
#include "play/play.h"

#include <stdio.h>
#include <stdlib.h>

#define WAITERS 7
#define LOOKS 2000 /* for a waiter to take its place: 10 s */

/* Until the waiter is in the store's queue, which ends with an empty place. */
static int has_place(struct play *p, int waiter)
{
    for (int i = 0; i < LOOKS; i++) {
        const char *len = store_says(p, 0, "ZCARD holdfast_queue:{lock}");
        if (strtol(len, NULL, 10) > waiter) return 1;
        play_wait(p, 5);
    }
    return 0;
}

static void acts(struct play *p)
{
    int overtaken = 0, last = 0;
    char text[EVENT_TEXT_MAX];
    if (!play_needs(p, client_waits(p, 0, 20000), "client A has the lock"))
        return;
    for (int i = 1; i <= WAITERS; i++) {
        client_begins(p, i, 60000);
        play_wait(p, 100);
        if (!play_is_naive(p)
            && !play_needs(p, has_place(p, i), "a waiter is in the queue"))
            return;
    }
    client_releases(p, 0);
    for (int i = 1; i <= WAITERS; i++) {
        int next = client_next(p);
        if (!play_needs(p, client_got_it(p, next), "all waiters are served"))
            return;
        overtaken += next < last;
        last = next;
        play_wait(p, 60);
        client_releases(p, next);
    }
    snprintf(text, sizeof(text),
             overtaken ? "waiters were overtaken" : "all were served in order");
    play_says(p, overtaken ? FAULT_UNFAIR : FAULT_NONE, text);
}

const struct scene scene_order = {
    .title = "Waiters are overtaken by those that came later",
    .story = "Client A has the lock. Seven clients come one after the other, "
             "and wait. Each of them holds the lock for a moment.",
    .naive_way = "SET lock B NX PX, again each 5 ms",
    .holdfast_way = "a fair lock: the store keeps the order of arrival",
    .difference = "A waiter that polls gets the lock if it asks at the right "
                  "moment, not if it came first. A fair lock is handed to the "
                  "waiter that has waited longest, on any machine.",
    .faults = FAULT_UNFAIR,
    .clients = WAITERS + 1,
    .stores = 1,
    .is_fair = 1,
    .lease_ms = 20000,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
