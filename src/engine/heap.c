/* heap.c: a binary heap; see heap.h. */
#include "engine/heap.h"

#include <assert.h>

#include "base/limits.h"

int hf__heap_reserve(struct heap *h, const struct allocator *a, size_t len)
{
    if (len <= h->room) return 0;
    size_t room = h->room ? h->room * 2 : 16;
    while (room < len) room *= 2;
    void *items = hf__realloc(a, h->items, room * sizeof(struct timer *));
    if (!items) return -1;
    h->items = items;
    h->room = room;
    return 0;
}

static void place(struct heap *h, size_t i, struct timer *t)
{
    h->items[i] = t;
    t->index = i + 1;
}

static void sift_up(struct heap *h, size_t i, struct timer *t)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (h->items[parent]->due_us <= t->due_us) break;
        place(h, i, h->items[parent]);
        i = parent;
    }
    place(h, i, t);
}

static void sift_down(struct heap *h, size_t i, struct timer *t)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->len) break;
        if (child + 1 < h->len
            && h->items[child + 1]->due_us < h->items[child]->due_us)
            child++;
        if (h->items[child]->due_us >= t->due_us) break;
        place(h, i, h->items[child]);
        i = child;
    }
    place(h, i, t);
}

static void heap_remove(struct heap *h, struct timer *t)
{
    size_t i = t->index - 1;
    struct timer *last = h->items[--h->len];
    t->index = 0;
    if (last == t) return;
    if (i > 0 && h->items[(i - 1) / 2]->due_us > last->due_us)
        sift_up(h, i, last);
    else
        sift_down(h, i, last);
}

void hf__heap_set(struct heap *h, struct timer *t, int64_t due_us)
{
    if (t->index && t->due_us == due_us) return;
    if (t->index && due_us != TIME_NEVER) {
        size_t i = t->index - 1;
        int64_t old = t->due_us;
        t->due_us = due_us;
        if (due_us < old)
            sift_up(h, i, t);
        else
            sift_down(h, i, t);
        return;
    }
    if (t->index) heap_remove(h, t);
    t->due_us = due_us;
    if (due_us == TIME_NEVER) return;
    assert(h->len < h->room);
    h->len++;
    sift_up(h, h->len - 1, t);
}

struct timer *hf__heap_top(const struct heap *h)
{
    return h->len ? h->items[0] : NULL;
}

void hf__heap_free(struct heap *h, const struct allocator *a)
{
    hf__free(a, h->items);
    h->items = NULL;
    h->len = h->room = 0;
}
