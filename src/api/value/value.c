/*
 * value.c: the calls on versioned values: check and copy arguments, hand one
 * operation to the engine.
 *
 * The rule: what is out of bounds is refused before anything is sent, and
 * results go out only on success.
 */
#include "api/value/value.h"

#include <string.h>

#include "base/error.h"

/* ---- checks ------------------------------------------------------------- */

int hf__value_key_check(const hf_client *client, const char *key,
                        struct hf_error *err)
{
    size_t len = key ? strlen(key) : 0;
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (len == 0)
        return hf__error_set(err, HF_INVALID,
                             "value key: empty: give it 1 to 512 bytes");
    if (len > NAME_LEN_MAX)
        return hf__error_set(err, HF_INVALID,
                             "value key: %zu bytes: at most %d are allowed",
                             len, NAME_LEN_MAX);
    if (!(client->pump.engine.caps & HF_CAP_VALUE))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "value: %.100s keeps no values", client->url);
    return HF_OK;
}

int hf__value_bytes_check(const char *what, int most, const void *data,
                          size_t len, int64_t ttl_ms, struct hf_error *err)
{
    if (len > (size_t)most)
        return hf__error_set(err, HF_INVALID,
                             "%s of %zu bytes: at most %d are allowed", what,
                             len, most);
    if (len > 0 && !data)
        return hf__error_set(err, HF_INVALID,
                             "%s: data is NULL, but len is not 0", what);
    if (ttl_ms < 0 || ttl_ms > HF_VALUE_TTL_MS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "ttl_ms of %lld: out of range: 0 (no end) to 366 "
                             "days",
                             (long long)ttl_ms);
    return HF_OK;
}

int hf__value_data_check(const void *data, size_t len, int64_t ttl_ms,
                         struct hf_error *err)
{
    return hf__value_bytes_check("value", HF_VALUE_MAX, data, len, ttl_ms, err);
}

/* ---- operations ---------------------------------------------------------- */

void hf__value_read_op(struct op *op, struct value_job *job, const char *key)
{
    hf__call_init(op, OP_TYPE_VALUE_READ, NULL, 0);
    *job = (struct value_job){.key = key, .key_len = strlen(key)};
    op->value = job;
}

void hf__value_write_op(struct op *op, struct value_job *job, const char *key,
                        uint64_t version, const void *data, size_t len,
                        int64_t ttl_ms)
{
    hf__value_read_op(op, job, key);
    op->type = OP_TYPE_VALUE_WRITE;
    op->lease_us = ttl_ms * US_PER_MS;
    job->version = version;
    job->data = data;
    job->len = len;
}

void hf__value_delete_op(struct op *op, struct value_job *job, const char *key,
                         uint64_t version)
{
    hf__value_write_op(op, job, key, version, NULL, 0, 0);
    job->remove = 1;
}

/* ---- blocking ----------------------------------------------------------- */

int hf_value_read(hf_client *client, const char *key, struct hf_value *out,
                  struct hf_error *err)
{
    struct op op;
    struct value_job job;
    int status = hf__result_check(out, err);
    if (status == HF_OK) status = hf__value_key_check(client, key, err);
    if (status != HF_OK) return status;
    hf__value_read_op(&op, &job, key);
    status = hf__call_wait(client, &op, err);
    if (status == HF_OK) hf__result_fill(out, &job.found);
    return status;
}

void hf_value_free(hf_client *client, struct hf_value *value)
{
    hf__free(&client->alloc, value->data);
    value->version = 0;
    value->ttl_ms = -2;
    value->now_ms = 0;
    value->len = 0;
    value->data = NULL;
}

int hf_value_write(hf_client *client, const char *key, uint64_t version,
                   const void *data, size_t len, int64_t ttl_ms,
                   uint64_t *written, struct hf_error *err)
{
    struct op op;
    struct value_job job;
    int status = hf__value_key_check(client, key, err);
    if (status == HF_OK) status = hf__value_data_check(data, len, ttl_ms, err);
    if (status != HF_OK) return status;
    hf__value_write_op(&op, &job, key, version, data, len, ttl_ms);
    status = hf__call_wait(client, &op, err);
    if (status == HF_OK && written) *written = job.written;
    return status;
}

int hf_value_delete(hf_client *client, const char *key, uint64_t version,
                    struct hf_error *err)
{
    struct op op;
    struct value_job job;
    int status = hf__value_key_check(client, key, err);
    if (status != HF_OK) return status;
    hf__value_delete_op(&op, &job, key, version);
    return hf__call_wait(client, &op, err);
}

/* ---- asynchronous ------------------------------------------------------- */

/* An operation with all that it refers to. */
struct started {
    struct op op; /* first */
    struct value_job job;
    hf_client *client;
    char bytes[]; /* the key, its NUL, the data */
};

static void read_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_value_read_fn fn = (hf_value_read_fn)op->complete_fn;
    if (fn)
        fn(s->client, op->status, op->status == HF_OK ? &s->job.found : NULL,
           &op->err, op->complete_user);
    hf__free(&s->client->alloc, s->job.found.data);
    hf__free(&s->client->alloc, s);
}

static void write_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_value_written_fn fn = (hf_value_written_fn)op->complete_fn;
    if (fn)
        fn(s->client, op->status, op->status == HF_OK ? s->job.written : 0,
           &op->err, op->complete_user);
    hf__free(&s->client->alloc, s);
}

static struct started *started_make(hf_client *client, enum op_type type,
                                    const char *key, const void *data,
                                    size_t len)
{
    size_t key_len = strlen(key);
    struct started *s =
        hf__alloc_zero(&client->alloc, sizeof *s + key_len + 1 + len);
    if (!s) return NULL;
    hf__call_init(&s->op, type, NULL, 0);
    s->op.value = &s->job;
    s->client = client;
    memcpy(s->bytes, key, key_len + 1);
    if (len > 0) memcpy(s->bytes + key_len + 1, data, len);
    s->job = (struct value_job){.key = s->bytes,
                                .key_len = key_len,
                                .data = s->bytes + key_len + 1,
                                .len = len};
    return s;
}

static int started_go(struct started *s, void (*complete)(struct op *),
                      void (*fn)(void), void *user, struct hf_error *err)
{
    hf_client *client = s->client;
    s->op.complete = complete;
    s->op.complete_fn = fn;
    s->op.complete_user = user;
    if (hf__pump_start(&client->pump, &s->op) == HF_OK) return HF_OK;
    hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    hf__free(&client->alloc, s);
    return HF_CLOSED;
}

static int start_fail(struct hf_error *err)
{
    return hf__error_set(err, HF_NOMEM, "out of memory");
}

int hf_value_read_start(hf_client *client, const char *key, hf_value_read_fn cb,
                        void *user, struct hf_error *err)
{
    int status = hf__value_key_check(client, key, err);
    if (status != HF_OK) return status;
    struct started *s = started_make(client, OP_TYPE_VALUE_READ, key, NULL, 0);
    if (!s) return start_fail(err);
    return started_go(s, read_complete, (void (*)(void))cb, user, err);
}

int hf_value_write_start(hf_client *client, const char *key, uint64_t version,
                         const void *data, size_t len, int64_t ttl_ms,
                         hf_value_written_fn cb, void *user,
                         struct hf_error *err)
{
    int status = hf__value_key_check(client, key, err);
    if (status == HF_OK) status = hf__value_data_check(data, len, ttl_ms, err);
    if (status != HF_OK) return status;
    struct started *s =
        started_make(client, OP_TYPE_VALUE_WRITE, key, data, len);
    if (!s) return start_fail(err);
    s->job.version = version;
    s->op.lease_us = ttl_ms * US_PER_MS;
    return started_go(s, write_complete, (void (*)(void))cb, user, err);
}

int hf_value_delete_start(hf_client *client, const char *key, uint64_t version,
                          hf_value_written_fn cb, void *user,
                          struct hf_error *err)
{
    int status = hf__value_key_check(client, key, err);
    if (status != HF_OK) return status;
    struct started *s = started_make(client, OP_TYPE_VALUE_WRITE, key, NULL, 0);
    if (!s) return start_fail(err);
    s->job.version = version;
    s->job.remove = 1;
    return started_go(s, write_complete, (void (*)(void))cb, user, err);
}
