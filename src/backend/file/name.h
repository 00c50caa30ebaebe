/* name.h: from a lock's name to a file's name, and to one line of text. */
#ifndef HF_FILE_NAME_H
#define HF_FILE_NAME_H

#include <stddef.h>

#define FILE_NAME_KEEP 200 /* longer encoded names are hashed */
#define FILE_NAME_HEAD 120 /* and keep this part of their beginning */
#define FILE_NAME_SIZE 224 /* encoded name, suffix and NUL */
#define FILE_SUFFIX ".lock"
#define TITLE_MAX 3072 /* a name as the record shows it */

/* The file name for a lock's name; `out` has FILE_NAME_SIZE bytes. */
void hf__file_name(const char *name, size_t len, char *out);

/* The file name of the record of a locked path. */
void hf__file_name_path(const char *path, size_t len, char *out);

/* One line of text for any bytes: control bytes and '%' become %XX.  Returns
 * the length, or 0 if `size` is too small. */
size_t hf__file_title_encode(const char *name, size_t len, char *out,
                             size_t size);

/* The bytes again, with a NUL behind them.  Returns the length, or 0. */
size_t hf__file_title_decode(const char *title, size_t len, char *out,
                             size_t size);

#endif
