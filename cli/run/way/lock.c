/*
 * run/way/lock.c: the right to run of `holdfast run`: a lock, or with --also a
 * set of locks, taken before the command and given back behind it, or kept for
 * the rest of --min-hold.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "option/wait.h"
#include "run/outer.h"
#include "run/supervise.h"

static int lock_get(struct run *r, struct outcome *end)
{
    struct options *o = r->o;
    int status = HF_OK;
    unsigned flags = o->min_hold_ms ? HF_ACQUIRE_DETACHED : 0;
    end->reason = "configuration";
    end->code = session_also(&r->s, o);
    if (end->code) return 0;
    if (wait_choose(o) == 0 && !o->reenter && outer_refuses(r)) {
        *end = (struct outcome){EXIT_USAGE, "usage"};
        return 0;
    }
    end->code = session_acquire(&r->s, o, flags, &r->hold, &status);
    if (!end->code) {
        r->detached = o->min_hold_ms != 0;
        return 1;
    }
    end->reason = run_reason(end->code, status);
    if (end->code == EXIT_NOT_ACQUIRED) end->code = run_skipped(r);
    return 0;
}

static void lock_give(struct run *r, int code)
{
    int64_t rest_ms = r->o->min_hold_ms - (clock_ms() - r->acquired_at_ms);
    (void)code;
    if (hold_is_over(r)) return;
    if (r->detached && rest_ms > 0 && run_was_run(r)) {
        /* What could not be renewed is left to the end of its lease. */
        if (r->cause != CAUSE_LOST) keep_rest(r, rest_ms);
        return;
    }
    hold_give(r);
}

const struct way way_lock = {.get = lock_get, .give = lock_give};
