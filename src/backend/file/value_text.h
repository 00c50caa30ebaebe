/* value_text.h: a versioned value, and its text in a file. */
#ifndef HF_FILE_VALUE_TEXT_H
#define HF_FILE_VALUE_TEXT_H

#include "backend/file/name.h"
#include "backend/file/record_text.h"
#include "holdfast/value.h"

#define VALUE_HEAD_MAX (TITLE_MAX + 512) /* everything but the bytes */
#define VALUE_FILE_MAX (VALUE_HEAD_MAX + HF_VALUE_MAX + RECORD_SIGN_SIZE)

/* What a value's file says. */
struct file_value {
    const char *title; /* the key, as hf__file_title_encode() writes it */
    size_t title_len;
    uint64_t version;
    int64_t expires_us; /* wall clock; 0: no end */
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    const char *data; /* into the text that was parsed */
    size_t len;
};

/* Write it as text; `out` has VALUE_FILE_MAX bytes.  Returns the length. */
size_t hf__file_value_format(const struct file_value *v, char *out);

/* 0, or -1: it is damaged, or no value of ours; `v` is all zero then. */
int hf__file_value_parse(const char *text, size_t len, struct file_value *v);

#endif
