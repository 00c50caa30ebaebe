/*
 * life.c: a store's life, and what the simulator and the backend do to
 * it from outside.  One rule: whatever happens to the locks, counters are only
 * forgotten by a wipe.
 */
#include "rules/gate.h"
#include "rules/guard.h"
#include "rules/hold.h"
#include "rules/permit.h"
#include "rules/queue.h"
#include "rules/rw.h"
#include "rules/store.h"
#include "rules/stock.h"
#include "rules/table.h"
#include "rules/value.h"

static void free_queues(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++)
        hf__rules_queue_free(s, s->table.entries[i]);
}

void hf__rules_store_queue_times(struct store *s, int64_t poll_us,
                                 int64_t live_us, int64_t handoff_us,
                                 int64_t fresh_us)
{
    s->queue_poll_us = poll_us;
    s->queue_live_us = live_us;
    s->queue_handoff_us = handoff_us;
    s->queue_fresh_us = fresh_us;
}

struct store *hf__rules_store_open(const struct allocator *alloc)
{
    struct store *s = hf__alloc_zero(alloc, sizeof *s);
    if (!s) return NULL;
    s->alloc = alloc;
    s->table.alloc = alloc;
    hf__rules_store_queue_times(s, PLACE_POLL_US, PLACE_US, QUEUE_HANDOFF_US,
                                QUEUE_FRESH_US);
    return s;
}

void hf__rules_store_close(struct store *s)
{
    if (!s) return;
    hf__rules_permit_free_all(s);
    hf__rules_gate_free_all(s);
    free_queues(s);
    hf__rules_table_clear(&s->table);
    while (s->free_holds) {
        struct held *held = s->free_holds;
        s->free_holds = held->next_free;
        hf__free(s->alloc, held);
    }
    hf__free(s->alloc, s->rows);
    hf__free(s->alloc, s);
}

void hf__rules_store_forget(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++)
        hf__rules_hold_free(s, s->table.entries[i]);
    hf__rules_permit_free_all(s);
    hf__rules_gate_free_all(s);
    free_queues(s);
    hf__rules_table_empty(&s->table);
    s->handoff = (struct handoff){0};
    s->has_news = 0;
    s->sweep = 0;
}

int hf__rules_store_expire(struct store *s, const char *name, size_t name_len)
{
    struct entry *e = hf__rules_table_find(&s->table, name, name_len);
    int was_held = e && (e->held || e->shares);
    if (!was_held) return 0;
    hf__rules_hold_free(s, e);
    hf__rules_rw_free(s->alloc, &e->shares);
    return 1;
}

void hf__rules_store_flush_locks(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        hf__rules_hold_free(s, s->table.entries[i]);
        hf__rules_rw_free(s->alloc, &s->table.entries[i]->shares);
    }
}

static void stocks_free(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        hf__rules_stock_close(s->table.entries[i]->stock);
        s->table.entries[i]->stock = NULL;
    }
}

void hf__rules_store_wipe(struct store *s, int keep_counters)
{
    hf__rules_store_flush_locks(s);
    hf__rules_value_free_all(s);
    hf__rules_guard_free_all(s);
    stocks_free(s);
    hf__rules_permit_free_all(s);
    hf__rules_gate_free_all(s);
    free_queues(s);
    hf__rules_store_restart(s);
    if (keep_counters) return;
    hf__rules_table_clear(&s->table);
    s->marker = (struct marker){0};
}

void hf__rules_store_restart(struct store *s)
{
    s->lives++;
}

void hf__rules_store_identify(struct store *s, uint64_t id, int is_durable)
{
    s->id = id;
    s->is_durable = is_durable;
}

void *hf__rules_store_tag(const struct store *s, const char *name,
                          size_t name_len)
{
    const struct entry *e = hf__rules_table_find(&s->table, name, name_len);
    return e ? e->tag : NULL;
}

int hf__rules_store_set_tag(struct store *s, const char *name, size_t name_len,
                            void *tag)
{
    struct entry *e = hf__rules_table_need(&s->table, name, name_len);
    if (!e) return HF_NOMEM;
    e->tag = tag;
    return HF_OK;
}
