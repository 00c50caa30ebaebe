/*
 * tls_context.c: the authorities to trust, and the client's certificate.  One
 * rule: a file that was changed is read again before the next connection, and
 * what came of the old one (a session) is not used any more.
 *
 * OpenSSL has its own memory: an allocator for it would be the whole
 * process's, and so is not ours to set.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "net/tls_parts.h"
#include "sys/secret.h"

/* ---- the files ---- */

static void stamp_take(struct tls_stamp *stamp, const char *path)
{
    struct stat st;
    memset(stamp, 0, sizeof *stamp);
    if (!path || stat(path, &st) != 0) return;
    stamp->dev = st.st_dev;
    stamp->ino = st.st_ino;
    stamp->size = st.st_size;
    stamp->changed = st.st_mtim;
}

static void stamps_take(const struct tls_context *x,
                        struct tls_stamp stamps[TLS_FILES])
{
    stamp_take(&stamps[0], x->ca);
    stamp_take(&stamps[1], x->cert);
    stamp_take(&stamps[2], x->key);
    stamp_take(&stamps[3], x->key_password_file);
}

static int stamp_is(const struct tls_stamp *a, const struct tls_stamp *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size
           && a->changed.tv_sec == b->changed.tv_sec
           && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Can it be read at all?  OpenSSL would tell in words of its own. */
static int file_check(const char *what, const char *path, struct stat *st,
                      struct hf_error *err)
{
    if (stat(path, st) == 0 && access(path, R_OK) == 0) return HF_OK;
    return hf__error_errno(err, errno == EACCES ? HF_DENIED : HF_INVALID, errno,
                           "%s: %.150s", what, path);
}

static int file_bad(const char *what, const char *path, const char *why,
                    struct hf_error *err)
{
    ERR_clear_error();
    return hf__error_set(err, HF_INVALID, "%s: %.150s: %s", what, path, why);
}

/* ---- authorities ---- */

static int ca_load(const struct tls_context *x, SSL_CTX *ssl,
                   struct hf_error *err)
{
    struct stat st;
    if (!x->ca) {
        SSL_CTX_set_default_verify_paths(ssl);
        ERR_clear_error();
        return HF_OK;
    }
    int status = file_check("tls_ca", x->ca, &st, err);
    if (status != HF_OK) return status;
    int is_dir = S_ISDIR(st.st_mode);
    if (SSL_CTX_load_verify_locations(ssl, is_dir ? NULL : x->ca,
                                      is_dir ? x->ca : NULL)
        != 1)
        return file_bad("tls_ca", x->ca, "there is no certificate in it", err);
    return HF_OK;
}

/* ---- the client's certificate ---- */

/* What the key's password is asked for with. */
struct opening {
    const char *password; /* NULL: there is none */
    int was_asked;
};

/* Without this OpenSSL would ask at the terminal, and wait. */
static int password_give(char *buf, int size, int is_writing, void *user)
{
    struct opening *o = user;
    size_t len = o->password ? strlen(o->password) : 0;
    (void)is_writing;
    o->was_asked = 1;
    if (len == 0 || size < 0 || len > (size_t)size) return -1;
    memcpy(buf, o->password, len);
    return (int)len;
}

static int key_use(SSL_CTX *ssl, const char *path, struct opening *o,
                   struct hf_error *err)
{
    SSL_CTX_set_default_passwd_cb(ssl, password_give);
    SSL_CTX_set_default_passwd_cb_userdata(ssl, o);
    int is_good = SSL_CTX_use_PrivateKey_file(ssl, path, SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(ssl, NULL);
    if (is_good && SSL_CTX_check_private_key(ssl) == 1) return HF_OK;
    if (is_good)
        return file_bad("tls_key", path,
                        "it does not belong to the certificate of tls_cert",
                        err);
    if (o->was_asked && !o->password)
        return file_bad("tls_key", path,
                        "it is encrypted: name the file of its password by "
                        "tls_key_password_file=",
                        err);
    if (o->was_asked)
        return file_bad("tls_key", path,
                        "the password of tls_key_password_file does not open "
                        "it",
                        err);
    /* Also where key and certificate do not match. */
    if (ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_X509)
        return file_bad("tls_key", path,
                        "it does not belong to the certificate of tls_cert",
                        err);
    return file_bad("tls_key", path, "there is no private key in it", err);
}

static int key_load(const struct tls_context *x, SSL_CTX *ssl,
                    struct hf_error *err)
{
    const char *path = x->key ? x->key : x->cert;
    struct opening o = {0};
    struct stat st;
    char *password = NULL;
    int status = file_check("tls_key", path, &st, err);
    if (status == HF_OK && x->key_password_file)
        status = hf__secret_read("tls_key_password_file", x->key_password_file,
                                 x->alloc, &password, NULL, err);
    if (status != HF_OK) return status;
    o.password = password;
    status = key_use(ssl, path, &o, err);
    hf__free_secret(x->alloc, password);
    return status;
}

static int cert_load(const struct tls_context *x, SSL_CTX *ssl,
                     struct hf_error *err)
{
    struct stat st;
    if (!x->cert) return HF_OK;
    int status = file_check("tls_cert", x->cert, &st, err);
    if (status != HF_OK) return status;
    if (SSL_CTX_use_certificate_chain_file(ssl, x->cert) != 1)
        return file_bad("tls_cert", x->cert, "there is no certificate in it",
                        err);
    return key_load(x, ssl, err);
}

/* ---- the session ---- */

void hf__tls_session_drop(struct tls_context *x)
{
    if (x->session) SSL_SESSION_free(x->session);
    x->session = NULL;
}

/* The server offers one that can be resumed; ours now.  It may do so late, when
 * another server is the last that was connected to, or when the files that
 * this one was checked by have been changed. */
static int session_keep(SSL *ssl, SSL_SESSION *session)
{
    struct tls *t = SSL_get_ex_data(ssl, 0);
    struct tls_context *x = t->context;
    if (t->made_by != x->ssl || strcmp(x->session_name, t->name) != 0) return 0;
    hf__tls_session_drop(x);
    x->session = session;
    return 1;
}

/* ---- life ---- */

static int starved(struct hf_error *err)
{
    ERR_clear_error();
    return hf__error_set(err, HF_NOMEM, "tls: out of memory");
}

static int ssl_load(const struct tls_context *x, SSL_CTX *ssl,
                    struct hf_error *err)
{
    if (SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) != 1)
        return starved(err);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* The output moves when it grows; its bytes stay the same. */
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE
                              | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* One recv(2) for a record, not one for its head and one for the rest. */
    SSL_CTX_set_read_ahead(ssl, 1);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT
                                            | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ssl, session_keep);
    SSL_CTX_set_cert_cb(ssl, hf__tls_asked, NULL);
    /* It answers 0 where all others answer 1. */
    if (x->is_http2
        && SSL_CTX_set_alpn_protos(ssl, (const unsigned char *)"\2h2", 3) != 0)
        return starved(err);
    SSL_CTX_set_verify(ssl, x->no_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       x->no_verify ? NULL : hf__tls_verify);
    int status = x->no_verify ? HF_OK : ca_load(x, ssl, err);
    return status == HF_OK ? cert_load(x, ssl, err) : status;
}

int hf__tls_refresh(struct tls_context *x, struct hf_error *err)
{
    struct tls_stamp now[TLS_FILES];
    int is_same = x->ssl != NULL;
    stamps_take(x, now);
    for (int i = 0; i < TLS_FILES && is_same; i++)
        is_same = stamp_is(&now[i], &x->stamps[i]);
    if (is_same) return HF_OK;
    ERR_clear_error();
    SSL_CTX *ssl = SSL_CTX_new(TLS_client_method());
    if (!ssl) return starved(err);
    int status = ssl_load(x, ssl, err);
    if (status != HF_OK) {
        SSL_CTX_free(ssl);
        return status;
    }
    hf__tls_session_drop(x);
    if (x->ssl) SSL_CTX_free(x->ssl);
    x->ssl = ssl;
    memcpy(x->stamps, now, sizeof now);
    return HF_OK;
}

static char *copy(struct tls_context *x, const char *text, int *failed)
{
    char *made = text ? hf__strdup(x->alloc, text) : NULL;
    if (text && !made) *failed = 1;
    return made;
}

static int context_fill(struct tls_context *x, const struct tls_conf *conf)
{
    int failed = 0;
    x->ca = copy(x, conf->ca, &failed);
    x->cert = copy(x, conf->cert, &failed);
    x->key = copy(x, conf->key, &failed);
    x->key_password_file = copy(x, conf->key_password_file, &failed);
    x->name = copy(x, conf->name, &failed);
    x->no_verify = conf->no_verify;
    x->is_http2 = conf->is_http2;
    x->method = failed ? NULL : hf__tls_method();
    return x->method ? 0 : -1;
}

int hf__tls_context_open(const struct allocator *a, const struct tls_conf *conf,
                         struct tls_context **out, struct hf_error *err)
{
    int status = hf__openssl_load(err);
    if (status != HF_OK) return status;
    struct tls_context *x = hf__alloc_zero(a, sizeof *x);
    if (!x) return starved(err);
    x->alloc = a;
    x->owners = 1;
    status = context_fill(x, conf) == 0 ? HF_OK : starved(err);
    if (status == HF_OK) status = hf__tls_refresh(x, err);
    if (status != HF_OK) {
        hf__tls_context_close(x);
        return status;
    }
    *out = x;
    return HF_OK;
}

struct tls_context *hf__tls_context_share(struct tls_context *x)
{
    if (x) x->owners++;
    return x;
}

void hf__tls_context_close(struct tls_context *x)
{
    if (!x || --x->owners > 0) return;
    hf__tls_session_drop(x);
    if (x->ssl) SSL_CTX_free(x->ssl);
    if (x->method) BIO_meth_free(x->method);
    hf__free(x->alloc, x->ca);
    hf__free(x->alloc, x->cert);
    hf__free(x->alloc, x->key);
    hf__free(x->alloc, x->key_password_file);
    hf__free(x->alloc, x->name);
    hf__free(x->alloc, x);
}
