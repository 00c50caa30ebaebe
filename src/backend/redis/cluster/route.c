/*
 * route.c: requests to the nodes of their slots, and what comes back.
 *
 * One rule: what a server refuses because another one serves the slot, or
 * none does for the moment, was not carried out; so it is sent on, or told as
 * never sent, and when to ask again is the core's to say.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/inner/owner.h"
#include "backend/redis/link/error.h"
#include "backend/redis/redis.h"
#include "base/error.h"
#include "base/math.h"

/* ---- answers of our own ---- */

static void answer(struct cluster *c, struct request *req,
                   const struct reply *reply)
{
    if (is_own(req))
        hf__redis_cluster_watch_replied(c, NULL, req, reply);
    else if (req->verb == VERB_LIST && reply->verdict != V_GRANTED)
        hf__redis_cluster_list_replied(c, req, reply);
    else
        c->env->reply(c->env, req, reply);
}

void hf__redis_cluster_route_answer(struct cluster *c, struct request *req,
                                    enum verdict verdict, int status,
                                    const char *text)
{
    const struct reply reply = {.verdict = verdict,
                                .status = status,
                                .ttl_us = -1,
                                .waiters = -1,
                                .text = text};
    answer(c, req, &reply);
}

void hf__redis_cluster_route_answer_soon(struct cluster *c, struct request *req,
                                         enum verdict verdict)
{
    if (req->verb == VERB_LIST)
        hf__redis_cluster_list_restore(req); /* by what is lost now */
    req->priv = (uint32_t)verdict;
    hf__redis_list_push(&c->answers, req);
}

void hf__redis_cluster_route_answers(struct cluster *c)
{
    struct request *list = hf__redis_list_take(&c->answers);
    while (list) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        enum verdict v = (enum verdict)req->priv;
        if (v == V_ERROR)
            hf__redis_cluster_route_answer(c, req, v, HF_NOMEM,
                                           "redis-cluster: out of memory");
        else
            hf__redis_cluster_route_answer(
                c, req, v, v == V_UNSENT ? HF_CANCELLED : HF_OK, NULL);
    }
}

/* ---- there ---- */

static void waiting_add(struct cluster *c, struct request *req)
{
    hf__redis_list_push(&c->waiting, req);
    c->waiting_us = min64(c->waiting_us, req->deadline_us);
}

static void node_submit(struct cluster *c, struct cluster_node *n,
                        struct request *req)
{
    struct hf_error err;
    if (hf__redis_cluster_connect(c, n, &err) != HF_OK) {
        hf__redis_cluster_route_answer_soon(c, req, V_ERROR);
        return;
    }
    n->open++;
    hf__redis_cluster_silence_begin(c);
    hf__redis_inner_submit(&n->inner, req);
}

static struct cluster_node *node_for(struct cluster *c, struct request *req)
{
    if (!c->has_map) return NULL;
    if (req->verb == VERB_LIST) return hf__redis_cluster_list_node(c, req);
    if (req->verb == VERB_FACTS) return hf__redis_cluster_facts_node(c, req);
    return hf__redis_cluster_owner(
        c, hf__redis_hash_slot_of(req->name, req->name_len));
}

/* 1 if the request goes to all masters, one after the other, whatever their
 * slots are. */
static int is_of_masters(const struct request *req)
{
    return req->verb == VERB_LIST || req->verb == VERB_FACTS;
}

void hf__redis_cluster_route(struct cluster *c, struct request *req)
{
    struct cluster_node *n = node_for(c, req);
    req->priv &= ~PRIV_ASKING;
    if (n) {
        node_submit(c, n, req);
        return;
    }
    if (c->has_map && is_of_masters(req) && req->cursor) {
        /* There are fewer masters than when it began. */
        hf__redis_cluster_route_answer_soon(c, req, V_GRANTED);
        return;
    }
    waiting_add(c, req);
    if (c->has_map) hf__redis_cluster_map_refresh(c);
}

void hf__redis_cluster_route_waiting(struct cluster *c)
{
    struct request *list = hf__redis_list_take(&c->waiting);
    c->waiting_us = TIME_NEVER;
    while (list) {
        struct request *req = list;
        char text[HF_ERROR_TEXT_MAX];
        list = req->next;
        req->next = NULL;
        struct cluster_node *n = node_for(c, req);
        if (n) {
            node_submit(c, n, req);
            continue;
        }
        snprintf(text, sizeof text, "redis-cluster: no node serves slot %u",
                 req->name ? hf__redis_hash_slot_of(req->name, req->name_len)
                           : 0);
        hf__redis_cluster_route_answer(c, req, V_UNSENT, HF_UNAVAILABLE, text);
    }
}

int hf__redis_cluster_route_unwait(struct cluster *c, struct request *req)
{
    struct request *list = hf__redis_list_take(&c->waiting);
    int found = 0;
    while (list) {
        struct request *next = list->next;
        if (list == req)
            found = 1;
        else
            hf__redis_list_push(&c->waiting, list);
        list = next;
    }
    return found;
}

void hf__redis_cluster_route_fail(struct cluster *c, int status,
                                  const char *text)
{
    struct request *list = hf__redis_list_take(&c->waiting);
    c->waiting_us = TIME_NEVER;
    while (list) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        hf__redis_cluster_route_answer(c, req, V_UNSENT, status, text);
    }
}

void hf__redis_cluster_route_expire(struct cluster *c)
{
    int64_t now = cluster_now(c);
    if (now < c->waiting_us) return;
    struct request *list = hf__redis_list_take(&c->waiting);
    struct request_list late = {0};
    c->waiting_us = TIME_NEVER;
    while (list) {
        struct request *req = list;
        list = req->next;
        if (req->deadline_us <= now)
            hf__redis_list_push(&late, req);
        else
            waiting_add(c, req);
    }
    struct hf_error err = c->err;
    if (err.status == HF_OK)
        hf__error_set(&err, HF_UNAVAILABLE,
                      "redis-cluster: no node has told yet which node serves "
                      "which slots");
    while ((list = late.first) != NULL) {
        late.first = list->next;
        list->next = NULL;
        hf__redis_cluster_route_answer(c, list, V_UNSENT, err.status, err.text);
    }
}

/* ---- and back ---- */

/* 1 if the request has not been sent, and another node serves its slot now. */
static int is_to_be_sent_on(struct cluster *c, const struct cluster_node *n,
                            struct request *req)
{
    if (c->is_closing || is_of_masters(req) || req->verb == VERB_UNWATCH)
        return 0;
    if (req->deadline_us <= cluster_now(c)) return 0;
    if ((req->priv & PRIV_COUNT) >= REDIRECTS_MAX) return 0;
    struct cluster_node *to = node_for(c, req);
    return to && to != n;
}

void hf__redis_cluster_route_reply(struct inner *inner, struct request *req,
                                   const struct reply *reply)
{
    struct cluster *c = cluster_of(inner);
    struct cluster_node *n = (struct cluster_node *)inner;
    n->open--;
    if (reply->verdict == V_UNSENT && is_to_be_sent_on(c, n, req)) {
        req->priv++;
        hf__redis_cluster_route(c, req);
    } else if (is_own(req)) {
        if (req->verb == VERB_WATCH)
            hf__redis_cluster_watch_replied(c, n, req, reply);
        else
            hf__redis_cluster_watch_ended(c, req);
    } else if (req->verb == VERB_LIST) {
        hf__redis_cluster_list_replied(c, req, reply);
    } else if (req->verb == VERB_FACTS) {
        hf__redis_cluster_facts_replied(c, req, reply);
    } else if (req->verb == VERB_UNWATCH && reply->verdict != V_GRANTED) {
        /* The connection is gone, and the watch with it. */
        hf__redis_cluster_route_answer(c, req, V_GRANTED, HF_OK, NULL);
    } else {
        c->env->reply(c->env, req, reply);
    }
}

/* ---- refused ---- */

static const char *const passing[] = {"TRYAGAIN", "CLUSTERDOWN", "LOADING",
                                      "MASTERDOWN", "READONLY"};

static int is_passing(const struct resp *v)
{
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (hf__redis_error_is(v, passing[i])) return 1;
    return 0;
}

static void put_off(struct cluster *c, struct backend_conn *conn,
                    struct request *req, const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    struct hf_error err;
    int status = hf__redis_error(NULL, NULL, v, text);
    hf__error_set(&err, status, "%s: %s", conn->endpoint, text);
    if (!hf__redis_error_is(v, "TRYAGAIN")) hf__redis_cluster_map_refresh(c);
    hf__redis_cluster_route_answer(c, req, V_UNSENT, HF_UNAVAILABLE, err.text);
}

/* The node that the server redirects to; NULL if it cannot be used. */
static struct cluster_node *target(struct cluster *c,
                                   const struct cluster_node *from,
                                   const struct redirect *to)
{
    const char *host = to->to.host;
    if (!strcmp(host, "?")) return NULL;
    return hf__redis_cluster_node(c, *host ? host : from->host, to->to.port);
}

static void send_on(struct cluster *c, struct cluster_node *from,
                    struct request *req, const struct redirect *to)
{
    struct cluster_node *n = target(c, from, to);
    int is_lost = !n || (req->priv & PRIV_COUNT) >= REDIRECTS_MAX;
    if (!to->is_ask || is_lost) hf__redis_cluster_map_refresh(c);
    if (is_lost) {
        hf__redis_cluster_route_answer(
            c, req, V_UNSENT, HF_UNAVAILABLE,
            "redis-cluster: the nodes redirect the request in a circle");
        return;
    }
    req->priv = (req->priv & ~PRIV_ASKING) + 1;
    if (to->is_ask) {
        req->priv |= PRIV_ASKING;
        n->asked_us = cluster_now(c);
    } else {
        hf__redis_cluster_assign(c, to->slot, n);
    }
    node_submit(c, n, req);
}

/* 1 if the request is sent once more, for the lock's key alone: while its slot
 * moves, the lock and its counter are on two servers.  A release can do without
 * the counter if the lock was granted under the number that is released, which
 * the script checks.  An inspection always can. */
static int is_tried_alone(const struct request *req, const struct resp *v)
{
    if (req->verb != VERB_RELEASE && req->verb != VERB_INSPECT) return 0;
    return hf__redis_error_is(v, "TRYAGAIN") && !(req->priv & PRIV_ALONE);
}

int hf__redis_cluster_route_refused(struct backend_conn *conn,
                                    struct request *req, const struct resp *v)
{
    struct inner *inner = (struct inner *)conn->env;
    struct cluster *c = cluster_of(inner);
    struct cluster_node *n = (struct cluster_node *)inner;
    struct redirect to;
    int is_elsewhere = hf__redis_hash_slot_redirect(v, &to);
    if (c->is_closing || (!is_elsewhere && !is_passing(v))) return 0;
    n->open--;
    req->next = NULL;
    if (is_elsewhere) {
        send_on(c, n, req, &to);
    } else if (is_tried_alone(req, v)) {
        req->priv |= PRIV_ALONE;
        hf__redis_cluster_route(c, req);
    } else {
        put_off(c, conn, req, v);
    }
    return 1;
}
