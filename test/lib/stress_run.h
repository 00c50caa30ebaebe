/*
 * stress_run.h: the command `holdfast stress`, run beside a test, and the
 * verdict on its history.  One rule: what it found itself is a failure as much
 * as what the judge of history.h finds.
 */
#ifndef HF_TEST_STRESS_RUN_H
#define HF_TEST_STRESS_RUN_H

#include "lib/history.h"
#include "lib/proc.h"

#define STRESS_WORDS_MAX 32

/* Static: it is ended when the test ends. */
struct stress_run {
    struct lab_proc proc;
    const char *words[STRESS_WORDS_MAX];
    char history[160]; /* where it writes */
    char out[160];     /* what it says */
};

/* Start it on `url`, with files in `dir` and further words (NULL-terminated)
 * on its command line. */
void stress_run_begin(struct stress_run *s, const char *url, const char *dir,
                      const char *const *words);

/* Tell it to come to its end, wait, and judge.  Fails the test if it exits
 * otherwise than it should, or if the history is not sound. */
void stress_run_end(struct stress_run *s, struct history *h);

#endif
