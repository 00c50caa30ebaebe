/*
 * sentinel_auth.c: who we are to the Sentinels.  One rule: they get what is
 * theirs, by a file or the environment, and never the primary's password.
 */
#include <stdlib.h>

#include "backend/redis/sentinel.h"
#include "base/error.h"
#include "sys/secret.h"

int hf__sentinel_password_given(struct sentinel *s, struct hf_error *err)
{
    const char *given = secure_getenv("HOLDFAST_SENTINEL_PASSWORD");
    if (s->password_file) return hf__sentinel_password(s, err);
    if (!given) return HF_OK;
    s->password = hf__strdup(s->env->alloc, given);
    return s->password ? HF_OK
                       : hf__error_set(err, HF_NOMEM, "redis: out of memory");
}

int hf__sentinel_password(struct sentinel *s, struct hf_error *err)
{
    char *password = NULL;
    if (!s->password_file) return HF_OK;
    int status = hf__secret_read("sentinel_password_file", s->password_file,
                                 s->env->alloc, &password, NULL, err);
    if (status != HF_OK) return status;
    hf__free_secret(s->env->alloc, s->password);
    s->password = password;
    return HF_OK;
}
