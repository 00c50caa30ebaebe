/*
 * guard.c: guarded values on a client's store: check arguments, hand one
 * operation to the engine.
 *
 * The rule: what is out of bounds is refused before anything is sent; above
 * all a token of 0, which is what a hold without a fence has.
 */
#include "holdfast/guard.h"

#include <string.h>

#include "api/client.h"
#include "api/guard_mark.h"
#include "base/error.h"

static int key_check(const hf_client *client, const char *key,
                     struct hf_error *err)
{
    size_t len = key ? strlen(key) : 0;
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (len == 0 || len > NAME_LEN_MAX)
        return hf__error_set(err, HF_INVALID,
                             "guard key: %zu bytes: give it 1 to %d", len,
                             NAME_LEN_MAX);
    if (!(client->pump.engine.caps & HF_CAP_GUARD))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "%.80s: guard: %.80s keeps no guarded values; "
                             "for files there is hf_guard_file_replace(), or "
                             "holdfast guard file PATH",
                             key, client->url);
    return HF_OK;
}

static int data_check(const char *key, const void *data, size_t len,
                      int64_t ttl_ms, struct hf_error *err)
{
    if (len > HF_GUARD_VALUE_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%.80s: guarded value of %zu bytes: at most %d "
                             "are allowed",
                             key, len, HF_GUARD_VALUE_MAX);
    if (len > 0 && !data)
        return hf__error_set(err, HF_INVALID,
                             "%.80s: guarded value: no bytes given", key);
    if (ttl_ms < 0 || ttl_ms > HF_VALUE_TTL_MS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%.80s: life of %lld ms: out of range: 0 (no "
                             "end) to 366 days",
                             key, (long long)ttl_ms);
    return HF_OK;
}

static int job_run(hf_client *client, struct guard_job *job, int64_t ttl_ms,
                   struct hf_error *err)
{
    struct op op;
    job->key_len = strlen(job->key);
    hf__op_init(&op, OP_TYPE_GUARD, NULL, 0);
    op.guard = job;
    op.lease_us = ttl_ms * US_PER_MS;
    return hf__op_run(client, &op, err);
}

/* Everything that a token is shown for. */
static int token_use(hf_client *client, struct guard_job job, int64_t ttl_ms,
                     struct hf_error *err)
{
    int status = key_check(client, job.key, err);
    if (status == HF_OK)
        status = hf__guard_token_check(job.key, job.token, err);
    if (status == HF_OK)
        status = data_check(job.key, job.data, job.len, ttl_ms, err);
    return status == HF_OK ? job_run(client, &job, ttl_ms, err) : status;
}

int hf_guard_touch(hf_client *client, const char *key, uint64_t token,
                   struct hf_error *err)
{
    struct guard_job job = {.key = key, .token = token};
    return token_use(client, job, 0, err);
}

int hf_guard_set(hf_client *client, const char *key, uint64_t token,
                 const void *data, size_t len, int64_t ttl_ms,
                 struct hf_error *err)
{
    struct guard_job job = {.key = key,
                            .token = token,
                            .flags = REQ_GUARD_VALUE,
                            .data = data,
                            .len = len};
    return token_use(client, job, ttl_ms, err);
}

int hf_guard_delete(hf_client *client, const char *key, uint64_t token,
                    struct hf_error *err)
{
    struct guard_job job = {.key = key, .token = token, .flags = REQ_DELETE};
    return token_use(client, job, 0, err);
}

int hf_guard_token(hf_client *client, const char *key, uint64_t *out,
                   struct hf_error *err)
{
    struct guard_job job = {.key = key, .flags = REQ_GUARD_LOOK};
    int status = key_check(client, key, err);
    if (status == HF_OK) status = job_run(client, &job, 0, err);
    if (status == HF_OK) *out = job.found.version;
    return status;
}

int hf_guard_read(hf_client *client, const char *key, struct hf_value *out,
                  struct hf_error *err)
{
    struct guard_job job = {.key = key,
                            .flags = REQ_GUARD_LOOK | REQ_GUARD_VALUE};
    int status = key_check(client, key, err);
    if (status == HF_OK) status = job_run(client, &job, 0, err);
    if (status == HF_OK) *out = job.found;
    return status;
}

int hf_guard_claim(hf_client *client, const char *key, uint64_t token,
                   struct hf_error *err)
{
    struct guard_job job = {
        .key = key, .token = token, .flags = REQ_GUARD_CLAIM};
    return token_use(client, job, 0, err);
}

int hf_guard_set_claimed(hf_client *client, const char *key, uint64_t token,
                         const void *data, size_t len, int64_t ttl_ms,
                         struct hf_error *err)
{
    struct guard_job job = {.key = key,
                            .token = token,
                            .flags = REQ_GUARD_CLAIM | REQ_GUARD_VALUE,
                            .data = data,
                            .len = len};
    return token_use(client, job, ttl_ms, err);
}
