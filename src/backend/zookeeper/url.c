/*
 * url.c: hosts, root, session, login and TLS.  One rule: a bad option is
 * refused before any server is contacted, and a URL that asks for TLS never
 * gets less.
 */
#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/zookeeper.h"
#include "base/error.h"
#include "sys/secret.h"

#define SESSION_MS_DEFAULT 60000
#define SESSION_MS_MIN 20

/* ---- TLS ---------------------------------------------------------------- */

static const char *option(const struct url *url, const char *key)
{
    const char *text = hf__url_option(url, key);
    return text && *text ? text : NULL;
}

static int switch_read(const struct url *url, const char *key, int otherwise,
                       int *out, struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    *out = text ? !strcmp(text, "on") : otherwise;
    if (!text || *out || !strcmp(text, "off")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: %s: \"%.40s\" is neither on nor off", key, text);
}

/* Refuse an option that means nothing without TLS. */
static int tls_refuse(const struct url *url, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++)
        if (!strncmp(url->options[i].key, "tls_", 4))
            return hf__error_set(err, HF_INVALID, "url: %.40s: needs tls=on",
                                 url->options[i].key);
    return HF_OK;
}

static int tls_check(const struct tls_conf *conf, struct hf_error *err)
{
    if (conf->name && strlen(conf->name) > TLS_NAME_MAX)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_name: too long: %d bytes is the limit",
                             TLS_NAME_MAX);
    if ((conf->key || conf->key_password_file) && !conf->cert)
        return hf__error_set(err, HF_INVALID,
                             "url: %s: needs tls_cert, the certificate it "
                             "belongs to",
                             conf->key ? "tls_key" : "tls_key_password_file");
    return HF_OK;
}

static void unverified_tell(struct backend_conn *c)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%.150s: tls_verify=off: any server is believed, and told the "
             "password",
             c->endpoint);
    c->env->log(c->env, HF_LOG_WARN, line);
}

static int tls_read(struct backend_conn *c, const struct url *url,
                    struct hf_error *err)
{
    int is_verified;
    int status = switch_read(url, "tls", 0, &c->is_tls, err);
    if (status != HF_OK) return status;
    if (!c->is_tls) return tls_refuse(url, err);
    status = switch_read(url, "tls_verify", 1, &is_verified, err);
    if (status != HF_OK) return status;
    struct tls_conf conf = {.ca = option(url, "tls_ca"),
                            .cert = option(url, "tls_cert"),
                            .key = option(url, "tls_key"),
                            .key_password_file =
                                option(url, "tls_key_password_file"),
                            .name = option(url, "tls_name"),
                            .no_verify = !is_verified};
    status = tls_check(&conf, err);
    if (status == HF_OK)
        status = hf__tls_context_open(c->env->alloc, &conf, &c->tls, err);
    if (status == HF_OK && !is_verified) unverified_tell(c);
    return status;
}

/* ---- login -------------------------------------------------------------- */

static int given(const char *text)
{
    return text && text[0];
}

static char *copy(const struct backend_conn *c, const char *text, int *failed)
{
    char *made = given(text) ? hf__strdup(c->env->alloc, text) : NULL;
    if (given(text) && !made) *failed = 1;
    return made;
}

int hf__zookeeper_password(struct backend_conn *c, struct hf_error *err)
{
    char *password = NULL, line[HF_ERROR_TEXT_MAX];
    int is_open = 0;
    if (!c->password_file) return HF_OK;
    int status = hf__secret_read("password_file", c->password_file,
                                 c->env->alloc, &password, &is_open, err);
    if (status != HF_OK) return status;
    if (is_open && !c->file_was_told) {
        c->file_was_told = 1;
        snprintf(line, sizeof line,
                 "password_file: %.150s: every user of this host may read it: "
                 "chmod 600",
                 c->password_file);
        c->env->log(c->env, HF_LOG_WARN, line);
    }
    hf__free_secret(c->env->alloc, c->password);
    c->password = password;
    return HF_OK;
}

static int user_read(struct backend_conn *c, const struct url *url,
                     struct hf_error *err)
{
    const struct backend_conf *conf = c->env->conf;
    const char *file = option(url, "password_file");
    const char *password = conf->password;
    int failed = 0;
    if (url->password && file)
        return hf__error_set(err, HF_INVALID,
                             "url: password_file: there is a password in the "
                             "URL already");
    if (given(conf->password_file)) file = conf->password_file;
    if (password) file = NULL; /* the client's option comes first */
    if (!password && !file) password = url->password;
    c->user = copy(c, given(conf->user) ? conf->user : url->user, &failed);
    c->password = copy(c, password, &failed);
    c->password_file = copy(c, file, &failed);
    if (failed) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    if ((c->password || c->password_file) && !c->user)
        return hf__error_set(err, HF_INVALID,
                             "url: user: missing: a password needs one");
    if (c->user && strchr(c->user, ':'))
        return hf__error_set(err, HF_INVALID,
                             "url: user: a ':' may not be in it");
    return hf__zookeeper_password(c, err);
}

/* ---- where -------------------------------------------------------------- */

static int root_read(struct backend_conn *c, const struct url *url,
                     struct hf_error *err)
{
    const char *path = url->path ? url->path : "";
    const char *how = option(url, "chroot");
    size_t len = strlen(path);
    int failed = 0;
    if (len > 0 && path[len - 1] == '/') len--;
    if (strstr(path, "//") || strstr(path, "/./") || strstr(path, "/../")
        || (!strncmp(path, "/zookeeper", 10)
            && (path[10] == '/' || path[10] == '\0')))
        return hf__error_set(err, HF_INVALID,
                             "url: path: \"%.60s\" can be no node for locks",
                             path);
    if (how && strcmp(how, "create") != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: chroot: \"%.40s\" is not create", how);
    c->creates = how != NULL;
    c->root = copy(c, path, &failed);
    if (!failed && !c->root) {
        c->root = hf__alloc_zero(c->env->alloc, 1);
        failed = !c->root;
    }
    if (failed) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    c->root[len] = '\0';
    return HF_OK;
}

static int session_read(struct backend_conn *c, const struct url *url,
                        struct hf_error *err)
{
    const char *text = option(url, "session");
    int64_t ms = SESSION_MS_DEFAULT;
    if (text
        && (hf__duration_parse(text, &ms) != 0 || ms < SESSION_MS_MIN
            || ms > INT32_MAX))
        return hf__error_set(err, HF_INVALID,
                             "url: session: \"%.40s\" is no time between %d "
                             "ms and %d s",
                             text, SESSION_MS_MIN, INT32_MAX / 1000);
    c->session.asked_us = ms * US_PER_MS;
    return HF_OK;
}

static int host_set(struct backend_conn *c, const char *host, int port)
{
    char *mine = hf__strdup(c->env->alloc, host);
    if (!mine) return -1;
    hf__free(c->env->alloc, c->host);
    c->host = mine;
    c->port = port ? port : ZOOKEEPER_PORT;
    snprintf(c->endpoint, sizeof c->endpoint,
             strchr(host, ':') ? "zookeeper://[%.80s]:%d%.50s"
                               : "zookeeper://%.80s:%d%.50s",
             host, c->port, c->root);
    return 0;
}

static int hosts_len(const struct backend_conn *c)
{
    int n = 1;
    for (const char *at = c->hosts; *at; at++) n += *at == ',';
    return n;
}

/* The n-th of the hosts. */
static int host_choose(struct backend_conn *c, int n)
{
    const char *list = c->hosts;
    struct url one;
    struct hf_error err;
    do {
        if (hf__url_host_next(&list, &one, &err) != HF_OK) return -1;
    } while (n-- > 0 && *list);
    return host_set(c, one.host, one.port);
}

int hf__zookeeper_host_next(struct backend_conn *c)
{
    c->host_at = (c->host_at + 1) % hosts_len(c);
    return host_choose(c, c->host_at);
}

/* Clients begin with different hosts. */
static int hosts_read(struct backend_conn *c, const struct url *url,
                      struct hf_error *err)
{
    int failed = 0;
    c->hosts = copy(c, url->host, &failed);
    if (!failed && c->hosts) {
        int n = hosts_len(c);
        c->host_at = (int)(c->env->random(c->env) % (uint64_t)n);
        if (url->port && n == 1)
            failed = host_set(c, url->host, url->port) != 0;
        else
            failed = host_choose(c, c->host_at) != 0;
    }
    if (failed) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    if (!c->hosts)
        return hf__error_set(err, HF_INVALID,
                             "url: host: missing: write zookeeper://host/path");
    return HF_OK;
}

int hf__zookeeper_url_read(struct backend_conn *c, const struct url *url,
                           struct hf_error *err)
{
    int status = root_read(c, url, err);
    if (status == HF_OK) status = session_read(c, url, err);
    if (status == HF_OK) status = hosts_read(c, url, err);
    if (status == HF_OK) status = user_read(c, url, err);
    return status == HF_OK ? tls_read(c, url, err) : status;
}

void hf__zookeeper_url_free(struct backend_conn *c)
{
    const struct allocator *a = c->env->alloc;
    hf__free(a, c->hosts);
    hf__free(a, c->host);
    hf__free(a, c->root);
    hf__free(a, c->user);
    hf__free_secret(a, c->password);
    hf__free(a, c->password_file);
    hf__tls_context_close(c->tls);
}
