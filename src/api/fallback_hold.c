/*
 * fallback_hold.c: who of this client's holders has what: the lock of this
 * host, or the store's.
 *
 * The rule: an entry of the client of this host is used only while it is
 * pinned, and that client only between enter and leave.
 */
#include "api/fallback.h"
#include "sys/clock.h"

/* A hold, or one on its way; what is lost or given back is none. */
static int slot_counts(const struct slot *s)
{
    return s->hold.state != HOLD_LOST && s->hold.state != HOLD_RELEASING
           && s->hold.state != HOLD_DONE;
}

static int is_used(const struct lock_entry *entry)
{
    const struct slot *s = entry->slots;
    while (s && !slot_counts(s)) s = s->next;
    return s != NULL;
}

/* This holder's hold; to acquire anew is to forget one that is lost. */
static struct slot *own_find(struct pump *p, struct lock_entry *entry,
                             uint64_t holder, int anew)
{
    struct hold_event forget = {.type = EV_FORGET};
    struct slot *s = hf__slot_find(entry, holder);
    if (!s || !anew || s->hold.state != HOLD_LOST || s->op) return s;
    p->engine.now_us = hf__clock_us();
    hf__slot_step(&p->engine, s, &forget);
    hf__pump_news(p);
    return NULL;
}

struct lock_entry *hf__host_pin(hf_client *host, const struct lock_entry *name,
                                uint64_t holder, enum host_pin how,
                                int *is_joined)
{
    struct engine *e = &host->pump.engine;
    *is_joined = 0;
    hf__pump_lock(&host->pump);
    struct lock_entry *entry =
        hf__entry_find(e, name->kind, name->name, name->name_len);
    if (entry) {
        entry->refs++;
        int is_own = own_find(&host->pump, entry, holder, how != PIN_OWN) != 0;
        *is_joined = !is_own && how == PIN_ANY && is_used(entry);
        if (!is_own && !*is_joined) {
            hf__entry_unref(e, entry);
            entry = NULL;
        }
    }
    hf__pump_unlock(&host->pump);
    return entry;
}

struct lock_entry *hf__host_pin_new(hf_client *host,
                                    const struct lock_entry *name)
{
    hf__pump_lock(&host->pump);
    struct lock_entry *entry = hf__entry_get(&host->pump.engine, name->kind,
                                             name->name, name->name_len);
    hf__pump_unlock(&host->pump);
    return entry;
}

void hf__host_unpin(hf_client *host, struct lock_entry *entry)
{
    hf__pump_lock(&host->pump);
    hf__entry_unref(&host->pump.engine, entry);
    hf__pump_unlock(&host->pump);
}

int hf__store_is_held(hf_client *c, const struct lock_entry *name,
                      uint64_t holder)
{
    int64_t now_us = hf__clock_us();
    hf__pump_lock(&c->pump);
    const struct slot *s = name->slots;
    while (s
           && (s->hold.state != HOLD_HELD || s->hold.valid_us <= now_us
               || (holder && s->holder != holder)))
        s = s->next;
    hf__pump_unlock(&c->pump);
    return s != NULL;
}

hf_lock *hf__fallback_enter(hf_lock *lock, uint64_t holder, hf_lock *shadow)
{
    hf_client *c = lock->client;
    hf_client *host = c->pump.forked ? NULL : hf__host_enter(c);
    int is_joined;
    if (!host) return lock;
    struct lock_entry *entry =
        hf__host_pin(host, lock->entry, holder ? holder : hf_holder_self(),
                     PIN_OWN, &is_joined);
    if (!entry) {
        hf__host_leave(c);
        return lock;
    }
    *shadow = (hf_lock){.client = host, .entry = entry};
    return shadow;
}

void hf__fallback_leave(hf_lock *lock, hf_lock *entered)
{
    if (entered == lock) return;
    hf__host_unpin(entered->client, entered->entry);
    hf__host_leave(lock->client);
}
