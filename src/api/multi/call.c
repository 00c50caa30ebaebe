/*
 * multi/call.c: one call on a set of locks: its memory, and its clients.
 *
 * The rule: no client is freed while a call uses it, and closing one ends the
 * call, wherever it waits.
 */
#include "api/multi/multi.h"

#include <poll.h>
#include <string.h>

#include "api/hold/set.h"
#include "base/error.h"
#include "engine/pump_keeper.h"

/* ---- its memory ---------------------------------------------------------- */

static void client_add(struct multi_call *c, hf_client *client)
{
    for (size_t i = 0; i < c->clients_len; i++)
        if (c->clients[i].client == client) return;
    struct multi_client *mc = &c->clients[c->clients_len++];
    memset(mc, 0, sizeof *mc);
    mc->client = client;
    mc->link.call = c;
}

static void call_step(struct sequence *s)
{
    struct multi_call *c = (struct multi_call *)s;
    if (!hf__multi_step(c)) return;
    for (size_t i = 0; i < c->len; i++) {
        struct multi_part *p = &c->parts[i];
        if (p->is_asked) hf__sequence_ask_any(s, p->client, &p->op);
    }
}

/* Started: tell the user, and leave. */
static void call_over(struct sequence *s)
{
    struct multi_call *c = (struct multi_call *)s;
    hf_hold *hold = NULL;
    hf__multi_give(c, &hold);
    c->fn(c->multi, s->status, hold, &s->err, c->user);
    hf__multi_call_leave(c);
}

struct multi_call *hf__multi_call_new(hf_multi *m, uint64_t holder,
                                      struct hf_error *err)
{
    size_t size = sizeof(struct multi_call) + m->len * sizeof(struct multi_part)
                  + m->len * sizeof(struct multi_client);
    struct multi_call *c = hf__alloc(&m->client->alloc, size);
    if (!c) {
        hf__error_set(err, HF_NOMEM, "set of locks: out of memory");
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->set = hf__set_reserve(m->locks[0]->client, m->len);
    if (!c->set) {
        hf__free(&m->client->alloc, c);
        hf__error_set(err, HF_NOMEM, "set of locks: out of memory");
        return NULL;
    }
    c->seq.step = call_step;
    c->seq.over = call_over;
    c->alloc = m->client->alloc;
    c->multi = m;
    c->holder = holder;
    c->len = m->len;
    c->clients = (struct multi_client *)(c->parts + m->len);
    for (size_t i = 0; i < m->len; i++) {
        struct multi_part *p = &c->parts[i];
        p->lock = m->locks[i];
        p->client = p->lock->client;
        p->is_asked = p->is_held = 0;
        client_add(c, p->client);
    }
    return c;
}

void hf__multi_give(struct multi_call *c, hf_hold **out)
{
    hf_lock *locks[HF_MULTI_MAX];
    struct hold_set *set = c->set;
    c->set = NULL;
    if (c->seq.status != HF_OK) {
        hf__set_cancel(set, c->parts[0].client);
        return;
    }
    for (size_t i = 0; i < c->len; i++)
        locks[c->multi->given[i]] = c->parts[i].lock;
    c->seq.status = hf__set_claim(set, c->parts[0].client, locks, c->holder,
                                  out, &c->seq.err);
}

/* ---- its clients --------------------------------------------------------- */

static void link_add(struct multi_client *mc)
{
    hf_client *client = mc->client;
    struct multi_link *link = &mc->link;
    hf__pump_lock(&client->pump);
    client->calls++;
    link->prev = NULL;
    link->next = client->multis;
    if (link->next) link->next->prev = link;
    client->multis = link;
    if (client->pump.engine.closing) atomic_store(&link->call->stop, 1);
    hf__pump_unlock(&client->pump);
}

static void link_remove(struct multi_client *mc)
{
    hf_client *client = mc->client;
    struct multi_link *link = &mc->link;
    hf__pump_lock(&client->pump);
    if (link->prev)
        link->prev->next = link->next;
    else
        client->multis = link->next;
    if (link->next) link->next->prev = link->prev;
    hf__pump_unlock(&client->pump);
}

void hf__multi_call_enter(struct multi_call *c)
{
    hf_cancel *cancel = c->options.cancel;
    for (size_t i = 0; i < c->clients_len; i++) {
        struct multi_client *mc = &c->clients[i];
        link_add(mc);
        mc->is_listening = cancel && cancel->pump != &mc->client->pump;
        if (mc->is_listening)
            hf__cancel_listen(cancel, &mc->listener, &mc->client->pump);
    }
}

void hf__multi_call_leave(struct multi_call *c)
{
    struct allocator alloc = c->alloc;
    if (c->set) hf__set_cancel(c->set, c->parts[0].client);
    for (size_t i = 0; i < c->clients_len; i++) {
        struct multi_client *mc = &c->clients[i];
        if (mc->client->pump.forked) continue; /* the user's function forked */
        if (mc->is_listening)
            hf__cancel_unlisten(c->options.cancel, &mc->listener);
        link_remove(mc);
    }
    /* No client has the call in its list any more: now they may be closed. */
    for (size_t i = 0; i < c->clients_len; i++)
        hf__call_leave(c->clients[i].client);
    hf__free(&alloc, c);
}

/* ---- closing one of them ------------------------------------------------- */

static void call_stop(struct multi_call *c)
{
    atomic_store(&c->stop, 1);
    for (size_t i = 0; i < c->clients_len; i++)
        hf__pump_look(&c->clients[i].client->pump);
}

/* Keep a client of a call open.  The lock of another client is held, so this
 * one is only tried: waiting could deadlock. */
static int client_pin(hf_client *c)
{
    if (pthread_mutex_trylock(&c->pump.mutex) != 0) return 0;
    c->calls++;
    hf__pump_unlock(&c->pump);
    return 1;
}

/* Find the clients that the calls of `c` use and that the program pumps itself.
 * Returns how many such uses there are; `*len` of the other clients were pinned
 * and are in `out`. */
static size_t loops_pin(hf_client *c, hf_client **out, size_t *len)
{
    size_t all = 0;
    *len = 0;
    hf__pump_lock(&c->pump);
    for (struct multi_link *l = c->multis; l; l = l->next) {
        for (size_t i = 0; i < l->call->clients_len; i++) {
            hf_client *other = l->call->clients[i].client;
            if (!other->pump.own_loop) continue;
            all++;
            if (other != c && *len < HF_MULTI_MAX && client_pin(other))
                out[(*len)++] = other;
        }
    }
    hf__pump_unlock(&c->pump);
    return all;
}

/* The program's thread is in hf_client_close(), so it cannot pump its other
 * clients: pump them here until the calls are over. */
static void loops_run(hf_client *c)
{
    hf_client *others[HF_MULTI_MAX];
    size_t len;
    while (loops_pin(c, others, &len) > 0) {
        if (c->pump.own_loop) hf__pump_process(&c->pump);
        for (size_t i = 0; i < len; i++) {
            hf__pump_process(&others[i]->pump);
            hf__call_leave(others[i]);
        }
        poll(NULL, 0, 1);
    }
}

void hf__multis_stop(hf_client *c)
{
    hf__pump_lock(&c->pump);
    for (struct multi_link *l = c->multis; l; l = l->next) call_stop(l->call);
    hf__pump_unlock(&c->pump);
    loops_run(c);
}
