/*
 * acl_page.h: the rights that docs/how-to/acl.md tells, for tests.  One rule:
 * the page is read, so that it and the tests cannot differ.
 */
#ifndef HF_TEST_ACL_PAGE_H
#define HF_TEST_ACL_PAGE_H

#include "lib/rig_redis.h"

#define ACL_USER "eve"
#define ACL_LOOKER "ivy"
#define ACL_PASSWORD "pw"
#define ACL_EVERY "?*" /* a pattern for every name; "*" is refused by Redis */

/* Make a user with the rights of these uses ("lock,break"), for locks whose
 * names match `pattern`.  Fails the test if the page has no such use. */
void acl_user_make(struct lab_server *r, const char *user, const char *uses,
                   const char *pattern);

/* Add the words of one use's block to `out`, with `pattern` for NAME, in one
 * line. */
void acl_block_add(char *out, size_t size, const char *use,
                   const char *pattern);

#endif
