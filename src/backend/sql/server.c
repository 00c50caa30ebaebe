/*
 * server.c: see server.h.  One rule: a bad option is refused before any server
 * is contacted, and a URL that asks for TLS never gets less.
 */
#include "backend/sql/server.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "sys/secret.h"

static int given(const char *text)
{
    return text && text[0];
}

static char *copy(const struct server *p, const char *text, int *failed)
{
    char *made = given(text) ? hf__strdup(p->env->alloc, text) : NULL;
    if (given(text) && !made) *failed = 1;
    return made;
}

static const char *option(const struct url *url, const char *key)
{
    const char *text = hf__url_option(url, key);
    return given(text) ? text : NULL;
}

int hf__sql_server_switch(const struct url *url, const char *key, int otherwise,
                          int *out, struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    *out = text ? !strcmp(text, "on") : otherwise;
    if (!text || *out || !strcmp(text, "off")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: %s: \"%.40s\" is neither on nor off", key, text);
}

int hf__sql_server_session(const struct url *url, int *out,
                           struct hf_error *err)
{
    int status = hf__sql_server_switch(url, "session", 0, out, err);
    if (status != HF_OK || !*out || !hf__url_option(url, "schema"))
        return status;
    return hf__error_set(err, HF_INVALID,
                         "url: schema: session=on needs no tables");
}

/* ---- TLS ---- */

/* Refuse an option that means nothing without TLS. */
static int tls_refuse(const struct url *url, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++)
        if (!strncmp(url->options[i].key, "tls_", 4))
            return hf__error_set(err, HF_INVALID, "url: %.40s: needs tls=on",
                                 url->options[i].key);
    return HF_OK;
}

static int tls_check(const struct server *p, struct hf_error *err)
{
    if (p->tls_key && !p->tls_cert)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_key: needs tls_cert, the certificate it "
                             "belongs to");
    if (p->tls_key_password_file && !p->tls_cert)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_key_password_file: needs tls_cert and "
                             "tls_key");
    if (p->socket)
        return hf__error_set(err, HF_INVALID,
                             "url: tls: there is none on a unix socket");
    return HF_OK;
}

static void unverified_tell(struct server *p)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%.150s: tls_verify=off: any server is believed", p->endpoint);
    p->env->log(p->env, HF_LOG_WARN, line);
}

static int tls_words_read(struct server *p, const struct url *url,
                          struct hf_error *err)
{
    int failed = 0;
    p->tls_ca = copy(p, option(url, "tls_ca"), &failed);
    p->tls_cert = copy(p, option(url, "tls_cert"), &failed);
    p->tls_key = copy(p, option(url, "tls_key"), &failed);
    p->tls_key_password_file =
        copy(p, option(url, "tls_key_password_file"), &failed);
    p->tls_name = copy(p, option(url, "tls_name"), &failed);
    return failed ? hf__error_set(err, HF_NOMEM, "url: out of memory") : HF_OK;
}

static int tls_read(struct server *p, const struct url *url,
                    struct hf_error *err)
{
    int is_on, is_verified;
    int status = hf__sql_server_switch(url, "tls", 0, &is_on, err);
    if (status != HF_OK) return status;
    if (hf__url_option(url, "tls") && !is_on) p->tls = SERVER_TLS_OFF;
    if (!is_on) return tls_refuse(url, err);
    status = hf__sql_server_switch(url, "tls_verify", 1, &is_verified, err);
    if (status != HF_OK) return status;
    p->tls = is_verified ? SERVER_TLS_VERIFIED : SERVER_TLS_ANY;
    status = tls_words_read(p, url, err);
    if (status == HF_OK) status = tls_check(p, err);
    if (status == HF_OK && !is_verified) unverified_tell(p);
    return status;
}

/* ---- password ---- */

int hf__sql_server_password(struct server *p, struct hf_error *err)
{
    char *password = NULL, line[HF_ERROR_TEXT_MAX];
    int is_open = 0;
    if (!p->password_file) return HF_OK;
    int status = hf__secret_read("password_file", p->password_file,
                                 p->env->alloc, &password, &is_open, err);
    if (status != HF_OK) return status;
    if (is_open && !p->file_was_told) {
        p->file_was_told = 1;
        snprintf(line, sizeof line,
                 "password_file: %.150s: every user of this host may read it: "
                 "chmod 600",
                 p->password_file);
        p->env->log(p->env, HF_LOG_WARN, line);
    }
    hf__free_secret(p->env->alloc, p->password);
    p->password = password;
    return HF_OK;
}

static int user_read(struct server *p, const struct url *url,
                     struct hf_error *err)
{
    const struct backend_conf *conf = p->env->conf;
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
    p->user = copy(p, given(conf->user) ? conf->user : url->user, &failed);
    p->password = copy(p, password, &failed);
    p->password_file = copy(p, file, &failed);
    if (failed) return hf__error_set(err, HF_NOMEM, "url: out of memory");
    return hf__sql_server_password(p, err);
}

char *hf__sql_server_key_password(const struct server *p)
{
    char *password = NULL;
    if (p->tls_key_password_file)
        (void)hf__secret_read("tls_key_password_file", p->tls_key_password_file,
                              p->env->alloc, &password, NULL, NULL);
    return password;
}

/* ---- where ---- */

static int schema_read(struct server *p, const struct url *url,
                       const struct server_kind *kind, struct hf_error *err)
{
    const char *text = hf__url_option(url, "schema");
    p->creates = text && !strcmp(text, "create");
    if (!text || p->creates) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: schema: \"%.40s\" is not create%s", text,
                         kind->create);
}

static char *endpoint_make(const struct server *p, const char *scheme)
{
    char text[SERVER_ENDPOINT_MAX];
    const char *database = p->database ? p->database : "";
    if (p->socket)
        snprintf(text, sizeof text, "%s:///%.60s?socket=%.80s", scheme,
                 database, p->socket);
    else
        snprintf(text, sizeof text,
                 strchr(p->host, ':') ? "%s://[%.70s]:%d/%.60s"
                                      : "%s://%.70s:%d/%.60s",
                 scheme, p->host, p->port, database);
    return hf__strdup(p->env->alloc, text);
}

static int host_check(const struct url *url, const struct server_kind *kind,
                      const char *database, struct hf_error *err)
{
    const char *socket = option(url, "socket");
    if (strchr(database, '/'))
        return hf__error_set(err, HF_INVALID,
                             "url: database: \"%.60s\": write '/' in it as "
                             "%%2F",
                             database);
    if (socket && given(url->host) && strcmp(url->host, "localhost") != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: socket: the host %.100s is named already",
                             url->host);
    if (!socket && !given(url->host))
        return hf__error_set(err, HF_INVALID,
                             "url: host: missing: write "
                             "%s://host/database, or socket=%s",
                             kind->scheme, kind->socket);
    return HF_OK;
}

static int host_read(struct server *p, const struct url *url,
                     const struct server_kind *kind, struct hf_error *err)
{
    const char *path = url->path ? url->path : "";
    int failed = 0;
    if (path[0] == '/') path++;
    int status = host_check(url, kind, path, err);
    if (status != HF_OK) return status;
    p->port = url->port ? url->port : kind->port;
    p->socket = copy(p, option(url, "socket"), &failed);
    p->host = p->socket ? NULL : copy(p, url->host, &failed);
    p->database = copy(p, path, &failed);
    if (!failed) p->endpoint = endpoint_make(p, kind->scheme);
    if (failed || !p->endpoint)
        return hf__error_set(err, HF_NOMEM, "url: out of memory");
    return HF_OK;
}

int hf__sql_server_read(struct server *p, struct backend_env *env,
                        const struct url *url, const struct server_kind *kind,
                        struct hf_error *err)
{
    p->env = env;
    int status = schema_read(p, url, kind, err);
    if (status == HF_OK) status = host_read(p, url, kind, err);
    if (status == HF_OK) status = tls_read(p, url, err);
    return status == HF_OK ? user_read(p, url, err) : status;
}

void hf__sql_server_free(struct server *p)
{
    if (!p->env) return;
    const struct allocator *a = p->env->alloc;
    hf__free(a, p->endpoint);
    hf__free(a, p->host);
    hf__free(a, p->socket);
    hf__free(a, p->user);
    hf__free_secret(a, p->password);
    hf__free(a, p->password_file);
    hf__free(a, p->database);
    hf__free(a, p->tls_ca);
    hf__free(a, p->tls_cert);
    hf__free(a, p->tls_key);
    hf__free(a, p->tls_key_password_file);
    hf__free(a, p->tls_name);
}

int64_t hf__sql_server_pause_us(struct backend_env *env, unsigned failures)
{
    unsigned doublings = failures < 16 ? failures : 16;
    int64_t most = min64(RECONNECT_US_MIN << doublings, RECONNECT_US_MAX);
    /* Full jitter: many clients must not connect again at the same moment. */
    return (int64_t)(env->random(env) % (uint64_t)(most + 1));
}
