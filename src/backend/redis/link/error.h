/* error.h: the server's errors. */
#ifndef HF_REDIS_LINK_ERROR_H
#define HF_REDIS_LINK_ERROR_H

#include "backend/redis/link/resp.h"
#include "base/error.h"

/* The status for an error reply, and "what: why" in `text`; `what` may be
 * NULL, and so is `value_key` if it was not about a value. */
int hf__redis_error(const char *what, const char *value_key,
                    const struct resp *v, char text[HF_ERROR_TEXT_MAX]);
int hf__redis_error_is(const struct resp *v, const char *code);

/* 1 if only a replica gives this error, also from inside a script. */
int hf__redis_error_is_of_replica(const struct resp *v);

#endif
