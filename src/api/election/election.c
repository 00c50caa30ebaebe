/*
 * election.c: candidates as objects: made, told of their leadership, asked
 * about it by the local clock, and closed.
 *
 * The rule: the user's function runs with no lock of ours held, and its object
 * is not freed meanwhile.
 */
#include "api/election/election.h"

#include <string.h>

#include "api/hold/handle.h"
#include "api/client/object.h"
#include "base/error.h"
#include "engine/locks.h"

static const char *name_of(const hf_election *e)
{
    return e->lock->entry->name;
}

/* ---- objects ------------------------------------------------------------ */

static int name_check(const char *name, struct hf_error *err)
{
    size_t len = name ? strlen(name) : 0;
    if (len > 0 && len <= HF_ELECTION_NAME_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "election name: %zu bytes: give it 1 to %d", len,
                         HF_ELECTION_NAME_MAX);
}

static void election_link(hf_election *e)
{
    hf_client *c = e->client;
    hf__pump_lock(&c->pump);
    hf__object_link(c, &e->object);
    e->next = c->elections;
    if (e->next) e->next->prev = e;
    c->elections = e;
    hf__pump_unlock(&c->pump);
}

static int election_make(hf_client *client, const char *name,
                         const struct hf_election_options *o, hf_election **out,
                         struct hf_error *err)
{
    struct hf_lock_options lo = HF_LOCK_OPTIONS_INIT;
    hf_election *e = hf__alloc_zero(&client->alloc, sizeof *e);
    if (!e) return hf__error_set(err, HF_NOMEM, "out of memory");
    e->client = client;
    e->o = *o;
    hf__election_key(name, e->key);
    lo.order = o->order;
    int status = hf_lock_open_as(client, name, &lo, &e->lock, err);
    if (status == HF_OK) status = hf__lease_check(o->lease_ms, err);
    if (status == HF_OK) {
        election_link(e);
        *out = e;
        return HF_OK;
    }
    hf_lock_close(e->lock);
    hf__free(&client->alloc, e);
    return status;
}

int hf_election_open(hf_client *client, const char *name,
                     const struct hf_election_options *options,
                     hf_election **out, struct hf_error *err)
{
    struct hf_election_options o = HF_ELECTION_OPTIONS_INIT;
    int status = hf__client_check(client, err);
    if (status == HF_OK) status = name_check(name, err);
    if (status == HF_OK && options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
    return status == HF_OK ? election_make(client, name, &o, out, err) : status;
}

void hf_election_close(hf_election *e)
{
    if (!e || e->client->pump.forked) return;
    hf_client *c = e->client;
    if (hf__election_state(e) != HF_STATE_NONE)
        (void)hf_election_resign(e, NULL);
    hf__handle_forget(e->hold);
    hf__pump_lock(&c->pump);
    hf__object_unlink(&e->object);
    if (e->prev)
        e->prev->next = e->next;
    else
        c->elections = e->next;
    if (e->next) e->next->prev = e->prev;
    while (e->telling) pthread_cond_wait(&c->calls_over, &c->pump.mutex);
    hf__pump_unlock(&c->pump);
    hf_lock_close(e->lock);
    hf__free(&c->alloc, e);
}

static hf_election *election_find(const hf_client *c, const struct hf_event *ev)
{
    for (hf_election *e = c->elections; e; e = e->next)
        if (e->holder == ev->holder && e->o.on_state
            && e->lock->entry->name_len == ev->name_len
            && memcmp(name_of(e), ev->name, ev->name_len) == 0)
            return e;
    return NULL;
}

void hf__election_told(struct pump *p, const struct hf_event *ev)
{
    hf_client *c = (hf_client *)p;
    hf__pump_lock(p);
    hf_election *e = election_find(c, ev);
    if (e) e->telling = 1;
    hf__pump_unlock(p);
    if (!e) return;
    e->o.on_state(e, ev, e->o.user);
    hf__pump_lock(p);
    e->telling = 0;
    pthread_cond_broadcast(&c->calls_over);
    hf__pump_unlock(p);
}

/* ---- by the local clock alone ------------------------------------------- */

uint64_t hf__election_holder(hf_election *e)
{
    if (e->client->pump.forked) return 0;
    hf__pump_lock(&e->client->pump);
    uint64_t holder = e->holder;
    hf__pump_unlock(&e->client->pump);
    return holder;
}

int hf__election_state(hf_election *e)
{
    uint64_t holder = hf__election_holder(e);
    return holder ? hf__lock_state(e->lock, holder) : HF_STATE_NONE;
}

hf_hold *hf_election_hold(hf_election *e)
{
    if (e->client->pump.forked) return NULL;
    hf__pump_lock(&e->client->pump);
    hf_hold *hold = e->hold;
    hf__pump_unlock(&e->client->pump);
    return hold;
}
