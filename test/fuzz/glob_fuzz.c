/*
 * glob_fuzz.c: any pattern for the names of locks, and any name.  The first
 * line is the pattern, the rest the name.  A pattern without special bytes
 * matches itself alone, and a star behind a pattern takes nothing away.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

static void match_check(char *pattern, const char *name, size_t name_len)
{
    size_t len = strlen(pattern);
    int matches = hf__glob_match(pattern, name, name_len);
    if (!strpbrk(pattern, "*?[\\"))
        check(matches == (len == name_len && !memcmp(pattern, name, len)));
    if (strpbrk(pattern, "[\\")) return;
    memcpy(pattern + len, "*", 2);
    if (matches) check(hf__glob_match(pattern, name, name_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    if (!line) return 0;
    size_t len = (size_t)(line - data);
    char *pattern = malloc(len + 2); /* a star may be added */
    check(pattern != NULL);
    memcpy(pattern, data, len);
    pattern[len] = '\0';
    match_check(pattern, (const char *)line + 1, size - len - 1);
    free(pattern);
    return 0;
}
