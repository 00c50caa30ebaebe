/*
 * mixer.h: our part in thousands of random acquisitions by everybody at once.
 * One rule: the counter is read and written in two steps, so that only the lock
 * can keep it right; a fence must be above all fences seen before it.
 */
#ifndef HF_TEST_MIXER_H
#define HF_TEST_MIXER_H

#include "peer.h"

#define MIXER_MS 200000 /* until everybody is through */

/* One thread of ours; `seen` is a connection's worth of room of its own. */
struct mixer {
    uint32_t seed;
    int rounds;
    int has_fence; /* or its URL says fence=off */
    hf_lock *lock;
    struct lab_server seen;
    char wrong[128]; /* "": nothing */
};

/* Start one on a thread of the rig; its lock is `a`.  Static. */
void mixer_start(struct mixer *m, const struct lab_server *server, hf_client *c,
                 uint32_t seed, int rounds);

/* The same in a process of its own, with its own client of `url`; it begins
 * when it is told anything and ends with the line "exact". */
struct mixer_process {
    const struct lab_server *server;
    const char *url;
    uint32_t seed;
    int rounds;
    int has_fence;
};

/* Start it, before the test opens a client; both static. */
void mixer_process_start(struct lab_proc *p, const struct mixer_process *conf);

#endif
