/*
 * recheck.c: after a failover, are the holds of this client still there?
 *
 * The server that answers now may have been promoted without the last writes of
 * the old one, or may have forgotten everything.  The rule: every hold is
 * checked at once.  A hold that the watchdog keeps is renewed; a hold that must
 * not be made longer, with a fixed lease or not fed, is inspected.
 */
#include "engine/recheck.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "engine/nodes.h"

/* Without memory nothing is asked: the hold then ends with its lease. */
static void seat_look(struct engine *e, struct seat *s)
{
    struct request *r = hf__request_new(e);
    if (!r) return;
    r->verb = VERB_INSPECT;
    r->kind = s->entry->kind;
    r->name = s->entry->name;
    r->name_len = s->entry->name_len;
    r->user = s;
    r->user_kind = USER_SEAT;
    r->attempt = s->hold.attempt;
    r->deadline_us = e->now_us + e->conf.timeout_us;
    r->until_us = s->hold.valid_us;
    hf__seat_owner(e, s, r->owner);
    s->requests++;
    hf__request_send(e, &e->nodes[0], r);
}

static void seat_check(struct engine *e, struct seat *s)
{
    struct hold_event ev = {.type = EV_CHECK};
    if (s->hold.state != HOLD_HELD) return;
    hf__seat_step(e, s, &ev);
    /* A renewal that is under way is check enough. */
    if (!s->hold.round_open) seat_look(e, s);
}

void hf__recheck_all(struct engine *e)
{
    if (e->conf.nodes > 1) return; /* a member without its data has no vote */
    for (size_t i = 0; i < e->table_size; i++)
        for (struct lock_entry *n = e->table[i]; n; n = n->hash_next)
            for (struct seat *s = n->seats, *next; s; s = next) {
                next = s->next;
                if (!n->is_host) seat_check(e, s);
            }
}

static void owner_tell(struct engine *e, struct seat *s,
                       const struct hf_info *info)
{
    char text[HF_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "looked at: it is %.70s's now, pid %lld on %s",
             info->owner, (long long)info->pid,
             info->host[0] ? info->host : "?");
    hf__seat_why(e, s, text);
}

static void seat_found(struct engine *e, struct seat *s,
                       const struct request *r, const struct hf_info *info)
{
    struct hold_event ev = {.type = EV_FOUND, .since_us = r->sent_us};
    if (info->ttl_ms < 0) return; /* its expiry was removed by hand */
    ev.lease_us = info->ttl_ms * US_PER_MS;
    hf__seat_step(e, s, &ev);
}

static void seat_gone(struct engine *e, struct seat *s, const struct request *r,
                      const struct hf_info *info)
{
    struct hold_event ev = {.type = EV_GONE, .status = HF_EXPIRED};
    if (!info->locked) {
        hf__seat_why(e, s, "looked at: it is gone from the store");
    } else if (!strcmp(info->owner, r->owner)) {
        hf__seat_why(e, s,
                     "looked at: it was taken away; what is there is another "
                     "grant to this holder");
    } else {
        ev.status = HF_LOST;
        owner_tell(e, s, info);
    }
    hf__seat_step(e, s, &ev);
}

/* For a plain lock the answer tells the token of its only holder: another token
 * is another grant, which a late proposal of this client may have got. */
static int is_still_ours(const struct seat *s, const struct reply *rep)
{
    int64_t fence = s->hold.fence - hf__hold_passes(&s->hold);
    if (!rep->info->mine) return 0;
    return s->entry->kind != KIND_PLAIN || !rep->fence || rep->fence == fence;
}

void hf__recheck_answered(struct engine *e, struct seat *s,
                          const struct request *r, const struct reply *rep)
{
    const struct hf_info *info = rep->info;
    if (rep->verdict != V_GRANTED || !info) return;
    if (s->hold.state != HOLD_HELD || r->attempt != s->hold.attempt) return;
    if (is_still_ours(s, rep))
        seat_found(e, s, r, info);
    else
        seat_gone(e, s, r, info);
}
