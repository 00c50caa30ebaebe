/*
 * turns.h: our part in hundreds of acquisitions by several programs at once,
 * where there is no Redis for the counter.  One rule: the counter, a number in
 * a file, is read and written in two steps, so that only the lock can keep it
 * right; and our fences rise, if the store has any.
 */
#ifndef HF_TEST_TURNS_H
#define HF_TEST_TURNS_H

#include "peer.h"

#define TURNS_MS 200000 /* until all are through */

/* The file of the counter, which the peers get as the last word of `mix`. */
extern char turns_counter[160];

/* Make the files in a directory, before anything is started. */
void turns_files(const char *dir);
uint64_t turns_counted(void);

/* One thread of ours; its lock is `a`. */
struct turns {
    hf_lock *lock;
    int rounds;
    int has_fence;
    char wrong[128]; /* "": nothing */
};

/* Start it on a thread of the rig.  Static. */
void turns_start(struct turns *t, hf_client *c, int rounds);

/* The same in a process of its own, with its own client of `url`; it begins
 * when it is told anything, and ends with the line "exact".  Start it before
 * the test opens a client; both static. */
struct turns_process {
    const char *url;
    int rounds;
    int is_unfenced; /* the store has no fences */
};
void turns_process_start(struct lab_proc *p, const struct turns_process *conf);

#endif
