/*
 * common/json.h: one JSON object per line.
 */
#ifndef HOLDFAST_CLI_COMMON_JSON_H
#define HOLDFAST_CLI_COMMON_JSON_H

#include <stddef.h>
#include <stdint.h>

/* An object being written in one fixed buffer; one line when it is ended. */
struct json {
    char buf[8192];
    size_t len;
    int any;
};
void json_begin(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, int value);
/* Close the object, with a newline and a NUL behind it. */
void json_end(struct json *j);

#endif
