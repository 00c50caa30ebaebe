/* tls.h: the options about TLS. */
#ifndef HF_REDIS_LINK_TLS_H
#define HF_REDIS_LINK_TLS_H

#include "backend/redis/redis.h"

/* Read whether TLS is asked for into c->is_tls. */
int hf__redis_tls_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);
/* Make the context, if so; c->endpoint is known already. */
int hf__redis_tls_open(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);

#endif
