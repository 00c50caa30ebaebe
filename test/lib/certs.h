/*
 * certs.h: certificates for one test, made by the openssl command.  One rule:
 * all of them are in one directory, which goes when the test ends.
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

#include <stddef.h>

#define CERTS_HERE "DNS:localhost,IP:127.0.0.1"

struct lab_certs {
    char dir[128];
};

/* Make the directory and an authority "ca"; removed when the test ends.  `c`
 * must be static. */
void certs_begin(struct lab_certs *c);

/* The same for all tests of the program; removed when it ends. */
void certs_begin_shared(struct lab_certs *c);

/* Another authority. */
void certs_authority(struct lab_certs *c, const char *stem);

/* A key and a certificate for `names`, signed by `authority`, valid for `days`
 * from now on; -1: until yesterday.  Its subject is `stem`; with NULL for
 * `names` it has no other name. */
void certs_make(struct lab_certs *c, const char *stem, const char *authority,
                const char *names, int days);

/* A copy of a key that `password` opens, as `to`.key. */
void certs_lock_key(struct lab_certs *c, const char *stem, const char *to,
                    const char *password);

/* Write a file of this content and mode. */
void certs_write(struct lab_certs *c, const char *name, const char *text,
                 unsigned mode);

/* Rename one over another. */
void certs_replace(struct lab_certs *c, const char *from, const char *to);

/* Where a file of this name is.  Borrowed for eight more calls. */
const char *certs_path(const struct lab_certs *c, const char *name);

#endif
