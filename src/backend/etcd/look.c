/*
 * look.c: who holds a lock, lists, facts, and breaking a lock.  One rule: the
 * keys of other programs count as ours do.
 */
#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "base/glob.h"
#include "base/math.h"
#include "rules/report.h"

#define QUEUE_LOOK 500                  /* keys of one lock that are read */
#define PAGE_KEYS 256                   /* keys in one page of a list */
#define LEASE_S_MAX INT64_C(9000000000) /* the longest that etcd grants */

/* ---- one lock ---- */

static void look_send(struct backend_conn *c, struct request *req,
                      enum call_kind kind)
{
    struct key *lock = &c->scratch->keys[0], *end = &c->scratch->keys[1];
    struct txn *t = &c->scratch->t;
    hf__etcd_key_lock(lock, c->prefix, req->name, req->name_len);
    hf__etcd_key_end(end, lock);
    hf__etcd_txn_begin(t);
    hf__etcd_op_first(t, hf__etcd_txn_then(t), lock, end, QUEUE_LOOK);
    hf__etcd_key_used(&c->scratch->keys[2], c->prefix, req->name,
                      req->name_len);
    hf__etcd_op_get(t, hf__etcd_txn_then(t), &c->scratch->keys[2]);
    if (!hf__etcd_call(&c->link, kind, &t->txn.base, req, req->deadline_us)) {
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "look: out of memory");
    }
}

static int value_of(const Pb__KeyValue *kv, struct key_value *v)
{
    return hf__etcd_value_read((const char *)kv->value.data, kv->value.len, v);
}

/* Fill in what the holder's key says. */
static void info_holder(const struct backend_conn *c, const Pb__KeyValue *kv,
                        const struct request *req, struct hf_info *info)
{
    struct key_value v;
    *info = (struct hf_info){.locked = 1,
                             .ttl_ms = -1,
                             .waiters = -1,
                             .owner_count = 1,
                             .fence = (uint64_t)kv->create_revision,
                             .now_ms = hf__etcd_wall(c) / US_PER_MS};
    if (!value_of(kv, &v)) {
        size_t len = kv->key.len, at = len;
        while (at > 0 && kv->key.data[at - 1] != '/') at--;
        info->foreign = 1;
        snprintf(info->owner, sizeof info->owner, "lease %.*s",
                 (int)min64((int64_t)(len - at), 40),
                 (const char *)kv->key.data + at);
        snprintf(info->layout, sizeof info->layout, "etcd");
        return;
    }
    snprintf(info->layout, sizeof info->layout, "holdfast");
    snprintf(info->owner, sizeof info->owner, "%s", v.owner);
    info->owner_count = v.count;
    info->detached = v.is_detached;
    info->since_ms = v.since_us / US_PER_MS;
    hf__rules_report_holder(v.info, info);
    if (req->owner[0] && !strcmp(v.owner, req->owner)
        && (!req->attempt || req->attempt == v.attempt)) {
        info->mine = 1;
        info->count = v.count;
    }
}

static void info_queue(const Pb__RangeResponse *range,
                       const struct request *req, struct hf_info *info)
{
    struct key_value v;
    info->queued = range->count > 1 ? range->count - 1 : 0;
    for (size_t i = 1; i < range->n_kvs && req->owner[0]; i++)
        if (value_of(range->kvs[i], &v) && !strcmp(v.owner, req->owner)
            && !info->position)
            info->position = (int64_t)i;
}

static void inspected(struct backend_conn *c, struct request *req,
                      struct hf_info *info, int64_t fence)
{
    struct reply rep = {.verdict = V_GRANTED,
                        .ttl_us = -1,
                        .waiters = -1,
                        .fence = fence,
                        .info = info};
    hf__etcd_reply(c, req, &rep);
}

/* Answer that the lock is free.  Its highest token is at most the cluster's
 * revision. */
static void free_tell(struct backend_conn *c, struct request *req,
                      const Pb__TxnResponse *txn)
{
    struct hf_info info = {
        .ttl_ms = -2,
        .waiters = -1,
        .fence = txn->header ? (uint64_t)txn->header->revision : 0,
        .now_ms = hf__etcd_wall(c) / US_PER_MS};
    inspected(c, req, &info, 0);
}

/* No plain lock has the name: is the name in use as another kind? */
static int is_of_cell(const struct request *req, const Pb__TxnResponse *txn)
{
    return req->kind != KIND_PLAIN || hf__etcd_told_first(txn, 1);
}

/* Ask what is left of the holder's lease. */
static void ttl_send(struct backend_conn *c, struct request *req,
                     const struct hf_info *info, const Pb__KeyValue *kv)
{
    Pb__LeaseRequest ask = PB__LEASE_REQUEST__INIT;
    struct hf_info *copy = hf__alloc(c->env->alloc, sizeof *copy);
    ask.id = kv->lease;
    struct call *call = copy ? hf__etcd_call(&c->link, CALL_TTL, &ask.base, req,
                                             req->deadline_us)
                             : NULL;
    if (!call) {
        hf__free(c->env->alloc, copy);
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "look: out of memory");
        return;
    }
    *copy = *info;
    call->info = copy;
    call->fence = kv->create_revision;
    struct key_value v;
    call->lease_ms = value_of(kv, &v) ? v.lease_us / US_PER_MS : 0;
}

void hf__etcd_inspect_answer(struct backend_conn *c, struct call *call,
                             const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    const Pb__RangeResponse *range = hf__etcd_told_range(txn, 0);
    struct hf_info info;
    call->req = NULL;
    if (!range) {
        hf__etcd_refuse_by(c, req, call, "inspect");
    } else if (range->n_kvs == 0 && is_of_cell(req, txn)) {
        hf__etcd_cell(c, req);
    } else if (range->n_kvs == 0) {
        free_tell(c, req, txn);
    } else {
        const Pb__KeyValue *kv = range->kvs[0];
        info_holder(c, kv, req, &info);
        info_queue(range, req, &info);
        if (kv->lease)
            ttl_send(c, req, &info, kv);
        else
            inspected(c, req, &info, kv->create_revision);
    }
}

/* The lease of a lock lasts longer than the hold, by its slack; a holder counts
 * on the length of the hold only. */
void hf__etcd_ttl_answer(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *lease)
{
    struct request *req = call->req;
    struct hf_info *info = call->info;
    call->req = NULL;
    if (!lease) {
        hf__etcd_refuse_by(c, req, call, "inspect");
        return;
    }
    int64_t ttl_ms = min64(max64(lease->ttl, 0), LEASE_S_MAX) * 1000;
    info->ttl_ms = call->lease_ms ? min64(ttl_ms, call->lease_ms) : ttl_ms;
    inspected(c, req, info, call->fence);
}

/* ---- break ---- */

/* Delete the first key, if it is still the one that was read. */
static void break_send(struct backend_conn *c, struct request *req,
                       const Pb__KeyValue *kv, const struct hf_info *info)
{
    struct key *k = &c->scratch->keys[0];
    struct txn *t = &c->scratch->t;
    struct hf_info *copy = hf__alloc(c->env->alloc, sizeof *copy);
    if (!copy || kv->key.len > sizeof k->at) {
        hf__free(c->env->alloc, copy);
        hf__etcd_refuse(c, req,
                        kv->key.len > sizeof k->at ? HF_CONFLICT : HF_NOMEM,
                        "break: the holder's key is too long, or there is "
                        "no memory");
        return;
    }
    *copy = *info;
    k->len = kv->key.len;
    memcpy(k->at, kv->key.data, k->len);
    hf__etcd_txn_begin(t);
    hf__etcd_txn_created(t, k, NULL, kv->create_revision);
    hf__etcd_op_delete(t, hf__etcd_txn_then(t), k);
    struct call *call = hf__etcd_call(&c->link, CALL_BREAK, &t->txn.base, req,
                                      req->deadline_us);
    if (!call) {
        hf__free(c->env->alloc, copy);
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "break: out of memory");
        return;
    }
    req->priv |= REQ_WAS_SENT;
    call->info = copy;
}

void hf__etcd_break_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn)
{
    struct request *req = call->req;
    const Pb__RangeResponse *range = hf__etcd_told_range(txn, 0);
    struct hf_info info;
    call->req = NULL;
    if (!txn || (!call->info && !range)) {
        hf__etcd_refuse_by(c, req, call, "break");
    } else if (call->info && txn->succeeded) {
        inspected(c, req, call->info, 0);
    } else if (call->info) {
        hf__etcd_wait(c, req); /* the holder has changed since: begin again */
        c->stirred = 1;
    } else if (range->n_kvs == 0 && is_of_cell(req, txn)) {
        hf__etcd_cell(c, req);
    } else if (range->n_kvs == 0) {
        free_tell(c, req, txn);
    } else {
        info_holder(c, range->kvs[0], req, &info);
        break_send(c, req, range->kvs[0], &info);
    }
}

/* ---- list ---- */

static struct cursor *cursor_of(struct backend_conn *c, uint64_t id)
{
    for (int i = 0; i < CURSORS; i++)
        if (id && c->cursors[i].id == id) return &c->cursors[i];
    return NULL;
}

static void list_send(struct backend_conn *c, struct request *req)
{
    struct key *from = &c->scratch->keys[0], *end = &c->scratch->keys[1];
    const struct cursor *at = cursor_of(c, req->cursor);
    Pb__RangeRequest ask = PB__RANGE_REQUEST__INIT;
    if (req->cursor && !at) {
        hf__etcd_refuse(c, req, HF_UNAVAILABLE, "list: begin it again");
        return;
    }
    from->len = strlen(c->prefix) + 1;
    memcpy(from->at, c->prefix, from->len);
    from->at[from->len - 1] = '/';
    hf__etcd_key_end(end, from);
    if (at) *from = at->from;
    ask.key = (ProtobufCBinaryData){from->len, (uint8_t *)from->at};
    ask.range_end = (ProtobufCBinaryData){end->len, (uint8_t *)end->at};
    ask.limit = PAGE_KEYS;
    if (!hf__etcd_call(&c->link, CALL_LIST, &ask.base, req, req->deadline_us)) {
        hf__etcd_wait(c, req);
        hf__etcd_link_fail(&c->link, HF_NOMEM, "list: out of memory");
    }
}

struct page {
    struct list_row rows[PAGE_KEYS];
    char names[PAGE_KEYS][NAME_LEN_MAX + 1];
    size_t len;
};

/* The index behind the last key of the lock whose keys begin at the i-th. */
static size_t group_end(const Pb__RangeResponse *range, size_t i, size_t head)
{
    size_t n = i + 1;
    const ProtobufCBinaryData *first = &range->kvs[i]->key;
    while (n < range->n_kvs && range->kvs[n]->key.len > head
           && !memcmp(range->kvs[n]->key.data, first->data, head))
        n++;
    return n;
}

static void group_add(struct backend_conn *c, const struct request *req,
                      const Pb__RangeResponse *range, size_t i, size_t end,
                      struct page *page, size_t name_len)
{
    const Pb__KeyValue *first = range->kvs[i];
    for (size_t n = i; n < end; n++)
        if (range->kvs[n]->create_revision < first->create_revision)
            first = range->kvs[n];
    struct list_row *row = &page->rows[page->len];
    row->name = page->names[page->len++];
    row->name_len = name_len;
    info_holder(c, first, req, &row->info);
    row->info.queued = (int64_t)(end - i) - 1;
}

/* Add a cell to the page; other keys are skipped. */
static void cell_add(struct backend_conn *c, const struct request *req,
                     const Pb__KeyValue *kv, struct page *page)
{
    struct list_row *row = &page->rows[page->len];
    char *name = page->names[page->len];
    size_t len = hf__etcd_key_cell_name(c->prefix, (const char *)kv->key.data,
                                        kv->key.len, name);
    if (len == 0 || (req->name && !hf__glob_match(req->name, name, len))
        || !hf__etcd_cell_list(c, kv, name, len, row))
        return;
    row->name = name;
    row->name_len = len;
    page->len++;
}

static int has_cells(const struct backend_conn *c,
                     const Pb__RangeResponse *range, char *name)
{
    for (size_t i = 0; i < range->n_kvs; i++)
        if (hf__etcd_key_cell_name(c->prefix,
                                   (const char *)range->kvs[i]->key.data,
                                   range->kvs[i]->key.len, name))
            return 1;
    return 0;
}

/* The next page begins at this lock, or (is_behind) behind this key. */
static uint64_t cursor_put(struct backend_conn *c, const Pb__KeyValue *kv,
                           size_t head, int is_behind)
{
    struct cursor *at = &c->cursors[++c->cursor_last % CURSORS];
    size_t len = is_behind ? kv->key.len : head;
    if (len + 1 > sizeof at->from.at) return 0;
    at->id = c->cursor_last;
    memcpy(at->from.at, kv->key.data, len);
    at->from.len = len;
    if (is_behind) at->from.at[at->from.len++] = '\0';
    return at->id;
}

static uint64_t page_fill(struct backend_conn *c, const struct request *req,
                          const Pb__RangeResponse *range, struct page *page)
{
    for (size_t i = 0, end; i < range->n_kvs; i = end) {
        size_t head = 0;
        const Pb__KeyValue *kv = range->kvs[i];
        char *name = page->names[page->len];
        size_t len = hf__etcd_key_name(c->prefix, (const char *)kv->key.data,
                                       kv->key.len, name, &head);
        end = len ? group_end(range, i, head) : i + 1;
        int is_cut = range->more && end == range->n_kvs;
        /* A lock whose keys do not all fit into this page is told with the next
         * one, unless its keys alone fill a page. */
        if (is_cut && i > 0 && len) return cursor_put(c, kv, head, 0);
        if (!len)
            cell_add(c, req, kv, page);
        else if (!req->name || hf__glob_match(req->name, name, len))
            group_add(c, req, range, i, end, page, len);
        if (is_cut) return cursor_put(c, range->kvs[end - 1], head, 1);
    }
    return 0;
}

void hf__etcd_list_answer(struct backend_conn *c, struct call *call,
                          const Pb__RangeResponse *range)
{
    struct request *req = call->req;
    struct reply rep = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    call->req = NULL;
    if (!range) {
        hf__etcd_refuse_by(c, req, call, "list");
        return;
    }
    if (range->n_kvs > PAGE_KEYS) {
        hf__etcd_refuse(c, req, HF_UNAVAILABLE,
                        "list: the server sent more than was asked for");
        return;
    }
    struct page *page = hf__alloc_zero(c->env->alloc, sizeof *page);
    if (!page) {
        hf__etcd_refuse(c, req, HF_NOMEM, "list: out of memory");
        return;
    }
    if (!c->clock.has_bounds && has_cells(c, range, page->names[0])) {
        req->priv |= REQ_NEEDS_TIME;
        hf__free(c->env->alloc, page);
        hf__etcd_wait(c, req);
        c->stirred = 1;
        return;
    }
    rep.cursor = page_fill(c, req, range, page);
    rep.rows = page->rows;
    rep.rows_len = page->len;
    hf__etcd_reply(c, req, &rep);
    hf__free(c->env->alloc, page);
}

/* ---- requests ---- */

static void facts_send(struct backend_conn *c, struct request *req)
{
    struct key *gen = &c->scratch->keys[0];
    Pb__RangeRequest ask = PB__RANGE_REQUEST__INIT;
    hf__etcd_key_gen(gen, c->prefix, c->gen_id);
    ask.key = (ProtobufCBinaryData){gen->len, (uint8_t *)gen->at};
    if (hf__etcd_call(&c->link, CALL_FACTS, &ask.base, req, req->deadline_us))
        return;
    hf__etcd_wait(c, req);
    hf__etcd_link_fail(&c->link, HF_NOMEM, "facts: out of memory");
}

void hf__etcd_facts_answer(struct backend_conn *c, struct call *call,
                           const Pb__RangeResponse *range)
{
    char text[128];
    struct request *req = call->req;
    call->req = NULL;
    if (!range || !range->header) {
        hf__etcd_refuse_by(c, req, call, "facts");
        return;
    }
    int len = snprintf(text, sizeof text,
                       "engine:etcd\nendpoints:%d\nrevision:%lld\n",
                       c->endpoints_len, (long long)range->header->revision);
    struct reply rep = {.verdict = V_GRANTED,
                        .ttl_us = -1,
                        .waiters = -1,
                        .data = text,
                        .data_len = (size_t)len};
    hf__etcd_reply(c, req, &rep);
}

void hf__etcd_look(struct backend_conn *c, struct request *req)
{
    int is_lock = req->kind == KIND_PLAIN || request_is_rw(req);
    if (req->verb == VERB_LIST && req->priv & REQ_NEEDS_TIME
        && !hf__etcd_clock_need(c))
        hf__etcd_wait(c, req);
    else if (req->verb == VERB_LIST)
        list_send(c, req);
    else if (req->verb == VERB_FACTS)
        facts_send(c, req);
    else if (req->verb == VERB_INSPECT && is_lock)
        look_send(c, req, CALL_INSPECT);
    else if (req->verb == VERB_BREAK && is_lock)
        look_send(c, req, CALL_BREAK);
    else
        hf__etcd_refuse(c, req, HF_UNSUPPORTED,
                        "etcd cannot be a member of a quorum");
}
