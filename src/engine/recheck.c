/*
 * recheck.c: after a failover, is what we believe to hold still there?
 *
 * The server that answers now may have been promoted without the last writes of
 * the old one, or may have forgotten everything.  The rule: every hold is
 * checked at once: what the watchdog keeps is renewed, and a fixed lease, which
 * nobody may lengthen, is looked at.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

/* Nothing is lost without an answer: the lease ends it. */
static void slot_look(struct engine *e, struct slot *s)
{
    struct request *r = hf__request_new(e);
    if (!r) return;
    r->op = OP_INSPECT;
    r->name = s->entry->name;
    r->name_len = s->entry->name_len;
    r->user = s;
    r->user_kind = USER_SLOT;
    r->attempt = s->hold.attempt;
    r->deadline_us = e->now_us + e->conf.timeout_us;
    r->until_us = s->hold.valid_us;
    hf__slot_owner(e, s, r->owner);
    s->requests++;
    hf__request_send(e, 0, r);
}

static void slot_check(struct engine *e, struct slot *s)
{
    struct hold_event ev = {.type = EV_CHECK};
    if (s->hold.state != HOLD_HELD) return;
    if (s->hold.flags & HOLD_KEEP)
        hf__slot_step(e, s, &ev);
    else
        slot_look(e, s);
}

void hf__recheck_all(struct engine *e)
{
    if (e->conf.nodes > 1) return; /* who lost its data does not vote */
    for (size_t i = 0; i < e->table_size; i++)
        for (struct lock_entry *n = e->table[i]; n; n = n->hash_next)
            for (struct slot *s = n->slots, *next; s; s = next) {
                next = s->next;
                slot_check(e, s);
            }
}

void hf__slot_why(struct engine *e, struct slot *s, const char *text)
{
    hf__free(e->alloc, s->why);
    s->why = hf__strdup(e->alloc, text);
}

static void owner_tell(struct engine *e, struct slot *s,
                       const struct hf_info *info)
{
    char text[HF_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "looked at: it is %.70s's now, pid %lld on %s",
             info->owner, (long long)info->pid,
             info->host[0] ? info->host : "?");
    hf__slot_why(e, s, text);
}

void hf__recheck_answered(struct engine *e, struct slot *s,
                          const struct reply *rep)
{
    struct hold_event ev = {.type = EV_GONE, .status = HF_EXPIRED};
    const struct hf_info *info = rep->info;
    if (rep->verdict != V_GRANTED || !info || info->mine) return;
    if (s->hold.state != HOLD_HELD) return;
    if (info->locked) {
        ev.status = HF_LOST;
        owner_tell(e, s, info);
    } else {
        hf__slot_why(e, s, "looked at: it is gone from the store");
    }
    hf__slot_step(e, s, &ev);
}
