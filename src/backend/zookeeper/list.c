/*
 * list.c: pages of locks.  A page is the next names of the root in their order,
 * each looked at: its queue, then the first node of that.  One rule: a lock
 * that was held all the time is in one page of a list, whatever else is made
 * and deleted meanwhile; so the next page begins behind the last name, and not
 * behind a number of names.
 */
#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/look.h"
#include "backend/zookeeper/zookeeper.h"
#include "base/glob.h"

#define PAGE_NAMES 64
#define CURSORS_MAX 64

/* Where pages end.  A list that was not gone on with for long begins anew. */
struct list {
    uint64_t next; /* the next cursor */
    struct {
        uint64_t cursor;
        char name[NAME_LEN_MAX + 1];
    } ends[CURSORS_MAX];
};

struct page {
    size_t len, asked, done;
    int has_more;
    char names[PAGE_NAMES][NAME_LEN_MAX + 1];
    size_t lens[PAGE_NAMES];
    char nodes[PAGE_NAMES][256]; /* "": it is not held */
    struct hf_info infos[PAGE_NAMES];
    struct list_row rows[PAGE_NAMES];
};

void hf__zookeeper_list_free(struct backend_conn *c)
{
    hf__free(c->env->alloc, c->list);
}

void hf__zookeeper_page_free(struct backend_conn *c, struct page *page)
{
    hf__free(c->env->alloc, page);
}

/* ---- cursors ------------------------------------------------------------ */

static uint64_t cursor_make(struct backend_conn *c, const char *name)
{
    struct list *l = c->list;
    uint64_t cursor = ++l->next;
    l->ends[cursor % CURSORS_MAX].cursor = cursor;
    snprintf(l->ends[cursor % CURSORS_MAX].name, NAME_LEN_MAX + 1, "%s", name);
    return cursor;
}

/* The name behind which the page begins; NULL: it is not known any more. */
static const char *cursor_name(const struct backend_conn *c, uint64_t cursor)
{
    const struct list *l = c->list;
    if (cursor == 0) return "";
    if (!l || l->ends[cursor % CURSORS_MAX].cursor != cursor) return NULL;
    return l->ends[cursor % CURSORS_MAX].name;
}

/* ---- the page ----------------------------------------------------------- */

static void page_tell(struct backend_conn *c, struct job *job)
{
    struct page *page = job->page;
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__zookeeper_clock_us(c),
                        .ttl_us = -1,
                        .waiters = -1,
                        .rows = page->rows};
    for (size_t i = 0; i < page->len; i++) {
        struct list_row *row = &page->rows[rep.rows_len];
        if (!page->infos[i].locked) continue;
        row->name = page->names[i];
        row->name_len = page->lens[i];
        row->info = page->infos[i];
        row->info.now_ms = rep.node_us / US_PER_MS;
        rep.rows_len++;
    }
    if (page->has_more) rep.cursor = cursor_make(c, page->names[page->len - 1]);
    hf__zookeeper_reply(c, job, &rep);
}

static void page_step(struct backend_conn *c, struct job *job)
{
    if (++job->page->done == job->page->asked) page_tell(c, job);
}

static void holder_read(struct backend_conn *c, const struct call *call,
                        struct answer *a)
{
    struct page *page = call->job->page;
    struct jute_stat stat;
    size_t len, i = page->done;
    while (!page->nodes[i][0] || page->infos[i].locked) i++;
    if (a->err == ZK_OK) {
        const char *data = hf__zookeeper_in_text(&a->body, &len);
        hf__zookeeper_in_stat(&a->body, &stat);
        hf__zookeeper_holder_tell(&page->infos[i], page->nodes[i], data, len,
                                  &stat);
    } else {
        page->nodes[i][0] = '\0'; /* given back meanwhile */
    }
    page_step(c, call->job);
}

static void holders_ask(struct backend_conn *c, struct job *job)
{
    struct page *page = job->page;
    page->asked = page->done = 0;
    for (size_t i = 0; i < page->len; i++)
        page->asked += page->nodes[i][0] != 0;
    if (page->asked == 0) {
        page_tell(c, job);
        return;
    }
    for (size_t i = 0; i < page->len; i++) {
        if (!page->nodes[i][0]) continue;
        hf__zookeeper_path(c, page->names[i], page->lens[i]);
        size_t at = strlen(c->path);
        snprintf(c->path + at, sizeof c->path - at, "/%s", page->nodes[i]);
        hf__zookeeper_read(c, ZK_GET_DATA, c->path, 0, holder_read, job, NULL);
    }
}

static void queue_read(struct backend_conn *c, const struct call *call,
                       struct answer *a)
{
    struct page *page = call->job->page;
    struct queue_view v = {.len = 0};
    size_t i = page->done;
    if (a->err == ZK_OK)
        hf__zookeeper_queue_read(&a->body, NULL, INT64_MAX, &v);
    page->infos[i] = (struct hf_info){.ttl_ms = -2, .waiters = -1};
    if (v.first && v.first_len < sizeof page->nodes[i]) {
        memcpy(page->nodes[i], v.first, v.first_len);
        page->nodes[i][v.first_len] = '\0';
        page->infos[i].queued = v.len - 1;
    }
    if (++page->done == page->asked) holders_ask(c, call->job);
}

/* ---- the names ---------------------------------------------------------- */

static void name_add(struct page *page, const char *name, size_t len)
{
    size_t at = page->len;
    while (at > 0 && strcmp(page->names[at - 1], name) > 0) at--;
    if (page->len == PAGE_NAMES) {
        page->has_more = 1;
        if (at == PAGE_NAMES) return;
        page->len--;
    }
    memmove(page->names[at + 1], page->names[at],
            (page->len - at) * sizeof page->names[0]);
    memmove(&page->lens[at + 1], &page->lens[at],
            (page->len - at) * sizeof page->lens[0]);
    memcpy(page->names[at], name, len + 1);
    page->lens[at] = len;
    page->len++;
}

static void names_read(const struct backend_conn *c, struct job *job,
                       struct answer *a)
{
    char name[NAME_LEN_MAX + 1];
    const char *pattern = job->req->name;
    const char *behind = cursor_name(c, job->req->cursor);
    int32_t n = hf__zookeeper_in_int(&a->body);
    for (int32_t i = 0; i < n && !a->body.is_bad; i++) {
        size_t len;
        const char *node = hf__zookeeper_in_text(&a->body, &len);
        len = node ? hf__zookeeper_name_unescape(node, len, name) : 0;
        if (len == 0 || (behind && strcmp(name, behind) <= 0)) continue;
        if (pattern && !hf__glob_match(pattern, name, len)) continue;
        name_add(job->page, name, len);
    }
}

static void names_told(struct backend_conn *c, const struct call *call,
                       struct answer *a)
{
    struct job *job = call->job;
    struct page *page = job->page;
    if (a->err != ZK_OK) {
        hf__zookeeper_refuse_error(c, job, a->err);
        return;
    }
    names_read(c, job, a);
    page->asked = page->len;
    if (page->len == 0) {
        page_tell(c, job);
        return;
    }
    for (size_t i = 0; i < page->len; i++)
        hf__zookeeper_read(c, ZK_GET_CHILDREN,
                           hf__zookeeper_path(c, page->names[i], page->lens[i]),
                           0, queue_read, job, NULL);
}

void hf__zookeeper_list_begin(struct backend_conn *c, struct job *job)
{
    const char *root = c->root[0] ? c->root : "/";
    if (!c->list) c->list = hf__alloc_zero(c->env->alloc, sizeof *c->list);
    if (c->list) job->page = hf__alloc_zero(c->env->alloc, sizeof *job->page);
    if (!job->page) {
        hf__zookeeper_refuse(c, job, HF_NOMEM, "list: out of memory");
        return;
    }
    if (!cursor_name(c, job->req->cursor)) {
        hf__zookeeper_refuse(c, job, HF_UNAVAILABLE,
                             "list: it was left alone for too long: begin "
                             "again");
        return;
    }
    hf__zookeeper_sync(c, root, NULL, NULL);
    hf__zookeeper_read(c, ZK_GET_CHILDREN, root, 0, names_told, job, NULL);
}
