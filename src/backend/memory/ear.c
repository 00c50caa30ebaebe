/*
 * ear.c: which connections are told when a lock becomes free.  One rule: a
 * bell rings exactly while its list of rung names is not empty, so that telling
 * a connection costs a system call for the first name only, and none is needed
 * to learn that nothing rang.
 */
#include <string.h>

#include "backend/memory/ear.h"
#include "backend/memory/space.h"
#include "rules/store.h"

static int ear_open(struct ear *ear)
{
    if (ear->bell.read_fd >= 0) return HF_OK;
    return hf__bell_open(&ear->bell) ? HF_UNAVAILABLE : HF_OK;
}

static struct watch *watches_of(const struct space *space, const char *name,
                                size_t name_len)
{
    return hf__rules_store_tag(space->store, name, name_len);
}

static struct watch *watch_find(const struct space *space,
                                const struct ear *ear, const char *name,
                                size_t name_len)
{
    struct watch *w = watches_of(space, name, name_len);
    while (w && w->ear != ear) w = w->next_of_name;
    return w;
}

int hf__memory_ear_watch(struct space *space, struct ear *ear, unsigned kinds,
                         const char *name, size_t name_len)
{
    struct watch *w = watch_find(space, ear, name, name_len);
    if (w) {
        w->kinds |= kinds;
        return HF_OK;
    }
    if (ear_open(ear) != HF_OK) return HF_UNAVAILABLE;
    w = hf__alloc_zero(ear->alloc, sizeof *w + name_len + 1);
    if (!w) return HF_NOMEM;
    w->ear = ear;
    w->kinds = kinds;
    w->name_len = name_len;
    memcpy(w->name, name, name_len);
    w->next_of_name = watches_of(space, name, name_len);
    if (hf__rules_store_set_tag(space->store, name, name_len, w) != HF_OK) {
        hf__free(ear->alloc, w);
        return HF_NOMEM;
    }
    w->next_of_ear = ear->watches;
    if (w->next_of_ear) w->next_of_ear->link_of_ear = &w->next_of_ear;
    w->link_of_ear = &ear->watches;
    ear->watches = w;
    return HF_OK;
}

static void name_unlink(struct space *space, struct watch *w)
{
    struct watch *other = watches_of(space, w->name, w->name_len);
    if (other == w) {
        (void)hf__rules_store_set_tag(space->store, w->name, w->name_len,
                                      w->next_of_name);
        return;
    }
    while (other->next_of_name != w) other = other->next_of_name;
    other->next_of_name = w->next_of_name;
}

static void ear_silence(struct ear *ear)
{
    if (ear->rung || !atomic_load(&ear->is_ringing)) return;
    hf__bell_hush(&ear->bell);
    atomic_store(&ear->is_ringing, 0);
}

static void rung_unlink(struct ear *ear, const struct watch *w)
{
    struct watch **link = &ear->rung;
    if (!w->is_rung) return;
    while (*link != w) link = &(*link)->next_rung;
    *link = w->next_rung;
    ear_silence(ear);
}

void hf__memory_ear_unwatch(struct space *space, struct ear *ear,
                            unsigned kinds, const char *name, size_t name_len)
{
    struct watch *w = watch_find(space, ear, name, name_len);
    if (!w) return;
    w->kinds &= ~kinds;
    if (w->kinds) return;
    name_unlink(space, w);
    rung_unlink(ear, w);
    *w->link_of_ear = w->next_of_ear;
    if (w->next_of_ear) w->next_of_ear->link_of_ear = w->link_of_ear;
    while (w->notes) w->notes = hf__memory_ear_note_free(w->notes);
    hf__free(ear->alloc, w);
}

int64_t hf__memory_ear_count(struct space *space, const char *name,
                             size_t name_len)
{
    int64_t count = 0;
    struct watch *w = watches_of(space, name, name_len);
    for (; w; w = w->next_of_name) count++;
    return count;
}

static void watch_rouse(struct watch *w)
{
    struct ear *ear = w->ear;
    if (w->is_rung) return;
    w->is_rung = 1;
    w->next_rung = ear->rung;
    ear->rung = w;
    if (!atomic_exchange(&ear->is_ringing, 1)) hf__bell_ring(&ear->bell);
}

static void watch_ring(struct watch *w)
{
    w->is_armed = 0;
    w->is_free = 1;
    watch_rouse(w);
}

struct note *hf__memory_ear_note_free(struct note *note)
{
    struct note *next = note->next;
    hf__free(&hf__alloc_default, note);
    return next;
}

/* Not with the ear's allocator: a thread of another client does this. */
static void watch_note(struct watch *w, const struct handoff *h)
{
    struct note *note = hf__alloc_zero(&hf__alloc_default, sizeof *note);
    if (!note) {
        watch_ring(w); /* a waiter that asks finds out */
        return;
    }
    memcpy(note->owner, h->owner, strnlen(h->owner, OWNER_LEN_MAX - 1));
    note->attempt = h->attempt;
    note->ballot = h->ballot;
    note->fence = h->fence;
    note->lease_us = h->lease_us;
    note->next = w->notes;
    w->notes = note;
    watch_rouse(w);
}

void hf__memory_ear_hand(struct space *space, const struct handoff *h)
{
    struct watch *w = watches_of(space, h->name, h->name_len);
    for (; w; w = w->next_of_name) {
        const char *uuid = w->ear->uuid;
        size_t len = uuid ? strlen(uuid) : 0;
        if (len > 0 && !strncmp(h->owner, uuid, len) && h->owner[len] == ':')
            watch_note(w, h);
    }
}

int64_t hf__memory_ear_ring(struct space *space, const char *name,
                            size_t name_len)
{
    int64_t told = 0;
    struct watch *w = watches_of(space, name, name_len);
    for (; w; w = w->next_of_name) {
        watch_ring(w);
        told++;
    }
    return told;
}

void hf__memory_ear_arm(struct space *space, struct ear *ear, const char *name,
                        size_t name_len, int64_t expires_us)
{
    struct watch *w = watch_find(space, ear, name, name_len);
    if (!w) return;
    w->is_armed = 1;
    if (expires_us < ear->look_us) ear->look_us = expires_us;
}

void hf__memory_ear_look(struct space *space, struct ear *ear)
{
    int64_t now_us = hf__memory_space_now_us(space);
    if (now_us < ear->look_us) return;
    ear->look_us = TIME_NEVER;
    for (struct watch *w = ear->watches; w; w = w->next_of_ear) {
        struct store_view view;
        if (!w->is_armed) continue;
        if (!hf__rules_store_look(space->store, now_us, w->name, w->name_len,
                                  &view))
            watch_ring(w);
        else if (view.expires_us < ear->look_us)
            ear->look_us = view.expires_us;
    }
}

int hf__memory_ear_take(struct ear *ear, struct heard *out)
{
    struct watch *w = ear->rung;
    if (!w) return 0;
    ear->rung = w->next_rung;
    w->is_rung = 0;
    ear_silence(ear);
    memcpy(out->name, w->name, w->name_len + 1);
    out->name_len = w->name_len;
    out->is_free = w->is_free;
    out->notes = w->notes;
    w->is_free = 0;
    w->notes = NULL;
    return 1;
}

void hf__memory_ear_close(struct space *space, struct ear *ear)
{
    pthread_mutex_lock(&space->mutex);
    while (ear->watches)
        hf__memory_ear_unwatch(space, ear, ear->watches->kinds,
                               ear->watches->name, ear->watches->name_len);
    pthread_mutex_unlock(&space->mutex);
    hf__bell_close(&ear->bell);
}
