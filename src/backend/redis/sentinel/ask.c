/*
 * ask.c: two kinds of connections that a Sentinel's client needs.
 *
 *   asker  to one Sentinel: VERB_PRIMARY of a master's name is answered with
 *          its address, VERB_WATCH listens to the channel of that very name
 *   led    to the primary: connects where hf__redis_lead() says
 *
 * One rule: what a Sentinel says is passed on, and not believed here: the
 * greeting finds out whether the server is a primary.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/sentinel/ask.h"
#include "base/error.h"

/* ---- asking a Sentinel ---- */

static int push_sentinel(struct backend_conn *c, enum flight_kind kind,
                         const char *word, const struct request *req)
{
    hf__redis_cmd_begin(&c->cmd, "SENTINEL");
    hf__redis_cmd_text(&c->cmd, word);
    hf__redis_cmd_bytes(&c->cmd, req->name, req->name_len);
    return hf__redis_link_push(&c->main, kind) ? 0 : -1;
}

/* Ask for the address first; then, if a failover may be under way, whether a
 * replica is being promoted, which the Sentinel that leads the failover knows a
 * second before the others; then for the epoch, by which answers are compared.
 */
void hf__redis_ask_send(struct backend_conn *c, struct request *req)
{
    int rc = push_sentinel(c, FLIGHT_MASTER, "GET-MASTER-ADDR-BY-NAME", req);
    if (rc == 0 && req->flags & REQ_PROMOTED)
        rc = push_sentinel(c, FLIGHT_PROMOTED, "REPLICAS", req);
    if (rc == 0) rc = push_sentinel(c, FLIGHT_MASTER, "MASTER", req);
    if (rc == 0) {
        hf__redis_flight_nth(&c->main, c->main.flights.len - 1)->reqs = req;
        return;
    }
    snprintf(c->text, sizeof c->text, "%s: out of memory", c->endpoint);
    hf__redis_answer_all(c, req, V_ERROR, HF_NOMEM, c->text);
}

static void refusal_take(struct backend_conn *c, const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    struct hf_error *err = &c->master->err;
    if (strstr(v->text, "unknown command")) {
        hf__error_set(err, HF_INVALID, "%s: it is no Sentinel", c->endpoint);
        return;
    }
    int status = hf__redis_error("SENTINEL", NULL, v, text);
    hf__error_set(err, status, "%s: %s", c->endpoint, text);
}

static int host_copy(struct master *m, const struct resp *host,
                     const struct resp *port)
{
    int64_t number = hf__redis_resp_number(port, 0);
    if (!host || host->type != RESP_STRING || host->len == 0
        || host->len >= sizeof m->host || number < 1 || number > 65535)
        return -1;
    memcpy(m->host, host->text, host->len + 1);
    m->port = (int)number;
    return 0;
}

static void address_take(struct backend_conn *c, const struct resp *v)
{
    struct master *m = c->master;
    *m = (struct master){.epoch = 0};
    if (v->type == RESP_ERROR)
        refusal_take(c, v);
    else if (v->type == RESP_NIL)
        hf__error_set(&m->err, MASTER_UNKNOWN, "%s: no such master",
                      c->endpoint);
    else if (host_copy(m, hf__redis_resp_at(v, 0), hf__redis_resp_at(v, 1))
             != 0)
        hf__error_set(&m->err, HF_UNAVAILABLE, "%s: unexpected answer",
                      c->endpoint);
}

/* "key", "value", "key", "value"... */
static const struct resp *field_of(const struct resp *v, const char *key)
{
    const struct resp *at = v->type == RESP_ARRAY ? v->first : NULL;
    for (; at && at->next; at = at->next->next)
        if (hf__redis_resp_is_text(at, key)) return at->next;
    return NULL;
}

static void promoted_take(struct master *m, const struct resp *v)
{
    const struct resp *at = v->type == RESP_ARRAY ? v->first : NULL;
    for (; at; at = at->next) {
        const struct resp *flags = field_of(at, "flags");
        if (!flags || flags->type != RESP_STRING
            || !strstr(flags->text, "promoted"))
            continue;
        if (host_copy(m, field_of(at, "ip"), field_of(at, "port")) == 0)
            m->is_promoted = 1;
    }
}

static void answer(struct backend_conn *c, struct request *req,
                   const struct resp *v)
{
    struct master *m = c->master;
    struct reply reply = {.verdict = V_GRANTED, .data = m};
    /* A replica that is being promoted will have the next epoch, or a later
     * one. */
    m->epoch = hf__redis_resp_number(field_of(v, "config-epoch"), 0);
    if (m->is_promoted && m->epoch > 0) m->epoch++;
    if (m->err.status != HF_OK)
        reply = (struct reply){
            .verdict = V_ERROR, .status = m->err.status, .text = m->err.text};
    hf__redis_answer(c, req, &reply);
}

void hf__redis_ask_reply(struct backend_conn *c, const struct flight *f,
                         const struct resp *v)
{
    if (f->kind == FLIGHT_PROMOTED)
        promoted_take(c->master, v);
    else if (f->reqs)
        answer(c, f->reqs, v);
    else
        address_take(c, v);
}

static int asker_open(struct backend_env *env, const struct url *url,
                      struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c;
    int status = hf__redis_open_idle(env, url, &c, err);
    if (status != HF_OK) return status;
    c->master = hf__alloc_zero(env->alloc, sizeof *c->master);
    if (!c->master) {
        hf__backend_redis.close(c);
        return hf__error_set(err, HF_NOMEM, "redis: out of memory");
    }
    c->wait = c->waits_aof = 0; /* of the primary, not of a Sentinel */
    hf__redis_link_start(&c->main);
    hf__redis_timer_set(c);
    *out = c;
    return HF_OK;
}

/* ---- being led ---- */

static int led_open(struct backend_env *env, const struct url *url,
                    struct backend_conn **out, struct hf_error *err)
{
    int status = hf__redis_open_idle(env, url, out, err);
    if (status == HF_OK) (*out)->is_led = 1;
    return status;
}

static void link_move(struct link *l, int is_wanted)
{
    if (l->state != LINK_DOWN)
        hf__redis_link_fail(l, HF_UNAVAILABLE, 0,
                            "the primary is another one now");
    l->failures = 0;
    l->retry_us = 0;
    if (!is_wanted) l->due_us = TIME_NEVER;
}

int hf__redis_lead(struct backend_conn *c, const char *host, int port)
{
    assert(c->is_led && !c->busy);
    c->busy = 1;
    link_move(&c->main, 1);
    link_move(&c->sub, c->watches.len > 0);
    int rc = hf__redis_host_set(c, host, port);
    if (rc == 0) {
        c->repl.is_moved = 1;
        hf__redis_link_start(&c->main);
        if (c->watches.len > 0) hf__redis_link_start(&c->sub);
    }
    hf__redis_let_out(c);
    c->busy = 0;
    return rc;
}

void hf__redis_leaderless(struct backend_conn *c, const struct hf_error *err)
{
    assert(c->is_led && !c->busy && c->main.state == LINK_DOWN);
    c->busy = 1;
    c->main.err = *err;
    c->env->link(c->env, LINK_IS_DOWN, 0, err);
    hf__redis_answer_all(c, hf__redis_list_take(&c->unsent), V_UNSENT,
                         err->status, err->text);
    hf__redis_let_out(c);
    c->busy = 0;
}

/* The rest is as with any server. */
void hf__redis_sentinel_backends(struct backend *asker, struct backend *led)
{
    *asker = *led = hf__backend_redis;
    asker->open = asker_open;
    led->open = led_open;
}
