/*
 * request.c: carrying out requests, at once or as the fault options want it.
 * One rule: the store is used under the space's mutex, and the answer is given
 * without it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/memory/ear.h"
#include "backend/memory/fault.h"
#include "backend/memory/late.h"
#include "backend/memory/request.h"
#include "backend/memory/space.h"
#include "rules/store.h"

void hf__memory_request_fail(struct backend_conn *c, struct reply *rep,
                             enum verdict verdict, int status, const char *why)
{
    *rep = (struct reply){
        .verdict = verdict, .status = status, .ttl_us = -1, .waiters = -1};
    snprintf(c->text, sizeof c->text, "%s: %s", c->where, why);
    rep->text = c->text;
}

/* ---- carrying out ----------------------------------------------------- */

static void watch_start(struct backend_conn *c, const struct request *req,
                        struct reply *rep)
{
    struct space *space = c->space;
    int64_t now_us = hf__memory_space_now_us(space);
    struct store_view view;
    int status = hf__memory_ear_watch(space, &c->ear, 1u << req->kind,
                                      req->name, req->name_len);
    if (status != HF_OK) {
        hf__memory_request_fail(c, rep, V_ERROR, status,
                                status == HF_NOMEM ? "watch: out of memory"
                                                   : strerror(errno));
        return;
    }
    *rep = (struct reply){
        .verdict = V_GRANTED, .node_us = now_us, .ttl_us = -1, .waiters = -1};
    if (hf__rules_store_look(space->store, now_us, req->name, req->name_len,
                             &view))
        hf__memory_ear_arm(space, &c->ear, req->name, req->name_len,
                           view.expires_us);
}

static void watch_stop(struct backend_conn *c, const struct request *req,
                       struct reply *rep)
{
    hf__memory_ear_unwatch(c->space, &c->ear, 1u << req->kind, req->name,
                           req->name_len);
    *rep = (struct reply){.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
}

/* Wake the waiters that the answer concerns, and tell their number. */
static void answer_tell(struct backend_conn *c, const struct request *req,
                        struct reply *rep)
{
    struct space *space = c->space;
    struct handoff handoff;
    if (hf__rules_store_handed(space->store, &handoff)) {
        hf__memory_ear_hand(space, &handoff);
        rep->waiters = req->verb == VERB_RELEASE ? 1 : -1;
    } else if (hf__rules_store_is_news(space->store, req, rep)) {
        rep->waiters = hf__memory_ear_ring(space, req->name, req->name_len);
    }
    if (req->verb == VERB_INSPECT && rep->info)
        rep->info->waiters =
            hf__memory_ear_count(space, req->name, req->name_len);
    if (req->verb == VERB_PROPOSE && rep->verdict == V_BUSY && rep->ttl_us >= 0)
        hf__memory_ear_arm(space, &c->ear, req->name, req->name_len,
                           rep->node_us + rep->ttl_us + US_PER_MS);
}

static void data_copy(struct backend_conn *c, struct reply *rep)
{
    if (!c->data) c->data = hf__alloc(c->env->alloc, HF_VALUE_MAX);
    if (!c->data) {
        hf__memory_request_fail(c, rep, V_ERROR, HF_NOMEM,
                                "read: out of memory");
        return;
    }
    memcpy(c->data, rep->data, rep->data_len);
    rep->data = c->data;
}

/* The store's own memory may change as soon as the mutex is free.  The names
 * in a row stay: a store forgets none. */
static void answer_copy(struct backend_conn *c, struct reply *rep)
{
    if (rep->data_len > 0) data_copy(c, rep);
    if (rep->info) {
        c->info = *rep->info;
        rep->info = &c->info;
    }
    if (rep->boot) {
        c->boot = *rep->boot;
        rep->boot = &c->boot;
    }
    if (rep->tally) {
        c->tally = *rep->tally;
        rep->tally = &c->tally;
    }
    if (!rep->rows) return;
    size_t size = STORE_PAGE_ROWS * sizeof *c->rows;
    if (!c->rows) c->rows = hf__alloc(c->env->alloc, size);
    if (!c->rows) {
        hf__memory_request_fail(c, rep, V_ERROR, HF_NOMEM,
                                "list: out of memory");
        return;
    }
    memcpy(c->rows, rep->rows, rep->rows_len * sizeof *c->rows);
    rep->rows = c->rows;
}

/* A sentence may have a number in it, and names the space. */
static void text_copy(struct backend_conn *c, struct reply *rep)
{
    if (!rep->text) return;
    snprintf(c->text, sizeof c->text, "%s: %.180s", c->where, rep->text);
    rep->text = c->text;
}

void hf__memory_request_perform(struct backend_conn *c,
                                const struct request *req, int expired,
                                struct reply *rep)
{
    struct space *space = c->space;
    pthread_mutex_lock(&space->mutex);
    if (req->verb == VERB_WATCH) {
        watch_start(c, req, rep);
    } else if (req->verb == VERB_UNWATCH) {
        watch_stop(c, req, rep);
    } else {
        if (expired
            && hf__rules_store_expire(space->store, req->name, req->name_len))
            hf__memory_ear_ring(space, req->name, req->name_len);
        hf__rules_store_apply(space->store, hf__memory_space_now_us(space), req,
                              rep);
        answer_tell(c, req, rep);
        text_copy(c, rep);
        answer_copy(c, rep);
    }
    pthread_mutex_unlock(&space->mutex);
}

void hf__memory_request_refuse(struct backend_conn *c, struct reply *rep)
{
    hf__memory_request_fail(c, rep, V_ERROR, HF_UNAVAILABLE,
                            "refused: the option error= asked for it");
}

/* ---- the way in ------------------------------------------------------- */

void hf__memory_request_answer(struct backend_conn *c, struct request *req)
{
    struct reply rep;
    if (c->faults.is_down) {
        hf__memory_request_fail(c, &rep, V_UNSENT, HF_UNAVAILABLE,
                                "down: the option down=1 asked for it");
        c->env->reply(c->env, req, &rep);
        return;
    }
    struct fault_fate fate = hf__memory_fault_draw(&c->faults, req->verb);
    if (fate.lost || fate.delay_us > 0) {
        hf__memory_late_add(c, req, fate);
        return;
    }
    if (fate.refused)
        hf__memory_request_refuse(c, &rep);
    else
        hf__memory_request_perform(c, req, fate.expired, &rep);
    c->env->reply(c->env, req, &rep);
}
