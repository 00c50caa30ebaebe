/*
 * alloc.c: memory through the client's allocator.  One rule: NULL means that
 * there is none left, never that nothing was asked for.
 */
#include "sys/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *default_allocate(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

static void *default_resize(void *ptr, size_t size, void *user)
{
    (void)user;
    return realloc(ptr, size);
}

static void default_release(void *ptr, void *user)
{
    (void)user;
    free(ptr);
}

const struct allocator hf__alloc_default = {
    .fn = {default_allocate, default_resize, default_release, NULL},
};

void *hf__alloc(const struct allocator *a, size_t size)
{
    return a->fn.allocate(size ? size : 1, a->fn.user);
}

void *hf__alloc_zero(const struct allocator *a, size_t size)
{
    void *ptr = hf__alloc(a, size);
    if (ptr) memset(ptr, 0, size);
    return ptr;
}

void *hf__realloc(const struct allocator *a, void *ptr, size_t size)
{
    if (!ptr) return hf__alloc(a, size);
    return a->fn.resize(ptr, size ? size : 1, a->fn.user);
}

char *hf__strdup(const struct allocator *a, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = hf__alloc(a, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void hf__free(const struct allocator *a, void *ptr)
{
    if (ptr) a->fn.release(ptr, a->fn.user);
}

void hf__wipe(void *ptr, size_t len)
{
    /* Volatile, for the compiler may drop stores that nobody reads. */
    volatile char *at = ptr;
    while (len-- > 0) *at++ = 0;
}

void hf__free_secret(const struct allocator *a, char *text)
{
    if (!text) return;
    hf__wipe(text, strlen(text));
    hf__free(a, text);
}
