/*
 * election/call.c: the calls on elections: arguments are checked, copied, and
 * made a task.
 *
 * The rule: what is out of bounds is refused before anything is sent.
 */
#include <string.h>

#include "api/election/election.h"
#include "api/hold/handle.h"
#include "base/error.h"
#include "sys/clock.h"

#define LOOK_MS_DEFAULT 500
#define LOOK_MS_MIN 10

/* ---- campaign ----------------------------------------------------------- */

static int value_check(const hf_election *e, const void *value, size_t len,
                       struct hf_error *err)
{
    unsigned caps = e->client->pump.engine.caps;
    unsigned needed = HF_CAP_VALUE | HF_CAP_FENCE;
    if (!value && len > 0)
        return hf__error_set(err, HF_INVALID, "value: no bytes given");
    if (len > HF_ELECTION_VALUE_MAX)
        return hf__error_set(err, HF_INVALID,
                             "value of %zu bytes: at most %d are "
                             "published",
                             len, HF_ELECTION_VALUE_MAX);
    if (value && (caps & needed) != needed)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "value: %.100s keeps no values with "
                             "fencing tokens; lead without one",
                             e->client->url);
    return HF_OK;
}

static int campaign_claim(hf_election *e, struct hf_error *err)
{
    struct pump *p = &e->client->pump;
    hf__pump_lock(p);
    int is_busy = e->campaigns;
    e->campaigns = 1;
    hf__pump_unlock(p);
    if (is_busy) return hf__error_set(err, HF_INVALID, "it campaigns already");
    /* After the claim, so that a campaign that another thread has just won is
     * seen. */
    int state = hf__election_state(e);
    if (state != HF_STATE_HELD && state != HF_STATE_AT_RISK) return HF_OK;
    hf__pump_lock(p);
    e->campaigns = 0;
    hf__pump_unlock(p);
    return hf__error_set(err, HF_INVALID, "this candidate leads already");
}

static int campaign_prepare(struct election_task *t, hf_election *e,
                            const struct hf_campaign_options *options,
                            struct hf_error *err)
{
    static const struct hf_acquire_options defaults = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    struct op probe;
    int status = hf__client_check(e->client, err);
    if (status == HF_OK && options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
    if (status == HF_OK && o.flags & ~HF_CAMPAIGN_TRY)
        status = hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                               o.flags & ~HF_CAMPAIGN_TRY);
    if (status == HF_OK) status = value_check(e, o.value, o.value_len, err);
    if (status != HF_OK) return status;
    memset(t, 0, sizeof *t);
    t->e = e;
    t->call = CALL_CAMPAIGN;
    t->acquire = defaults;
    if (o.flags & HF_CAMPAIGN_TRY) t->acquire.flags = HF_ACQUIRE_TRY;
    t->acquire.wait_ms = o.wait_ms;
    t->acquire.cancel = o.cancel;
    t->acquire.lease_ms = e->o.lease_ms;
    t->acquire.renew_ms = e->o.renew_ms;
    t->value = o.value;
    t->value_len = o.value_len;
    status = hf__acquire_prepare(&probe, e->lock, &t->acquire, 1, err);
    if (status == HF_OK) status = hf__call_reserve(e->lock, &probe, err);
    if (status != HF_OK) return status;
    t->handle = probe.handle;
    status = campaign_claim(e, err);
    if (status != HF_OK) hf__handle_cancel(t->handle, e->client);
    return status;
}

int hf_election_campaign(hf_election *e,
                         const struct hf_campaign_options *options,
                         hf_hold **hold, struct hf_error *err)
{
    struct election_task t;
    int status = campaign_prepare(&t, e, options, err);
    if (status == HF_OK) status = hf__election_run(&t, err);
    if (status == HF_OK && hold) *hold = t.hold;
    return status;
}

int hf_election_campaign_start(hf_election *e,
                               const struct hf_campaign_options *options,
                               hf_campaigned_fn cb, void *user,
                               struct hf_error *err)
{
    struct election_task t;
    int status = campaign_prepare(&t, e, options, err);
    if (status != HF_OK) return status;
    status = hf__election_launch(&t, (void (*)(void))cb, user, err);
    if (status == HF_NOMEM) { /* not even begun: what it had is as it was */
        t.seq.status = status;
        hf__election_over(&t);
    }
    return status;
}

/* ---- resign and publish ------------------------------------------------- */

static int led_prepare(struct election_task *t, hf_election *e,
                       enum election_call call, struct hf_error *err)
{
    int status = hf__client_check(e->client, err);
    if (status != HF_OK) return status;
    memset(t, 0, sizeof *t);
    t->e = e;
    t->call = call;
    t->holder = hf__election_holder(e);
    if (t->holder && hf__lock_state(e->lock, t->holder) != HF_STATE_NONE)
        return HF_OK;
    return hf__error_set(err, HF_NOT_OWNER, "this candidate does not lead");
}

int hf_election_resign(hf_election *e, struct hf_error *err)
{
    struct election_task t;
    int status = led_prepare(&t, e, CALL_RESIGN, err);
    return status == HF_OK ? hf__election_run(&t, err) : status;
}

int hf_election_resign_start(hf_election *e, hf_resigned_fn cb, void *user,
                             struct hf_error *err)
{
    struct election_task t;
    int status = led_prepare(&t, e, CALL_RESIGN, err);
    if (status != HF_OK) return status;
    return hf__election_launch(&t, (void (*)(void))cb, user, err);
}

static int publish_prepare(struct election_task *t, hf_election *e,
                           const void *value, size_t value_len,
                           struct hf_error *err)
{
    int status = hf__client_check(e->client, err);
    if (!value && value_len == 0) value = "";
    if (status == HF_OK) status = value_check(e, value, value_len, err);
    if (status == HF_OK) status = led_prepare(t, e, CALL_PUBLISH, err);
    if (status != HF_OK) return status;
    t->value = value;
    t->value_len = value_len;
    return HF_OK;
}

int hf_election_publish(hf_election *e, const void *value, size_t value_len,
                        struct hf_error *err)
{
    struct election_task t;
    int status = publish_prepare(&t, e, value, value_len, err);
    return status == HF_OK ? hf__election_run(&t, err) : status;
}

int hf_election_publish_start(hf_election *e, const void *value,
                              size_t value_len, hf_published_fn cb, void *user,
                              struct hf_error *err)
{
    struct election_task t;
    int status = publish_prepare(&t, e, value, value_len, err);
    if (status == HF_OK && !cb)
        status = hf__error_set(err, HF_INVALID, "no callback");
    if (status != HF_OK) return status;
    return hf__election_launch(&t, (void (*)(void))cb, user, err);
}

/* ---- looking ------------------------------------------------------------ */

static int await_check(struct hf_await_options *o, struct hf_error *err)
{
    if (o->flags & ~HF_AWAIT_TRY)
        return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                             o->flags & ~HF_AWAIT_TRY);
    int status =
        hf__wait_check(o->wait_ms, (o->flags & HF_AWAIT_TRY) != 0, err);
    if (status != HF_OK) return status;
    if (!o->look_ms) o->look_ms = LOOK_MS_DEFAULT;
    if (o->look_ms < LOOK_MS_MIN || o->look_ms > HF_LEASE_MS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "a look every %lld ms: out of range: %d "
                             "ms to 24 h",
                             (long long)o->look_ms, LOOK_MS_MIN);
    return HF_OK;
}

static int await_prepare(struct election_task *t, hf_election *e,
                         const struct hf_leader *seen,
                         const struct hf_await_options *options,
                         struct hf_error *err)
{
    struct hf_await_options o = HF_AWAIT_OPTIONS_INIT;
    int status = hf__client_check(e->client, err);
    if (status == HF_OK && options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
    if (status == HF_OK) status = await_check(&o, err);
    if (status != HF_OK) return status;
    memset(t, 0, sizeof *t);
    t->e = e;
    t->call = CALL_AWAIT;
    t->holder = hf__election_holder(e);
    t->await = o;
    if (seen)
        status = hf__options_copy(&t->seen_copy, sizeof t->seen_copy, seen,
                                  seen->struct_size, err);
    if (status != HF_OK) return status;
    t->seen = seen ? &t->seen_copy : NULL;
    t->end_us = TIME_NEVER;
    if (o.wait_ms) t->end_us = hf__clock_us() + o.wait_ms * US_PER_MS;
    if (o.flags & HF_AWAIT_TRY) t->end_us = 0;
    return HF_OK;
}

int hf_election_await(hf_election *e, const struct hf_leader *seen,
                      const struct hf_await_options *options,
                      struct hf_leader *out, struct hf_error *err)
{
    struct election_task t;
    int status = hf__result_check(out, err);
    if (status == HF_OK) status = await_prepare(&t, e, seen, options, err);
    if (status == HF_OK) status = hf__election_run(&t, err);
    if (status == HF_OK) hf__result_fill(out, &t.leader);
    return status;
}

int hf_election_look(hf_election *e, struct hf_leader *out,
                     struct hf_error *err)
{
    return hf_election_await(e, NULL, NULL, out, err);
}

int hf_election_await_start(hf_election *e, const struct hf_leader *seen,
                            const struct hf_await_options *options,
                            hf_awaited_fn cb, void *user, struct hf_error *err)
{
    struct election_task t;
    int status = await_prepare(&t, e, seen, options, err);
    if (status != HF_OK) return status;
    return hf__election_launch(&t, (void (*)(void))cb, user, err);
}

void hf_leader_free(hf_election *e, struct hf_leader *leader)
{
    hf__free(&e->client->alloc, leader->data);
    leader->data = NULL;
    leader->len = 0;
}
