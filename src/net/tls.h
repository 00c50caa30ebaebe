/*
 * tls.h: an encrypted byte stream, over a socket that is ours.
 *
 * A context is made once per URL: the authorities to trust, and the client's
 * certificate.  A stream is one connection; its calls are those of stream.h,
 * and none of them waits.
 */
#ifndef HF_NET_TLS_H
#define HF_NET_TLS_H

#include <sys/types.h>

#include "sys/alloc.h"

#define TLS_NAME_MAX 255 /* bytes of a server's name */

/* What is asked for.  Borrowed; NULL where nothing is said. */
struct tls_conf {
    const char *ca;                /* a file, or a hashed directory; NULL: the
                                    * system's store */
    const char *cert;              /* our own, with its chain */
    const char *key;               /* NULL: it is in `cert` */
    const char *key_password_file; /* its first line opens the key */
    const char *name; /* the server's, as its certificate has it; NULL: the
                       * host */
    int no_verify;    /* check no certificate */
    int is_http2;     /* speak HTTP/2, and say so (ALPN) */
};

struct tls_context;
struct tls;

/* Load OpenSSL and the files.  HF_OK; HF_UNSUPPORTED: there is no OpenSSL;
 * HF_INVALID or HF_DENIED: a file; HF_NOMEM. */
int hf__tls_context_open(const struct allocator *a, const struct tls_conf *conf,
                         struct tls_context **out, struct hf_error *err);
/* It has one more owner, and is closed once more; returned for convenience.
 * NULL does nothing. */
struct tls_context *hf__tls_context_share(struct tls_context *x);
/* No stream of this owner's may be left.  NULL does nothing. */
void hf__tls_context_close(struct tls_context *x);

/* A stream over the socket `fd`, which is connected to `host` (NULL: it has no
 * name) and stays the caller's.  Files that were changed since are read again;
 * one that cannot be is an error as above. */
int hf__tls_open(struct tls_context *x, int fd, const char *host,
                 struct tls **out, struct hf_error *err);
/* Free it; nothing is sent.  NULL does nothing. */
void hf__tls_close(struct tls *t);

/* Go on with the handshake: 1 it is through, 0 not yet, -1 as below. */
int hf__tls_handshake(struct tls *t);
/* Did the last step of the handshake send or receive anything? */
int hf__tls_has_moved(const struct tls *t);
/* Does it wait for room in the socket, and not for bytes? */
int hf__tls_wants_write(const struct tls *t);

/* As hf__stream_read() and hf__stream_write(); where it is not the socket's
 * fault, errno is EPROTO and hf__tls_error() says why. */
ssize_t hf__tls_read(struct tls *t, void *buf, size_t size);
ssize_t hf__tls_write(struct tls *t, const void *data, size_t len);
/* May there be bytes that poll(2) knows nothing of? */
int hf__tls_has_more(const struct tls *t);

/* Why it failed, "tls: what: why"; NULL: errno says it all.  Borrowed until
 * hf__tls_close(). */
const struct hf_error *hf__tls_error(const struct tls *t);

#endif
