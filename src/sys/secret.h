/*
 * secret.h: a password that is kept in a file.
 */
#ifndef HF_SYS_SECRET_H
#define HF_SYS_SECRET_H

#include "sys/alloc.h"

#define SECRET_LEN_MAX 4096

/* Read the first line of `path`, without its end.  `what` names the option in
 * the error text.  `*out` is the caller's: hf__free_secret(); `*is_open` tells
 * whether others than the owner and its group may read the file (may be NULL).
 * HF_OK; HF_INVALID: no such file, no file, nothing in it; HF_DENIED: we may
 * not read it; HF_NOMEM. */
int hf__secret_read(const char *what, const char *path,
                    const struct allocator *a, char **out, int *is_open,
                    struct hf_error *err);

#endif
