/*
 * latch.c: count-down latches in a store; it follows latch_wait.lua and
 * latch_tally.lua, reply for reply.
 *
 * One rule: a change that is asked for twice is made once.
 */
#include <string.h>

#include "rules/gate.h"
#include "rules/latch.h"
#include "rules/pack.h"
#include "rules/table.h"
#include "base/math.h"

/* A change that was made, for as long as a copy of it may come. */
struct change {
    struct change *next; /* the next younger one */
    uint64_t attempt;
    int64_t until_us;
    int64_t left;
    char owner[OWNER_LEN_MAX];
};

struct latch {
    int64_t count;      /* 0: it is open */
    int64_t deleted_us; /* when it was last, each later than the one before;
                         * 0: never */
    struct change *first, *last;
};

/* ---- what was changed --------------------------------------------------- */

static void change_drop(struct store *s, struct latch *l)
{
    struct change *old = l->first;
    l->first = old->next;
    if (!l->first) l->last = NULL;
    hf__free(s->alloc, old);
}

static const struct change *change_find(const struct latch *l,
                                        const struct request *req)
{
    if (!(req->flags & REQ_REPEATED)) return NULL;
    const struct change *c = l->first;
    while (c
           && (c->attempt != req->attempt
               || strncmp(c->owner, req->owner, sizeof c->owner) != 0))
        c = c->next;
    return c;
}

static struct change *change_add(struct store *s, struct latch *l,
                                 int64_t now_us, const struct request *req)
{
    struct change *c = hf__alloc_zero(s->alloc, sizeof *c);
    if (!c) return NULL;
    while (l->first && l->first->until_us < now_us) change_drop(s, l);
    c->attempt = req->attempt;
    c->until_us = now_us + req->lease_us;
    memcpy(c->owner, req->owner, sizeof c->owner);
    if (l->last)
        l->last->next = c;
    else
        l->first = c;
    l->last = c;
    return c;
}

/* ---- the latch ---------------------------------------------------------- */

int hf__rules_latch_is_used(const struct entry *e)
{
    return e && e->latch && e->latch->count > 0;
}

void hf__rules_latch_free(struct store *s, struct entry *e)
{
    if (!e->latch) return;
    while (e->latch->first) change_drop(s, e->latch);
    hf__free(s->alloc, e->latch);
    e->latch = NULL;
}

static struct latch *latch_need(struct store *s, struct entry *e)
{
    if (!e->latch) e->latch = hf__alloc_zero(s->alloc, sizeof *e->latch);
    return e->latch;
}

void hf__rules_latch_wait(struct store *s, int64_t now_us, struct entry *e,
                          const struct request *req, struct reply *rep)
{
    const struct latch *l = e ? e->latch : NULL;
    int64_t deleted_us = l ? l->deleted_us : 0;
    (void)now_us;
    if (req->seen > 0 && deleted_us > 0 && deleted_us != req->seen) {
        rep->status = HF_LOST;
        rep->text = "latch: it was deleted while it was waited for";
    } else if (l && l->count > 0) {
        hf__rules_gate_text(s, "latch: %lld left to count", l->count);
        rep->verdict = V_BUSY;
        rep->status = HF_TAKEN;
        rep->text = s->text;
        rep->seen = deleted_us > 0 ? deleted_us : 1;
    } else {
        rep->verdict = V_GRANTED;
    }
}

/* Change it if that is possible; returns the verdict. */
static enum verdict latch_change(struct latch *l, int64_t now_us,
                                 const struct request *req)
{
    switch (req->tally) {
    case TALLY_OPEN:
        if (l->count > 0) return V_OTHER;
        l->count = req->number;
        return V_GRANTED;
    case TALLY_DOWN:
        if (l->count == 0) return V_ABSENT;
        l->count--;
        return V_GRANTED;
    case TALLY_DELETE:
        if (l->count == 0) return V_ABSENT;
        l->count = 0;
        l->deleted_us = max64(now_us, l->deleted_us + 1);
        return V_GRANTED;
    default:
        return V_ERROR;
    }
}

static void told_fill(struct store *s, int64_t count, struct reply *rep)
{
    s->tally = (struct tally_told){
        .is_there = count > 0, .value = count, .waiters = -1};
    rep->tally = &s->tally;
}

void hf__rules_latch_tally(struct store *s, int64_t now_us, struct entry *e,
                           const struct request *req, struct reply *rep)
{
    struct latch *l = e ? latch_need(s, e) : NULL;
    struct change *made = NULL;
    if (req->tally == TALLY_READ) {
        rep->verdict = V_GRANTED;
        told_fill(s, l ? l->count : 0, rep);
        return;
    }
    const struct change *before = l ? change_find(l, req) : NULL;
    if (before) {
        rep->verdict = V_GRANTED;
        told_fill(s, before->left, rep);
        return;
    }
    if (l) made = change_add(s, l, now_us, req);
    if (!made) {
        rep->status = HF_NOMEM;
        rep->text = "latch: out of memory";
        return;
    }
    rep->verdict = latch_change(l, now_us, req);
    made->left = l->count;
    if (rep->verdict != V_GRANTED) made->attempt = 0; /* not a change */
    if (rep->verdict == V_ERROR) rep->status = HF_UNSUPPORTED;
    told_fill(s, l->count, rep);
}

/* ---- as bytes ------------------------------------------------------------ */

static int change_is_kept(const struct change *c, int64_t now_us)
{
    return c->attempt && c->until_us >= now_us;
}

static void change_save(const struct change *c, struct cell_bytes *b)
{
    hf__rules_pack_unsigned(b, c->attempt);
    hf__rules_pack_signed(b, c->until_us);
    hf__rules_pack_signed(b, c->left);
    hf__rules_pack_text(b, c->owner);
}

void hf__rules_latch_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b)
{
    const struct latch *l = e->latch;
    uint64_t len = 0;
    (void)s;
    if (!l) return;
    int64_t since_us = now_us - LATCH_DELETED_MS * US_PER_MS;
    int64_t deleted_us = l->deleted_us < since_us ? 0 : l->deleted_us;
    for (const struct change *c = l->first; c; c = c->next)
        len += (uint64_t)change_is_kept(c, now_us);
    if (!l->count && !deleted_us && len == 0) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_signed(b, l->count);
    hf__rules_pack_signed(b, deleted_us);
    hf__rules_pack_unsigned(b, len);
    for (const struct change *c = l->first; c; c = c->next)
        if (change_is_kept(c, now_us)) change_save(c, b);
}

static void change_load(struct change *c, struct unpack *u)
{
    c->attempt = hf__rules_unpack_unsigned(u);
    c->until_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    c->left = hf__rules_unpack_range(u, 0, PACK_MAX);
    hf__rules_unpack_text(u, c->owner, sizeof c->owner);
}

void hf__rules_latch_load(struct store *s, struct entry *e, struct unpack *u)
{
    struct latch *l = hf__rules_unpack_make(u, s, sizeof *l);
    e->latch = l;
    if (!l) return;
    l->count = hf__rules_unpack_range(u, 0, PACK_MAX);
    l->deleted_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0; len--) {
        struct change *c = hf__rules_unpack_make(u, s, sizeof *c);
        if (!c) return;
        change_load(c, u);
        *(l->last ? &l->last->next : &l->first) = c;
        l->last = c;
    }
}
