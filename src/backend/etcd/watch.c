/*
 * watch.c: see watch.h.  One rule: a watch begins at the current revision, for
 * the server serves older ones late; and the waiters ask again when it is on.
 */
#include "backend/etcd/watch.h"

#include <assert.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "base/math.h"

#define FILTER_NO_PUT 0
#define EVENT_DELETE 1

static struct watch **watch_find(struct backend_conn *c,
                                 const struct request *req)
{
    struct watch **at = &c->watches.first;
    while (*at
           && ((*at)->kind != req->kind || (*at)->name_len != req->name_len
               || memcmp((*at)->name, req->name, req->name_len) != 0))
        at = &(*at)->next;
    return at;
}

static struct watch *watch_of(struct backend_conn *c, int64_t id)
{
    struct watch *w = c->watches.first;
    while (w && w->id != id) w = w->next;
    return w;
}

/* Send one message on the stream of watches.  0, or -1 without memory. */
static int say(struct backend_conn *c, const Pb__WatchRequest *words)
{
    struct link *l = &c->link;
    if (l->watch) return hf__etcd_call_more(l, l->watch, &words->base);
    l->watch = hf__etcd_call(l, CALL_WATCH, &words->base, NULL, TIME_NEVER);
    return l->watch ? 0 : -1;
}

static int create_say(struct backend_conn *c, struct watch *w)
{
    struct key *k = &c->scratch->keys[0], *end = &c->scratch->keys[1];
    int32_t filter = FILTER_NO_PUT;
    Pb__WatchRequest words = PB__WATCH_REQUEST__INIT;
    Pb__WatchCreateRequest create = PB__WATCH_CREATE_REQUEST__INIT;
    if (w->kind != KIND_PLAIN) {
        hf__etcd_key_cell(k, c->prefix, w->name, w->name_len);
    } else {
        hf__etcd_key_lock(k, c->prefix, w->name, w->name_len);
        hf__etcd_key_end(end, k);
        create.range_end = (ProtobufCBinaryData){end->len, (uint8_t *)end->at};
        create.filters = &filter;
        create.n_filters = 1;
    }
    create.key = (ProtobufCBinaryData){k->len, (uint8_t *)k->at};
    create.watch_id = w->id = ++c->watches.id_last;
    words.request_case = PB__WATCH_REQUEST__REQUEST_CREATE_REQUEST;
    words.create_request = &create;
    w->is_on = 0;
    return say(c, &words);
}

static void cancel_say(struct backend_conn *c, const struct watch *w)
{
    Pb__WatchRequest words = PB__WATCH_REQUEST__INIT;
    Pb__WatchCancelRequest cancel = PB__WATCH_CANCEL_REQUEST__INIT;
    if (c->link.state != LINK_UP || !c->link.watch || !w->id) return;
    cancel.watch_id = w->id;
    words.request_case = PB__WATCH_REQUEST__REQUEST_CANCEL_REQUEST;
    words.cancel_request = &cancel;
    (void)say(c, &words); /* without memory the watch stays, unused */
}

static void watch_answer(struct backend_conn *c, struct watch *w,
                         enum verdict verdict, const char *text)
{
    struct request *req = w->req;
    struct reply rep = {.verdict = verdict,
                        .status = verdict == V_GRANTED ? HF_OK : HF_UNAVAILABLE,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = text};
    w->req = NULL;
    if (req) hf__etcd_reply(c, req, &rep);
}

static void watch_begin(struct backend_conn *c, struct request *req)
{
    struct watch *w = *watch_find(c, req);
    if (w && w->req) {
        hf__etcd_refuse(c, req, HF_INTERNAL, "watch: asked for twice");
        return;
    }
    if (!w) {
        w = hf__alloc_zero(c->env->alloc, sizeof *w + req->name_len + 1);
        if (!w) {
            hf__etcd_refuse(c, req, HF_NOMEM, "watch: out of memory");
            return;
        }
        w->kind = req->kind;
        w->name_len = req->name_len;
        memcpy(w->name, req->name, req->name_len);
        w->next = c->watches.first;
        c->watches.first = w;
    }
    w->req = req;
    if (w->is_on)
        watch_answer(c, w, V_GRANTED, NULL);
    else if (create_say(c, w) != 0)
        hf__etcd_link_fail(&c->link, HF_NOMEM, "watch: out of memory");
}

static void watch_drop(struct backend_conn *c, struct watch **at)
{
    struct watch *w = *at;
    assert(w);
    *at = w->next;
    hf__free(c->env->alloc, w);
}

static void watch_end(struct backend_conn *c, struct request *req)
{
    struct reply done = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    struct watch **at = watch_find(c, req);
    if (*at) {
        cancel_say(c, *at);
        watch_answer(c, *at, V_UNSENT, NULL);
        watch_drop(c, watch_find(c, req));
    }
    hf__etcd_reply(c, req, &done);
}

void hf__etcd_watch(struct backend_conn *c, struct request *req)
{
    if (req->verb == VERB_WATCH)
        watch_begin(c, req);
    else
        watch_end(c, req);
}

/* ---- the stream ---- */

void hf__etcd_watches_up(struct backend_conn *c)
{
    unsigned life = c->link.life;
    for (struct watch *w = c->watches.first; w && c->link.life == life;
         w = w->next)
        if (create_say(c, w) != 0)
            hf__etcd_link_fail(&c->link, HF_NOMEM, "watch: out of memory");
}

void hf__etcd_watches_cut(struct backend_conn *c)
{
    for (struct watch **at = &c->watches.first; *at;) {
        struct watch *w = *at;
        struct request *req = w->req;
        w->id = w->is_on = 0;
        w->req = NULL;
        if (req) {
            /* The request waits, and makes the watch anew. */
            watch_drop(c, at);
            hf__etcd_wait(c, req);
        } else {
            at = &w->next;
        }
    }
}

void hf__etcd_watches_free(struct backend_conn *c)
{
    while (c->watches.first) watch_drop(c, &c->watches.first);
}

static void watch_wake(struct backend_conn *c, const struct watch *w)
{
    c->stirred = 1;
    c->env->wake(c->env, w->name, w->name_len);
}

/* The server has ended a watch. */
static void canceled(struct backend_conn *c, struct watch *w, const char *why)
{
    struct watch **at = &c->watches.first;
    while (*at != w) at = &(*at)->next;
    if (!w->req) {
        /* Without the watch the waiters poll. */
        c->env->log(c->env, HF_LOG_WARN, why[0] ? why : "etcd: watch: ended");
        watch_wake(c, w);
    }
    watch_answer(c, w, V_ERROR, why);
    at = &c->watches.first;
    while (*at && *at != w) at = &(*at)->next;
    if (*at) watch_drop(c, at);
}

/* Must the waiters ask again?  Not after a swap that only kept a place in a
 * queue. */
static int is_news(struct watch *w, const Pb__Event *event)
{
    int64_t news;
    if (event->type == EVENT_DELETE || w->kind == KIND_PLAIN)
        return event->type == EVENT_DELETE;
    news = hf__etcd_cell_news(event->kv);
    if (news == w->news && news >= 0) return 0;
    w->news = news;
    return 1;
}

void hf__etcd_watched(struct backend_conn *c, const Pb__WatchResponse *said)
{
    struct watch *w = said->watch_id ? watch_of(c, said->watch_id) : NULL;
    int has_news = 0;
    if (!w) return;
    if (said->canceled) {
        canceled(c, w, said->cancel_reason ? said->cancel_reason : "");
        return;
    }
    for (size_t i = 0; i < said->n_events; i++)
        has_news |= is_news(w, said->events[i]);
    if (said->created) {
        w->is_on = 1;
        if (w->req)
            watch_answer(c, w, V_GRANTED, NULL);
        else
            has_news = 1; /* after a reconnect events may be missing */
    }
    if (has_news) watch_wake(c, w);
}

int64_t hf__etcd_watches_due(const struct backend_conn *c)
{
    int64_t due = TIME_NEVER;
    for (const struct watch *w = c->watches.first; w; w = w->next)
        if (w->req) due = min64(due, w->req->deadline_us);
    return due;
}
