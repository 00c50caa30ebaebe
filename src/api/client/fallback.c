/*
 * fallback.c: what a client does while its store cannot be reached: the option,
 * and the lock of this host (engine/host.c) for HF_FALLBACK_LOCAL.
 *
 * The rule: the store of this host is opened when it is first needed.
 */
#include "api/client/fallback.h"

#include <stdio.h>
#include <string.h>

#include "backend/registry.h"
#include "base/error.h"
#include "engine/host.h"

struct fallback {
    struct host host; /* first */
    char *url;
    struct backend_conf conf;
};

/* ---- options ------------------------------------------------------------ */

static int policy_of(const char *text)
{
    if (!strcmp(text, "fail")) return HF_FALLBACK_FAIL;
    if (!strcmp(text, "wait")) return HF_FALLBACK_WAIT;
    return strcmp(text, "local") == 0 ? HF_FALLBACK_LOCAL : -1;
}

static int policy_read(const struct url *url, int32_t given, int *out,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, "fallback");
    int said = text ? policy_of(text) : HF_FALLBACK_FAIL;
    if (said < 0)
        return hf__error_set(err, HF_INVALID,
                             "url: fallback=%.40s: not fail, wait or local",
                             text);
    if (given < HF_FALLBACK_DEFAULT || given > HF_FALLBACK_LOCAL)
        return hf__error_set(err, HF_INVALID,
                             "client: fallback of %d: not an enum hf_fallback",
                             (int)given);
    *out = given != HF_FALLBACK_DEFAULT ? (int)given : said;
    if (hf__url_option(url, "fallback_dir") && *out != HF_FALLBACK_LOCAL
        && said != HF_FALLBACK_LOCAL)
        return hf__error_set(err, HF_INVALID,
                             "url: fallback_dir: only with fallback=local");
    return HF_OK;
}

/* "file:" and the directory, percent-encoded.  0, or -1 if it is too long. */
static int host_url(const char *dir, char *out, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char kept[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.-~";
    size_t n = (size_t)snprintf(out, size, "file:");
    for (; dir && *dir; dir++) {
        unsigned char b = (unsigned char)*dir;
        if (n + sizeof "%00?slash=name" > size) return -1;
        if (strchr(kept, b)) {
            out[n++] = (char)b;
        } else {
            out[n++] = '%';
            out[n++] = digits[b >> 4];
            out[n++] = digits[b & 15];
        }
    }
    /* A lock's name is never a path of this host. */
    snprintf(out + n, size - n, "?slash=name");
    return 0;
}

/* ---- the store of this host --------------------------------------------- */

/* In a step of the engine: the client's lock is held. */
static int host_open(struct engine *e, struct hf_error *err)
{
    struct fallback *f = (struct fallback *)e->host;
    struct host *h = &f->host;
    struct url url;
    int status = hf__url_parse(&url, f->url, err);
    if (status != HF_OK) return status;
    const struct backend *b = hf__backend_find(url.scheme, err);
    if (!b) return err->status;
    h->conf = e->conf;
    h->conf.nodes = h->conf.quorum = 1;
    h->conf.request_flags = REQ_SERVER_FENCE;
    h->conf.handover = 0;
    h->conf.rtt_us = 0;
    h->conf.unsettled = h->conf.down = 0;
    h->conf.settle_us = h->conf.lease_max_us = 0;
    f->conf = (struct backend_conf){.timeout_us = e->conf.timeout_us,
                                    .uuid = e->uuid};
    h->node.is_host = 1;
    h->node.conf = &f->conf;
    status = hf__node_open(e, &h->node, 0, b, &url, err);
    if (status == HF_OK)
        h->caps = b->conn_caps ? b->conn_caps(h->node.conn) : b->caps;
    return status;
}

static int local_read(hf_client *c, const struct url *url, struct hf_error *err)
{
    char text[URL_LEN_MAX];
    const char *dir = hf__url_option(url, "fallback_dir");
    if (!strcmp(url->scheme, "file") || !strcmp(url->scheme, "memory"))
        return hf__error_set(err, HF_INVALID,
                             "client: fallback=local: %s: is a store of this "
                             "host already",
                             url->scheme);
    if (dir && *dir != '/')
        return hf__error_set(err, HF_INVALID,
                             "url: fallback_dir=%.60s: not an absolute path",
                             dir);
    if (host_url(dir, text, sizeof text) != 0)
        return hf__error_set(err, HF_INVALID, "url: fallback_dir: too long");
    struct fallback *f = hf__alloc_zero(&c->alloc, sizeof *f);
    if (f) f->url = hf__strdup(&c->alloc, text);
    if (!f || !f->url) {
        hf__free(&c->alloc, f);
        return hf__error_set(err, HF_NOMEM, "client: out of memory");
    }
    f->host.open = host_open;
    c->pump.engine.host = &f->host;
    return HF_OK;
}

int hf__fallback_read(hf_client *c, const struct url *url, int32_t given,
                      struct hf_error *err)
{
    int policy = HF_FALLBACK_FAIL;
    int status = policy_read(url, given, &policy, err);
    if (status != HF_OK) return status;
    c->pump.engine.conf.is_patient = policy == HF_FALLBACK_WAIT;
    return policy == HF_FALLBACK_LOCAL ? local_read(c, url, err) : HF_OK;
}

void hf__fallback_free(hf_client *c)
{
    struct fallback *f = (struct fallback *)c->pump.engine.host;
    if (!f) return;
    hf__free(&c->alloc, f->url);
    hf__free(&c->alloc, f);
}
