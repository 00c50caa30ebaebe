/*
 * tls_none.c: stands in for TLS where OpenSSL was not there at build time.  One
 * rule: no context can be had, so nothing else is ever called.
 */
#include <assert.h>

#include "base/error.h"
#include "net/tls.h"

int hf__tls_context_open(const struct allocator *a, const struct tls_conf *conf,
                         struct tls_context **out, struct hf_error *err)
{
    (void)a;
    (void)conf;
    (void)out;
    return hf__error_set(err, HF_UNSUPPORTED,
                         "tls: not built in: install the package libssl-dev "
                         "and build holdfast again");
}

struct tls_context *hf__tls_context_share(struct tls_context *x)
{
    assert(!x);
    return x;
}

void hf__tls_context_close(struct tls_context *x)
{
    assert(!x);
    (void)x;
}

int hf__tls_open(struct tls_context *x, int fd, const char *host,
                 struct tls **out, struct hf_error *err)
{
    (void)x;
    (void)fd;
    (void)host;
    (void)out;
    return hf__error_set(err, HF_UNSUPPORTED, "tls: not built in");
}

void hf__tls_close(struct tls *t)
{
    assert(!t);
    (void)t;
}

int hf__tls_handshake(struct tls *t)
{
    (void)t;
    return -1;
}

int hf__tls_has_moved(const struct tls *t)
{
    (void)t;
    return 0;
}

int hf__tls_wants_write(const struct tls *t)
{
    (void)t;
    return 0;
}

ssize_t hf__tls_read(struct tls *t, void *buf, size_t size)
{
    (void)t;
    (void)buf;
    (void)size;
    return -1;
}

ssize_t hf__tls_write(struct tls *t, const void *data, size_t len)
{
    (void)t;
    (void)data;
    (void)len;
    return -1;
}

int hf__tls_has_more(const struct tls *t)
{
    (void)t;
    return 0;
}

const struct hf_error *hf__tls_error(const struct tls *t)
{
    (void)t;
    return NULL;
}
