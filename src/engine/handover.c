/*
 * handover.c: hand-over in the process: a release gives the lock to the next
 * holder in the line of this process, without asking the store.
 *
 * The rule: the store knows the chain of holders by one owner that belongs to
 * no thread, so that a holder that has handed the lock on is not taken for the
 * one that has it.
 */
#include "engine/handover.h"

#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/op.h"

/* Above every number that hf_holder_new() will come to, and still positive in
 * signed 64 bits. */
#define CHAIN_OWNER_FIRST (UINT64_C(1) << 62)

uint64_t hf__handover_owner(struct engine *e, const struct op *op)
{
    if (op->entry->kind != KIND_PLAIN || op->order != HF_ORDER_ANY
        || op->flags & HF_ACQUIRE_DETACHED)
        return 0;
    return CHAIN_OWNER_FIRST + e->chains++;
}

int hf__handover_try(struct engine *e, struct seat *s, struct op *op)
{
    struct lock_entry *entry = s->entry;
    struct seat *next = entry->line_head;
    if (!next || !hf__seat_chain(s) || entry->turn != s) return 0;
    if (s->op || s->pending_last || s->notices) return 0;
    if (!hf__hold_may_pass(&s->hold, &next->hold, e->now_us)) return 0;
    struct hold_event inherit = {
        .type = EV_INHERIT, .from = &s->hold, .fence = s->hold.fence + 1};
    struct hold_event yield = {.type = EV_YIELD};
    entry->turn = next;
    next->chain_owner = s->chain_owner;
    hf__seat_step(e, next, &inherit);
    s->op = op;
    op->seat = s;
    hf__seat_step(e, s, &yield);
    return 1;
}

/* Was the lock handed on as often or as long as it may be, while holders of
 * this process still stand in line for it? */
int hf__handover_is_over(const struct seat *s)
{
    return hf__hold_passes(&s->hold) > 0 && s->entry->line_head != NULL;
}
