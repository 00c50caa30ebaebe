/*
 * guard.c: values that refuse stale holders; it follows guard.lua, reply
 * for reply.
 *
 * One rule: a token that is refused changes nothing, and the highest one is
 * never forgotten while the store lives.
 */
#include <string.h>

#include "rules/guard.h"
#include "rules/hold.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/table.h"
#include "rules/value.h"
#include "base/math.h"

/* What is behind a guard, with its bytes. */
struct guarded {
    int64_t expires_ms; /* gone once the clock shows more; TIME_NEVER */
    size_t len;
    char data[];
};

static void guarded_drop(struct store *s, struct entry *e)
{
    hf__free(s->alloc, e->guarded);
    e->guarded = NULL;
}

void hf__rules_guard_sweep(struct store *s, struct entry *e, int64_t now_us)
{
    if (e->guarded && us_to_ms(now_us) > e->guarded->expires_ms)
        guarded_drop(s, e);
}

/* As on a real server, a lock or a versioned value may be in its place. */
static int is_foreign(struct store *s, struct entry *e, int64_t now_us,
                      const struct request *req)
{
    if (!e || !(req->flags & (REQ_GUARD_VALUE | REQ_DELETE))) return 0;
    if (e->held && !held_is_over(e->held, now_us)) return 1;
    return hf__rules_value_is_there(s, e, now_us);
}

static void guarded_tell(const struct entry *e, int64_t now_us,
                         const struct request *req, struct reply *rep)
{
    rep->verdict = V_GRANTED;
    if (!e || !e->guarded || !(req->flags & REQ_GUARD_VALUE)) return;
    const struct guarded *g = e->guarded;
    rep->data = g->data;
    rep->data_len = g->len;
    if (g->expires_ms != TIME_NEVER)
        rep->ttl_us = max64(g->expires_ms - us_to_ms(now_us), 0) * US_PER_MS;
}

static int guarded_set(struct store *s, struct entry *e, int64_t now_us,
                       const struct request *req)
{
    struct guarded *g = hf__alloc_zero(s->alloc, sizeof *g + req->data_len + 1);
    if (!g) return HF_NOMEM;
    int64_t life_ms = (req->lease_us + US_PER_MS - 1) / US_PER_MS;
    g->expires_ms = life_ms > 0 ? us_to_ms(now_us) + life_ms : TIME_NEVER;
    g->len = req->data_len;
    if (g->len > 0) memcpy(g->data, req->data, g->len);
    guarded_drop(s, e);
    e->guarded = g;
    return HF_OK;
}

/* The token is good: remember it, and do what is asked. */
static void guard_admit(struct store *s, struct entry *e, int64_t now_us,
                        const struct request *req, struct reply *rep)
{
    int writes = (req->flags & REQ_GUARD_VALUE) != 0;
    if (!e) e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (!e || (writes && guarded_set(s, e, now_us, req) != HF_OK)) {
        reply_refuse(rep, HF_NOMEM, "guard: out of memory");
        return;
    }
    if (req->flags & REQ_DELETE) guarded_drop(s, e);
    if (req->flags & REQ_GUARD_CLAIM)
        e->claim = req->version;
    else
        e->guard = req->version;
    rep->version = req->version;
    rep->verdict = V_GRANTED;
}

static int is_refused(const struct request *req, uint64_t last)
{
    if (!(req->flags & REQ_GUARD_CLAIM)) return req->version < last;
    int writes = (req->flags & (REQ_GUARD_VALUE | REQ_DELETE)) != 0;
    return writes && req->version != last;
}

void hf__rules_guard_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct entry *e = hf__rules_table_find(&s->table, req->name, req->name_len);
    int is_look = (req->flags & REQ_GUARD_LOOK) != 0;
    if (e) hf__rules_guard_sweep(s, e, now_us);
    if (e) rep->version = req->flags & REQ_GUARD_CLAIM ? e->claim : e->guard;
    if (!is_look && (req->version < 1 || req->version > INT64_MAX))
        reply_refuse(rep, HF_INVALID, "guard: token out of range");
    else if (req->data_len > HF_VALUE_MAX || req->lease_us < 0)
        reply_refuse(rep, HF_INVALID, "guard: too long, or no time to live");
    else if (!is_look && is_refused(req, rep->version))
        rep->verdict = V_OTHER;
    else if (is_foreign(s, e, now_us, req))
        reply_refuse(rep, HF_CONFLICT, "guard: something else is stored there");
    else if (is_look)
        guarded_tell(e, now_us, req, rep);
    else
        guard_admit(s, e, now_us, req, rep);
}

void hf__rules_guard_free_all(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        struct entry *e = s->table.entries[i];
        guarded_drop(s, e);
        e->guard = 0;
        e->claim = 0;
    }
}

/* ---- as bytes ------------------------------------------------------------ */

void hf__rules_guard_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b)
{
    const struct guarded *g = e->guarded;
    (void)s;
    if (g && us_to_ms(now_us) > g->expires_ms) g = NULL;
    if (!g && !e->guard && !e->claim) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_unsigned(b, e->guard);
    hf__rules_pack_unsigned(b, e->claim);
    hf__rules_pack_signed(b, g != NULL);
    if (!g) return;
    hf__rules_pack_signed(b, g->expires_ms);
    hf__rules_pack_bytes(b, g->data, g->len);
}

void hf__rules_guard_load(struct store *s, struct entry *e, struct unpack *u)
{
    size_t len;
    e->guard = hf__rules_unpack_unsigned(u);
    e->claim = hf__rules_unpack_unsigned(u);
    if (!hf__rules_unpack_range(u, 0, 1)) return;
    int64_t expires_ms = hf__rules_unpack_time(u);
    const void *data = hf__rules_unpack_bytes(u, &len);
    if (len > HF_VALUE_MAX) u->is_bad = 1;
    e->guarded = hf__rules_unpack_make(u, s, sizeof *e->guarded + len + 1);
    if (!e->guarded) return;
    e->guarded->expires_ms = expires_ms;
    e->guarded->len = len;
    if (len > 0) memcpy(e->guarded->data, data, len);
}
