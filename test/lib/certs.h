/*
 * certs.h: lab/certs.h in a test: certificates for one test.  One rule: all of
 * them are in one directory, which goes when the test ends.
 *
 *     static struct lab_certs c;
 *     certs_begin(&c);                              ca.crt ca.key
 *     certs_make(&c, "server", "ca", CERTS_HERE, 30);   server.crt server.key
 *     certs_path(&c, "server.crt")
 *
 * Make them before the first thread is started.
 */
#ifndef HF_TEST_CERTS_H
#define HF_TEST_CERTS_H

#include "lab/certs.h"
#include "lib/lab_check.h"

#define CERTS_HERE LAB_CERTS_HERE

/* Make the directory and an authority "ca"; removed when the test ends.  `c`
 * must be static. */
void certs_begin(struct lab_certs *c);

/* The others of lab/certs.h, which must succeed. */
#define certs_authority(...) LAB_CHECK(lab_certs_authority(__VA_ARGS__))
#define certs_make(...) LAB_CHECK(lab_certs_make(__VA_ARGS__))
#define certs_lock_key(...) LAB_CHECK(lab_certs_lock_key(__VA_ARGS__))
#define certs_write(...) LAB_CHECK(lab_certs_write(__VA_ARGS__))
#define certs_replace(...) LAB_CHECK(lab_certs_replace(__VA_ARGS__))
#define certs_path(...) lab_certs_path(__VA_ARGS__)

#endif
