/* utf8.h: is a name text? */
#ifndef HF_SQL_UTF8_H
#define HF_SQL_UTF8_H

#include <stddef.h>

/* 1: the bytes are characters of UTF-8, in their shortest form. */
int hf__sql_utf8_is_text(const char *bytes, size_t len);

#endif
