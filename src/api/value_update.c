/*
 * value_update.c: read, compute, write, and again if somebody else was faster.
 *
 * The rule: it ends: after a number of tries or a time, whichever is first.
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
    uint32_t tries;
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
static void update_pause(struct update *u, uint32_t tried, int64_t left_us)
{
    int64_t most_us = min64(UPDATE_PAUSE_US_MIN << (tried < 10 ? tried : 10),
                            min64(UPDATE_PAUSE_US_MAX, left_us));
    uint64_t us = hf__random_next(&u->random) % (uint64_t)(most_us + 1);
    (void)poll(NULL, 0, (int)((int64_t)us / US_PER_MS));
}

static int update_run(struct update *u, uint64_t *written, struct hf_error *err)
{
    for (uint32_t tried = 1;; tried++) {
        int status = update_try(u, written, err);
        if (status != HF_CHANGED || tried == u->tries) return status;
        int64_t left_us = u->end_us - hf__clock_us();
        if (left_us <= 0)
            return hf__error_set(err, HF_TIMEOUT,
                                 "%.80s: update: somebody else was faster "
                                 "%u times",
                                 u->key, tried);
        update_pause(u, tried, left_us);
    }
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
    if (status != HF_OK) return status;
    if (!fn || o.wait_ms < 0 || o.wait_ms > INT64_MAX / US_PER_MS / 4)
        return hf__error_set(err, HF_INVALID,
                             "update: no function, or a wait out of range");
    int64_t wait_ms = o.wait_ms ? o.wait_ms : UPDATE_WAIT_MS_DEFAULT;
    struct update u = {.client = client,
                       .key = key,
                       .fn = fn,
                       .user = user,
                       .tries = o.tries ? o.tries : UPDATE_TRIES_DEFAULT,
                       .end_us = hf__clock_us() + wait_ms * US_PER_MS};
    if (hf__random_bytes(&u.random, sizeof u.random))
        u.random = (uint64_t)u.end_us;
    hf__call_enter(client);
    status = update_run(&u, written, err);
    hf__call_leave(client);
    return status;
}
