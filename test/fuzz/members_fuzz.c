/*
 * members_fuzz.c: any text as the URL of a quorum.  One rule: what is taken are
 * members within bounds, what is shown of it has no password, and all memory
 * comes back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/quorum/members.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int allocs_open;

static void check(int ok)
{
    if (!ok) abort();
}

static void *allocate(size_t size, void *user)
{
    (void)user;
    allocs_open++;
    return malloc(size);
}

static void *resize(void *ptr, size_t size, void *user)
{
    (void)user;
    if (!ptr) allocs_open++;
    return realloc(ptr, size);
}

static void release(void *ptr, void *user)
{
    (void)user;
    if (ptr) allocs_open--;
    free(ptr);
}

static const struct allocator alloc = {{allocate, resize, release, NULL}};

static void members_check(const struct members *m, const char *text)
{
    struct url url;
    check(m->len >= 1 && m->len <= NODES_MAX);
    for (int i = 0; i < m->len; i++) {
        check(m->texts[i] && m->keys[i]);
        check(hf__url_parse(&url, m->texts[i], NULL) == HF_OK);
        for (int k = 0; k < i; k++) check(strcmp(m->keys[i], m->keys[k]) != 0);
    }
    check(memchr(m->group, '\0', sizeof m->group) && m->group[0]);
    char *shown = hf__members_shown(m, &alloc, text);
    check(shown != NULL);
    hf__free(&alloc, shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4 * URL_LEN_MAX];
    struct hf_error err;
    struct members m;
    if (size >= sizeof text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    if (hf__members_are_in(text)) {
        int status = hf__members_parse(&m, &alloc, text, &err);
        if (status == HF_OK)
            members_check(&m, text);
        else
            check(memchr(err.text, '\0', sizeof err.text) != NULL);
        hf__members_free(&m, &alloc);
    }
    check(allocs_open == 0);
    return 0;
}
