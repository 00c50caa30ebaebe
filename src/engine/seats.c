/*
 * seats.c: the holds of the engine: made, stepped, and freed when nothing
 * refers to them any more.
 *
 * The rule: the effects of a step are carried out in the order of struct
 * hold_out, and the hold is not freed before the last of them.
 */
#include "engine/seats.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/again.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/voter_text.h"
#include "engine/nodes.h"
#include "engine/ops.h"
#include "engine/stats.h"
#include "kind/kind.h"

/* ---- made and freed --------------------------------------------------- */

struct seat *hf__seat_find(struct lock_entry *entry, uint64_t holder)
{
    struct seat *s = entry->seats;
    while (s && s->holder != holder) s = s->next;
    return s;
}

struct seat *hf__seat_new(struct engine *e, struct lock_entry *entry,
                          uint64_t holder)
{
    if (hf__heap_reserve(&e->heap, e->alloc, e->seats_len + 1) != 0)
        return NULL;
    struct seat *s = hf__alloc_zero(e->alloc, sizeof *s);
    if (!s) return NULL;
    if (hf__request_reserve(e) != 0) {
        hf__free(e->alloc, s);
        return NULL;
    }
    hf__hold_init(&s->hold, hf__conf_of(e, entry), &entry->ballot);
    s->timer.due_us = TIME_NEVER;
    s->entry = entry;
    s->holder = holder;
    s->next = entry->seats;
    s->linked = 1;
    entry->seats = s;
    entry->refs++;
    e->seats_len++;
    if (entry->watch == WATCH_ON) s->hold.watched = s->hold.watch_asked = 1;
    return s;
}

void hf__walk_begin(struct engine *e, struct seat_walk *walk,
                    const struct lock_entry *entry)
{
    *walk = (struct seat_walk){.next = entry->seats, .outer = e->walks};
    e->walks = walk;
}

struct seat *hf__walk_next(struct engine *e, struct seat_walk *walk)
{
    struct seat *s = walk->next;
    assert(e->walks == walk);
    if (s)
        walk->next = s->next;
    else
        e->walks = walk->outer;
    return s;
}

void hf__seat_unlink(struct engine *e, struct seat *s)
{
    struct seat **at = &s->entry->seats;
    if (!s->linked) return;
    for (struct seat_walk *w = e->walks; w; w = w->outer)
        if (w->next == s) w->next = s->next;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    s->linked = 0;
}

void hf__listeners_free(struct engine *e, struct seat *s)
{
    while (s->listeners) {
        struct hold_listener *listener = s->listeners;
        s->listeners = listener->next;
        hf__free(e->alloc, listener);
    }
}

void hf__listener_remove(struct engine *e, struct seat *s, const hf_hold *hold)
{
    struct hold_listener **at = &s->listeners;
    while (*at && (*at)->hold != hold) at = &(*at)->next;
    if (!*at) return;
    struct hold_listener *listener = *at;
    *at = listener->next;
    hf__free(e->alloc, listener);
}

void hf__seat_free(struct engine *e, struct seat *s)
{
    assert(!s->op && !s->requests && !s->in_line && !s->notices && !s->pins);
    hf__seat_unlink(e, s);
    hf__listeners_free(e, s);
    hf__heap_set(&e->heap, &s->timer, TIME_NEVER);
    e->seats_len--;
    if (s->attached) hf__free(e->alloc, s->owner);
    hf__free(e->alloc, s->why);
    hf__entry_unref(e, s->entry);
    hf__free(e->alloc, s);
}

void hf__seat_let_go(struct engine *e, struct seat *s)
{
    if (s->hold.state != HOLD_DONE || s->requests || s->notices || s->op
        || s->pins)
        return;
    assert(!s->pending_last && s->entry->turn != s);
    hf__seat_free(e, s);
}

void hf__seat_unpin(struct engine *e, struct seat *s)
{
    assert(s->pins > 0);
    s->pins--;
    hf__seat_let_go(e, s);
}

/* ---- what is said of it ------------------------------------------------ */

/* "<uuid>:<holder>"; written by hand because every request needs it. */
void hf__owner_text(const struct engine *e, uint64_t holder,
                    char out[OWNER_LEN_MAX])
{
    char digits[24];
    size_t n = 0, at = 36;
    memcpy(out, e->uuid, 36);
    out[at++] = ':';
    do {
        digits[n++] = (char)('0' + holder % 10);
        holder /= 10;
    } while (holder);
    while (n) out[at++] = digits[--n];
    out[at] = '\0';
}

uint64_t hf__seat_chain(const struct seat *s)
{
    return s->attached ? 0 : s->chain_owner;
}

void hf__seat_owner(const struct engine *e, const struct seat *s,
                    char out[OWNER_LEN_MAX])
{
    if (s->attached)
        snprintf(out, OWNER_LEN_MAX, "%s", s->owner);
    else
        hf__owner_text(e, s->chain_owner ? s->chain_owner : s->holder, out);
}

/* The tokens of this host and of the store cannot be compared. */
uint64_t hf__seat_fence(const struct seat *s)
{
    return s->entry->is_host ? 0 : (uint64_t)s->hold.fence;
}

/* The sentence for a status that came from a hold. */
static const char *seat_text(struct engine *e, const struct seat *s, int status,
                             char *buf, size_t size)
{
    const struct hf_error *last = &hf__node_of(e, s->entry, 0)->last_error;
    int is_of_members = s->hold.conf->nodes > 1;
    if (s->hold.late && (status == HF_UNAVAILABLE || status == HF_TIMEOUT)) {
        snprintf(buf, size,
                 "a lease of %lld ms is too short: it was granted, and nearly "
                 "over when the answers came",
                 (long long)(s->hold.lease_us / US_PER_MS));
        return buf;
    }
    if (status == HF_TIMEOUT && is_of_members && hf__voters_are_short(e)) {
        hf__voters_text(e, HF_UNAVAILABLE, buf, size);
        return buf;
    }
    if (is_of_members
        && (status == HF_UNAVAILABLE || status == HF_INVALID
            || status == HF_CONFLICT)) {
        hf__voters_text(e, status, buf, size);
        return buf;
    }
    if (status == HF_INVALID && s->hold.conf->lease_max_us
        && s->hold.lease_us > s->hold.conf->lease_max_us) {
        hf__voters_text(e, status, buf, size);
        return buf;
    }
    if (status == last->status && last->text[0]) return last->text;
    snprintf(buf, size, "%s", hf_status_text(status));
    return buf;
}

const char *hf__seat_cause(struct engine *e, const struct seat *s, int state,
                           char *buf, size_t size)
{
    if (state == HF_STATE_HELD) return NULL;
    const char *cause = hf__hold_cause(&s->hold, state);
    if (!cause) cause = s->why;
    if (cause) return cause;
    return seat_text(e, s, hf__hold_why(&s->hold, state), buf, size);
}

void hf__seat_why(struct engine *e, struct seat *s, const char *text)
{
    hf__free(e->alloc, s->why);
    s->why = text ? hf__strdup(e->alloc, text) : NULL;
}

void hf__seat_heard(struct engine *e, struct seat *s, const struct request *r,
                    const struct reply *rep)
{
    int is_gone = rep->verdict == V_ABSENT || rep->verdict == V_OTHER;
    int is_failed = r->verb == VERB_RENEW && rep->verdict >= V_ERROR;
    if (s->hold.conf->nodes > 1) return; /* one of several explains nothing */
    if (rep->text && (is_gone || is_failed))
        hf__seat_why(e, s, rep->text);
    else if (r->verb == VERB_RENEW && s->why)
        hf__seat_why(e, s, NULL);
}

/* ---- the step ---------------------------------------------------------- */

static void grant_fill(const struct seat *s, struct grant *g)
{
    g->fence = hf__seat_fence(s);
    g->guarantee = s->entry->is_host ? HF_GUARANTEE_LOCAL : HF_GUARANTEE_STORE;
    g->count = s->hold.count;
}

/* The wait was over within some round trips, and nothing is known to be wrong:
 * that is neither a silence of the members nor another holder.  A hold that
 * failed to be entered again goes on, and is not DONE. */
static int is_unasked(const struct engine *e, const struct seat *s,
                      const struct op *op, int status)
{
    const struct hold *h = &s->hold;
    int is_alone = !s->entry->turn || s->entry->turn == s;
    int64_t short_us = 4 * h->conf->rtt_us + RENEW_US_MIN;
    return (status == HF_UNAVAILABLE || status == HF_TIMEOUT)
           && op->type == OP_TYPE_ACQUIRE && h->state == HOLD_DONE
           && op->deadline_us <= e->now_us && op->wait_us <= short_us
           && is_alone && !h->placed && !h->outwaited && h->conf->nodes > 1
           && hf__voters_may_answer(e);
}

static void seat_finish(struct engine *e, struct seat *s,
                        const struct hold_out *out)
{
    char buf[HF_ERROR_TEXT_MAX], cause[HF_ERROR_TEXT_MAX];
    struct op *op = s->op;
    s->op = NULL;
    if (!op) return;
    if (out->status == HF_OK) {
        grant_fill(s, &op->grant);
        if (op->grant.replicas) s->replicas = (uint16_t)op->grant.replicas;
        if (op->handle) {
            s->pins++;
            op->granted = s;
        }
        op->released.count = s->hold.count;
        hf__op_finish(e, op, HF_OK, NULL);
    } else if (is_unasked(e, s, op, out->status)) {
        op->released.count = 0;
        hf__op_finish(e, op, HF_TIMEOUT,
                      "no time to ask: the wait was over before enough members "
                      "had answered");
        op->err.unasked = 1;
    } else {
        /* What a node said to this very operation explains it best. */
        int said = op->err.status;
        if (said == HF_TAKEN && out->status == HF_TIMEOUT) said = HF_TIMEOUT;
        int is_caused = op->err.text[0] && said == out->status;
        if (s->hold.conf->nodes > 1 && said == HF_UNAVAILABLE)
            is_caused = 0; /* one node's word explains nothing */
        snprintf(cause, sizeof cause, "%s", op->err.text);
        op->released.count = 0;
        hf__op_finish(
            e, op, out->status,
            is_caused ? cause : seat_text(e, s, out->status, buf, sizeof buf));
    }
    hf__pending_go(e, s);
}

static void send_all(struct engine *e, struct seat *s,
                     const struct hold_send *send)
{
    const struct hold_conf *conf = s->hold.conf;
    for (int node = 0; node < conf->nodes; node++) {
        if (!(send->nodes >> node & 1)) continue;
        struct request *r = hf__request_new(e);
        if (!r) {
            /* As good as a request that never left; the lease ends it. */
            struct reply rep = {.verdict = V_UNSENT, .status = HF_NOMEM};
            struct hold_event ev = {.type = EV_REPLY,
                                    .verb = send->verb,
                                    .round = send->round,
                                    .node = node,
                                    .reply = &rep};
            hf__seat_step(e, s, &ev);
            continue;
        }
        hf__kind_shape(r, &s->hold, send);
        r->kind = s->entry->kind;
        r->permits = s->permits;
        if (send->verb == VERB_PROPOSE && s->op) r->capacity = s->op->capacity;
        r->seen = s->seen;
        if (r->flags & REQ_QUORUM) r->group = e->group;
        r->name = s->entry->name;
        r->name_len = s->entry->name_len;
        r->info = e->info;
        r->user = s;
        r->user_kind = USER_SEAT;
        hf__seat_owner(e, s, r->owner);
        if (send->verb == VERB_RELEASE && hf__turn_is_hushed(e, s))
            r->flags |= REQ_HUSHED;
        s->requests++;
        r->node = (uint16_t)node;
        if (send->verb == VERB_RELEASE && conf->down >> node & 1)
            hf__again_add(e, &e->nodes[node], r);
        else
            hf__request_send(e, hf__node_of(e, s->entry, node), r);
    }
}

static void notice_add(struct engine *e, struct seat *s, int state)
{
    if (!s->notices) {
        s->notice_next = NULL;
        if (e->notice_tail)
            e->notice_tail->notice_next = s;
        else
            e->notice_head = s;
        e->notice_tail = s;
    }
    if (state == HF_STATE_HELD)
        s->notices &= (unsigned char)~(1u << HF_STATE_AT_RISK);
    s->notices |= (unsigned char)(1u << state);
}

void hf__seat_step(struct engine *e, struct seat *s, struct hold_event *ev)
{
    struct hold_out out;
    enum hold_state before = s->hold.state;
    int renewing = hf__stats_is_renewing(&s->hold);
    ev->now_us = e->now_us;
    ev->nodes_now_us =
        s->entry->is_host ? hf__host_now(e) : hf__engine_nodes_now(e);
    ev->random = hf__engine_random(e);
    if (ev->type == EV_RELEASE) hf__turn_leave(s);
    s->hold.crowded = s->entry->crowded != 0;
    s->requests++; /* stays until the step is over */
    hf__hold_step(&s->hold, ev, &out);
    e->waiting += s->hold.state == HOLD_WAITING;
    e->waiting -= before == HOLD_WAITING;
    hf__stats_stepped(e, s, before, renewing, &out);
    for (int i = 0; i < out.sends; i++) send_all(e, s, &out.send[i]);
    if (s->hold.state == HOLD_RELEASING || s->hold.state == HOLD_DONE)
        hf__seat_unlink(e, s);
    if (out.risk_untold) notice_add(e, s, HF_STATE_AT_RISK);
    if (out.notice) notice_add(e, s, out.notice);
    if (out.finished) seat_finish(e, s, &out);
    if (s->hold.state == HOLD_DONE) hf__pending_go(e, s);
    hf__heap_set(&e->heap, &s->timer, hf__hold_due(&s->hold));
    if (before != s->hold.state) hf__turn_update(e, s, before);
    if (out.watch) hf__watch_want(e, s);
    s->requests--;
    hf__seat_let_go(e, s);
}
