/* key.h: the text by which the server knows a name, with session=on. */
#ifndef HF_POSTGRES_KEY_H
#define HF_POSTGRES_KEY_H

#include <stddef.h>

#include "base/limits.h"

#define KEY_TEXT_MAX (2 * NAME_LEN_MAX + 16)

/* Its length. */
size_t hf__postgres_key(const char *name, size_t name_len,
                        char out[KEY_TEXT_MAX]);

#endif
