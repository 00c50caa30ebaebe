/*
 * once.c: a run as an object, and its record in the store.
 *
 * The rule: a record is only replaced in the version that was read.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/hold/handle.h"
#include "api/client/object.h"
#include "api/once/run.h"
#include "api/value/value.h"
#include "base/error.h"
#include "sys/clock.h"
#include "sys/random.h"

/* ---- arguments ---------------------------------------------------------- */

static int time_check(const char *what, int64_t ms, struct hf_error *err)
{
    if (ms >= 0 && ms <= HF_VALUE_TTL_MS_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "%s of %lld ms: out of range: 0 to 366 days", what,
                         (long long)ms);
}

static int name_check(const char *name, struct hf_error *err)
{
    size_t len = name ? strlen(name) : 0;
    if (len > 0 && len <= HF_ONCE_NAME_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "once name: %zu bytes: give it 1 to %d", len,
                         HF_ONCE_NAME_MAX);
}

static int options_check(const char *name, struct hf_once_options *o,
                         const struct hf_once_options *given,
                         struct hf_error *err)
{
    static const struct hf_once_options defaults = HF_ONCE_OPTIONS_INIT;
    int status = name_check(name, err);
    *o = defaults;
    if (status == HF_OK && given)
        status = hf__options_copy(o, sizeof *o, given, given->struct_size, err);
    if (status == HF_OK) status = time_check("period", o->period_ms, err);
    if (status == HF_OK) status = time_check("keep", o->keep_ms, err);
    if (status == HF_OK) status = time_check("min_hold", o->min_hold_ms, err);
    if (status != HF_OK) return status;
    uint32_t known = HF_ONCE_RETRY | HF_ONCE_TRY;
    if (o->flags & ~known)
        return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                             o->flags & ~known);
    return hf__wait_check(o->wait_ms, (o->flags & HF_ONCE_TRY) != 0, err);
}

/* ---- making and freeing ------------------------------------------------- */

static void once_free(hf_client *c, struct object *o)
{
    hf_once *once = (hf_once *)((char *)o - offsetof(hf_once, object));
    hf_value_free(c, &once->before);
    hf__once_found_free(once);
    hf__free(&c->alloc, once->text);
    hf__free(&c->alloc, once);
}

static int once_fill(hf_once *once, const char *name, struct hf_error *err)
{
    hf_client *client = once->client;
    once->end_us = hf__clock_us() + once->o.wait_ms * US_PER_MS;
    hf__once_key(name, once->key);
    if (hf__random_bytes(&once->record.id, sizeof once->record.id) != 0)
        return hf__error_set(err, HF_INTERNAL, "no randomness");
    /* "<pid> <host> <label>" */
    long long pid = 0;
    if (sscanf(client->info, "%lld %63s", &pid, once->record.host) >= 1)
        once->record.pid = pid;
    int status = hf__value_key_check(client, once->key, err);
    if (status != HF_OK) return status;
    return hf_lock_open(client, name, &once->lock, err);
}

int hf__once_open(hf_client *client, const char *name,
                  const struct hf_once_options *given, size_t extra,
                  hf_once **out, struct hf_error *err)
{
    struct hf_once_options o;
    int status = hf__client_check(client, err);
    if (status == HF_OK) status = options_check(name, &o, given, err);
    if (status != HF_OK) return status;
    hf_once *once = hf__alloc_zero(&client->alloc, sizeof *once + extra);
    if (!once) return hf__error_set(err, HF_NOMEM, "out of memory");
    once->client = client;
    once->o = o;
    status = once_fill(once, name, err);
    if (status != HF_OK) {
        hf__free(&client->alloc, once);
        return status;
    }
    hf__deep_object_add(client, &once->object, once_free);
    *out = once;
    return HF_OK;
}

void hf__once_close(hf_once *once)
{
    hf_client *client = once->client;
    hf__object_remove(client, &once->object.object);
    hf_lock_close(once->lock);
    once_free(client, &once->object.object);
}

int hf__once_start(hf_once *once, void (*over)(struct sequence *),
                   void (*fn)(void), void *user, struct hf_error *err)
{
    once->seq.over = over;
    once->fn = fn;
    once->user = user;
    int status = hf__sequence_start(&once->seq, once->client, err);
    if (status != HF_OK) hf__once_close(once);
    return status;
}

/* ---- begins without an answer ------------------------------------------- */

void hf__once_doubt(hf_once *once)
{
    hf_client *c = once->client;
    hf__pump_lock(&c->pump);
    c->once_doubts[c->once_doubts_len++ % ONCE_DOUBTS_MAX] = once->record.id;
    hf__pump_unlock(&c->pump);
    once->record.id++; /* the next try counts as another run */
}

static int is_doubted(hf_client *c, const struct once_record *r)
{
    int is_found = 0;
    if (r->is_ended || !r->id) return 0;
    hf__pump_lock(&c->pump);
    size_t len = c->once_doubts_len;
    for (size_t i = 0; i < len && i < ONCE_DOUBTS_MAX; i++)
        is_found |= c->once_doubts[i] == r->id;
    hf__pump_unlock(&c->pump);
    return is_found;
}

/* ---- operations ---------------------------------------------------------- */

void hf__once_fail(hf_once *once, int status, const struct hf_error *err)
{
    once->seq.status = status;
    once->seq.err = *err;
}

static void value_ask(hf_once *once, int phase)
{
    once->phase = phase;
    hf__sequence_ask(&once->seq, once->client, &once->op);
}

void hf__once_read(hf_once *once, int phase)
{
    hf__value_read_op(&once->op, &once->job, once->key);
    value_ask(once, phase);
}

void hf__once_write(hf_once *once, int phase, uint64_t version, int64_t now_ms)
{
    const struct once_record *r = &once->record;
    int64_t ttl_ms =
        hf__once_keep_ms(&once->o, r->began_ms, now_ms, r->is_ended);
    const char *text = once->text ? once->text : once->head;
    size_t len = once->text ? once->text_len : hf__once_format(r, once->head);
    hf__value_write_op(&once->op, &once->job, once->key, version, text, len,
                       ttl_ms);
    value_ask(once, phase);
}

void hf__once_undo(hf_once *once, int phase, uint64_t version)
{
    const struct hf_value *b = &once->before;
    int64_t passed_ms = (hf__clock_us() - once->began_us) / US_PER_MS;
    int64_t left_ms = b->ttl_ms - passed_ms;
    if (b->version == 0 || (b->ttl_ms >= 0 && left_ms <= 0))
        hf__value_delete_op(&once->op, &once->job, once->key, version);
    else
        hf__value_write_op(&once->op, &once->job, once->key, version, b->data,
                           b->len, b->ttl_ms < 0 ? 0 : left_ms);
    value_ask(once, phase);
}

void hf__once_release(hf_once *once, int phase)
{
    hf__handle_forget(once->hold);
    once->hold = NULL;
    once->phase = phase;
    hf__call_init(&once->op, OP_TYPE_RELEASE, once->lock, once->holder);
    hf__sequence_ask_any(&once->seq, once->client, &once->op);
}

/* ---- what was read ------------------------------------------------------- */

void hf__once_found_free(hf_once *once)
{
    hf_value_free(once->client, &once->found);
}

int hf__once_read_over(hf_once *once)
{
    struct once_record *r = &once->seen;
    memset(r, 0, sizeof *r);
    hf__once_found_free(once);
    if (once->op.status != HF_OK) return once->op.status;
    once->found = once->job.found;
    if (once->found.version == 0) return HF_OK;
    if (hf__once_parse(once->found.data, once->found.len, r) == 0) {
        r->is_void = is_doubted(once->client, r);
        return HF_OK;
    }
    hf__once_found_free(once);
    return hf__error_set(&once->op.err, HF_CONFLICT,
                         "the value %.80s is not the record of a run",
                         once->key);
}

void hf__once_tell(hf_once *once, const struct once_record *r, int outcome)
{
    struct hf_value *v = &once->found;
    struct hf_once_result *result = &once->result;
    *result = (struct hf_once_result){.struct_size = sizeof *result,
                                      .outcome = outcome,
                                      .status = r->status,
                                      .fence = r->fence,
                                      .began_ms = r->began_ms,
                                      .ended_ms = r->ended_ms,
                                      .pid = r->pid};
    memcpy(result->host, r->host, sizeof result->host);
    if (outcome != HF_ONCE_DONE || v->len <= r->head_len) return;
    result->len = v->len - r->head_len;
    memmove(v->data, v->data + r->head_len, result->len + 1);
    result->data = v->data;
    v->data = NULL;
}
