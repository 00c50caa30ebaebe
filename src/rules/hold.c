/*
 * hold.c: the hold of a plain lock.  One rule: a node may keep a lock longer
 * than its holder believes, never shorter.
 */
#include <string.h>

#include "rules/hold.h"
#include "rules/model.h"
#include "rules/table.h"

static struct held *hold_make(struct store *s)
{
    struct held *held = s->free_holds;
    if (!held) return hf__alloc(s->alloc, sizeof *held);
    s->free_holds = held->next_free;
    return held;
}

void hf__rules_hold_free(struct store *s, struct entry *e)
{
    if (!e->held) return;
    e->held->next_free = s->free_holds;
    s->free_holds = e->held;
    e->held = NULL;
}

int64_t hf__rules_hold_ttl_us(const struct held *held, int64_t now_us)
{
    int64_t left_ms = held->expires_ms - us_to_ms(now_us);
    return left_ms > 0 ? left_ms * US_PER_MS : 0;
}

void hf__rules_hold_lease(const struct store *s, struct held *held,
                          int64_t now_us, int64_t lease_us)
{
    int64_t lease_ms = (lease_us + US_PER_MS - 1) / US_PER_MS; /* rounded up */
    if (MUTATED(s, EARLY_EXPIRY)) lease_ms = lease_ms * 9 / 10;
    held->expires_ms = us_to_ms(now_us) + lease_ms;
}

static void text_copy(char *to, size_t size, const char *from)
{
    size_t len = from ? strlen(from) : 0;
    if (len >= size) len = size - 1;
    if (len > 0) memcpy(to, from, len);
    to[len] = '\0';
}

int hf__rules_hold_give(struct store *s, struct entry *e, int64_t now_us,
                        const struct request *req, int64_t fence)
{
    struct held *held = e->held ? e->held : hold_make(s);
    if (!held) return HF_NOMEM;
    /* Waiters have said so, and do not say it again. */
    int is_marked = e->held && e->held->is_marked;
    *held = (struct held){
        .attempt = req->attempt,
        .ballot = req->ballot,
        .fence = fence,
        .count = req->count,
        .since_us = now_us,
        .detached = (req->flags & REQ_DETACHED) != 0,
        .is_marked = is_marked,
    };
    text_copy(held->owner, sizeof held->owner, req->owner);
    text_copy(held->info, sizeof held->info, req->info);
    hf__rules_hold_lease(s, held, now_us, req->lease_us);
    e->held = held;
    return HF_OK;
}
