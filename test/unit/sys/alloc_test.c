/*
 * alloc_test.c: memory comes from the client's allocator, and NULL always
 * means that there is none left.
 */
#include "sys/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* Counts what goes through it; refuses when told. */
struct counter {
    int live;
    int is_empty;
    size_t last_size;
};

static void *count_allocate(size_t size, void *user)
{
    struct counter *n = user;
    n->last_size = size;
    if (n->is_empty) return NULL;
    void *ptr = malloc(size);
    if (!ptr) return NULL;
    memset(ptr, 0xa5, size);
    n->live++;
    return ptr;
}

static void *count_resize(void *ptr, size_t size, void *user)
{
    struct counter *n = user;
    n->last_size = size;
    return n->is_empty ? NULL : realloc(ptr, size);
}

static void count_release(void *ptr, void *user)
{
    struct counter *n = user;
    n->live--;
    free(ptr);
}

static struct counter n;
static const struct allocator a = {
    {count_allocate, count_resize, count_release, &n}};

TEST(alloc, goes_through_the_given_functions)
{
    n = (struct counter){0};
    void *ptr = hf__alloc(&a, 10);
    CHECK(ptr != NULL);
    CHECK_INT(n.live, 1);
    ptr = hf__realloc(&a, ptr, 1000);
    CHECK(ptr != NULL);
    CHECK_INT(n.last_size, 1000);
    hf__free(&a, ptr);
    CHECK_INT(n.live, 0);
}

TEST(alloc, zero_means_zero)
{
    n = (struct counter){0};
    static const char zeros[100];
    char *ptr = hf__alloc_zero(&a, 100);
    CHECK(ptr && !memcmp(ptr, zeros, 100));
    hf__free(&a, ptr);
}

TEST(alloc, nothing_asked_for_is_not_out_of_memory)
{
    n = (struct counter){0};
    void *p = hf__alloc(&a, 0), *q = hf__alloc_zero(&a, 0);
    CHECK(p && q);
    p = hf__realloc(&a, p, 0);
    CHECK(p != NULL);
    hf__free(&a, p);
    hf__free(&a, q);
    CHECK_INT(n.live, 0);
}

TEST(alloc, realloc_of_null_allocates)
{
    n = (struct counter){0};
    void *ptr = hf__realloc(&a, NULL, 8);
    CHECK(ptr != NULL);
    CHECK_INT(n.live, 1);
    hf__free(&a, ptr);
}

TEST(alloc, free_of_null_does_nothing)
{
    n = (struct counter){0};
    hf__free(&a, NULL);
    CHECK_INT(n.live, 0);
}

TEST(alloc, strdup_copies)
{
    n = (struct counter){0};
    char *copy = hf__strdup(&a, "anchor");
    CHECK_STR(copy, "anchor");
    CHECK_INT(n.last_size, 7);
    hf__free(&a, copy);
}

TEST(alloc, failure_is_null)
{
    n = (struct counter){.is_empty = 1};
    char kept[1];
    CHECK(hf__alloc(&a, 1) == NULL);
    CHECK(hf__alloc_zero(&a, 1) == NULL);
    CHECK(hf__strdup(&a, "x") == NULL);
    CHECK(hf__realloc(&a, kept, 5) == NULL);
}

TEST(alloc, the_default_is_malloc)
{
    char *ptr = hf__alloc(&hf__alloc_default, 10);
    CHECK(ptr != NULL);
    memcpy(ptr, "123456789", 10);
    ptr = hf__realloc(&hf__alloc_default, ptr, 100000);
    CHECK_STR(ptr, "123456789");
    hf__free(&hf__alloc_default, ptr);
}

TEST(alloc, a_secret_is_overwritten)
{
    char text[] = "geheim";
    hf__wipe(text, 6);
    for (int i = 0; i < 6; i++) CHECK_INT(text[i], 0);
    hf__free_secret(&hf__alloc_default, NULL);
    hf__free_secret(&hf__alloc_default, hf__strdup(&hf__alloc_default, "x"));
}
