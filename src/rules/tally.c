/*
 * tally.c: how many permits there are; it follows permit_tally.lua,
 * reply for reply.
 *
 * One rule: a change is made once, however often it is asked for.
 */
#include "rules/mark.h"
#include "rules/model.h"
#include "rules/permit.h"
#include "rules/tally.h"
#include "base/math.h"

static void tell(struct store *s, const struct permits *p, int64_t taken,
                 struct reply *rep)
{
    int64_t out = hf__rules_permit_taken(p);
    s->tally = (struct tally_told){
        .is_there = p->is_set || p->out,
        .value = p->free,
        .capacity = p->kind == KIND_PERMIT ? p->free + out : 0,
        .taken = p->kind == KIND_PERMIT ? out : taken,
        .waiters = -1};
    rep->tally = &s->tally;
}

/* How much more there will be. */
static int64_t more_of(const struct permits *p, const struct request *req)
{
    if (req->tally == TALLY_ADD) return req->number;
    if (req->tally == TALLY_DRAIN) return -max64(p->free, 0);
    return req->number - p->free - hf__rules_permit_taken(p);
}

static void number_change(struct store *s, struct permits *p, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int64_t more = more_of(p, req);
    if (p->kind == KIND_PERMIT && more < 0 && p->free + more < 0
        && !(req->flags & REQ_ANYWAY)) {
        reply_refuse(rep, HF_INVALID,
                     "semaphore: more permits are out than there "
                     "would be");
        return;
    }
    struct mark *made = hf__rules_mark_add(
        s, &p->marks, MARK_MADE, req, us_to_ms(now_us + req->lease_us) + 1);
    if (!made) {
        reply_refuse(rep, HF_NOMEM, "semaphore: out of memory");
        return;
    }
    made->taken = req->tally == TALLY_DRAIN ? -more : 0;
    p->free += more;
    p->is_set = 1;
    rep->verdict = V_GRANTED;
}

static void permits_delete(struct store *s, struct permits *p, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    rep->verdict = p->is_set || p->out ? V_GRANTED : V_ABSENT;
    (void)hf__rules_mark_add(s, &p->marks, MARK_MADE, req,
                             us_to_ms(now_us + req->lease_us) + 1);
    while (p->out) {
        struct permit *one = p->out;
        p->out = one->next;
        hf__free(s->alloc, one);
    }
    p->free = 0;
    p->is_set = 0;
}

void hf__rules_tally_apply(struct store *s, struct permits *p, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct mark *made = hf__rules_mark_find(&p->marks, MARK_MADE, req);
    if (made || req->tally == TALLY_READ)
        rep->verdict = V_GRANTED;
    else if (req->tally == TALLY_OPEN && p->is_set)
        rep->verdict = V_OTHER;
    else if (req->tally == TALLY_ADD && req->flags & REQ_IF_THERE && !p->is_set)
        rep->verdict = V_ABSENT;
    else if (req->tally == TALLY_DELETE)
        permits_delete(s, p, now_us, req, rep);
    else
        number_change(s, p, now_us, req, rep);
    made = hf__rules_mark_find(&p->marks, MARK_MADE, req);
    tell(s, p, made ? made->taken : 0, rep);
}
