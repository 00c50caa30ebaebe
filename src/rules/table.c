/*
 * table.c: open addressing over an array of records.  One rule: a record
 * never moves and never goes, so pointers and cursors stay good.
 */
#include <string.h>

#include "rules/rw.h"
#include "rules/stock.h"
#include "rules/table.h"
#include "base/math.h"

#define INDEX_SIZE_MIN 16u
#define ENTRIES_MIN 8u

static struct entry *table_seek(const struct table *t, const char *name,
                                size_t name_len, uint64_t hash)
{
    if (t->index_size == 0) return NULL;
    size_t mask = t->index_size - 1;
    for (size_t i = (size_t)hash & mask; t->index[i]; i = (i + 1) & mask) {
        struct entry *e = t->entries[t->index[i] - 1];
        if (e->hash == hash && e->name_len == name_len
            && !memcmp(e->name, name, name_len))
            return e;
    }
    return NULL;
}

struct entry *hf__rules_table_find(const struct table *t, const char *name,
                                   size_t name_len)
{
    return table_seek(t, name, name_len, hash64(name, name_len));
}

static void index_put(struct table *t, size_t place)
{
    size_t mask = t->index_size - 1;
    size_t i = (size_t)t->entries[place]->hash & mask;
    while (t->index[i]) i = (i + 1) & mask;
    t->index[i] = (uint32_t)(place + 1);
}

/* At most half of the index is used, so that a search ends soon. */
static int index_grow(struct table *t)
{
    if ((t->len + 1) * 2 <= t->index_size) return 1;
    size_t size = t->index_size ? t->index_size * 2 : INDEX_SIZE_MIN;
    uint32_t *index = hf__alloc_zero(t->alloc, size * sizeof *index);
    if (!index) return 0;
    hf__free(t->alloc, t->index);
    t->index = index;
    t->index_size = size;
    for (size_t place = 0; place < t->len; place++) index_put(t, place);
    return 1;
}

static int entries_grow(struct table *t)
{
    if (t->len < t->room) return 1;
    if (t->len >= UINT32_MAX / 2) return 0;
    size_t room = t->room ? t->room * 2 : ENTRIES_MIN;
    void *entries =
        hf__realloc(t->alloc, t->entries, room * sizeof *t->entries);
    if (!entries) return 0;
    t->entries = entries;
    t->room = room;
    return 1;
}

struct entry *hf__rules_table_need(struct table *t, const char *name,
                                   size_t name_len)
{
    uint64_t hash = hash64(name, name_len);
    struct entry *e = table_seek(t, name, name_len, hash);
    if (e) return e;
    if (!index_grow(t) || !entries_grow(t)) return NULL;
    e = hf__alloc_zero(t->alloc, sizeof *e + name_len + 1);
    if (!e) return NULL;
    e->hash = hash;
    e->name_len = name_len;
    memcpy(e->name, name, name_len);
    t->entries[t->len] = e;
    index_put(t, t->len++);
    return e;
}

void hf__rules_table_empty(struct table *t)
{
    for (size_t i = 0; i < t->len; i++) {
        hf__free(t->alloc, t->entries[i]->held);
        hf__rules_rw_free(t->alloc, &t->entries[i]->shares);
        hf__free(t->alloc, t->entries[i]->value);
        hf__free(t->alloc, t->entries[i]->guarded);
        hf__rules_stock_close(t->entries[i]->stock);
        hf__free(t->alloc, t->entries[i]);
    }
    t->len = 0;
    if (t->index_size > 0)
        memset(t->index, 0, t->index_size * sizeof *t->index);
}

void hf__rules_table_clear(struct table *t)
{
    hf__rules_table_empty(t);
    hf__free(t->alloc, t->entries);
    hf__free(t->alloc, t->index);
    *t = (struct table){.alloc = t->alloc};
}
