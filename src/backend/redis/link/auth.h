/* auth.h: user and password. */
#ifndef HF_REDIS_LINK_AUTH_H
#define HF_REDIS_LINK_AUTH_H

#include "backend/redis/redis.h"

/* Take them from the client's options, or else from the URL. */
int hf__redis_auth_open(struct backend_conn *c, const struct url *url,
                        struct hf_error *err);
/* Before each greeting: a password in a file may be another one by now. */
int hf__redis_auth_refresh(struct backend_conn *c, struct hf_error *err);
/* Warn in the log that other users may read the file. */
void hf__redis_file_tell(struct backend_env *env, const char *what,
                         const char *path);

#endif
