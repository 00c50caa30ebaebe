/*
 * fast.c: see fast.h.  One rule: a proposal is refused where src/rules/store.c
 * would refuse it.
 */
#include "backend/sql/fast.h"

#include <string.h>

int64_t hf__sql_fast_lease_ms(const struct request *req)
{
    return (req->lease_us + US_PER_MS - 1) / US_PER_MS; /* rounded up */
}

size_t hf__sql_fast_info_len(const struct request *req)
{
    size_t len = req->info ? strlen(req->info) : 0;
    return len < HELD_INFO_MAX ? len : HELD_INFO_MAX - 1;
}

int hf__sql_fast_is_refused(const struct request *req)
{
    if (req->ballot < 0 || req->ballot > BALLOT_MAX) return 1;
    return req->verb == VERB_PROPOSE && (req->ballot < 1 || req->lease_us < 1);
}

int64_t hf__sql_fast_left_us(int64_t ends_us, int64_t now_us)
{
    /* ends_us is the first millisecond at which the hold is gone. */
    int64_t left_ms = ends_us / US_PER_MS - 1 - now_us / US_PER_MS;
    return left_ms > 0 ? left_ms * US_PER_MS : 0;
}

int64_t hf__sql_fast_waiters(int64_t waits_us, int64_t now_us)
{
    return now_us - waits_us >= SQL_WAITS_LAPSE_US ? 0 : -1;
}

int hf__sql_fast_refused(const struct request *req, const struct sql_row *row,
                         int64_t now_us, struct reply *rep)
{
    const struct cell_plain *p = &row->plain;
    int is_held = p->owner[0] && p->ends_us > now_us;
    int is_ours = !strcmp(p->owner, req->owner) && p->attempt == req->attempt;
    if (row->state) return 0;
    rep->counter = p->counter;
    if (is_held && is_ours && p->ballot == req->ballot) {
        rep->verdict = V_GRANTED;
        rep->fence = p->fence;
    } else if (is_held && !is_ours) {
        rep->verdict = V_BUSY;
        rep->ttl_us = hf__sql_fast_left_us(p->ends_us, now_us);
    } else if (req->ballot <= p->counter
               || req->ballot < now_us - req->window_us) {
        rep->verdict = V_STALE;
    } else {
        return 0;
    }
    return 1;
}
