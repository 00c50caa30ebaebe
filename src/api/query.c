/*
 * query.c: asking the store about locks, and taking them away.
 *
 * The rule: one question, struct hf_info, answers all; the short calls are
 * views of it.
 */
#include <stdlib.h>
#include <string.h>

#include "api/fallback.h"
#include "base/error.h"
#include "base/math.h"

int hf_lock_inspect(hf_lock *lock, uint64_t holder, struct hf_info *info,
                    struct hf_error *err)
{
    struct op op;
    struct look found;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    memset(&found, 0, sizeof found);
    hf__op_init(&op, OP_TYPE_INSPECT, lock, holder);
    op.look = &found;
    op.info = &found.info;
    status = hf__op_run(lock->client, &op, err);
    if (status == HF_OK) *info = found.info;
    return status;
}

static void inspect_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_inspected_fn fn = (hf_inspected_fn)op->complete_fn;
    if (fn)
        fn(lock, op->status, op->status == HF_OK ? op->info : NULL, &op->err,
           op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_lock_inspect_start(hf_lock *lock, uint64_t holder, hf_inspected_fn cb,
                          void *user, struct hf_error *err)
{
    struct op op;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    hf__op_init(&op, OP_TYPE_INSPECT, lock, holder);
    return hf__op_start(lock->client, &op, inspect_complete, lock,
                        (void (*)(void))cb, user, err);
}

int hf_lock_is_locked(hf_lock *lock, int *out, struct hf_error *err)
{
    struct hf_info info;
    int status = hf_lock_inspect(lock, 0, &info, err);
    if (status == HF_OK) *out = info.locked;
    return status;
}

/* Who has a hold of this host need not ask the store about it. */
static int hold_inspect(hf_lock *lock, uint64_t holder, struct hf_info *info,
                        struct hf_error *err)
{
    hf_lock shadow, *at = hf__fallback_enter(lock, holder, &shadow);
    int status = hf_lock_inspect(at, holder, info, err);
    hf__fallback_leave(lock, at);
    return status;
}

int hf_lock_is_held_by(hf_lock *lock, uint64_t holder, int *out,
                       struct hf_error *err)
{
    struct hf_info info;
    int status = hold_inspect(lock, holder, &info, err);
    if (status == HF_OK) *out = info.mine;
    return status;
}

int hf_lock_hold_count(hf_lock *lock, uint64_t holder, int64_t *out,
                       struct hf_error *err)
{
    struct hf_info info;
    int status = hold_inspect(lock, holder, &info, err);
    if (status == HF_OK) *out = info.mine ? info.count : 0;
    return status;
}

int hf_lock_ttl_ms(hf_lock *lock, int64_t *out, struct hf_error *err)
{
    struct hf_info info;
    int status = hf_lock_inspect(lock, 0, &info, err);
    if (status == HF_OK) *out = info.ttl_ms;
    return status;
}

/* ---- break -------------------------------------------------------------- */

static int break_prepare(struct op *op, hf_lock *lock, struct hf_error *err)
{
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    if (!(lock->client->pump.engine.caps & HF_CAP_BREAK))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "%s: break: %s cannot take locks away",
                             lock->entry->name, lock->client->url);
    hf__op_init(op, OP_TYPE_BREAK, lock, 0);
    return HF_OK;
}

int hf_lock_break(hf_lock *lock, int *was_locked, struct hf_error *err)
{
    struct op op;
    int status = break_prepare(&op, lock, err);
    if (status != HF_OK) return status;
    status = hf__op_run(lock->client, &op, err);
    if (status == HF_OK && was_locked) *was_locked = op.was_locked;
    return status;
}

static void break_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_broken_fn fn = (hf_broken_fn)op->complete_fn;
    if (fn) fn(lock, op->status, op->was_locked, &op->err, op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_lock_break_start(hf_lock *lock, hf_broken_fn cb, void *user,
                        struct hf_error *err)
{
    struct op op;
    int status = break_prepare(&op, lock, err);
    if (status != HF_OK) return status;
    return hf__op_start(lock->client, &op, break_complete, lock,
                        (void (*)(void))cb, user, err);
}

/* ---- list --------------------------------------------------------------- */

/* Rows of one page, copied inside the step, shown outside it. */
struct page {
    const struct allocator *alloc;
    struct hf_list_row *rows;
    size_t len, room;
    int failed;
    uint64_t *seen; /* of a quorum: names that were shown, by their hashes;
                      * 0 is an empty place */
    size_t seen_len, seen_room;
};

static uint64_t name_hash(const struct hf_list_row *row)
{
    return hash64(row->name, row->name_len) | 1;
}

/* Where the hash is, or belongs. */
static uint64_t *seen_find(uint64_t *table, size_t room, uint64_t hash)
{
    size_t i = (size_t)(hash >> 20) & (room - 1);
    while (table[i] && table[i] != hash) i = (i + 1) & (room - 1);
    return &table[i];
}

static int seen_grow(struct page *p)
{
    size_t room = p->seen_room ? 2 * p->seen_room : 256;
    uint64_t *table = hf__alloc_zero(p->alloc, room * sizeof *table);
    if (!table) return -1;
    for (size_t i = 0; i < p->seen_room; i++)
        if (p->seen[i]) *seen_find(table, room, p->seen[i]) = p->seen[i];
    hf__free(p->alloc, p->seen);
    p->seen = table;
    p->seen_room = room;
    return 0;
}

/* Has another node told of it?  From now on, yes. */
static int row_is_seen(struct page *p, const struct hf_list_row *row)
{
    uint64_t hash = name_hash(row);
    if (2 * p->seen_len >= p->seen_room && seen_grow(p) != 0) {
        p->failed = 1;
        return 1;
    }
    uint64_t *at = seen_find(p->seen, p->seen_room, hash);
    if (*at) return 1;
    *at = hash;
    p->seen_len++;
    return 0;
}

static int page_add(const struct hf_list_row *row, void *user)
{
    struct page *p = user;
    if (p->len == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        void *rows = hf__realloc(p->alloc, p->rows, room * sizeof *p->rows);
        if (!rows) {
            p->failed = 1;
            return 1;
        }
        p->rows = rows;
        p->room = room;
    }
    char *name = hf__alloc(p->alloc, row->name_len + 1);
    if (!name) {
        p->failed = 1;
        return 1;
    }
    memcpy(name, row->name, row->name_len);
    name[row->name_len] = '\0';
    p->rows[p->len] = *row;
    p->rows[p->len++].name = name;
    return 0;
}

/* Show the page and empty it; 1 if the user has seen enough. */
static int page_show(struct page *p, int is_quorum, hf_list_fn fn, void *user)
{
    int stop = 0;
    for (size_t i = 0; i < p->len; i++) {
        const struct hf_list_row *row = &p->rows[i];
        if (!stop && fn && !(is_quorum && row_is_seen(p, row)))
            stop = fn(row, user) != 0;
        hf__free(p->alloc, (char *)row->name);
    }
    p->len = 0;
    return stop;
}

/* One page; `stop` is set if the user has seen enough. */
static int page_list(hf_client *client, struct op *op, struct page *page,
                     hf_list_fn fn, void *user, int *stop, struct hf_error *err)
{
    page->failed = 0;
    int status = hf__op_run(client, op, err);
    if (status == HF_OK && page->failed) status = HF_NOMEM;
    *stop = page_show(page, op->only != 0, status == HF_OK ? fn : NULL, user);
    if (page->failed)
        status = hf__error_set(err, HF_NOMEM, "list: out of memory");
    return status;
}

/* Of a store that is made of several servers, one failed; and the cursor leads
 * on to the next of them. */
static int is_passed_over(const struct op *op, uint64_t asked, int status)
{
    int is_one = status == HF_UNAVAILABLE || status == HF_DENIED;
    return is_one && op->cursor > asked;
}

/* The cursors that a list has come by.  One of every 1, 2, 4... is remembered
 * (Brent), so that a server whose cursors go in a circle is found out. */
struct tour {
    uint64_t mark;
    uint64_t pages, next_mark;
};

static int tour_is_endless(struct tour *t, uint64_t cursor)
{
    if (cursor == t->mark || ++t->pages > LIST_PAGES_MAX) return 1;
    if (t->pages <= t->next_mark) return 0;
    t->mark = cursor;
    t->next_mark = 2 * t->pages;
    return 0;
}

static int tour_fail(struct hf_error *err)
{
    return hf__error_set(err, HF_UNAVAILABLE,
                         "list: the server's cursor does not come to an end");
}

/* All pages of one store; `stop` is set if the user has seen enough.  What
 * failed first is told when all else was listed. */
static int server_list(hf_client *client, struct op *op, struct page *page,
                       hf_list_fn fn, void *user, int *stop,
                       struct hf_error *err)
{
    struct hf_error why = {0};
    struct tour tour = {0};
    int first = HF_OK, status;
    uint64_t asked;
    op->cursor = 0;
    do {
        asked = op->cursor;
        status = page_list(client, op, page, fn, user, stop, &why);
        if (status == HF_OK && !*stop && op->cursor
            && tour_is_endless(&tour, op->cursor))
            return tour_fail(err);
        if (status == HF_OK || first != HF_OK) continue;
        first = status;
        if (err) *err = why;
    } while ((status == HF_OK || is_passed_over(op, asked, status)) && !*stop
             && op->cursor != 0);
    return first;
}

/* A lock is on most of the nodes, not on every one: ask all that answer. */
static int nodes_list(hf_client *client, struct op *op, struct page *page,
                      hf_list_fn fn, void *user, struct hf_error *err)
{
    int nodes = client->pump.engine.conf.nodes, stop = 0, heard = 0;
    struct hf_error why = {0};
    for (int i = 0; i < nodes && !stop; i++) {
        op->only = UINT32_C(1) << i;
        int status = server_list(client, op, page, fn, user, &stop, &why);
        if (status == HF_OK)
            heard++;
        else if (status != HF_UNAVAILABLE)
            return hf__error_set(err, status, "%s", why.text);
    }
    if (heard > 0) return HF_OK;
    return hf__error_set(err, HF_UNAVAILABLE, "%s", why.text);
}

int hf_client_list(hf_client *client, const char *match, hf_list_fn fn,
                   void *user, struct hf_error *err)
{
    struct op op;
    struct page page = {.alloc = &client->alloc};
    int stop, status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (!(client->pump.engine.caps & HF_CAP_LIST))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "list: %s cannot list its locks", client->url);
    hf__op_init(&op, OP_TYPE_LIST, NULL, 0);
    op.pattern = match;
    op.on_row = page_add;
    op.on_row_user = &page;
    hf__call_enter(client);
    if (client->pump.engine.conf.nodes > 1)
        status = nodes_list(client, &op, &page, fn, user, err);
    else
        status = server_list(client, &op, &page, fn, user, &stop, err);
    hf__free(&client->alloc, page.rows);
    hf__free(&client->alloc, page.seen);
    hf__call_leave(client);
    return status;
}
