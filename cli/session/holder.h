/*
 * session/holder.h: the holder of a lock, in words and as JSON.
 */
#ifndef HOLDFAST_CLI_SESSION_HOLDER_H
#define HOLDFAST_CLI_SESSION_HOLDER_H

#include <stddef.h>

#include "common/json.h"
#include "holdfast/holdfast.h"

#define HOLDER_TEXT_MAX 1024

/* "web-3 pid 4121 (report), for 4m10s, fence 812, lease 22s left" */
const char *holder_text(const struct hf_info *info, char *out, size_t size);
/* The same with hold count, waiters, kind and guarantee, even if they have
 * their usual values. */
const char *holder_details(const struct hf_info *info, char *out, size_t size);
/* The holder alone: "web-3 pid 4121 (report)". */
const char *holder_name(const struct hf_info *info, char *out, size_t size);
/* enum hf_guarantee as a word: "store" or "local". */
const char *guarantee_name(int guarantee);
/* What the store knows of a lock, as members of `j`. */
void holder_json(struct json *j, const char *name, const struct hf_info *info);

#endif
