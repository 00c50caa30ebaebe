/*
 * glob.h: patterns for lock names, the same as Redis's MATCH.
 */
#ifndef HF_BASE_GLOB_H
#define HF_BASE_GLOB_H

#include <stddef.h>

/* Does `text` match `pattern`?  `*` any bytes, `?` one byte, `[a-z]` and
 * `[^a-z]` one byte in or out of a set, `\` takes the next byte as it is. */
int hf__glob_match(const char *pattern, const char *text, size_t text_len);

#endif
