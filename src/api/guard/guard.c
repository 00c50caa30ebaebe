/*
 * guard.c: guarded values on a client's store: check arguments, hand one
 * operation to the engine.
 *
 * The rule: what is out of bounds is refused before anything is sent; above
 * all a token of 0, which is what a hold without a fence has.
 */
#include "holdfast/guard.h"

#include <string.h>

#include "api/client/client.h"
#include "api/guard/mark.h"
#include "api/value/value.h"
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
                             "guard: %.80s keeps no guarded values; "
                             "for files there is hf_guard_file_replace(), or "
                             "holdfast guard file PATH",
                             client->url);
    return HF_OK;
}

/* ---- for a caller that waits --------------------------------------------- */

static int job_run(hf_client *client, struct guard_job *job, int64_t ttl_ms,
                   struct hf_error *err)
{
    struct op op;
    job->key_len = strlen(job->key);
    hf__call_init(&op, OP_TYPE_GUARD, NULL, 0);
    op.guard = job;
    op.lease_us = ttl_ms * US_PER_MS;
    return hf__call_wait(client, &op, err);
}

/* Everything that a token is shown for. */
static int token_check(const hf_client *client, const struct guard_job *job,
                       int64_t ttl_ms, struct hf_error *err)
{
    int status = key_check(client, job->key, err);
    if (status == HF_OK) status = hf__guard_token_check(job->token, err);
    if (status == HF_OK)
        status = hf__value_bytes_check("guarded value", HF_GUARD_VALUE_MAX,
                                       job->data, job->len, ttl_ms, err);
    return status;
}

static int token_use(hf_client *client, struct guard_job job, int64_t ttl_ms,
                     struct hf_error *err)
{
    int status = token_check(client, &job, ttl_ms, err);
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
    int status = hf__result_check(out, err);
    if (status == HF_OK) status = key_check(client, key, err);
    if (status == HF_OK) status = job_run(client, &job, 0, err);
    if (status == HF_OK) hf__result_fill(out, &job.found);
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

/* ---- started ------------------------------------------------------------- */

/* An operation with all that it refers to. */
struct started {
    struct op op; /* first */
    struct guard_job job;
    hf_client *client;
    char bytes[]; /* the key, its NUL, the data */
};

static void started_free(struct started *s)
{
    hf_client *client = s->client;
    hf__free(&client->alloc, s->job.found.data);
    hf__free(&client->alloc, s);
}

static void token_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    uint64_t token =
        s->job.flags & REQ_GUARD_LOOK ? s->job.found.version : s->job.token;
    ((hf_guard_fn)op->complete_fn)(s->client, op->status,
                                   op->status == HF_OK ? token : 0, &op->err,
                                   op->complete_user);
    started_free(s);
}

static void read_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    ((hf_value_read_fn)op->complete_fn)(
        s->client, op->status, op->status == HF_OK ? &s->job.found : NULL,
        &op->err, op->complete_user);
    started_free(s);
}

static struct started *started_make(hf_client *client,
                                    const struct guard_job *job, int64_t ttl_ms)
{
    size_t key_len = strlen(job->key);
    struct started *s =
        hf__alloc(&client->alloc, sizeof *s + key_len + 1 + job->len);
    if (!s) return NULL;
    hf__call_init(&s->op, OP_TYPE_GUARD, NULL, 0);
    s->op.guard = &s->job;
    s->op.lease_us = ttl_ms * US_PER_MS;
    s->client = client;
    s->job = *job;
    s->job.key = memcpy(s->bytes, job->key, key_len + 1);
    s->job.key_len = key_len;
    s->job.data = s->bytes + key_len + 1;
    if (job->len > 0) memcpy(s->bytes + key_len + 1, job->data, job->len);
    return s;
}

/* Checked, but for the callback. */
static int job_start(hf_client *client, const struct guard_job *job,
                     int64_t ttl_ms, void (*complete)(struct op *),
                     void (*fn)(void), void *user, struct hf_error *err)
{
    if (!fn) return hf__error_set(err, HF_INVALID, "guard: no callback");
    struct started *s = started_make(client, job, ttl_ms);
    if (!s) return hf__error_set(err, HF_NOMEM, "out of memory");
    s->op.complete = complete;
    s->op.complete_fn = fn;
    s->op.complete_user = user;
    if (hf__pump_start(&client->pump, &s->op) == HF_OK) return HF_OK;
    hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    started_free(s);
    return HF_CLOSED;
}

static int token_start(hf_client *client, struct guard_job job, int64_t ttl_ms,
                       hf_guard_fn cb, void *user, struct hf_error *err)
{
    int status = token_check(client, &job, ttl_ms, err);
    if (status != HF_OK) return status;
    return job_start(client, &job, ttl_ms, token_complete, (void (*)(void))cb,
                     user, err);
}

int hf_guard_touch_start(hf_client *client, const char *key, uint64_t token,
                         hf_guard_fn cb, void *user, struct hf_error *err)
{
    struct guard_job job = {.key = key, .token = token};
    return token_start(client, job, 0, cb, user, err);
}

int hf_guard_set_start(hf_client *client, const char *key, uint64_t token,
                       const void *data, size_t len, int64_t ttl_ms,
                       hf_guard_fn cb, void *user, struct hf_error *err)
{
    struct guard_job job = {.key = key,
                            .token = token,
                            .flags = REQ_GUARD_VALUE,
                            .data = data,
                            .len = len};
    return token_start(client, job, ttl_ms, cb, user, err);
}

int hf_guard_delete_start(hf_client *client, const char *key, uint64_t token,
                          hf_guard_fn cb, void *user, struct hf_error *err)
{
    struct guard_job job = {.key = key, .token = token, .flags = REQ_DELETE};
    return token_start(client, job, 0, cb, user, err);
}

int hf_guard_claim_start(hf_client *client, const char *key, uint64_t token,
                         hf_guard_fn cb, void *user, struct hf_error *err)
{
    struct guard_job job = {
        .key = key, .token = token, .flags = REQ_GUARD_CLAIM};
    return token_start(client, job, 0, cb, user, err);
}

int hf_guard_set_claimed_start(hf_client *client, const char *key,
                               uint64_t token, const void *data, size_t len,
                               int64_t ttl_ms, hf_guard_fn cb, void *user,
                               struct hf_error *err)
{
    struct guard_job job = {.key = key,
                            .token = token,
                            .flags = REQ_GUARD_CLAIM | REQ_GUARD_VALUE,
                            .data = data,
                            .len = len};
    return token_start(client, job, ttl_ms, cb, user, err);
}

int hf_guard_token_start(hf_client *client, const char *key, hf_guard_fn cb,
                         void *user, struct hf_error *err)
{
    struct guard_job job = {.key = key, .flags = REQ_GUARD_LOOK};
    int status = key_check(client, key, err);
    if (status != HF_OK) return status;
    return job_start(client, &job, 0, token_complete, (void (*)(void))cb, user,
                     err);
}

int hf_guard_read_start(hf_client *client, const char *key, hf_value_read_fn cb,
                        void *user, struct hf_error *err)
{
    struct guard_job job = {.key = key,
                            .flags = REQ_GUARD_LOOK | REQ_GUARD_VALUE};
    int status = key_check(client, key, err);
    if (status != HF_OK) return status;
    return job_start(client, &job, 0, read_complete, (void (*)(void))cb, user,
                     err);
}
