/*
 * certs.h: certificates, made by the openssl command.  One rule: all of them
 * are in one directory, which goes when they are stopped.
 *
 *     static struct lab_certs c;
 *     lab_certs_start(&c);                                    ca.crt ca.key
 *     lab_certs_make(&c, "server", "ca", LAB_CERTS_HERE, 30);
 *     lab_certs_path(&c, "server.crt")                        and server.key
 *
 * Make them before the first thread is started.  LAB_ABSENT if openssl is not
 * installed.
 */
#ifndef LAB_CERTS_H
#define LAB_CERTS_H

#include <stddef.h>

#define LAB_CERTS_HERE "DNS:localhost,IP:127.0.0.1"

struct lab_certs {
    char dir[128];
};

/* Make the directory and an authority "ca"; `c` must stay until it is stopped,
 * which removes them. */
int lab_certs_start(struct lab_certs *c);
void lab_certs_stop(struct lab_certs *c);

/* Another authority. */
int lab_certs_authority(struct lab_certs *c, const char *stem);

/* A key and a certificate for `names`, signed by `authority`, valid for `days`
 * from now on; -1: until yesterday.  Its subject is `stem`; with NULL for
 * `names` it has no other name. */
int lab_certs_make(struct lab_certs *c, const char *stem, const char *authority,
                   const char *names, int days);

/* A copy of a key that `password` opens, as `to`.key. */
int lab_certs_lock_key(struct lab_certs *c, const char *stem, const char *to,
                       const char *password);

/* Write a file of this content and mode. */
int lab_certs_write(struct lab_certs *c, const char *name, const char *text,
                    unsigned mode);

/* Rename one over another. */
int lab_certs_replace(struct lab_certs *c, const char *from, const char *to);

/* Where a file of this name is.  Borrowed for eight more calls. */
const char *lab_certs_path(const struct lab_certs *c, const char *name);

#endif
