/* record_text.h: the record of a lock, and its text in the lock's file. */
#ifndef HF_FILE_RECORD_TEXT_H
#define HF_FILE_RECORD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "holdfast/lock.h"

#define RECORD_MAX 4096

enum record_mode {
    RECORD_EXCLUSIVE, /* written by the holder of the kernel lock */
    RECORD_DETACHED,  /* the record is the hold, until its deadline */
    RECORD_FREE       /* was detached, and given back */
};

struct record {
    const char *title; /* into the buffer that was parsed, or the lock's */
    size_t title_len;
    int64_t counter; /* highest number seen */
    int64_t fence;
    int64_t ballot;
    int64_t count;
    int64_t pid;
    int64_t since_us;    /* wall clock */
    int64_t deadline_us; /* hf__clock_us() of this boot; 0: none */
    uint64_t attempt;
    enum record_mode mode;
    char owner[OWNER_LEN_MAX];
    char host[HF_HOST_MAX];
    char label[HF_LABEL_MAX];
    char boot[40];
};

enum record_state {
    RECORD_OK,
    RECORD_EMPTY, /* nothing was ever written */
    RECORD_TORN,  /* ours, but not all of it reached the file */
    RECORD_ALIEN  /* a file of another program */
};

/* Write `r` as text; `out` has RECORD_MAX bytes.  The length depends on the
 * title alone, so that a later record covers an earlier one completely. */
size_t hf__file_record_format(const struct record *r, char *out);

/* Read `len` bytes.  `r` is all zero unless this returns RECORD_OK. */
enum record_state hf__file_record_parse(const char *text, size_t len,
                                        struct record *r);

/* Write the line that ends a record whose other lines are `text`; returns its
 * length, at most RECORD_SIGN_SIZE. */
#define RECORD_SIGN_SIZE 24
size_t hf__file_record_sign(const char *text, size_t len, char *out);

#endif
