/*
 * tls.c: the options about TLS.  One rule: a URL that asks for it never
 * gets less, and what is said about it where it is not asked for is refused.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/link/auth.h"
#include "backend/redis/link/tls.h"
#include "backend/redis/redis.h"
#include "base/error.h"
#include "sys/secret.h"

/* "on" or "off". */
static int switch_read(const struct url *url, const char *key, int otherwise,
                       int *out, struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    *out = text ? !strcmp(text, "on") : otherwise;
    if (!text || *out || !strcmp(text, "off")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: %s: \"%.40s\" is neither on nor off", key, text);
}

int hf__redis_tls_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    int is_rediss = !strcmp(url->scheme, "rediss");
    int status = switch_read(url, "tls", is_rediss, &c->is_tls, err);
    if (status == HF_OK && is_rediss && !c->is_tls)
        return hf__error_set(err, HF_INVALID,
                             "url: tls: off contradicts rediss://: write "
                             "redis://");
    return status;
}

/* An option is named that means nothing without TLS. */
static int options_refuse(const struct url *url, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++)
        if (!strncmp(url->options[i].key, "tls_", 4))
            return hf__error_set(err, HF_INVALID,
                                 "url: %.40s: needs rediss:// or tls=on",
                                 url->options[i].key);
    return HF_OK;
}

static const char *option(const struct url *url, const char *key)
{
    const char *text = hf__url_option(url, key);
    return text && *text ? text : NULL;
}

static int conf_check(const struct backend_conn *c, const struct tls_conf *conf,
                      struct hf_error *err)
{
    if (c->is_unix && !conf->name && !conf->no_verify)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_name: missing: a socket's path is in no "
                             "certificate");
    if (conf->name && strlen(conf->name) > TLS_NAME_MAX)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_name: too long: %d bytes is the limit",
                             TLS_NAME_MAX);
    if (conf->key && !conf->cert)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_key: needs tls_cert, the certificate it "
                             "belongs to");
    if (conf->key_password_file && !conf->cert)
        return hf__error_set(err, HF_INVALID,
                             "url: tls_key_password_file: needs tls_cert and "
                             "tls_key");
    return HF_OK;
}

static void unverified_tell(struct backend_conn *c)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%.150s: tls_verify=off: any server is believed, and told "
             "the password",
             c->endpoint);
    c->env->log(c->env, HF_LOG_WARN, line);
}

static void key_file_tell(struct backend_conn *c, const char *path)
{
    static const char what[] = "tls_key_password_file";
    char *password = NULL;
    int is_open = 0;
    int status =
        hf__secret_read(what, path, c->env->alloc, &password, &is_open, NULL);
    hf__free_secret(c->env->alloc, password);
    if (status == HF_OK && is_open) hf__redis_file_tell(c->env, what, path);
}

int hf__redis_tls_open(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    int is_verified = 1;
    if (!c->is_tls) return options_refuse(url, err);
    if (c->env->conf->is_part) {
        c->tls = hf__tls_context_share(c->env->conf->tls);
        return HF_OK;
    }
    int status = switch_read(url, "tls_verify", 1, &is_verified, err);
    if (status != HF_OK) return status;
    struct tls_conf conf = {.ca = option(url, "tls_ca"),
                            .cert = option(url, "tls_cert"),
                            .key = option(url, "tls_key"),
                            .key_password_file =
                                option(url, "tls_key_password_file"),
                            .name = option(url, "tls_name"),
                            .no_verify = !is_verified};
    status = conf_check(c, &conf, err);
    if (status == HF_OK)
        status = hf__tls_context_open(c->env->alloc, &conf, &c->tls, err);
    if (status == HF_OK && !is_verified) unverified_tell(c);
    if (status == HF_OK && conf.key_password_file)
        key_file_tell(c, conf.key_password_file);
    return status;
}
