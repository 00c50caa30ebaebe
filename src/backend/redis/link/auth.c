/*
 * auth.c: user and password.  One rule: a password that is kept in a file
 * is read before every greeting, so that it may be changed at any time.
 */
#include <stdio.h>

#include "backend/redis/link/auth.h"
#include "backend/redis/redis.h"
#include "base/error.h"
#include "sys/secret.h"

static int given(const char *text)
{
    return text && text[0];
}

static char *copy(struct backend_conn *c, const char *text, int *failed)
{
    char *made = text ? hf__strdup(c->env->alloc, text) : NULL;
    if (text && !made) *failed = 1;
    return made;
}

void hf__redis_file_tell(struct backend_env *env, const char *what,
                         const char *path)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%s: %.150s: every user of this host may read it: chmod 600", what,
             path);
    env->log(env, HF_LOG_WARN, line);
}

int hf__redis_auth_refresh(struct backend_conn *c, struct hf_error *err)
{
    char *password = NULL;
    int is_open = 0;
    if (!c->password_file) return HF_OK;
    int status = hf__secret_read("password_file", c->password_file,
                                 c->env->alloc, &password, &is_open, err);
    if (status != HF_OK) return status;
    /* Many parts of one connection may read the same file: none warns. */
    if (is_open && !c->file_was_told && !c->env->conf->is_part) {
        c->file_was_told = 1;
        hf__redis_file_tell(c->env, "password_file", c->password_file);
    }
    hf__free_secret(c->env->alloc, c->password);
    c->password = password;
    return HF_OK;
}

int hf__redis_auth_open(struct backend_conn *c, const struct url *url,
                        struct hf_error *err)
{
    const struct backend_conf *conf = c->env->conf;
    const char *user = given(conf->user) ? conf->user : url->user;
    const char *file = hf__url_option(url, "password_file");
    const char *password = conf->password;
    int failed = 0;
    if (url->password && given(file))
        return hf__error_set(err, HF_INVALID,
                             "url: password_file: there is a password in the "
                             "URL already");
    if (given(conf->password_file)) file = conf->password_file;
    if (password) file = NULL; /* the client's option comes first */
    if (!password && !given(file)) password = url->password;
    c->user = given(user) ? copy(c, user, &failed) : NULL;
    c->password = copy(c, password, &failed);
    c->password_file = given(file) ? copy(c, file, &failed) : NULL;
    if (failed) return hf__error_set(err, HF_NOMEM, "redis: out of memory");
    return conf->is_part ? HF_OK : hf__redis_auth_refresh(c, err);
}
