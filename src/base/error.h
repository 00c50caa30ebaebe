/*
 * error.h: filling struct hf_error.  Text goes outermost first, where: what:
 * why, without a capital or a full stop, and without the name of the object
 * that the call was made on: the caller knows it.
 */
#ifndef HF_BASE_ERROR_H
#define HF_BASE_ERROR_H

#include <stddef.h>

#include "holdfast/status.h"

/* Fill `err` (may be NULL) and return `status`. */
int hf__error_set(struct hf_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with errno's own words appended. */
int hf__error_errno(struct hf_error *err, int status, int sys_errno,
                    const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Put "lock NAME: " in front of the text of `err` (may be NULL): the call was
 * made on several locks, and this is about one of them. */
void hf__error_about(struct hf_error *err, const char *name);

/* The text fills its `size` bytes, and was longer: let it end behind a word,
 * with "...". */
void hf__text_cut(char *text, size_t size);

#endif
