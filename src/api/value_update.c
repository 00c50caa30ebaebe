/*
 * value_update.c: read, compute, write, and again if somebody else was faster.
 *
 * The rule: it ends after the number of tries or the time that the caller
 * gives, whichever is first; without either, when it has written.
 */
#include <poll.h>
#include <string.h>

#include "api/client.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"
#include "sys/random.h"

/* One update under way. */
struct update {
    hf_client *client;
    const char *key;
    hf_value_fn fn;
    void *user;
    int64_t tries; /* 0: no bound */
    int64_t end_us;
    uint64_t random;
};

/* One round: HF_CHANGED if somebody else was faster. */
static int update_try(const struct update *u, uint64_t *written,
                      struct hf_error *err)
{
    struct hf_value now;
    struct hf_value_next next = {0};
    int status = hf_value_read(u->client, u->key, &now, err);
    if (status != HF_OK) return status;
    if (u->fn(&now, &next, u->user) != 0)
        status = hf__error_set(err, HF_CANCELLED, "%.80s: update: %s", u->key,
                               hf_status_text(HF_CANCELLED));
    else if (next.remove)
        status = hf_value_delete(u->client, u->key, now.version, err);
    else
        status = hf_value_write(u->client, u->key, now.version, next.data,
                                next.len, next.ttl_ms, written, err);
    if (status == HF_OK && next.remove && written) *written = 0;
    hf_value_free(u->client, &now);
    return status;
}

/* Anything up to a bound that doubles: who collided must not collide again. */
static void update_pause(struct update *u, int64_t tried, int64_t left_us)
{
    int64_t most_us = min64(UPDATE_PAUSE_US_MIN << (tried < 10 ? tried : 10),
                            min64(UPDATE_PAUSE_US_MAX, left_us));
    uint64_t us = hf__random_next(&u->random) % (uint64_t)(most_us + 1);
    (void)poll(NULL, 0, (int)((int64_t)us / US_PER_MS));
}

static int update_run(struct update *u, uint64_t *written, struct hf_error *err)
{
    for (int64_t tried = 1;; tried++) {
        int status = update_try(u, written, err);
        if (status != HF_CHANGED || tried == u->tries) return status;
        int64_t left_us = u->end_us - hf__clock_us();
        if (left_us <= 0)
            return hf__error_set(err, HF_TIMEOUT,
                                 "%.80s: update: somebody else was faster "
                                 "%lld times",
                                 u->key, (long long)tried);
        update_pause(u, tried, left_us);
    }
}

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
    return hf__wait_check("update", o->wait_ms, is_try, err);
}

int hf_value_update(hf_client *client, const char *key, hf_value_fn fn,
                    void *user, const struct hf_update_options *options,
                    uint64_t *written, struct hf_error *err)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    int status = hf__client_check(client, err);
    if (status == HF_OK && options)
        status = hf__options_copy(&o, sizeof o, options, options->struct_size,
                                  "update", err);
    if (status == HF_OK) status = options_check(&o, err);
    if (status != HF_OK) return status;
    if (!fn) return hf__error_set(err, HF_INVALID, "update: no function");
    int64_t now_us = hf__clock_us();
    struct update u = {.client = client,
                       .key = key,
                       .fn = fn,
                       .user = user,
                       .tries = o.flags & HF_UPDATE_TRY ? 1 : o.tries,
                       .end_us = TIME_NEVER};
    if (o.wait_ms) u.end_us = now_us + o.wait_ms * US_PER_MS;
    if (hf__random_bytes(&u.random, sizeof u.random))
        u.random = (uint64_t)now_us;
    hf__call_enter(client);
    status = update_run(&u, written, err);
    hf__call_leave(client);
    return status;
}
