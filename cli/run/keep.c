/*
 * run/keep.c: --min-hold.  The hold is detached, so it may outlive this
 * process, and is renewed from the supervisor's loop.  When the command ends
 * early, the lease is set to the rest of the time, and the process ends without
 * waiting.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "run/supervise.h"

#include <stdio.h>

#define RETRY_MS_MIN 50
#define RETRY_MS_MAX 1000

int64_t keep_every_ms(const struct run *r)
{
    int64_t renew_ms = r->o->renew_ms;
    if (!renew_ms) return r->lease_ms / 3;
    return renew_ms < r->lease_ms / 2 ? renew_ms : r->lease_ms / 2;
}

static void keep_answered(hf_hold *hold, int status, const struct hf_error *err,
                          void *user)
{
    struct run *r = user;
    int64_t retry_ms = r->lease_ms / 10;
    (void)hold;
    r->extending = 0;
    if (status == HF_OK) {
        r->extend_at_ms = clock_ms() + keep_every_ms(r);
        return;
    }
    if (status == HF_LOST || status == HF_EXPIRED) {
        snprintf(r->lost_text, sizeof(r->lost_text), "%s",
                 status_why(status, err->text));
        r->extend_at_ms = INT64_MAX;
        return; /* supervise_step() acts on the hold's state */
    }
    if (retry_ms < RETRY_MS_MIN) retry_ms = RETRY_MS_MIN;
    if (retry_ms > RETRY_MS_MAX) retry_ms = RETRY_MS_MAX;
    r->extend_at_ms = clock_ms() + retry_ms;
}

void keep_step(struct run *r, int64_t now_ms)
{
    struct hf_error err = {0};
    if (r->extending || r->lost || now_ms < r->extend_at_ms) return;
    r->extend_at_ms = INT64_MAX; /* until the answer */
    r->extending = 1;
    int status = hf_hold_extend_start(r->hold, 0, keep_answered, r, &err);
    if (status != HF_OK) keep_answered(r->hold, status, &err, r);
}

void keep_rest(struct run *r, int64_t rest_ms)
{
    struct hf_error err = {0};
    char ticket[HF_TICKET_MAX];
    char time[32];
    if (rest_ms < HF_LEASE_MS_MIN) rest_ms = HF_LEASE_MS_MIN;
    int status = hf_hold_extend(r->hold, rest_ms, &err);
    if (status != HF_OK) (void)session_fail(&r->s, status, &err);
    status = hf_hold_ticket(r->hold, ticket, sizeof(ticket), &err);
    if (status == HF_OK)
        say_note("%s: kept for another %s", r->s.shown,
                 duration_text(rest_ms, time, sizeof(time)));
}
