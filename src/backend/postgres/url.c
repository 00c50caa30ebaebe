/*
 * url.c: the host and the options of a URL.  One rule: a bad option is refused
 * before anything is connected to, and a URL that asks for TLS never gets less.
 */
#include <stdio.h>
#include <string.h>

#include "backend/postgres/postgres.h"
#include "base/error.h"
#include "sys/secret.h"

static int given(const char *text)
{
    return text && text[0];
}

static char *copy(struct backend_conn *c, const char *text, int *failed)
{
    char *made = given(text) ? hf__strdup(c->env->alloc, text) : NULL;
    if (given(text) && !made) *failed = 1;
    return made;
}

static const char *option(const struct url *url, const char *key)
{
    const char *text = hf__url_option(url, key);
    return given(text) ? text : NULL;
}

/* `key` is "on" or "off"; `otherwise` if it is absent. */
static int switch_read(const struct url *url, const char *key, int otherwise,
                       int *out, struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    *out = text ? !strcmp(text, "on") : otherwise;
    if (!text || *out || !strcmp(text, "off")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: %s: \"%.40s\" is neither on nor off", key, text);
}

/* ---- TLS ---- */

/* An option is named that means nothing without TLS. */
static int tls_refuse(const struct url *url, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++)
        if (!strncmp(url->options[i].key, "tls_", 4))
            return hf__error_set(err, HF_INVALID, "url: %.40s: needs tls=on",
                                 url->options[i].key);
    return HF_OK;
}

static int tls_check(const struct backend_conn *c, int is_verified,
                     struct hf_error *err)
{
    const struct postgres_tls *t = &c->tls;
    if (t->key && !t->cert)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_key: needs tls_cert, the certificate it "
                             "belongs to");
    if (t->key_password_file && !t->cert)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_key_password_file: needs tls_cert and "
                             "tls_key");
    if (c->socket)
        return hf__error_set(err, HF_INVALID,
                             "url: tls: PostgreSQL has none on a unix socket");
    /* From 16 on, libpq can be told to trust the system's authorities. */
    if (is_verified && !t->ca && PQlibVersion() < 160000)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_ca: missing: this libpq does not know "
                             "the system's authorities");
    return HF_OK;
}

static void unverified_tell(struct backend_conn *c)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%.150s: tls_verify=off: any server is believed", c->endpoint);
    c->env->log(c->env, HF_LOG_WARN, line);
}

static int tls_read(struct backend_conn *c, const struct url *url,
                    struct hf_error *err)
{
    int is_on, is_verified, failed = 0;
    struct postgres_tls *t = &c->tls;
    int status = switch_read(url, "tls", 0, &is_on, err);
    if (status != HF_OK) return status;
    if (hf__url_option(url, "tls") && !is_on) t->mode = "disable";
    if (!is_on) return tls_refuse(url, err);
    status = switch_read(url, "tls_verify", 1, &is_verified, err);
    if (status != HF_OK) return status;
    t->mode = is_verified ? "verify-full" : "require";
    t->ca = copy(c, option(url, "tls_ca"), &failed);
    t->cert = copy(c, option(url, "tls_cert"), &failed);
    t->key = copy(c, option(url, "tls_key"), &failed);
    t->key_password_file =
        copy(c, option(url, "tls_key_password_file"), &failed);
    t->name = copy(c, option(url, "tls_name"), &failed);
    if (failed) return hf__error_set(err, HF_NOMEM, "postgres: out of memory");
    status = tls_check(c, is_verified, err);
    if (status == HF_OK && !is_verified) unverified_tell(c);
    return status;
}

/* ---- password ---- */

int hf__postgres_password_refresh(struct backend_conn *c, struct hf_error *err)
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
    if (failed) return hf__error_set(err, HF_NOMEM, "postgres: out of memory");
    return hf__postgres_password_refresh(c, err);
}

/* ---- where ---- */

static int schema_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, "schema");
    c->creates = text && !strcmp(text, "create");
    int status = switch_read(url, "session", 0, &c->is_session, err);
    if (status != HF_OK) return status;
    if (c->is_session && text)
        return hf__error_set(err, HF_INVALID,
                             "url: schema: session=on needs no tables");
    if (!text || c->creates) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: schema: \"%.40s\" is not create; search_path= "
                         "names a schema of the database",
                         text);
}

static char *endpoint_make(const struct backend_conn *c)
{
    char text[ENDPOINT_MAX];
    const char *database = c->database ? c->database : "";
    if (c->socket)
        snprintf(text, sizeof text, "postgres:///%.60s?socket=%.80s", database,
                 c->socket);
    else
        snprintf(text, sizeof text,
                 strchr(c->host, ':') ? "postgres://[%.70s]:%d/%.60s"
                                      : "postgres://%.70s:%d/%.60s",
                 c->host, c->port, database);
    return hf__strdup(c->env->alloc, text);
}

static int host_read(struct backend_conn *c, const struct url *url,
                     struct hf_error *err)
{
    const char *path = url->path ? url->path : "";
    const char *socket = option(url, "socket");
    int failed = 0;
    if (path[0] == '/') path++;
    if (strchr(path, '/'))
        return hf__error_set(err, HF_INVALID,
                             "url: database: \"%.60s\": write '/' in it as "
                             "%%2F",
                             path);
    if (socket && given(url->host) && strcmp(url->host, "localhost") != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: socket: the host %.100s is named already",
                             url->host);
    if (!socket && !given(url->host))
        return hf__error_set(err, HF_INVALID,
                             "url: host: missing: write "
                             "postgres://host/database, or socket=/directory");
    c->port = url->port ? url->port : POSTGRES_PORT;
    c->socket = copy(c, socket, &failed);
    c->host = socket ? NULL : copy(c, url->host, &failed);
    c->database = copy(c, path, &failed);
    c->search_path = copy(c, option(url, "search_path"), &failed);
    if (!failed) c->endpoint = endpoint_make(c);
    if (failed || !c->endpoint)
        return hf__error_set(err, HF_NOMEM, "postgres: out of memory");
    return HF_OK;
}

int hf__postgres_url_read(struct backend_conn *c, const struct url *url,
                          struct hf_error *err)
{
    int status = schema_read(c, url, err);
    if (status == HF_OK) status = host_read(c, url, err);
    if (status == HF_OK) status = tls_read(c, url, err);
    return status == HF_OK ? user_read(c, url, err) : status;
}

void hf__postgres_url_free(struct backend_conn *c)
{
    const struct allocator *a = c->env->alloc;
    hf__free(a, c->endpoint);
    hf__free(a, c->host);
    hf__free(a, c->socket);
    hf__free(a, c->user);
    hf__free_secret(a, c->password);
    hf__free(a, c->password_file);
    hf__free(a, c->database);
    hf__free(a, c->search_path);
    hf__free(a, c->tls.ca);
    hf__free(a, c->tls.cert);
    hf__free(a, c->tls.key);
    hf__free(a, c->tls.key_password_file);
    hf__free(a, c->tls.name);
}
