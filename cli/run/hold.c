/*
 * run/hold.c: the lock of `holdfast run`, or with --also the set of them: taken
 * before the command, given back behind it, or kept for the rest of --min-hold.
 */
#include "run/run.h"

int hold_state(const struct run *r)
{
    return hf_hold_state(r->hold);
}

int64_t hold_valid_ms(const struct run *r)
{
    return hf_hold_valid_ms(r->hold);
}

void hold_why(const struct run *r, char text[HF_ERROR_TEXT_MAX])
{
    hf_hold_why(r->hold, text);
}

void hold_read(struct run *r)
{
    struct held *h = &r->held;
    size_t len = hf_hold_parts(r->hold);
    h->is_set = 1;
    for (size_t i = 0; i < len && i < HF_MULTI_MAX; i++)
        h->fences[i] = hf_hold_fence(hf_hold_part(r->hold, i));
    h->fence = h->fences[0];
    h->valid_ms = hf_hold_valid_ms(r->hold);
    h->lease_ms = hf_hold_lease_ms(r->hold);
    h->guarantee = hf_hold_guarantee(r->hold);
    h->replicas = hf_hold_replicas(r->hold);
}

static int hold_get(struct run *r, struct outcome *end)
{
    struct options *o = r->o;
    int status = HF_OK;
    unsigned flags = o->min_hold_ms ? HF_ACQUIRE_DETACHED : 0;
    end->reason = "configuration";
    end->code = session_also(&r->s, o);
    if (end->code) return 0;
    end->code = session_acquire(&r->s, o, flags, &r->hold, &status);
    if (!end->code) {
        r->detached = o->min_hold_ms != 0;
        return 1;
    }
    end->reason = run_reason(end->code, status);
    if (end->code == EXIT_NOT_ACQUIRED) end->code = run_skipped(r);
    return 0;
}

static void hold_give(struct run *r, int code)
{
    struct hf_error err = {0};
    int state = hold_state(r);
    int64_t rest_ms = r->o->min_hold_ms - (clock_ms() - r->acquired_at_ms);
    (void)code;
    if (state != HF_STATE_HELD && state != HF_STATE_AT_RISK) return;
    if (r->detached && rest_ms > 0 && run_was_run(r)) {
        keep_rest(r, rest_ms);
        return;
    }
    int status = hf_hold_release(r->hold, &err);
    if (status == HF_OK) return;
    (void)session_fail(&r->s, status, &err);
    if (status == HF_LOST || status == HF_EXPIRED) r->lost = 1;
}

const struct way way_lock = {.get = hold_get, .give = hold_give};
