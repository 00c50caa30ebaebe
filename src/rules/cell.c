/*
 * cell.c: a name's record, from a row and back.  One rule: the parts come in
 * the order of their tags, each at most once, so that the same record always
 * has the same bytes.
 */
#include <string.h>

#include "rules/barrier.h"
#include "rules/cell.h"
#include "rules/guard.h"
#include "rules/hold.h"
#include "rules/latch.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/permit.h"
#include "rules/queue.h"
#include "rules/rw.h"
#include "rules/value.h"

#define CELL_FORMAT 1 /* the first byte */

/* One part of the state.  save() writes nothing if there is nothing; it begins
 * with hf__rules_pack_unsigned(b, tag). */
static const struct part {
    void (*save)(const struct store *s, int64_t now_us, const struct entry *e,
                 unsigned tag, struct cell_bytes *b);
    void (*load)(struct store *s, struct entry *e, struct unpack *u);
} parts[] = {
    /* A part's tag is its place from 1 on: add new ones at the end only. */
    {hf__rules_queue_save, hf__rules_queue_load},
    {hf__rules_rw_save, hf__rules_rw_load},
    {hf__rules_permit_save, hf__rules_permit_load},
    {hf__rules_latch_save, hf__rules_latch_load},
    {hf__rules_barrier_save, hf__rules_barrier_load},
    {hf__rules_value_save, hf__rules_value_load},
    {hf__rules_guard_save, hf__rules_guard_load},
};

#define PARTS_LEN (sizeof parts / sizeof *parts)

/* ---- the plain lock ------------------------------------------------------ */

/* An end between two milliseconds, as another program may set it, becomes the
 * later of them. */
static int64_t expires_ms_of(int64_t ends_us)
{
    int64_t ms = ends_us / US_PER_MS + (ends_us % US_PER_MS != 0);
    return ms > 0 ? ms - 1 : 0;
}

static int plain_is_sound(const struct cell_plain *p)
{
    const int64_t numbers[] = {p->counter, p->ballot,  p->fence,
                               p->holds,   p->ends_us, p->since_us};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] < 0 || numbers[i] > PACK_MAX) return 0;
    return memchr(p->owner, '\0', sizeof p->owner)
           && memchr(p->info, '\0', sizeof p->info);
}

static int plain_load(struct store *s, struct entry *e,
                      const struct cell_plain *p)
{
    if (!plain_is_sound(p)) return HF_CONFLICT;
    e->counter = p->counter;
    if (!p->owner[0]) return HF_OK;
    struct request like = {.attempt = p->attempt,
                           .ballot = p->ballot,
                           .flags = p->flags & CELL_DETACHED ? REQ_DETACHED : 0,
                           .info = p->info};
    memcpy(like.owner, p->owner, sizeof like.owner);
    if (hf__rules_hold_give(s, e, p->since_us, &like, p->fence) != HF_OK)
        return HF_NOMEM;
    e->held->count = p->holds;
    e->held->is_marked = (p->flags & CELL_MARKED) != 0;
    e->held->expires_ms = expires_ms_of(p->ends_us);
    return HF_OK;
}

static void plain_save(const struct entry *e, int64_t now_us,
                       struct cell_plain *p)
{
    const struct held *held = e->held;
    p->counter = e->counter;
    if (!held || held_is_over(held, now_us)) return;
    p->attempt = held->attempt;
    p->ballot = held->ballot;
    p->fence = held->fence;
    p->holds = held->count;
    p->ends_us = (held->expires_ms + 1) * US_PER_MS;
    p->since_us = held->since_us;
    if (held->detached) p->flags |= CELL_DETACHED;
    if (held->is_marked) p->flags |= CELL_MARKED;
    memcpy(p->owner, held->owner, sizeof p->owner);
    memcpy(p->info, held->info, sizeof p->info);
}

int hf__rules_cell_is_same(const struct cell_plain *a,
                           const struct cell_plain *b)
{
    return a->counter == b->counter && a->attempt == b->attempt
           && a->ballot == b->ballot && a->fence == b->fence
           && a->holds == b->holds && a->ends_us == b->ends_us
           && a->since_us == b->since_us && a->flags == b->flags
           && !strcmp(a->owner, b->owner) && !strcmp(a->info, b->info);
}

/* ---- the rest ------------------------------------------------------------ */

static int state_load(struct store *s, struct entry *e, const void *state,
                      size_t state_len)
{
    if (state_len == 0) return HF_OK;
    struct unpack u = {.at = state};
    u.end = u.at + state_len;
    uint64_t last = 0;
    if (*u.at++ != CELL_FORMAT) return HF_CONFLICT;
    while (u.at < u.end && !u.is_bad && !u.is_short) {
        uint64_t tag = hf__rules_unpack_unsigned(&u);
        if (tag <= last || tag > PARTS_LEN) return HF_CONFLICT;
        parts[tag - 1].load(s, e, &u);
        last = tag;
    }
    if (u.is_short) return HF_NOMEM;
    return u.is_bad ? HF_CONFLICT : HF_OK;
}

int hf__rules_cell_load(struct store *s, const char *name, size_t name_len,
                        const struct cell_plain *plain, const void *state,
                        size_t state_len)
{
    hf__rules_store_forget(s);
    struct entry *e = hf__rules_table_need(&s->table, name, name_len);
    if (!e) return HF_NOMEM;
    s->has_kinds = 1; /* other clients may have asked for one */
    int status = plain_load(s, e, plain);
    if (status == HF_OK) status = state_load(s, e, state, state_len);
    if (status != HF_OK) hf__rules_store_forget(s);
    return status;
}

int hf__rules_cell_save(const struct store *s, int64_t now_us, const char *name,
                        size_t name_len, struct cell_plain *plain,
                        struct cell_bytes *state)
{
    const struct entry *e = hf__rules_table_find(&s->table, name, name_len);
    *plain = (struct cell_plain){0};
    state->len = 0;
    state->is_short = 0;
    if (!e) return HF_OK;
    plain_save(e, now_us, plain);
    hf__rules_pack_unsigned(state, CELL_FORMAT);
    for (size_t i = 0; i < PARTS_LEN; i++)
        parts[i].save(s, now_us, e, (unsigned)i + 1, state);
    if (state->len == 1) state->len = 0;
    return state->is_short ? HF_NOMEM : HF_OK;
}

void hf__rules_cell_free(struct cell_bytes *bytes)
{
    hf__free(bytes->alloc, bytes->at);
    *bytes = (struct cell_bytes){.alloc = bytes->alloc};
}

void hf__rules_cell_mark(struct store *s, const char *marker)
{
    if (!marker || hf__marker_parse(marker, &s->marker) != 0)
        s->marker = (struct marker){0};
}
