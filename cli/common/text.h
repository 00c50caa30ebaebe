/*
 * common/text.h: text of others, made safe to show.
 */
#ifndef HOLDFAST_CLI_COMMON_TEXT_H
#define HOLDFAST_CLI_COMMON_TEXT_H

#include <stddef.h>

#include "holdfast/holdfast.h"

/* `text` for a terminal: control characters and broken UTF-8 as \xNN.  Always
 * terminated, cut at `size`.  Returns `out`. */
const char *text_escape(const char *text, char *out, size_t size);
#define TEXT_ESCAPED_MAX (4 * HF_NAME_MAX + 1)

/* The length of the well-formed UTF-8 character at `p` (RFC 3629), or 0. */
size_t text_char_len(const unsigned char *p);
/* 1 if the character at `p` is a control character, of ASCII or of Latin-1
 * (U+0080 to U+009F). */
int text_is_control(const unsigned char *p);

#endif
