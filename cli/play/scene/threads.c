/*
 * play/scene/threads.c: a lock that its owner may acquire again, where the
 * owner is the process.  Two threads of it have the lock at once.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    if (!play_needs(p, client_waits(p, A, 20000), "thread A has the lock"))
        return;
    play_wait(p, 300);
    int is_shared = client_waits(p, B, 400);
    play_wait(p, 300);
    client_releases(p, A);
    if (is_shared) return;
    play_wait(p, 100);
    play_needs(p, client_waits(p, B, 20000), "thread B has the lock at last");
    play_wait(p, 200);
}

const struct scene scene_threads = {
    .title = "Reentrant for a process: two threads have the lock",
    .story = "Thread A has the lock. Thread B of the same process asks for "
             "it, while A works.",
    .naive_way = "a script grants the lock to its owner again: the process",
    .holdfast_way = "the holder is the thread that calls",
    .difference = "A process is not a holder: its threads work at the same "
                  "time. In holdfast each thread is a holder of its own, in "
                  "the process and in the store, unless the program names "
                  "another one.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 1,
    .has_threads = 1,
    .lease_ms = 20000,
    .naive = {"EVAL \"local owner = redis.call('GET', KEYS[1]) "
              "if owner and owner ~= ARGV[1] then return 0 end "
              "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1\" "
              "1 lock A $lease",
              "DEL lock"},
    .acts = acts,
};
