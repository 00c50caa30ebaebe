/*
 * sim_node.c: a node is the pure store behind a clock of its own.  The rule:
 * it trusts nothing but its clock and what arrives.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define NODE_EPOCH_US INT64_C(1700000000000000)

static int64_t exact_clock(const struct sim *s, const struct sim_node *n)
{
    return NODE_EPOCH_US + s->now_us + n->offset_us
           + s->now_us * n->ppm / 1000000;
}

int64_t node_clock(const struct sim *s, const struct sim_node *n)
{
    int64_t us = exact_clock(s, n);
    return us - us % s->k.node_tick_us;
}

/* How long, in truth, until its clock shows `until_us`. */
int64_t node_left_us(const struct sim *s, const struct sim_node *n,
                     int64_t until_us)
{
    return (until_us - exact_clock(s, n)) * 1000000 / (1000000 + n->ppm);
}

/* As holdfast init does: the operator says that it is new. */
static void node_init(struct sim *s, struct sim_node *n)
{
    struct reply rep;
    struct request req = {.verb = VERB_BOOT,
                          .flags = REQ_BOOT_NEW,
                          .name = s->group,
                          .name_len = strlen(s->group),
                          .lease_us = s->k.lease_max_us,
                          .window_us = sim_quarantine_us(s)};
    hf__rules_store_apply(n->store, node_clock(s, n), &req, &rep);
    if (rep.verdict != V_GRANTED) sim_fail(s, "simulator: no init");
}

int node_open(struct sim *s, int index)
{
    struct sim_node *n = &s->nodes[index];
    n->index = index;
    n->store = hf__rules_store_open(&hf__alloc_default);
    if (!n->store) return -1;
    hf__rules_store_identify(n->store, (uint64_t)index + 1, 0);
    hf__rules_store_queue_times(n->store, s->k.queue_live_us / 3,
                                s->k.queue_live_us, s->k.queue_handoff_us,
                                s->k.queue_handoff_us / 8);
    if (session_open(s, n) != 0) return -1;
    n->up = 1;
    n->epoch = 1;
    n->forward_us = -1;
    n->offset_us = sim_between(s, -20 * MS, 20 * MS);
    if (s->faults & FAULT_DRIFT) n->ppm = sim_between(s, -4000, 4000);
    if (s->k.nodes > 1 && !s->k.is_new) node_init(s, n);
    return 0;
}

void node_close(struct sim_node *n)
{
    hf__rules_store_close(n->store);
    check_node_reset(n);
    free(n->sessions);
    n->sessions = NULL;
    n->store = NULL;
}

/* ---- what arrives ----------------------------------------------------- */

static void tell_watchers(struct sim *s, struct sim_node *n, int name,
                          int hushed, struct reply *rep)
{
    rep->waiters = 0;
    for (struct life *l = n->watchers; l; l = l->node_next) {
        if (!topic_is_in(l->names, name)) continue;
        rep->waiters++;
        if (hushed) continue;
        struct packet *p = net_packet(s, l, PACKET_MESSAGE);
        if (!p) return;
        p->name = name;
        net_reply(s, p);
    }
}

void node_tell(struct sim *s, struct sim_node *n, int name, struct reply *rep)
{
    tell_watchers(s, n, name, 0, rep);
}

/* Only the waiter that is given the lock is told. */
static void tell_handed(struct sim *s, struct sim_node *n, int name,
                        const struct handoff *h)
{
    sim_trace(s, "n%d hands %s to attempt %llu of %s, fence %lld", n->index,
              sim_names[name], (unsigned long long)h->attempt, h->owner,
              (long long)h->fence);
    for (struct life *l = n->watchers; l; l = l->node_next) {
        const struct sim_client *c = &s->clients[l->client];
        if (!(l->queues >> name & 1) || !l->conn
            || strncmp(c->engine.uuid, h->owner, 36) != 0)
            continue;
        struct packet *p = net_packet(s, l, PACKET_HANDED);
        if (!p) return;
        p->name = name;
        memcpy(p->handed_to, h->owner, strlen(h->owner) + 1);
        p->handed = *h;
        p->handed.name = sim_names[name];
        p->handed.owner = p->handed_to;
        net_reply(s, p);
    }
}

/* What a request has done is told: a hand-over to one, a free lock to all. */
static void tell(struct sim *s, struct sim_node *n, struct packet *p)
{
    struct handoff h;
    int is_free =
        p->req.verb == VERB_RELEASE
        && (p->rep.verdict == V_GRANTED
            || (p->rep.verdict == V_ABSENT && p->req.flags & REQ_QUEUE));
    int hushed = (p->req.flags & REQ_HUSHED) != 0;
    if (request_shares(&p->req)) {
        is_free = hf__rules_store_is_news(n->store, &p->req, &p->rep);
        hushed = 0; /* others may be before the proposal behind it */
    }
    if (hf__rules_store_handed(n->store, &h)) {
        tell_handed(s, n, p->name, &h);
        p->rep.waiters = p->req.verb == VERB_RELEASE ? 1 : -1;
    } else if (is_free) {
        tell_watchers(s, n, p->name, hushed, &p->rep);
    }
}

/* Waiters are told of a release only.  A hushed one leaves that to the proposal
 * behind it: if the line broke in between, waiters ask again when the lease
 * that they know of has ended. */
static void note_free(struct sim *s, struct sim_node *n, const struct packet *p)
{
    int is_alone = p->req.flags & REQ_HUSHED && !p->life->conn;
    struct handoff h;
    int is_handed = hf__rules_store_handed(n->store, &h);
    if (p->rep.verdict != V_GRANTED && !is_handed) return;
    n->free_since_us[p->name] = -1;
    if (p->req.verb == VERB_RELEASE && !is_handed
        && !node_is_shared(s, n, p->name))
        n->free_since_us[p->name] =
            s->now_us + (is_alone ? s->k.lease_max_us : 0);
}

/* What is judged goes on being judged if a quorum's node loses its data: that
 * is what quarantines are for. */
static void locks_vanish(struct sim *s, struct sim_node *n, int is_wiped)
{
    for (int i = 0; i < SIM_NAMES_MAX; i++) n->free_since_us[i] = -1;
    if (s->k.nodes == 1 || !is_wiped) s->broke_us = s->now_us;
}

/* A step back may hide from a client that there was one forward. */
static void step_hide(struct sim *s, const struct sim_node *n)
{
    if (n->forward_us >= 0) s->hidden_us = s->now_us;
}

static void boot(struct sim *s, struct sim_node *n, struct packet *p)
{
    hf__rules_store_apply(n->store, node_clock(s, n), &p->req, &p->rep);
    if (p->rep.boot) p->boot = *p->rep.boot;
    if (p->rep.boot) p->rep.boot = &p->boot;
    if (p->rep.boot && p->boot.left_us > 0) s->deeds[DEED_QUARANTINE]++;
    sim_trace(s, "n%d c%d boot flags %x -> verdict %d left %lld", n->index,
              p->life->client, p->req.flags, (int)p->rep.verdict,
              p->rep.boot ? (long long)p->boot.left_us : -1);
}

static void lock_break(struct sim *s, struct sim_node *n, int name,
                       const struct request *req, struct reply *rep);
static int broken_note(struct sim *s, struct sim_node *n, int name);

/* A client asks about a lock, or breaks it. */
static void asked(struct sim *s, struct sim_node *n, struct packet *p)
{
    check_ask_said(s, n, p);
    if (p->req.verb == VERB_BREAK) {
        (void)broken_note(s, n, p->name);
        lock_break(s, n, p->name, &p->req, &p->rep);
    } else {
        hf__rules_store_apply(n->store, node_clock(s, n), &p->req, &p->rep);
    }
    sim_trace(s, "n%d c%d op %d %s: had by %s, fence %lld", n->index,
              p->life->client, (int)p->req.verb, p->req.name,
              p->rep.info && p->rep.info->locked ? p->rep.info->owner
                                                 : "nobody",
              (long long)p->rep.fence);
    if (p->rep.info) p->info = *p->rep.info;
    if (p->rep.info) p->rep.info = &p->info;
}

static void repeat(struct sim *s, struct sim_node *n, const struct packet *p);

/* Of a lock that is held there already, as its holder knows. */
static int is_heal(const struct sim *s, const struct packet *p)
{
    const struct sim_client *c = &s->clients[p->life->client];
    for (int i = 0; i < s->k.actors; i++)
        if (c->actors[i].claims && c->actors[i].claim_attempt == p->req.attempt)
            return !p->is_copy;
    return 0;
}

static void deeds_count(struct sim *s, const struct packet *p,
                        const struct store_view *before)
{
    if (p->is_copy) s->deeds[DEED_COPY]++;
    if (p->rep.verdict == V_UNSETTLED) s->deeds[DEED_REFUSAL]++;
    if (p->req.verb == VERB_PROPOSE && p->rep.verdict == V_GRANTED
        && !before->locked && is_heal(s, p))
        s->deeds[DEED_HEAL]++;
}

static void carry_out(struct sim *s, struct sim_node *n, struct packet *p)
{
    struct store_view before;
    int64_t now_us = node_clock(s, n);
    node_look(s, n, &p->req, &before);
    char owner[OWNER_LEN_MAX]; /* the view's is the store's own memory */
    memcpy(owner, before.owner, strlen(before.owner) + 1);
    before.owner = owner;
    check_permit_queue(s, n, &p->req);
    hf__rules_store_apply(n->store, now_us, &p->req, &p->rep);
    sim_trace(s,
              "n%d c%d op %d attempt %llu T %lld count %lld lease %lld"
              " -> verdict %d fence %lld counter %lld%s",
              n->index, p->life->client, (int)p->req.verb,
              (unsigned long long)p->req.attempt, (long long)p->req.ballot,
              (long long)p->req.count, (long long)p->req.lease_us,
              (int)p->rep.verdict, (long long)p->rep.fence,
              (long long)p->rep.counter, p->is_copy ? " (copy)" : "");
    if (request_shares(&p->req)) {
        check_rw(s, n, p, &before);
        check_rw_came(s, p);
    } else {
        check_applied(s, n, p, &before);
        check_kept(s, n, p, &before);
        check_queue(s, n, p, &before);
    }
    check_revived(s, n, p);
    deeds_count(s, p, &before);
    note_free(s, n, p);
    tell(s, n, p);
    if (!s->healed && s->faults & FAULT_DUP && !p->is_copy
        && sim_chance(s, s->k.dup_permille))
        repeat(s, n, p);
}

/* A retransmission that something between us made.  Only what was granted may
 * come again later: renewals, refused proposals, and proposals of queued
 * waiters or for permits rely on a transport that does not repeat what was
 * answered. */
static void repeat(struct sim *s, struct sim_node *n, const struct packet *p)
{
    int later =
        p->req.verb == VERB_RELEASE
        || (p->req.verb == VERB_PROPOSE && p->rep.verdict == V_GRANTED
            && !(p->req.flags & REQ_QUEUE) && p->req.kind != KIND_PERMIT);
    struct packet twin = *p;
    twin.is_copy = 1;
    if (later)
        net_copy_later(s, p);
    else
        carry_out(s, n, &twin);
}

static void subscribe(struct sim_node *n, struct packet *p)
{
    struct life *l = p->life;
    if (!l->names) {
        l->node_next = n->watchers;
        n->watchers = l;
    }
    l->names |= 1u << p->name;
    if (p->queues) l->queues |= 1u << p->name;
}

static void unsubscribe(struct sim_node *n, struct packet *p)
{
    struct life *l = p->life, **at = &n->watchers;
    if (!(l->names >> p->name & 1)) return;
    l->names &= ~(1u << p->name);
    l->queues &= ~(1u << p->name);
    if (l->names) return;
    while (*at != l) at = &(*at)->node_next;
    *at = l->node_next;
}

void node_receive(struct sim *s, struct packet *p)
{
    struct sim_node *n = &s->nodes[p->life->node];
    int answers = p->life->open && !p->is_copy;
    if (!n->up || p->life->epoch != n->epoch) {
        if (p->kind == PACKET_HELLO && answers) {
            p->kind = PACKET_REFUSED;
            net_reply(s, p);
        } else {
            net_free(s, p);
        }
        return;
    }
    switch (p->kind) {
    case PACKET_HELLO:
        if (s->is_session && answers && p->life->channel == CHANNEL_COMMAND)
            session_attach(s, n, p);
        p->kind = PACKET_WELCOME;
        p->rep.node_us = node_clock(s, n);
        break;
    case PACKET_BEAT:
        session_heard(s, n, p);
        answers = 0;
        break;
    case PACKET_REQUEST:
        if (s->is_session) {
            if (!session_request(s, n, p)) {
                net_free(s, p);
                return;
            }
            p->kind = PACKET_ANSWER;
            break;
        }
        if (p->req.verb == VERB_BOOT)
            boot(s, n, p);
        else if (p->req.verb == VERB_BREAK || p->req.verb == VERB_INSPECT)
            asked(s, n, p);
        else
            carry_out(s, n, p);
        p->kind = PACKET_ANSWER;
        p->forward_us = n->forward_us;
        break;
    case PACKET_SUBSCRIBE:
        sim_trace(s, "n%d c%d subscribes to %d", n->index, p->life->client,
                  p->name);
        if (answers) subscribe(n, p);
        p->kind = PACKET_SUBSCRIBED;
        break;
    case PACKET_UNSUBSCRIBE:
        sim_trace(s, "n%d c%d unsubscribes from %d", n->index, p->life->client,
                  p->name);
        unsubscribe(n, p);
        answers = 0;
        break;
    default:
        answers = 0;
        break;
    }
    if (answers)
        net_reply(s, p);
    else
        net_free(s, p);
}

/* ---- what happens to it ----------------------------------------------- */

static void excuse_fences(struct sim *s, struct sim_node *n)
{
    /* Tokens then rest on the clock alone, and it was set back. */
    if (n->wiped && n->was_set_back) s->fences_excused = 1;
    /* A quarantine is long enough for clocks that differ, not for any jump. */
    if (n->wiped && s->k.nodes > 1 && s->faults & FAULT_JUMP)
        s->fences_excused = 1;
}

static void data_lose(struct sim *s, struct sim_node *n)
{
    hf__rules_store_wipe(n->store, 0);
    mutant_plant(s);
    check_queue_reset(n);
    check_broken_reset(n);
    check_rw_reset(n);
    n->wiped = 1;
    n->wipes++;
    s->deeds[DEED_WIPE]++;
    locks_vanish(s, n, 1);
    excuse_fences(s, n);
}

void node_stop(struct sim *s, struct sim_node *n, int wipe)
{
    if (!n->up) return;
    sim_trace(s, "n%d stops%s", n->index, wipe ? ", loses its data" : "");
    n->up = 0;
    n->epoch++;
    for (struct life *l = s->lives; l; l = l->all_next)
        if (l->node == n->index && l->open)
            net_break(s, l, sim_chance(s, 700) ? NEWS_SOON : NEWS_LATE);
    n->watchers = NULL;
    hf__rules_store_identify(n->store, (uint64_t)n->index + 1,
                             !wipe && sim_chance(s, 10 * s->k.durable_percent));
    if (!wipe) {
        s->deeds[DEED_RESTART]++;
        hf__rules_store_restart(n->store);
        return;
    }
    data_lose(s, n);
}

void node_start(struct sim *s, struct sim_node *n)
{
    if (n->up) return;
    sim_trace(s, "n%d starts", n->index);
    n->up = 1;
    if (s->is_session) session_restart(s, n);
}

void node_set_clock(struct sim *s, struct sim_node *n, int64_t step_us)
{
    sim_trace(s, "n%d clock %+lld us", n->index, (long long)step_us);
    n->offset_us += step_us;
    s->deeds[step_us < 0 ? DEED_BACK : DEED_FORWARD]++;
    if (step_us < 0) {
        n->was_set_back = 1;
        step_hide(s, n);
        excuse_fences(s, n);
    } else {
        n->forward_us = s->now_us;
        locks_vanish(s, n, 0);
    }
}

static void flush_locks(struct sim *s, struct sim_node *n)
{
    sim_trace(s, "n%d locks are flushed", n->index);
    hf__rules_store_flush_locks(n->store);
    s->hidden_us = s->now_us;
    locks_vanish(s, n, 0);
}

/* While it is in use, and nobody is told. */
void node_flush(struct sim *s, struct sim_node *n)
{
    s->deeds[DEED_FLUSH]++;
    if (s->k.flush == FLUSH_LOCKS) {
        flush_locks(s, n);
    } else if (s->k.flush == FLUSH_ALL_LOCKS) {
        for (int i = 0; i < s->k.nodes; i++) flush_locks(s, &s->nodes[i]);
    } else {
        sim_trace(s, "n%d is flushed", n->index);
        data_lose(s, n);
    }
}

/* Note all owners of the lock, as their node knows them; 0 if it is free. */
static int broken_note(struct sim *s, struct sim_node *n, int name)
{
    int64_t now_us = node_clock(s, n);
    struct store_share share;
    struct store_view view;
    int len = hf__rules_store_look(n->store, now_us, sim_names[name], 1, &view);
    if (len > 0) check_broken(n, name, &view);
    for (size_t i = 0;
         hf__rules_store_share(n->store, now_us, sim_names[name], 1, i, &share);
         i++) {
        if (share.waits) continue;
        check_broken(n, name, &share.view);
        len++;
    }
    return len;
}

/* The lock is taken away, and all waiters are told. */
static void lock_break(struct sim *s, struct sim_node *n, int name,
                       const struct request *req, struct reply *rep)
{
    hf__rules_store_apply(n->store, node_clock(s, n), req, rep);
    sim_trace(s, "n%d %s is broken, counter %lld", n->index, req->name,
              (long long)rep->counter);
    s->hidden_us = s->now_us;
    locks_vanish(s, n, 0);
    tell_watchers(s, n, name, 0, rep);
}

/* By an operator. */
void node_break(struct sim *s, struct sim_node *n, int name)
{
    struct reply rep;
    struct request req = {.verb = VERB_BREAK,
                          .name = sim_names[name],
                          .name_len = strlen(sim_names[name])};
    if (!broken_note(s, n, name)) return;
    s->deeds[DEED_TAKE]++;
    lock_break(s, n, name, &req, &rep);
}

/* It is gone before its time, and nobody is told. */
void node_evict(struct sim *s, struct sim_node *n, int name, enum deed deed)
{
    if (!hf__rules_store_expire(n->store, sim_names[name],
                                strlen(sim_names[name])))
        return;
    sim_trace(s, "n%d %s is evicted", n->index, sim_names[name]);
    s->deeds[deed]++;
    s->hidden_us = s->now_us;
    locks_vanish(s, n, 0);
}
