/*
 * url.c: reading a URL of etcd.  One rule: a bad option is refused before any
 * server is contacted.
 */
#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "base/error.h"

#define PREFIX "holdfast"

static const struct server_kind kind = {
    .scheme = "etcd", .port = ETCD_PORT, .socket = "", .create = ""};

static int endpoint_add(struct backend_conn *c, const struct url *at,
                        struct hf_error *err)
{
    if (c->endpoints_len == ETCD_ENDPOINTS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "url: host: more than %d endpoints",
                             ETCD_ENDPOINTS_MAX);
    struct endpoint *e = &c->endpoints[c->endpoints_len];
    e->port = at->port ? at->port : ETCD_PORT;
    e->host = hf__strdup(c->env->alloc, at->host);
    if (!e->host) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    snprintf(e->text, sizeof e->text,
             strchr(e->host, ':') ? "[%.80s]:%d" : "%.80s:%d", e->host,
             e->port);
    c->endpoints_len++;
    return HF_OK;
}

static int endpoints_read(struct backend_conn *c, const struct url *url,
                          struct hf_error *err)
{
    const char *list = url->host;
    int status = HF_OK;
    struct url *at = hf__alloc(c->env->alloc, sizeof *at);
    if (!at) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    while (status == HF_OK && *list) {
        status = hf__url_host_next(&list, at, err);
        if (status == HF_OK) status = endpoint_add(c, at, err);
    }
    hf__free(c->env->alloc, at);
    return status;
}

static int prefix_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    const char *path = url->path ? url->path : "";
    if (path[0] == '/') path++;
    if (!path[0]) path = PREFIX;
    size_t len = strlen(path);
    if (len > KEY_PREFIX_MAX)
        return hf__error_set(err, HF_INVALID,
                             "url: prefix: longer than %d bytes",
                             KEY_PREFIX_MAX);
    if (path[len - 1] == '/')
        return hf__error_set(err, HF_INVALID,
                             "url: prefix: \"%.60s\": without a '/' at its end",
                             path);
    memcpy(c->prefix, path, len + 1);
    return HF_OK;
}

/* etcds:// means tls=on.  The TLS options themselves are read with the server's
 * address. */
static int tls_say(struct url *url, struct hf_error *err)
{
    const char *text = hf__url_option(url, "tls");
    if (strcmp(url->scheme, "etcds") != 0) return HF_OK;
    if (text && !strcmp(text, "off"))
        return hf__error_set(err, HF_INVALID,
                             "url: tls: off contradicts etcds://: write "
                             "etcd://");
    if (text) return HF_OK;
    if (url->options_len == URL_OPTIONS_MAX)
        return hf__error_set(err, HF_INVALID, "url: options: too many");
    url->options[url->options_len++] = (struct url_option){"tls", "on"};
    return HF_OK;
}

static int tls_open(struct backend_conn *c, struct hf_error *err)
{
    const struct server *p = &c->server;
    if (p->tls != SERVER_TLS_ANY && p->tls != SERVER_TLS_VERIFIED) return HF_OK;
    struct tls_conf conf = {.ca = p->tls_ca,
                            .cert = p->tls_cert,
                            .key = p->tls_key,
                            .key_password_file = p->tls_key_password_file,
                            .name = p->tls_name,
                            .no_verify = p->tls == SERVER_TLS_ANY,
                            .is_http2 = 1};
    return hf__tls_context_open(c->env->alloc, &conf, &c->tls, err);
}

static int user_check(const struct server *p, struct hf_error *err)
{
    if (!p->password || p->user) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: user: missing: there is a password");
}

/* The address is that of the first endpoint; error texts begin with it. */
static int server_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    struct url *copy = hf__alloc(c->env->alloc, sizeof *copy);
    if (!copy) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    *copy = *url;
    copy->path = NULL;
    copy->host = c->endpoints[0].host;
    copy->port = c->endpoints[0].port;
    int status = tls_say(copy, err);
    if (status == HF_OK)
        status = hf__sql_server_read(&c->server, c->env, copy, &kind, err);
    hf__free(c->env->alloc, copy);
    return status;
}

int hf__etcd_url_read(struct backend_conn *c, const struct url *url,
                      struct hf_error *err)
{
    int status = endpoints_read(c, url, err);
    if (status == HF_OK) status = prefix_read(c, url, err);
    if (status == HF_OK) status = server_read(c, url, err);
    if (status == HF_OK) status = user_check(&c->server, err);
    if (status == HF_OK)
        status = hf__sql_server_switch(url, "short_leases", 0, &c->short_leases,
                                       err);
    return status == HF_OK ? tls_open(c, err) : status;
}

void hf__etcd_url_free(struct backend_conn *c)
{
    hf__tls_context_close(c->tls);
    hf__sql_server_free(&c->server);
    for (int i = 0; i < c->endpoints_len; i++)
        hf__free(c->env->alloc, c->endpoints[i].host);
}
