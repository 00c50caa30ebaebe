/*
 * value.c: versioned values in a store; it follows value_read.lua and
 * value_write.lua, reply for reply.
 *
 * One rule: a version is above every earlier one of its key as long as the
 * clock does not go back, also when the value was deleted or ended in between.
 */
#include <string.h>

#include "rules/guard.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/table.h"
#include "rules/value.h"
#include "base/math.h"

#define SWEEP_STEPS 2 /* names looked at by each write, for ended values */

/* One value, with its bytes. */
struct stored {
    uint64_t version;
    int64_t expires_ms; /* gone once the clock shows more; TIME_NEVER */
    uint64_t attempt;   /* the write that set it */
    char owner[OWNER_LEN_MAX];
    size_t len;
    char data[];
};

static void value_drop(struct store *s, struct entry *e)
{
    if (e->value && e->value->version > e->dropped)
        e->dropped = e->value->version;
    hf__free(s->alloc, e->value);
    e->value = NULL;
}

static int value_is_over(const struct stored *v, int64_t now_us)
{
    return us_to_ms(now_us) > v->expires_ms;
}

/* The value of the name with an ended one cleared away, or NULL. */
static struct stored *value_now(struct store *s, struct entry *e,
                                int64_t now_us)
{
    if (!e || !e->value) return NULL;
    if (value_is_over(e->value, now_us)) value_drop(s, e);
    return e->value;
}

int hf__rules_value_is_there(struct store *s, struct entry *e, int64_t now_us)
{
    return value_now(s, e, now_us) != NULL;
}

/* Values that are not asked for again must not stay for ever. */
static void values_sweep(struct store *s, int64_t now_us)
{
    for (int i = 0; i < SWEEP_STEPS && s->table.len > 0; i++) {
        if (s->sweep >= s->table.len) s->sweep = 0;
        struct entry *e = s->table.entries[s->sweep++];
        (void)value_now(s, e, now_us);
        hf__rules_guard_sweep(s, e, now_us);
    }
}

void hf__rules_value_read(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    struct entry *e = hf__rules_table_find(&s->table, req->name, req->name_len);
    const struct stored *v = value_now(s, e, now_us);
    rep->verdict = V_GRANTED;
    if (!v) return;
    rep->version = v->version;
    rep->data = v->data;
    rep->data_len = v->len;
    if (v->expires_ms != TIME_NEVER)
        rep->ttl_us = max64(v->expires_ms - us_to_ms(now_us), 0) * US_PER_MS;
}

static int value_is_ours(const struct stored *v, const struct request *req)
{
    return v->attempt == req->attempt
           && !strncmp(v->owner, req->owner, sizeof v->owner);
}

static int value_set(struct store *s, struct entry *e, int64_t now_us,
                     const struct request *req)
{
    const struct stored *old = e->value;
    struct stored *v = hf__alloc_zero(s->alloc, sizeof *v + req->data_len + 1);
    if (!v) return HF_NOMEM;
    int64_t life_ms = (req->lease_us + US_PER_MS - 1) / US_PER_MS;
    /* Two writes with a deletion between them fit into a microsecond. */
    v->version =
        (old && old->version > e->dropped ? old->version : e->dropped) + 1;
    if (v->version < (uint64_t)now_us) v->version = (uint64_t)now_us;
    v->expires_ms = life_ms > 0 ? us_to_ms(now_us) + life_ms : TIME_NEVER;
    v->attempt = req->attempt;
    memcpy(v->owner, req->owner, sizeof v->owner);
    v->len = req->data_len;
    if (v->len > 0) memcpy(v->data, req->data, v->len);
    value_drop(s, e);
    e->value = v;
    return HF_OK;
}

static void value_change(struct store *s, struct entry *e, int64_t now_us,
                         const struct request *req, struct reply *rep)
{
    if (req->flags & REQ_DELETE) {
        if (e) value_drop(s, e);
        rep->version = 0;
    } else {
        if (!e) e = hf__rules_table_need(&s->table, req->name, req->name_len);
        if (!e || value_set(s, e, now_us, req) != HF_OK) {
            reply_refuse(rep, HF_NOMEM, "write: out of memory");
            return;
        }
        rep->version = e->value->version;
    }
    rep->verdict = V_GRANTED;
}

void hf__rules_value_write(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    struct entry *e = hf__rules_table_find(&s->table, req->name, req->name_len);
    const struct stored *v = value_now(s, e, now_us);
    uint64_t version = v ? v->version : 0;
    values_sweep(s, now_us);
    rep->version = version;
    if (req->data_len > HF_VALUE_MAX || req->lease_us < 0)
        reply_refuse(rep, HF_INVALID, "write: too long, or no time to live");
    else if (v && value_is_ours(v, req))
        rep->verdict = V_GRANTED; /* carried out before */
    else if (req->version != HF_VALUE_ANY && req->version != version)
        rep->verdict = V_OTHER;
    else
        value_change(s, e, now_us, req, rep);
}

void hf__rules_value_free_all(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        value_drop(s, s->table.entries[i]);
        s->table.entries[i]->dropped = 0;
    }
}

/* ---- as bytes ------------------------------------------------------------ */

/* A version below the clock needs no memory: the next one is the clock. */
void hf__rules_value_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b)
{
    const struct stored *v = e->value;
    uint64_t dropped = e->dropped;
    (void)s;
    if (v && value_is_over(v, now_us)) {
        if (dropped < v->version) dropped = v->version;
        v = NULL;
    }
    if (dropped < (uint64_t)now_us) dropped = 0;
    if (!v && !dropped) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_unsigned(b, dropped);
    hf__rules_pack_signed(b, v != NULL);
    if (!v) return;
    hf__rules_pack_unsigned(b, v->version);
    hf__rules_pack_signed(b, v->expires_ms);
    hf__rules_pack_unsigned(b, v->attempt);
    hf__rules_pack_text(b, v->owner);
    hf__rules_pack_bytes(b, v->data, v->len);
}

void hf__rules_value_load(struct store *s, struct entry *e, struct unpack *u)
{
    struct stored head = {0};
    size_t len;
    e->dropped = hf__rules_unpack_unsigned(u);
    if (!hf__rules_unpack_range(u, 0, 1)) return;
    head.version = hf__rules_unpack_unsigned(u);
    head.expires_ms = hf__rules_unpack_time(u);
    head.attempt = hf__rules_unpack_unsigned(u);
    hf__rules_unpack_text(u, head.owner, sizeof head.owner);
    const void *data = hf__rules_unpack_bytes(u, &len);
    if (len > HF_VALUE_MAX || head.version > INT64_MAX) u->is_bad = 1;
    e->value = hf__rules_unpack_make(u, s, sizeof head + len + 1);
    if (!e->value) return;
    *e->value = head;
    e->value->len = len;
    if (len > 0) memcpy(e->value->data, data, len);
}
