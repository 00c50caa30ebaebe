/*
 * text.h: the text of a packet of statements, being written.
 */
#ifndef HF_MYSQL_TEXT_H
#define HF_MYSQL_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "sys/alloc.h"

struct text {
    const struct allocator *alloc;
    char *at;
    size_t len, room;
    int is_short; /* there was no memory: the text is not whole */
};

void hf__mysql_text_add(struct text *t, const char *words);
void hf__mysql_text_number(struct text *t, int64_t number);
/* As a literal of hexadecimal digits, which means the same bytes whatever the
 * session's character set and modes are. */
void hf__mysql_text_bytes(struct text *t, const void *bytes, size_t len);
void hf__mysql_text_string(struct text *t, const char *string);

/* Begin anew, with the same memory. */
void hf__mysql_text_clear(struct text *t);
void hf__mysql_text_free(struct text *t);

#endif
