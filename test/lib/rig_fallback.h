/*
 * rig_fallback.h: a Redis of the test's own that comes and goes, and a
 * directory for the locks of this host.  One rule: patience is short, for every
 * test here waits for a store that does not answer.
 */
#ifndef HF_TEST_RIG_FALLBACK_H
#define HF_TEST_RIG_FALLBACK_H

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define FALL_PATIENCE_MS 1000

/* Static: it is ended after the test's function has returned. */
struct fall {
    struct lab_server redis;
    char dir[128];
    char url[512]; /* the store, its fallback and short times */
    atomic_int warnings;
    atomic_int returns; /* "answers again" */
    char warning[512];  /* the last that was none of these */
};

/* Start the server; `policy` is what fallback= says.  rig_client() is of it. */
void fall_begin(struct fall *f, const char *policy);
/* The same, but the rig is another store's. */
void fall_begin_beside(struct fall *f, const char *policy);

/* Options whose log goes to `f`. */
struct hf_client_options fall_options(struct fall *f);

/* The server is gone, and comes back empty. */
void fall_down(struct fall *f);
void fall_up(struct fall *f);

/* Files in the directory of this host's locks. */
int fall_files(const struct fall *f);

/* Try until the store can be reached again: the status of the first try that
 * was granted by it, or of the last. */
int fall_until_store(hf_lock *lock, hf_hold **grant);

#endif
