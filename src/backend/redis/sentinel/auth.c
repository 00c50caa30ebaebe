/*
 * auth.c: user and password for the Sentinels.  One rule: they have a password
 * of their own, from a file or the environment, and never get the primary's.
 */
#include "backend/redis/link/auth.h"
#include "backend/redis/sentinel/sentinel.h"
#include "base/error.h"
#include "sys/env.h"
#include "sys/secret.h"

/* Check that the file can be read: the askers read it at each connect. */
static int file_check(struct sentinel *s, struct hf_error *err)
{
    static const char what[] = "sentinel_password_file";
    char *password = NULL;
    int is_open = 0;
    int status = hf__secret_read(what, s->password_file, s->env->alloc,
                                 &password, &is_open, err);
    hf__free_secret(s->env->alloc, password);
    if (status == HF_OK && is_open)
        hf__redis_file_tell(s->env, what, s->password_file);
    return status;
}

int hf__redis_sentinel_auth_open(struct sentinel *s, struct hf_error *err)
{
    const char *given = hf__env("HOLDFAST_SENTINEL_PASSWORD");
    struct backend_conf *conf = &s->asker_conf;
    if (!s->password_file && given) {
        s->password = hf__strdup(s->env->alloc, given);
        if (!s->password)
            return hf__error_set(err, HF_NOMEM, "redis: out of memory");
    }
    conf->user = s->user;
    conf->password = s->password;
    conf->password_file = s->password_file;
    return s->password_file ? file_check(s, err) : HF_OK;
}
