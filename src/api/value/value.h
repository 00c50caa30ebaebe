/*
 * value.h: reading and writing a value, as an operation of another call.
 */
#ifndef HF_API_VALUE_H
#define HF_API_VALUE_H

#include "api/client/client.h"

/* HF_OK, or why the store cannot have a value of this key. */
int hf__value_key_check(const hf_client *client, const char *key,
                        struct hf_error *err);
/* The same of `data`, and of the time for which it is kept; `what` and `most`:
 * what it is, and how many bytes it may have. */
int hf__value_bytes_check(const char *what, int most, const void *data,
                          size_t len, int64_t ttl_ms, struct hf_error *err);
int hf__value_data_check(const void *data, size_t len, int64_t ttl_ms,
                         struct hf_error *err);

/* An operation on `key`; all of it is borrowed until that is over. */
void hf__value_read_op(struct op *op, struct value_job *job, const char *key);
void hf__value_write_op(struct op *op, struct value_job *job, const char *key,
                        uint64_t version, const void *data, size_t len,
                        int64_t ttl_ms);
void hf__value_delete_op(struct op *op, struct value_job *job, const char *key,
                         uint64_t version);

#endif
