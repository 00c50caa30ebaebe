/*
 * boot.c: a store's answer to VERB_BOOT.  One rule: what it says of itself
 * changes with every restart, and with nothing else.
 */
#include <stdio.h>

#include "rules/boot.h"
#include "rules/hold.h"
#include "rules/table.h"

static int locks_are_stored(const struct store *s, int64_t now_us)
{
    for (size_t i = 0; i < s->table.len; i++) {
        const struct held *held = s->table.entries[i]->held;
        if (held && !held_is_over(held, now_us)) return 1;
    }
    return 0;
}

void hf__rules_boot_apply(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    char identity[IDENTITY_MAX];
    snprintf(identity, sizeof identity, "memory-%016llx-%u",
             (unsigned long long)s->id, s->lives);
    struct boot_facts facts = {
        .identity = identity, .now_us = now_us, .is_durable = s->is_durable};
    if (hf__boot_wants_locks(req))
        facts.has_locks = locks_are_stored(s, now_us);
    rep->status =
        hf__boot_decide(&s->marker, req, &facts, &s->boot, &rep->text);
    if (rep->status != HF_OK) return;
    rep->verdict = V_GRANTED;
    rep->boot = &s->boot;
}
