/* string.h: the layout of format=string. */
#ifndef HF_REDIS_KIND_STRING_H
#define HF_REDIS_KIND_STRING_H

#include "backend/redis/redis.h"

#define STRING_MARK "hf1:" /* how a lock of ours begins that is a string */

/* 1 if it is the value of a lock of ours. */
int hf__redis_string_is_ours(const struct resp *v);
/* Read such a value up to "<pid> <host> <label>", which is returned. */
const char *hf__redis_string_read(const char *text, struct hf_info *info);

#endif
