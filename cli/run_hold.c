/*
 * run_hold.c: the lock of `holdfast run`: taken before the command, given back
 * behind it, or kept for the rest of --min-hold.
 */
#include "run.h"

static int hold_get(struct run *r, struct outcome *end)
{
    struct options *o = r->o;
    int status = HF_OK;
    unsigned flags = o->min_hold_ms ? HF_ACQUIRE_DETACHED : 0;
    end->code = session_acquire(&r->s, o, flags, &r->grant, &status);
    if (!end->code) {
        r->lock = r->s.lock;
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
    int state = hf_lock_state(r->lock, r->grant.holder);
    int64_t rest_ms = r->o->min_hold_ms - (clock_ms() - r->acquired_at_ms);
    (void)code;
    if (state != HF_STATE_HELD && state != HF_STATE_AT_RISK) return;
    if (r->detached && rest_ms > 0 && run_was_run(r)) {
        keep_rest(r, rest_ms);
        return;
    }
    int status = hf_lock_release_as(r->lock, r->grant.holder, NULL, &err);
    if (status == HF_OK) return;
    (void)session_fail(&r->s, status, &err);
    if (status == HF_LOST || status == HF_EXPIRED) r->lost = 1;
}

const struct way way_lock = {.get = hold_get, .give = hold_give};
