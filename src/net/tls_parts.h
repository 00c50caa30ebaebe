/*
 * tls_parts.h: what the files of TLS share.
 */
#ifndef HF_NET_TLS_PARTS_H
#define HF_NET_TLS_PARTS_H

#include <sys/stat.h>

#include "net/openssl.h"
#include "net/tls.h"

#define TLS_FILES 4 /* ca, cert, key, key_password_file */

/* How a file looked when it was read. */
struct tls_stamp {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
};

struct tls_context {
    const struct allocator *alloc;
    int owners;
    char *ca, *cert, *key, *key_password_file, *name;
    int no_verify;
    int is_http2;
    struct tls_stamp stamps[TLS_FILES];
    BIO_METHOD *method;
    SSL_CTX *ssl;
    SSL_SESSION *session; /* of the last connection, to be resumed */
    char session_name[TLS_NAME_MAX + 1]; /* the server's */
    int breaks; /* connections in a row that broke as hf__tls_explain_break()
                 * says */
};

enum tls_waits { TLS_NOTHING, TLS_READS, TLS_WRITES };

struct tls {
    struct tls_context *context;
    char name[TLS_NAME_MAX + 1]; /* the server's; "" unknown */
    SSL *ssl;
    const SSL_CTX *made_by; /* the context's at that time */
    int fd;
    int sys_errno; /* what reading the socket failed with */
    int write_errno;
    int has_ended;        /* the other side hung up */
    enum tls_waits waits; /* for what, at the end of the last call */
    int has_moved;
    int is_through;      /* the handshake */
    int is_asked;        /* in it, the server asked for a certificate of ours */
    int has_heard;       /* something has come since */
    struct hf_error err; /* status HF_OK: none */
};

/* ---- tls.c: streams ---- */
/* How OpenSSL gets at our sockets.  NULL: no memory. */
BIO_METHOD *hf__tls_method(void);

/* ---- tls_context.c: authorities and certificate ---- */
/* Read the files again if they were changed. */
int hf__tls_refresh(struct tls_context *x, struct hf_error *err);
/* Forget the session: it is not to be resumed. */
void hf__tls_session_drop(struct tls_context *x);

/* ---- tls_error.c: why it failed ---- */
/* OpenSSL's callback on each certificate of the server's. */
int hf__tls_verify(int is_good, X509_STORE_CTX *store);
/* Fill t->err by what OpenSSL has to say, unless that was done. */
void hf__tls_explain(struct tls *t);
/* The server asks for a certificate of ours. */
int hf__tls_asked(SSL *ssl, void *unused);
/* The connection broke: if that was right after a handshake in which the server
 * asked for our certificate, and several times in a row, fill t->err. */
void hf__tls_explain_break(struct tls *t);

#endif
