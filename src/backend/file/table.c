/*
 * table.c: the names in use.  One rule: a lock with a hold or a watch is
 * never forgotten, and of the others only the latest used are kept, with their
 * files open, so that taking a lock again costs no open(2).
 */
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "backend/file/hold.h"
#include "backend/file/lock.h"
#include "backend/file/name.h"
#include "backend/file/table.h"
#include "base/math.h"

#define SLOTS_MIN 64

static void idle_unlink(struct backend_conn *c, struct file_lock *l)
{
    *(l->newer ? &l->newer->older : &c->newest) = l->older;
    *(l->older ? &l->older->newer : &c->oldest) = l->newer;
    l->newer = l->older = NULL;
    c->idle_len--;
}

static void idle_push(struct backend_conn *c, struct file_lock *l)
{
    l->newer = NULL;
    l->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = l;
    c->newest = l;
    c->idle_len++;
}

void hf__file_table_pin(struct backend_conn *c, struct file_lock *l)
{
    if (l->pins++ == 0) idle_unlink(c, l);
}

void hf__file_table_unpin(struct backend_conn *c, struct file_lock *l)
{
    assert(l->pins > 0);
    if (--l->pins == 0) idle_push(c, l);
}

static int table_grow(struct backend_conn *c)
{
    if (c->locks_len < c->slots_len) return 0;
    size_t len = c->slots_len ? c->slots_len * 2 : SLOTS_MIN;
    struct file_lock **slots =
        hf__alloc_zero(c->env->alloc, len * sizeof *slots);
    if (!slots) return c->slots_len ? 0 : -1;
    for (size_t i = 0; i < c->slots_len; i++)
        for (struct file_lock *l = c->slots[i], *next; l; l = next) {
            next = l->chain;
            l->chain = slots[l->hash & (len - 1)];
            slots[l->hash & (len - 1)] = l;
        }
    hf__free(c->env->alloc, c->slots);
    c->slots = slots;
    c->slots_len = len;
    return 0;
}

static struct file_lock *lock_make(struct backend_conn *c, const char *name,
                                   size_t len, uint64_t hash)
{
    if (table_grow(c)) return NULL;
    struct file_lock *l = hf__alloc_zero(c->env->alloc, sizeof *l + len + 1);
    if (!l) return NULL;
    memcpy(l->name, name, len);
    l->name_len = len;
    l->hash = hash;
    l->is_path = !c->is_slash_plain && memchr(name, '/', len) != NULL;
    l->idle_fd = l->record_fd = l->waiter_fd = -1;
    l->wd = l->path_wd = -1;
    l->echo_us = TIME_NEVER;
    if (!l->is_path) hf__file_name(name, len, l->file);
    l->chain = c->slots[hash & (c->slots_len - 1)];
    c->slots[hash & (c->slots_len - 1)] = l;
    c->locks_len++;
    idle_push(c, l);
    return l;
}

struct file_lock *hf__file_table_get(struct backend_conn *c, const char *name,
                                     size_t len)
{
    uint64_t hash = hash64(name, len);
    struct file_lock *l =
        c->slots_len ? c->slots[hash & (c->slots_len - 1)] : NULL;
    while (l
           && (l->hash != hash || l->name_len != len
               || memcmp(l->name, name, len)))
        l = l->chain;
    if (!l) return lock_make(c, name, len, hash);
    if (l->pins == 0 && l != c->newest) {
        idle_unlink(c, l);
        idle_push(c, l);
    }
    return l;
}

static void lock_free(struct backend_conn *c, struct file_lock *l)
{
    hf__free(c->env->alloc, l->title);
    hf__free(c->env->alloc, l);
}

void hf__file_table_trim(struct backend_conn *c)
{
    while (c->idle_len > IDLE_LOCKS_MAX) {
        struct file_lock *l = c->oldest;
        struct file_lock **at = &c->slots[l->hash & (c->slots_len - 1)];
        while (*at != l) at = &(*at)->chain;
        *at = l->chain;
        c->locks_len--;
        idle_unlink(c, l);
        hf__file_lock_shut(l);
        lock_free(c, l);
    }
}

static void holds_shut(struct file_lock *l)
{
    for (struct file_hold *h = l->holds; h; h = h->next) {
        if (h->fd >= 0) close(h->fd);
        h->fd = -1;
    }
}

void hf__file_table_shut(struct backend_conn *c)
{
    for (size_t i = 0; i < c->slots_len; i++)
        for (struct file_lock *l = c->slots[i]; l; l = l->chain) {
            holds_shut(l);
            hf__file_lock_shut(l);
        }
}

void hf__file_table_free(struct backend_conn *c)
{
    for (size_t i = 0; i < c->slots_len; i++)
        for (struct file_lock *l = c->slots[i], *next; l; l = next) {
            next = l->chain;
            while (l->holds) {
                struct file_hold *h = l->holds;
                l->holds = h->next;
                hf__free(c->env->alloc, h);
            }
            lock_free(c, l);
        }
    hf__free(c->env->alloc, c->slots);
    c->slots = NULL;
    c->slots_len = 0;
}
