/*
 * alloc.h: memory through the client's allocator.
 */
#ifndef HF_SYS_ALLOC_H
#define HF_SYS_ALLOC_H

#include <stddef.h>

#include "holdfast/client.h"

struct allocator {
    struct hf_allocator fn;
};

/* malloc, realloc, free. */
extern const struct allocator hf__alloc_default;

/* NULL if there is none left. */
void *hf__alloc(const struct allocator *a, size_t size);
void *hf__alloc_zero(const struct allocator *a, size_t size);
void *hf__realloc(const struct allocator *a, void *ptr, size_t size);
char *hf__strdup(const struct allocator *a, const char *text);
void hf__free(const struct allocator *a, void *ptr);

/* Overwrite a secret; also before its memory goes back.  NULL does nothing. */
void hf__wipe(void *ptr, size_t len);
void hf__free_secret(const struct allocator *a, char *text);

#endif
