/*
 * tally.h: look at or change the number that is kept under a lock object's
 * name: for semaphores, latches and barriers.
 */
#ifndef HF_API_TALLY_H
#define HF_API_TALLY_H

#include "api/client/client.h"

/* Carry out `job` on what `lock` is the name of; its results are good on
 * HF_OK. */
int hf__tally_run(const hf_lock *lock, struct tally_job *job,
                  struct hf_error *err);

/* What a started operation came to. */
struct tally_end {
    int status;
    const struct tally_job *job;
    const struct hf_error *err;
    void *object;     /* as given, as are these: */
    void (*fn)(void); /* the user's function, cast; may be NULL */
    void *user;
};

/* The same, asynchronously: `tell` is called once if, and only if, this returns
 * HF_OK; it casts `fn` back and calls it, unless it is NULL.  `object` is
 * borrowed until then. */
int hf__tally_start_as(const hf_lock *lock, const struct tally_job *job,
                       void (*tell)(const struct tally_end *end), void *object,
                       void (*fn)(void), void *user, struct hf_error *err);

#endif
