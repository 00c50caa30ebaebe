/*
 * params.h: the parameters of a statement, in PostgreSQL's binary format.
 */
#ifndef HF_POSTGRES_PARAMS_H
#define HF_POSTGRES_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "sys/alloc.h"

#define PARAMS_MAX 20

/* What libpq takes.  Numbers are kept here; bytes are borrowed. */
struct params {
    int len;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX];
    int formats[PARAMS_MAX];
    unsigned char numbers[PARAMS_MAX][8];
};

void hf__postgres_params_number(struct params *p, int64_t number);
void hf__postgres_params_bytes(struct params *p, const void *bytes, size_t len);
void hf__postgres_params_text(struct params *p, const char *text);
void hf__postgres_params_null(struct params *p);

/* An array of one dimension being written. */
struct array {
    const struct allocator *alloc;
    unsigned char *at;
    size_t len, room;
    uint32_t count;
    int is_short; /* there was no memory */
};

#define ARRAY_BYTEA 17 /* the types' object ids, the same on every server */
#define ARRAY_INT8 20
#define ARRAY_TEXT 25

void hf__postgres_array_begin(struct array *a, const struct allocator *alloc,
                              uint32_t type);
void hf__postgres_array_number(struct array *a, int64_t number);
void hf__postgres_array_bytes(struct array *a, const void *bytes, size_t len);
/* Its place among the parameters; it is borrowed until the statement is sent.
 */
void hf__postgres_params_array(struct params *p, struct array *a);
void hf__postgres_array_free(struct array *a);

/* The other way. */
int64_t hf__postgres_number(const void *bytes);

#endif
