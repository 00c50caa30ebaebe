/*
 * value/update.c: read, compute, write, and again if another client was faster.
 *
 *   READ -> the user's function -> WRITE -> over
 *    ^                               |
 *    +------------- NAP <------------+ changed
 *
 * The rule: it ends after the number of tries or the time that the caller
 * gives, whichever is first; without either, when it has written.
 */
#include <string.h>

#include "api/client/sequence.h"
#include "api/value/value.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"
#include "sys/random.h"

/* The operation under way. */
enum update_phase { UPDATE_BEGIN, UPDATE_READ, UPDATE_WRITE, UPDATE_NAP };

/* One update under way. */
struct update {
    struct sequence seq; /* first */
    struct op op;
    struct value_job job;
    enum update_phase phase;
    hf_client *client;
    const char *key;
    hf_value_fn fn;
    void *user;    /* for `fn`, and for `cb` */
    int64_t tries; /* 0: no bound */
    int64_t tried;
    int64_t end_us;
    uint64_t random;
    struct hf_value now; /* as it was read, until the write is over */
    uint64_t written;

    hf_value_written_fn cb; /* started */
    char bytes[];           /* the key */
};

static void read_ask(struct update *u)
{
    u->phase = UPDATE_READ;
    hf__value_read_op(&u->op, &u->job, u->key);
    hf__sequence_ask(&u->seq, u->client, &u->op);
}

/* The value was read: let the user's function compute the next one. */
static void write_ask(struct update *u)
{
    struct hf_value_next next = {.struct_size = sizeof next};
    struct sequence *s = &u->seq;
    u->now = u->job.found;
    if (u->fn(&u->now, &next, u->user) != 0) {
        hf__sequence_fail(s, HF_CANCELLED, "update: %s",
                          hf_status_text(HF_CANCELLED));
        return;
    }
    s->status = hf__client_check(u->client, &s->err);
    if (s->status == HF_OK && !next.remove)
        s->status =
            hf__value_data_check(next.data, next.len, next.ttl_ms, &s->err);
    if (s->status != HF_OK) return;
    u->phase = UPDATE_WRITE;
    if (next.remove)
        hf__value_delete_op(&u->op, &u->job, u->key, u->now.version);
    else
        hf__value_write_op(&u->op, &u->job, u->key, u->now.version, next.data,
                           next.len, next.ttl_ms);
    hf__sequence_ask(s, u->client, &u->op);
}

static void now_free(struct update *u)
{
    hf_value_free(u->client, &u->now);
}

/* A random pause up to a bound that doubles, so that two clients that collided
 * do not collide again. */
static void pause_ask(struct update *u, int64_t left_us)
{
    int64_t tried = min64(u->tried, 10);
    int64_t most_us = min64(UPDATE_PAUSE_US_MIN << tried,
                            min64(UPDATE_PAUSE_US_MAX, left_us));
    uint64_t us = hf__random_next(&u->random) % (uint64_t)(most_us + 1);
    u->phase = UPDATE_NAP;
    hf__sequence_nap(&u->seq, u->client, &u->op, (int64_t)us, NULL);
}

static void write_over(struct update *u)
{
    now_free(u);
    u->tried++;
    if (u->op.status == HF_OK) {
        u->written = u->job.remove ? 0 : u->job.written;
        return;
    }
    int64_t left_us = u->end_us - hf__clock_us();
    if (u->op.status != HF_CHANGED || u->tried == u->tries)
        hf__sequence_fail_as(&u->seq, &u->op);
    else if (left_us <= 0)
        hf__sequence_fail(&u->seq, HF_TIMEOUT,
                          "update: other clients were faster %lld times",
                          (long long)u->tried);
    else
        pause_ask(u, left_us);
}

static void update_step(struct sequence *s)
{
    struct update *u = (struct update *)s;
    switch (u->phase) {
    case UPDATE_BEGIN:
        read_ask(u);
        break;
    case UPDATE_READ:
        if (u->op.status == HF_OK)
            write_ask(u);
        else
            hf__sequence_fail_as(s, &u->op);
        break;
    case UPDATE_WRITE:
        write_over(u);
        break;
    case UPDATE_NAP:
        if (u->op.status == HF_TIMEOUT)
            read_ask(u);
        else
            hf__sequence_fail(s, u->op.status, "update: %s",
                              hf_status_text(u->op.status));
        break;
    }
}

/* ---- the calls ----------------------------------------------------------- */

static int options_check(const struct hf_update_options *o,
                         struct hf_error *err)
{
    int is_try = (o->flags & HF_UPDATE_TRY) != 0;
    if (o->flags & ~HF_UPDATE_TRY)
        return hf__error_set(err, HF_INVALID, "update: flags 0x%x: unknown",
                             o->flags & ~HF_UPDATE_TRY);
    if (o->tries < 0)
        return hf__error_set(err, HF_INVALID,
                             "update: %lld tries: negative: 0 is no bound",
                             (long long)o->tries);
    if (is_try && o->tries > 1)
        return hf__error_set(err, HF_INVALID,
                             "update: one try and %lld tries: give one of them",
                             (long long)o->tries);
    return hf__wait_check(o->wait_ms, is_try, err);
}

/* HF_OK, and `u` is about to take its first step; nothing is to be freed. */
static int update_prepare(struct update *u, hf_client *client, const char *key,
                          hf_value_fn fn, void *user,
                          const struct hf_update_options *options,
                          struct hf_error *err)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    int status = hf__client_check(client, err);
    if (status == HF_OK && options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
    if (status == HF_OK) status = options_check(&o, err);
    if (status == HF_OK && !fn)
        status = hf__error_set(err, HF_INVALID, "update: no function");
    if (status == HF_OK) status = hf__value_key_check(client, key, err);
    if (status != HF_OK) return status;
    int64_t now_us = hf__clock_us();
    *u = (struct update){.seq.step = update_step,
                         .client = client,
                         .key = key,
                         .fn = fn,
                         .user = user,
                         .tries = o.flags & HF_UPDATE_TRY ? 1 : o.tries,
                         .end_us = TIME_NEVER};
    if (o.wait_ms) u->end_us = now_us + o.wait_ms * US_PER_MS;
    if (hf__random_bytes(&u->random, sizeof u->random))
        u->random = (uint64_t)now_us;
    return HF_OK;
}

int hf_value_update(hf_client *client, const char *key, hf_value_fn fn,
                    void *user, const struct hf_update_options *options,
                    uint64_t *written, struct hf_error *err)
{
    struct update u;
    int status = update_prepare(&u, client, key, fn, user, options, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = hf__sequence_run(&u.seq, err);
    now_free(&u);
    hf__call_leave(client);
    if (status == HF_OK && written) *written = u.written;
    return status;
}

static void update_over(struct sequence *s)
{
    struct update *u = (struct update *)s;
    hf_client *client = u->client;
    now_free(u);
    u->cb(client, s->status, u->written, &s->err, u->user);
    hf__free(&client->alloc, u);
}

int hf_value_update_start(hf_client *client, const char *key, hf_value_fn fn,
                          const struct hf_update_options *options,
                          hf_value_written_fn cb, void *user,
                          struct hf_error *err)
{
    struct update own;
    int status = update_prepare(&own, client, key, fn, user, options, err);
    if (status == HF_OK && !cb)
        status = hf__error_set(err, HF_INVALID, "update: no callback");
    if (status != HF_OK) return status;
    size_t key_len = strlen(key);
    struct update *u = hf__alloc(&client->alloc, sizeof *u + key_len + 1);
    if (!u) return hf__error_set(err, HF_NOMEM, "out of memory");
    *u = own;
    u->key = memcpy(u->bytes, key, key_len + 1);
    u->seq.over = update_over;
    u->cb = cb;
    status = hf__sequence_start(&u->seq, client, err);
    if (status != HF_OK) hf__free(&client->alloc, u);
    return status;
}
