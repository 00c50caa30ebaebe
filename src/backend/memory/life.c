/*
 * life.c: a store's life, and what the simulator and the backend do to
 * it from outside.  One rule: whatever happens to the locks, counters are only
 * forgotten by a wipe.
 */
#include "backend/memory/gate.h"
#include "backend/memory/guard.h"
#include "backend/memory/hold.h"
#include "backend/memory/permit.h"
#include "backend/memory/queue.h"
#include "backend/memory/rw.h"
#include "backend/memory/store.h"
#include "backend/memory/table.h"
#include "backend/memory/value.h"

static void free_queues(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++)
        hf__memory_queue_free(s, s->table.entries[i]);
}

void hf__memory_store_queue_times(struct store *s, int64_t poll_us,
                                  int64_t live_us, int64_t handoff_us,
                                  int64_t fresh_us)
{
    s->queue_poll_us = poll_us;
    s->queue_live_us = live_us;
    s->queue_handoff_us = handoff_us;
    s->queue_fresh_us = fresh_us;
}

struct store *hf__memory_store_open(const struct allocator *alloc)
{
    struct store *s = hf__alloc_zero(alloc, sizeof *s);
    if (!s) return NULL;
    s->alloc = alloc;
    s->table.alloc = alloc;
    hf__memory_store_queue_times(s, PLACE_POLL_US, PLACE_US, QUEUE_HANDOFF_US,
                                 QUEUE_FRESH_US);
    return s;
}

void hf__memory_store_close(struct store *s)
{
    if (!s) return;
    hf__memory_permit_free_all(s);
    hf__memory_gate_free_all(s);
    free_queues(s);
    hf__memory_table_clear(&s->table);
    while (s->free_holds) {
        struct held *held = s->free_holds;
        s->free_holds = held->next_free;
        hf__free(s->alloc, held);
    }
    hf__free(s->alloc, s->rows);
    hf__free(s->alloc, s);
}

int hf__memory_store_expire(struct store *s, const char *name, size_t name_len)
{
    struct entry *e = hf__memory_table_find(&s->table, name, name_len);
    int was_held = e && (e->held || e->shares);
    if (!was_held) return 0;
    hf__memory_hold_free(s, e);
    hf__memory_rw_free(s->alloc, &e->shares);
    return 1;
}

void hf__memory_store_flush_locks(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        hf__memory_hold_free(s, s->table.entries[i]);
        hf__memory_rw_free(s->alloc, &s->table.entries[i]->shares);
    }
}

void hf__memory_store_wipe(struct store *s, int keep_counters)
{
    hf__memory_store_flush_locks(s);
    hf__memory_value_free_all(s);
    hf__memory_guard_free_all(s);
    hf__memory_permit_free_all(s);
    hf__memory_gate_free_all(s);
    free_queues(s);
    hf__memory_store_restart(s);
    if (keep_counters) return;
    hf__memory_table_clear(&s->table);
    s->marker = (struct marker){0};
}

void hf__memory_store_restart(struct store *s)
{
    s->lives++;
}

void hf__memory_store_identify(struct store *s, uint64_t id, int is_durable)
{
    s->id = id;
    s->is_durable = is_durable;
}

void *hf__memory_store_tag(const struct store *s, const char *name,
                           size_t name_len)
{
    const struct entry *e = hf__memory_table_find(&s->table, name, name_len);
    return e ? e->tag : NULL;
}

int hf__memory_store_set_tag(struct store *s, const char *name, size_t name_len,
                             void *tag)
{
    struct entry *e = hf__memory_table_need(&s->table, name, name_len);
    if (!e) return HF_NOMEM;
    e->tag = tag;
    return HF_OK;
}
