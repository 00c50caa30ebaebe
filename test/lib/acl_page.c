/*
 * acl_page.c: blocks of docs/how-to/acl.md to ACL SETUSER.  One rule: a user
 * gets the words of the blocks, and not one more.
 */
#include "lib/acl_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define PAGE TEST_SOURCE_DIR "/../docs/how-to/acl.md"
#define PAGE_MAX 65536
#define RIGHTS_MAX 8192
#define FENCE "\n```"

static const char *page_read(void)
{
    static char page[PAGE_MAX];
    FILE *file = fopen(PAGE, "r");
    if (!file) TEST_FAIL("%s cannot be read", PAGE);
    size_t len = fread(page, 1, sizeof page - 1, file);
    page[len] = '\0';
    fclose(file);
    return page;
}

/* Number of bytes at `at` that stand for NAME; 0 if none do.  A pattern for
 * every name also matches names with braces, so the page's own braces around
 * NAME are replaced with it. */
static size_t name_len(const char *at, const char *pattern)
{
    static const char braced[] = "{NAME}";
    if (!strcmp(pattern, ACL_EVERY) && !strncmp(at, braced, strlen(braced)))
        return strlen(braced);
    return strncmp(at, "NAME", 4) ? 0 : 4;
}

void acl_block_add(char *out, size_t size, const char *use, const char *pattern)
{
    char head[64];
    snprintf(head, sizeof head, FENCE "acl %s\n", use);
    const char *at = strstr(page_read(), head);
    if (!at) TEST_FAIL("%s has no block for %s", PAGE, use);
    at += strlen(head);
    const char *end = strstr(at, FENCE);
    CHECK(end != NULL);
    size_t used = strlen(out);
    while (at < end) {
        char byte[2] = {*at == '\n' ? ' ' : *at, '\0'};
        size_t len = name_len(at, pattern);
        CHECK(used + strlen(pattern) + 2 < size);
        used += (size_t)snprintf(out + used, size - used, "%s",
                                 len ? pattern : byte);
        at += len ? len : 1;
    }
    snprintf(out + used, size - used, " ");
}

void acl_user_make(struct lab_server *r, const char *user, const char *uses,
                   const char *pattern)
{
    static char rights[RIGHTS_MAX];
    char list[128];
    char *rest = list;
    rights[0] = '\0';
    snprintf(list, sizeof list, "%s", uses);
    for (char *use; (use = strsep(&rest, ",")) != NULL;)
        acl_block_add(rights, sizeof rights, use, pattern);
    CHECK_STR(redis_say(r, "ACL SETUSER %s reset on >" ACL_PASSWORD " -@all %s",
                        user, rights),
              "OK");
}
