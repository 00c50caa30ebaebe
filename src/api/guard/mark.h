/*
 * guard/mark.h: the file beside a guarded file that keeps the highest token.
 *
 * Locked from the look to the rename; never deleted or replaced, only its text
 * is.
 */
#ifndef HF_API_GUARD_MARK_H
#define HF_API_GUARD_MARK_H

#include "holdfast/guard.h"

#define GUARD_PATH_MAX 4096

/* The guard of one file, open and locked. */
struct guard_mark {
    const char *path; /* of the guarded file */
    int fd;
    uint64_t token; /* the highest so far; 0: none */
};

/* HF_OK; or HF_INVALID if the token is 0 or above 2^63-1. */
int hf__guard_token_check(uint64_t token, struct hf_error *err);

/* "<path><suffix>" into `out`; HF_OK or HF_INVALID. */
int hf__guard_path(char out[GUARD_PATH_MAX], const char *path,
                   const char *suffix, struct hf_error *err);

/* Fail with errno's words, and the status that belongs to them. */
int hf__guard_path_fail(struct hf_error *err, const char *path,
                        const char *what);

/* Sync the directory of `path`: 0, or -1 with errno. */
int hf__guard_directory_sync(const char *path);

/* Open and lock the file, and read its token.  A missing file is made if
 * `make` is set.  Call hf__guard_mark_close() whatever this returns. */
int hf__guard_mark_open(struct guard_mark *m, const char *path, int make,
                        struct hf_error *err);
void hf__guard_mark_close(struct guard_mark *m);

/* Admit `token`: it is on disk when this returns HF_OK.  HF_STALE if a higher
 * token was seen before. */
int hf__guard_mark_admit(struct guard_mark *m, uint64_t token,
                         struct hf_error *err);

#endif
