/*
 * tls.c: streams.  One rule: bytes go through stream.h only, so that nothing
 * here waits or raises a signal, and nothing is sent but what the caller wrote
 * and what the handshake needs: a copy in a forked child says no goodbye.
 */
#include "net/tls.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "net/stream.h"
#include "net/tls_parts.h"

/* ---- OpenSSL's way to the socket ---- */

static int bio_read(BIO *bio, char *buf, int size)
{
    struct tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n = hf__stream_read(t->fd, buf, (size_t)size);
    if (n > 0) {
        t->has_moved = 1;
        return (int)n;
    }
    if (n == 0) {
        BIO_set_retry_read(bio);
        t->waits = TLS_READS;
        return -1;
    }
    t->sys_errno = errno;
    t->has_ended = errno == 0;
    return errno == 0 ? 0 : -1;
}

static int bio_write(BIO *bio, const char *data, int len)
{
    struct tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n = hf__stream_write(t->fd, data, (size_t)len);
    if (n > 0) {
        t->has_moved = 1;
        return (int)n;
    }
    if (n == 0) {
        BIO_set_retry_write(bio);
        t->waits = TLS_WRITES;
    } else {
        t->write_errno = errno;
    }
    return -1;
}

static long bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
    (void)number;
    (void)pointer;
    if (what == BIO_CTRL_FLUSH) return 1; /* nothing is kept here */
    if (what == BIO_CTRL_EOF)
        return ((struct tls *)BIO_get_data(bio))->has_ended;
    return 0;
}

BIO_METHOD *hf__tls_method(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "holdfast");
    if (!m) return NULL;
    BIO_meth_set_read(m, bio_read);
    BIO_meth_set_write(m, bio_write);
    BIO_meth_set_ctrl(m, bio_ctrl);
    return m;
}

/* ---- life ---- */

/* The host as a certificate has it: without a zone or a dot at its end.  0, or
 * -1: it is too long for one. */
static int name_take(struct tls *t, const char *host)
{
    const char *name = t->context->name ? t->context->name : host;
    size_t len = name ? strcspn(name, "%") : 0;
    if (len > 0 && name[len - 1] == '.') len--;
    if (len >= sizeof t->name) return -1;
    if (len > 0) memcpy(t->name, name, len);
    t->name[len] = '\0';
    return 0;
}

/* What is checked, and told to the server if it is none of digits. */
static int name_set(struct tls *t)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);
    if (!t->name[0]) return 0;
    if (X509_VERIFY_PARAM_set1_ip_asc(param, t->name) == 1) return 0;
    ERR_clear_error();
    /* A subject is text for people (RFC 6125): only an alternative name says
     * for which host a certificate is. */
    X509_VERIFY_PARAM_set_hostflags(param,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
                                        | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (X509_VERIFY_PARAM_set1_host(param, t->name, 0) != 1) return -1;
    return SSL_set_tlsext_host_name(t->ssl, t->name) == 1 ? 0 : -1;
}

/* It shortens the handshake, and may fail without harm; but only with the
 * server that it was made with. */
static void session_resume(struct tls *t)
{
    struct tls_context *x = t->context;
    if (strcmp(x->session_name, t->name) != 0) hf__tls_session_drop(x);
    memcpy(x->session_name, t->name, sizeof t->name);
    if (x->session && SSL_SESSION_is_resumable(x->session))
        (void)SSL_set_session(t->ssl, x->session);
}

static int ssl_make(struct tls *t)
{
    struct tls_context *x = t->context;
    t->ssl = SSL_new(x->ssl);
    if (!t->ssl) return -1;
    t->made_by = x->ssl;
    BIO *bio = BIO_new(x->method);
    if (!bio) return -1;
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    SSL_set_connect_state(t->ssl);
    if (SSL_set_ex_data(t->ssl, 0, t) != 1 || name_set(t) != 0) return -1;
    session_resume(t);
    return 0;
}

int hf__tls_open(struct tls_context *x, int fd, const char *host,
                 struct tls **out, struct hf_error *err)
{
    int status = hf__tls_refresh(x, err);
    if (status != HF_OK) return status;
    struct tls *t = hf__alloc_zero(x->alloc, sizeof *t);
    if (!t) return hf__error_set(err, HF_NOMEM, "tls: out of memory");
    t->context = x;
    t->fd = fd;
    if (name_take(t, host) != 0 || (!t->name[0] && !x->no_verify)) {
        hf__tls_close(t);
        return hf__error_set(err, HF_INVALID,
                             "tls: no certificate can be for such a host: "
                             "tls_name=");
    }
    if (ssl_make(t) != 0) {
        ERR_clear_error();
        hf__tls_close(t);
        return hf__error_set(err, HF_NOMEM, "tls: out of memory");
    }
    *out = t;
    return HF_OK;
}

void hf__tls_close(struct tls *t)
{
    if (!t) return;
    /* Never SSL_shutdown(): an answer that is cut off is known by RESP.  But
     * taken for ended, or its session could not be resumed. */
    if (t->is_through && t->err.status == HF_OK)
        SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    if (t->ssl) SSL_free(t->ssl);
    hf__free(t->context->alloc, t);
}

/* ---- bytes ---- */

/* Did the other side end it in good order?  What it complains of ends it as
 * well. */
static int is_goodbye(const struct tls *t)
{
    unsigned long code = ERR_peek_last_error();
    int is_alert = ERR_GET_LIB(code) == ERR_LIB_SSL
                   && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;
    return (SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN) && !is_alert;
}

/* OpenSSL did not do it: 0 if it only waits, else -1 with errno.  What the
 * socket said last tells which; SSL_get_error() would need a queue of errors
 * that is cleared before every call. */
static int stopped(struct tls *t)
{
    if (t->waits != TLS_NOTHING) return 0;
    if (is_goodbye(t)) t->has_ended = 1;
    int is_broken = t->has_ended || t->sys_errno;
    /* To say what is wrong may fail, and is not what is wrong. */
    if (t->write_errno && (t->is_through || ERR_peek_last_error() == 0))
        is_broken = 1;
    if (is_broken)
        hf__tls_explain_break(t);
    else
        hf__tls_explain(t);
    ERR_clear_error();
    errno = t->sys_errno ? t->sys_errno : t->write_errno;
    if (t->err.status != HF_OK) errno = EPROTO;
    return -1;
}

int hf__tls_handshake(struct tls *t)
{
    t->has_moved = 0;
    t->waits = TLS_NOTHING;
    ERR_clear_error();
    int rc = SSL_do_handshake(t->ssl);
    t->is_through = rc == 1;
    if (rc == 1) return 1;
    rc = stopped(t);
    if (rc < 0) {
        int code = errno;
        hf__tls_session_drop(t->context);
        errno = code;
    }
    return rc;
}

int hf__tls_has_moved(const struct tls *t)
{
    return t->has_moved;
}

int hf__tls_wants_write(const struct tls *t)
{
    return t->waits == TLS_WRITES;
}

ssize_t hf__tls_read(struct tls *t, void *buf, size_t size)
{
    t->waits = TLS_NOTHING;
    int n = SSL_read(t->ssl, buf, size > INT_MAX ? INT_MAX : (int)size);
    if (n <= 0) return stopped(t);
    t->has_heard = 1;
    t->context->breaks = 0;
    return n;
}

/* A record takes 16 KiB; what is longer goes out in several.  When none of a
 * record's bytes was taken for written, the server cannot have read it. */
ssize_t hf__tls_write(struct tls *t, const void *data, size_t len)
{
    size_t done = 0;
    t->waits = TLS_NOTHING;
    while (done < len) {
        size_t left = len - done;
        int n = SSL_write(t->ssl, (const char *)data + done,
                          left > INT_MAX ? INT_MAX : (int)left);
        if (n <= 0) {
            int rc = stopped(t);
            return done > 0 ? (ssize_t)done : rc;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int hf__tls_has_more(const struct tls *t)
{
    return SSL_has_pending(t->ssl);
}

const struct hf_error *hf__tls_error(const struct tls *t)
{
    return t->err.status != HF_OK ? &t->err : NULL;
}
