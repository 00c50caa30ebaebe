/*
 * list.c: going through the locks of a store, page by page.
 *
 * The rule: rows are copied inside the engine's step, and shown outside it;
 * what failed first is told when all else was listed.
 */
#include <string.h>

#include "api/client/sequence.h"
#include "base/error.h"
#include "base/math.h"

/* ---- pages --------------------------------------------------------------- */

/* Rows of one page, copied inside the step, shown outside it. */
struct page {
    const struct allocator *alloc;
    struct list_row *rows;
    size_t len, room;
    int failed;
    uint64_t *seen; /* of a quorum: names that were shown, by their hashes;
                      * 0 is an empty place */
    size_t seen_len, seen_room;
};

static uint64_t name_hash(const struct list_row *row)
{
    return hash64(row->name, row->name_len) | 1;
}

/* The place of the hash in the table, or the empty one that it belongs to. */
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

/* 1 if another node has listed this name before; remembers the name. */
static int row_is_seen(struct page *p, const struct list_row *row)
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

static int page_add(const struct list_row *row, void *user)
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

static int row_show(struct list_row *row, hf_list_fn fn, void *user)
{
    const struct hf_list_row shown = {.struct_size = sizeof shown,
                                      .name = row->name,
                                      .name_len = row->name_len,
                                      .info = &row->info};
    row->info.struct_size = sizeof row->info;
    return fn(&shown, user) != 0;
}

/* Show the page and empty it; 1 if the user has seen enough. */
static int page_show(struct page *p, int is_quorum, hf_list_fn fn, void *user)
{
    int stop = 0;
    for (size_t i = 0; i < p->len; i++) {
        struct list_row *row = &p->rows[i];
        if (!stop && fn && !(is_quorum && row_is_seen(p, row)))
            stop = row_show(row, fn, user);
        hf__free(p->alloc, (char *)row->name);
    }
    p->len = 0;
    return stop;
}

/* ---- cursors ------------------------------------------------------------- */

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

/* ---- steps --------------------------------------------------------------- */

/* One list under way. */
struct list {
    struct sequence seq; /* first */
    struct op op;        /* one page, of one server */
    struct page page;
    struct tour tour;
    hf_client *client;
    const char *match;
    hf_list_fn fn;
    void *user;     /* for `fn`, and for `cb` */
    uint64_t asked; /* the cursor of this page */
    int has_begun;
    int stop;        /* the user has seen enough */
    int node, nodes; /* of a quorum: a lock is on most of them, not on every
                      * one, so all that answer are asked */
    int heard;       /* how many members have answered */
    int first;       /* of this server: the first failure */
    struct hf_error why;

    hf_listed_fn cb; /* started */
    char bytes[];    /* the pattern */
};

static void page_ask(struct list *l, uint64_t cursor)
{
    hf__call_init(&l->op, OP_TYPE_LIST, NULL, 0);
    l->op.pattern = l->match;
    l->op.on_row = page_add;
    l->op.on_row_user = &l->page;
    l->op.cursor = l->asked = cursor;
    if (l->nodes > 1) l->op.only = UINT32_C(1) << l->node;
    l->page.failed = 0;
    hf__sequence_ask(&l->seq, l->client, &l->op);
}

static void server_begin(struct list *l)
{
    l->tour = (struct tour){0};
    l->first = HF_OK;
    page_ask(l, 0);
}

/* All pages of this server were shown, or as many as were wanted. */
static void server_over(struct list *l)
{
    if (l->nodes > 1 && l->first == HF_UNAVAILABLE) {
        if (++l->node < l->nodes && !l->stop)
            server_begin(l);
        else if (l->heard == 0)
            hf__sequence_fail(&l->seq, HF_UNAVAILABLE, "%s", l->why.text);
        return;
    }
    l->seq.status = l->first;
    if (l->first != HF_OK) {
        l->seq.err = l->why;
        return;
    }
    l->heard++;
    if (++l->node < l->nodes && !l->stop) server_begin(l);
}

/* One server of a store that is made of several has failed, and the cursor
 * leads on to the next server. */
static int is_passed_over(const struct list *l, int status)
{
    int is_one = status == HF_UNAVAILABLE || status == HF_DENIED;
    return is_one && l->op.cursor > l->asked;
}

static int page_status(struct list *l)
{
    struct hf_error err;
    int status = l->op.status;
    if (status == HF_OK && l->page.failed) status = HF_NOMEM;
    l->stop = page_show(&l->page, l->nodes > 1, status == HF_OK ? l->fn : NULL,
                        l->user);
    if (l->page.failed) status = HF_NOMEM;
    if (l->page.failed)
        hf__error_set(&err, HF_NOMEM, "list: out of memory");
    else
        err = l->op.err;
    /* The user's function may have forked. */
    int forked = hf__client_check(l->client, &err);
    if (forked != HF_OK) status = forked;
    if (status != HF_OK && l->first == HF_OK) {
        l->first = status;
        l->why = err;
    }
    return status;
}

static void page_over(struct list *l)
{
    int status = page_status(l);
    uint64_t next = l->op.cursor;
    int goes_on = status == HF_OK || is_passed_over(l, status);
    if (status == HF_OK && !l->stop && next && tour_is_endless(&l->tour, next))
        l->first =
            hf__error_set(&l->why, HF_UNAVAILABLE,
                          "list: the server's cursor does not come to an end");
    else if (goes_on && !l->stop && next) {
        page_ask(l, next);
        return;
    }
    server_over(l);
}

static void list_step(struct sequence *s)
{
    struct list *l = (struct list *)s;
    if (l->has_begun++)
        page_over(l);
    else
        server_begin(l);
}

/* ---- the calls ----------------------------------------------------------- */

static int list_prepare(struct list *l, hf_client *client, const char *match,
                        hf_list_fn fn, void *user, struct hf_error *err)
{
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (!fn) return hf__error_set(err, HF_INVALID, "list: fn is NULL");
    if (!(client->pump.engine.caps & HF_CAP_LIST))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "list: %s cannot list its locks", client->url);
    *l = (struct list){.seq.step = list_step,
                       .page.alloc = &client->alloc,
                       .client = client,
                       .match = match,
                       .fn = fn,
                       .user = user,
                       .nodes = client->pump.engine.conf.nodes};
    return HF_OK;
}

static void list_empty(struct list *l)
{
    hf__free(&l->client->alloc, l->page.rows);
    hf__free(&l->client->alloc, l->page.seen);
}

int hf_client_list(hf_client *client, const char *match, hf_list_fn fn,
                   void *user, struct hf_error *err)
{
    struct list l;
    int status = list_prepare(&l, client, match, fn, user, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = hf__sequence_run(&l.seq, err);
    list_empty(&l);
    hf__call_leave(client);
    return status;
}

static void list_over(struct sequence *s)
{
    struct list *l = (struct list *)s;
    hf_client *client = l->client;
    list_empty(l);
    l->cb(client, s->status, &s->err, l->user);
    hf__free(&client->alloc, l);
}

int hf_client_list_start(hf_client *client, const char *match, hf_list_fn fn,
                         hf_listed_fn cb, void *user, struct hf_error *err)
{
    struct list own;
    int status = list_prepare(&own, client, match, fn, user, err);
    if (status == HF_OK && !cb)
        status = hf__error_set(err, HF_INVALID, "list: no callback");
    if (status != HF_OK) return status;
    size_t size = match ? strlen(match) + 1 : 0;
    struct list *l = hf__alloc(&client->alloc, sizeof *l + size);
    if (!l) return hf__error_set(err, HF_NOMEM, "list: out of memory");
    *l = own;
    if (match) l->match = memcpy(l->bytes, match, size);
    l->seq.over = list_over;
    l->cb = cb;
    status = hf__sequence_start(&l->seq, client, err);
    if (status != HF_OK) hf__free(&client->alloc, l);
    return status;
}
