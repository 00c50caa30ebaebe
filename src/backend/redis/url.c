/*
 * url.c: the host and the options of a URL.  One rule: a bad option is refused
 * before anything is connected to.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/link/tls.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/aof.h"
#include "backend/redis/replica/wait.h"
#include "base/error.h"

static int db_read(const char *text, int *db, struct hf_error *err)
{
    int64_t number;
    if (hf__number_parse(text, 0, INT32_MAX, &number) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: database: \"%s\" is no number", text);
    *db = (int)number;
    return HF_OK;
}

/* `key` is one of two words, the first by default. */
static int choice_read(const struct url *url, const char *key,
                       const char *first, const char *second, int *is_second,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    if (text && strcmp(text, first) != 0 && strcmp(text, second) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: %s: \"%.40s\" is neither %s nor %s", key,
                             text, first, second);
    *is_second = text && !strcmp(text, second);
    return HF_OK;
}

static int layout_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    int status =
        choice_read(url, "format", "hash", "string", &c->is_string, err);
    if (status == HF_OK)
        status = choice_read(url, "fence", "on", "off", &c->no_fence, err);
    if (status == HF_OK) status = hf__redis_aof_read(c, url, err);
    if (status == HF_OK && c->no_fence && !c->is_string)
        return hf__error_set(err, HF_INVALID,
                             "url: fence: off needs format=string: a hash "
                             "always has its fence");
    return status == HF_OK ? hf__redis_wait_read(c, url, err) : status;
}

int hf__redis_url_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    const char *db = hf__url_option(url, "db");
    const char *path = url->path ? url->path : "";
    c->is_unix = !strcmp(url->scheme, "redis+unix");
    c->port = url->port ? url->port : REDIS_PORT;
    if (!c->is_unix && path[0] == '/' && path[1] != '\0') {
        if (db)
            return hf__error_set(err, HF_INVALID,
                                 "url: database: given twice, in the path and "
                                 "as db=");
        db = path + 1;
    }
    int status = db ? db_read(db, &c->db, err) : HF_OK;
    if (status == HF_OK)
        status =
            choice_read(url, "member", "no", "ok", &c->member_is_meant, err);
    if (status == HF_OK) status = hf__redis_tls_read(c, url, err);
    return status == HF_OK ? layout_read(c, url, err) : status;
}

static char *endpoint_make(const struct backend_conn *c)
{
    char text[ENDPOINT_MAX];
    if (!c->host[0])
        snprintf(text, sizeof text, "the primary"); /* not led yet */
    else if (c->is_unix)
        snprintf(text, sizeof text, "redis+unix://%s", c->host);
    else
        snprintf(text, sizeof text,
                 strchr(c->host, ':') ? "redis%s://[%.128s]:%d"
                                      : "redis%s://%.128s:%d",
                 c->is_tls ? "s" : "", c->host, c->port);
    return hf__strdup(c->env->alloc, text);
}

int hf__redis_host_set(struct backend_conn *c, const char *host, int port)
{
    const struct allocator *a = c->env->alloc;
    char *old_host = c->host, *old_endpoint = c->endpoint;
    int old_port = c->port;
    c->host = hf__strdup(a, host);
    c->port = port;
    c->endpoint = c->host ? endpoint_make(c) : NULL;
    if (c->endpoint) {
        hf__free(a, old_host);
        hf__free(a, old_endpoint);
        return 0;
    }
    hf__free(a, c->host);
    c->host = old_host;
    c->endpoint = old_endpoint;
    c->port = old_port;
    return -1;
}

int hf__redis_url_host(struct backend_conn *c, const struct url *url)
{
    const char *host = c->is_unix ? url->path : url->host;
    return hf__redis_host_set(c, host ? host : "", c->port);
}
