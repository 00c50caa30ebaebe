/*
 * history.h: a judge of what `holdfast stress --history` wrote, from outside.
 * One rule: it believes nothing but the lines: what they say of tokens and of
 * time must have been possible with one holder after the other.
 *
 *   tokens are unique    of all acquires of a lock that succeeded
 *   tokens rise          acquire A returned before acquire B was called:
 *                        token(A) < token(B)
 *   writes never fall    the same of guarded writes that were accepted, where
 *                        equal tokens are one holder's
 */
#ifndef HF_TEST_HISTORY_H
#define HF_TEST_HISTORY_H

#include <stdint.h>

#define HISTORY_CLIENTS_MAX 64

struct history {
    int ops;
    int acquired;
    int unknown;                          /* answers that were lost */
    int accepted, refused;                /* writes */
    int64_t last_ns[HISTORY_CLIENTS_MAX]; /* each client's last acquire that
                                           * succeeded: when it was called */
    char why[256];                        /* the first breach, or "" */
};

/* Read and judge a file.  1: it is sound; 0: `why` says what is not. */
int history_judge(const char *path, struct history *out);

#endif
