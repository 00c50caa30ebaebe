/*
 * tallies.c: numbers that are kept under a name (permits, counters, latches,
 * barriers): one request to the first node, and no hold.
 *
 * The rule: owner and attempt identify the change, so that the store makes it
 * once, however many copies of the request arrive.
 */
#include "engine/tallies.h"

#include "engine/direct.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "engine/nodes.h"
#include "engine/ops.h"

/* For how long copies of the request may arrive: it is repeated during the
 * patience, and the last copy may be on its way for some time. */
static int64_t copies_us(const struct engine *e)
{
    return e->conf.patience_us + 2 * e->conf.timeout_us;
}

void hf__tallies_start(struct engine *e, struct op *op)
{
    const struct tally_job *t = op->tally;
    struct request *r = hf__direct_request(e, op);
    if (!r) return;
    r->verb = VERB_TALLY;
    r->kind = op->entry->kind;
    r->flags = t->flags;
    r->name = op->entry->name;
    r->name_len = op->entry->name_len;
    r->tally = t->what;
    r->number = t->number;
    r->lease_us = copies_us(e);
    r->attempt = ++e->conf.attempts;
    hf__owner_text(e, op->holder, r->owner);
    hf__request_send(e, &e->nodes[0], r);
}

static int is_refused_kindly(const struct reply *rep)
{
    return rep->verdict == V_OTHER || rep->verdict == V_ABSENT;
}

void hf__tallies_answered(struct engine *e, struct op *op,
                          const struct reply *rep)
{
    int status = HF_OK;
    op->tally->is_done = rep->verdict == V_GRANTED;
    if (rep->tally) op->tally->found = *rep->tally;
    if (rep->verdict != V_GRANTED && !is_refused_kindly(rep))
        status = e->closing ? HF_CLOSED : rep->status;
    hf__op_finish(e, op, status, rep->text);
}
