/*
 * watch.c: the subscription link.  One rule: a watched name is woken by
 * every message on its channel, and once more after every time in which
 * messages may have been missed.
 *
 * On this link answers come in the order of the commands, with messages between
 * them; so the ring of flights tells which SUBSCRIBE an error is for.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/inner/owner.h"
#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/watch/classic.h"
#include "backend/redis/watch/table.h"
#include "backend/redis/watch/watch.h"
#include "base/error.h"

#define PING_US (10 * US_PER_S)      /* silence after which sub is asked */
#define PING_LIMIT_US (5 * US_PER_S) /* and how long it may take to answer */

static void watch_answer(struct backend_conn *c, struct watch *w,
                         const struct reply *reply)
{
    struct request *req = w->req;
    w->req = NULL;
    if (req) hf__redis_answer(c, req, reply);
}

/* ---- requests ---- */

static void refuse(struct backend_conn *c, struct request *req, int status,
                   const char *why)
{
    char text[HF_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s: watch: %s", c->endpoint, why);
    hf__redis_answer_all(c, req, V_ERROR, status, text);
}

/* 0, or -1: no memory. */
static int subscribe(struct backend_conn *c, struct watch *w)
{
    if (hf__redis_classic_subscribe(c, w) != 0) return -1;
    hf__redis_cmd_begin(&c->cmd, c->is_sharded ? "SSUBSCRIBE" : "SUBSCRIBE");
    hf__redis_cmd_bytes(&c->cmd, w->channel, w->channel_len);
    struct flight *f = hf__redis_link_push(&c->sub, FLIGHT_SUBSCRIBE);
    if (!f) return -1;
    f->watch = w;
    if (c->is_sharded)
        f->slot = hf__redis_hash_slot_of(w->channel, w->channel_len);
    return 0;
}

/* 1 if the watch needs two channels: a queued waiter listens for releases, and
 * for what is handed over to this client. */
static int is_double(const struct backend_conn *c, const struct request *req)
{
    return req->flags & REQ_QUEUE && req->kind == KIND_PLAIN && !c->master;
}

static struct watch *watch_need(struct backend_conn *c,
                                const struct request *req, int is_own)
{
    struct watch *w = *hf__redis_watches_find(c, req, is_own);
    return w ? w : hf__redis_watches_add(c, req, is_own);
}

/* The watch by which the request is answered; its half is subscribed first. */
static struct watch *watch_pair(struct backend_conn *c,
                                const struct request *req)
{
    struct watch *w = watch_need(c, req, 0);
    if (!w || !is_double(c, req)) return w;
    struct watch *own = watch_need(c, req, 1);
    if (!own && !w->subscribed && !w->req) hf__redis_watches_drop(c, w);
    if (!own) return NULL;
    own->half = w;
    w->half = own;
    return own;
}

/* A request that waits for one of them waits for both. */
static struct request **watch_asked(struct watch *w)
{
    return !w->req && w->half && w->half->req ? &w->half->req : &w->req;
}

static int watch_subscribe(struct backend_conn *c, struct watch *w)
{
    struct watch *first = w->is_own ? w->half : NULL;
    if (first && !first->subscribed && subscribe(c, first) != 0) return -1;
    return subscribe(c, w);
}

static void watch_begin(struct backend_conn *c, struct request *req)
{
    struct watch *w = watch_pair(c, req);
    if (!w) {
        refuse(c, req, HF_NOMEM, "out of memory");
        return;
    }
    if (*watch_asked(w)) {
        refuse(c, req, HF_INTERNAL, "asked for twice");
        return;
    }
    w->req = req;
    w->subscribed = 0;
    if (c->sub.state == LINK_DOWN && c->sub.due_us == TIME_NEVER) {
        int64_t now = c->env->now(c->env);
        c->sub.due_us = c->sub.retry_us > now ? c->sub.retry_us : now;
        if (c->sub.due_us == now) hf__redis_link_start(&c->sub);
    }
    /* If it is not up yet, all are subscribed once it is. */
    if (c->sub.state == LINK_UP && watch_subscribe(c, w) != 0)
        hf__redis_link_fail(&c->sub, HF_NOMEM, 0, "watch: out of memory");
}

static void half_end(struct backend_conn *c, const struct request *req,
                     int is_own)
{
    struct reply cut = {.verdict = V_UNSENT, .status = HF_CANCELLED};
    struct watch **at = hf__redis_watches_find(c, req, is_own);
    if (!*at) return;
    watch_answer(c, *at, &cut);
    at = hf__redis_watches_find(c, req, is_own);
    hf__redis_watches_remove(c, at);
    /* Still what hf__redis_watches_find() left there. */
    const char *channel = c->cmd.argv[1];
    size_t len = c->cmd.lens[1];
    if (c->sub.state != LINK_UP || hf__redis_watches_on(c, channel, len))
        return;
    c->cmd.argv[0] = c->is_sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
    c->cmd.lens[0] = strlen(c->cmd.argv[0]);
    if (!hf__redis_link_push(&c->sub, FLIGHT_UNSUBSCRIBE)
        || (!is_own && hf__redis_classic_unsubscribe(c, channel, len) != 0))
        hf__redis_link_fail(&c->sub, HF_NOMEM, 0, "unwatch: out of memory");
}

static void watch_end(struct backend_conn *c, struct request *req)
{
    struct reply done = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    half_end(c, req, 0);
    if (is_double(c, req)) half_end(c, req, 1);
    hf__redis_answer(c, req, &done);
}

void hf__redis_watch_submit(struct backend_conn *c, struct request *req)
{
    hf__redis_list_push(&c->watching, req);
}

void hf__redis_watch_flush(struct backend_conn *c)
{
    struct request *list = hf__redis_list_take(&c->watching);
    while (list) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        if (req->verb == VERB_WATCH)
            watch_begin(c, req);
        else
            watch_end(c, req);
    }
}

/* ---- the link ---- */

static void each_subscribe(struct backend_conn *c, struct watch **at)
{
    if (subscribe(c, *at) != 0) c->watch_starved = 1;
}

void hf__redis_watch_up(struct backend_conn *c)
{
    c->sub.ping_us = c->env->now(c->env);
    c->sub.ping_sent = 0;
    c->watch_starved = 0;
    hf__redis_watches_each(c, each_subscribe);
    if (c->watch_starved)
        hf__redis_link_fail(&c->sub, HF_NOMEM, 0, "watch: out of memory");
}

static void each_unsubscribed(struct backend_conn *c, struct watch **at)
{
    struct watch *w = *at;
    w->subscribed = 0;
    if (!w->req) return;
    struct request *req = w->req;
    struct reply reply = {.verdict = c->watch_verdict,
                          .status = c->sub.err.status,
                          .ttl_us = -1,
                          .waiters = -1,
                          .text = c->sub.err.text};
    w->req = NULL;
    if (w->half) w->half->is_loose = 1;
    hf__redis_watches_remove(c, at);
    hf__redis_answer(c, req, &reply);
}

static void each_loose(struct backend_conn *c, struct watch **at)
{
    if ((*at)->is_loose) hf__redis_watches_remove(c, at);
}

void hf__redis_watch_down(struct backend_conn *c, enum verdict verdict)
{
    c->watch_verdict = verdict;
    hf__redis_watches_each(c, each_unsubscribed);
    hf__redis_watches_each(c, each_loose);
}

static void subscribed(struct backend_conn *c, struct watch *w)
{
    struct reply reply = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    w->subscribed = 1;
    if (w->req)
        watch_answer(c, w, &reply);
    else if (!*watch_asked(w))
        c->env->wake(c->env, w->name, w->name_len);
}

/* Without a subscription waiters only poll, so it is logged once, and not told
 * to every waiter. */
static void refused_tell(struct backend_conn *c, const struct hf_error *err)
{
    char line[HF_ERROR_TEXT_MAX + 64];
    if (c->watch_denied) return;
    c->watch_denied = 1;
    snprintf(line, sizeof line, "%s; %s", err->text,
             c->master ? "no +switch-master will be heard from it"
                       : "waiting polls instead");
    c->env->log(c->env, HF_LOG_WARN, line);
}

/* It is subscribed no longer, or never was.  Without memory for a command the
 * classic subscription stays, and wakes no waiter. */
static void watch_drop(struct backend_conn *c, struct watch *w)
{
    if (!w->is_own)
        (void)hf__redis_classic_unsubscribe(c, w->channel, w->channel_len);
    hf__redis_watches_drop(c, w);
}

/* A subscription has ended.  Wake the waiters, so that they look again; or the
 * owner (a cluster) subscribes elsewhere. */
static void ended(struct backend_conn *c, struct watch *w)
{
    if (!c->owner) {
        c->env->wake(c->env, w->name, w->name_len);
        return;
    }
    c->owner->unwatched(c, w->kind, w->name, w->name_len);
    watch_drop(c, w);
}

/* An error instead of a confirmation: remove the watch. */
static void refused(struct backend_conn *c, struct watch *w,
                    const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    struct hf_error err;
    struct request *req = *watch_asked(w);
    int status = hf__redis_error("SUBSCRIBE", NULL, v, text);
    if (req) {
        if (w->half) watch_drop(c, w->half);
        watch_drop(c, w);
        req->next = NULL;
        if (hf__redis_is_taken_back(c, req, v)) return;
    }
    hf__error_set(&err, status, "%s: %s", c->endpoint, text);
    refused_tell(c, &err);
    if (req)
        hf__redis_answer_all(c, req, V_ERROR, status, err.text);
    else
        ended(c, w);
}

/* The slot has moved to another server, which ends the subscription.  The
 * answer to our own SUNSUBSCRIBE looks the same, but its watch is gone. */
static void each_unsharded(struct backend_conn *c, struct watch **at)
{
    struct watch *w = *at;
    const struct resp *channel = c->unsharded;
    if (w->subscribed && w->channel_len == channel->len
        && !memcmp(w->channel, channel->text, channel->len))
        ended(c, w);
}

static int is_unsharded(struct backend_conn *c, const struct resp *v)
{
    const struct flight *first = hf__redis_flight_first(&c->sub);
    if (!c->is_sharded || !hf__redis_resp_is_array(v, 3)
        || !hf__redis_resp_is_text(v->first, "sunsubscribe"))
        return 0;
    /* What follows may send commands, and move the flights.  The answer to a
     * classic UNSUBSCRIBE is another word. */
    int is_answer = first && first->kind == FLIGHT_UNSUBSCRIBE
                    && first->slot != HASH_SLOT_NONE;
    c->unsharded = hf__redis_resp_at(v, 1);
    if (c->unsharded->type == RESP_STRING)
        hf__redis_watches_each(c, each_unsharded);
    return !is_answer;
}

/* 1 if this is the answer to a SUNSUBSCRIBE that came after its slot had moved:
 * the server's own message was taken for the answer before.  No classic command
 * is redirected. */
static int is_belated(struct backend_conn *c, const struct flight *first,
                      const struct resp *v)
{
    struct redirect to;
    if (!c->is_sharded || !hf__redis_hash_slot_redirect(v, &to)) return 0;
    if (!first || first->kind == FLIGHT_PING) return 1;
    if (first->slot == HASH_SLOT_NONE) return 1;
    return first->kind == FLIGHT_SUBSCRIBE && first->slot != to.slot;
}

/* "message" or "subscribe", or the same word with an s before it. */
static int is_word(const struct backend_conn *c, const struct resp *v,
                   const char *sharded)
{
    return hf__redis_resp_is_array(v, 3)
           && hf__redis_resp_is_text(v->first, sharded + !c->is_sharded);
}

int hf__redis_watch_reply(struct backend_conn *c, const struct resp *v)
{
    const struct resp *channel = hf__redis_resp_at(v, 1);
    c->sub.ping_us = c->env->now(c->env);
    if (hf__redis_classic_heard(c, v)) return 0;
    if (is_word(c, v, "smessage")) {
        if (channel->type != RESP_STRING) return -1;
        hf__redis_watches_wake(c, channel, hf__redis_resp_at(v, 2));
        return 0;
    }
    if (is_unsharded(c, v)) return 0;
    struct flight *first = hf__redis_flight_first(&c->sub);
    if (is_belated(c, first, v)) return 0;
    if (!first) return -1;
    struct flight f = *first;
    hf__redis_flight_drop(&c->sub);
    if (f.kind == FLIGHT_PING) {
        c->sub.ping_sent = 0;
        return 0;
    }
    if (f.kind != FLIGHT_SUBSCRIBE || !f.watch) return 0;
    if (v->type == RESP_ERROR)
        refused(c, f.watch, v);
    else if (is_word(c, v, "ssubscribe"))
        subscribed(c, f.watch);
    else
        return -1;
    return 0;
}

/* ---- time ---- */

int64_t hf__redis_watch_timer(struct backend_conn *c, int64_t now)
{
    struct link *l = &c->sub;
    if (c->watches.len == 0) return TIME_NEVER;
    int64_t due = l->ping_us + (l->ping_sent ? PING_LIMIT_US : PING_US);
    if (now < due) return due;
    if (l->ping_sent) {
        /* The answer may have arrived, but not been read. */
        if (hf__redis_link_ready(l, AWAIT_READ)) return now;
        hf__redis_link_fail(l, HF_UNAVAILABLE, 0, "subscriptions: no answer");
        return TIME_NEVER;
    }
    hf__redis_cmd_begin(&c->cmd, "PING");
    if (!hf__redis_link_push(l, FLIGHT_PING)) {
        hf__redis_link_fail(l, HF_NOMEM, 0, "subscriptions: out of memory");
        return TIME_NEVER;
    }
    l->ping_sent = 1;
    l->ping_us = now;
    return now + PING_LIMIT_US;
}

static void watch_give_up(struct backend_conn *c)
{
    if (c->sub.err.status == HF_OK)
        hf__error_set(&c->sub.err, HF_UNAVAILABLE,
                      "%s: subscriptions: not connected in time", c->endpoint);
    hf__redis_watch_down(c, V_UNSENT);
}

int64_t hf__redis_watch_expire(struct backend_conn *c, int64_t now)
{
    int64_t earliest = TIME_NEVER;
    int is_late = 0;
    for (size_t i = 0; i < c->watches.size; i++)
        for (struct watch *w = c->watches.buckets[i]; w; w = w->next) {
            if (!w->req) continue;
            if (w->req->deadline_us <= now)
                is_late = 1;
            else if (w->req->deadline_us < earliest)
                earliest = w->req->deadline_us;
        }
    /* One that is late makes the link suspect, and with it all others, unless
     * the answer is there and not read yet. */
    if (is_late && c->sub.state == LINK_UP
        && hf__redis_link_ready(&c->sub, AWAIT_READ))
        return now;
    if (is_late && c->sub.state == LINK_UP)
        hf__redis_link_fail(&c->sub, HF_UNAVAILABLE, 0, "SUBSCRIBE: no answer");
    else if (is_late)
        watch_give_up(c);
    return is_late ? TIME_NEVER : earliest;
}
