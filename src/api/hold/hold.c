/*
 * hold.c: the calls on one hold: what the local clock says of it, and the
 * operations that a handle names.
 *
 * The rule: a handle is in hand (hf__handle_take) while its hold is looked at,
 * and a handle that stands for nothing sends nothing.
 */
#include <stdio.h>
#include <string.h>

#include "api/hold/hold.h"
#include "api/hold/set.h"
#include "api/lock/ticket.h"
#include "base/error.h"
#include "base/math.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "engine/voter_text.h"
#include "sys/clock.h"

/* ---- taking a handle ----------------------------------------------------- */

static int handle_refuse(const hf_hold *hold, struct hf_error *err)
{
    return hf__error_set(err, HF_INVALID, "hold: %s",
                         hold ? "released before, or its client was closed"
                              : "NULL: nothing was acquired");
}

/* HF_OK if the handle is in hand now; otherwise a status. */
static int grip_take(const hf_hold *hold, struct grip *g, struct hf_error *err)
{
    if (hf__handle_take((hf_hold *)hold, g, 0) != 0)
        return handle_refuse(hold, err);
    int status = hf__client_check(g->client, err);
    if (status != HF_OK) hf__handle_drop(g);
    return status;
}

/* As grip_take(), for the last time: of two releases only one gets the handle.
 */
static int grip_take_last(hf_hold *hold, struct grip *g, struct hf_error *err)
{
    int status = grip_take(hold, g, err); /* fails in a forked child */
    if (status != HF_OK) return status;
    hf__handle_drop(g);
    return hf__handle_take(hold, g, 1) == 0 ? HF_OK : handle_refuse(hold, err);
}

/* ---- by the local clock alone -------------------------------------------- */

/* What the local clock says of a hold. */
struct view {
    int state; /* enum hf_state */
    int64_t valid_us;
    uint64_t fence;
    int64_t count;
    int64_t lease_us;
    int replicas;
};

static void seat_view(struct pump *p, struct seat *s, struct view *v)
{
    int64_t now_us = hf__clock_us();
    hf__pump_lock(p);
    /* Once this has told a caller that the hold is lost, no later call may find
     * it held. */
    if (s->hold.state == HOLD_HELD && now_us >= s->hold.valid_us)
        hf__pump_end(p, s, now_us);
    v->state = hf__hold_view(&s->hold, now_us);
    if (v->state == HF_STATE_NONE && s->hold.lost_status != HF_OK)
        v->state = HF_STATE_LOST; /* its holder has acquired it anew */
    v->fence = hf__seat_fence(s);
    v->valid_us = 0;
    if (v->state == HF_STATE_HELD || v->state == HF_STATE_AT_RISK)
        v->valid_us = s->hold.valid_us == TIME_NEVER
                          ? TIME_NEVER
                          : s->hold.valid_us - now_us;
    v->count = s->entry->kind == KIND_PERMIT ? s->permits : s->hold.count;
    v->lease_us = s->hold.lease_us;
    v->replicas = s->replicas;
    hf__pump_unlock(p);
}

/* A set is as good as the worst of its parts: LOST, NONE, AT_RISK, HELD. */
static int worse_state(int a, int b)
{
    static const int order[] = {[HF_STATE_HELD] = 0,
                                [HF_STATE_AT_RISK] = 1,
                                [HF_STATE_NONE] = 2,
                                [HF_STATE_LOST] = 3};
    return order[a] >= order[b] ? a : b;
}

static void hold_view(const hf_hold *hold, struct view *v);

static void set_view(const struct hold_set *set, struct view *v)
{
    *v = (struct view){.state = HF_STATE_HELD,
                       .valid_us = TIME_NEVER,
                       .lease_us = TIME_NEVER,
                       .count = (int64_t)set->len};
    for (size_t i = 0; i < set->len; i++) {
        struct view part;
        hold_view(set->parts[i], &part);
        v->state = worse_state(v->state, part.state);
        v->valid_us = min64(v->valid_us, part.valid_us);
        v->lease_us = min64(v->lease_us, part.lease_us);
        if (i == 0 || part.replicas < v->replicas) v->replicas = part.replicas;
    }
}

static void hold_view(const hf_hold *hold, struct view *v)
{
    struct grip g;
    *v = (struct view){.state = HF_STATE_NONE};
    if (grip_take(hold, &g, NULL) != HF_OK) return;
    if (g.set)
        set_view(g.set, v);
    else
        seat_view(&g.client->pump, g.seat, v);
    hf__handle_drop(&g);
}

uint64_t hf_hold_fence(const hf_hold *hold)
{
    struct view v;
    hold_view(hold, &v);
    return v.fence;
}

int64_t hf_hold_valid_ms(const hf_hold *hold)
{
    struct view v;
    hold_view(hold, &v);
    return v.valid_us == TIME_NEVER ? INT64_MAX : v.valid_us / US_PER_MS;
}

int hf_hold_state(const hf_hold *hold)
{
    struct view v;
    hold_view(hold, &v);
    return v.state;
}

int64_t hf_hold_count(const hf_hold *hold)
{
    struct view v;
    hold_view(hold, &v);
    return v.count;
}

int64_t hf_hold_lease_ms(const hf_hold *hold)
{
    struct view v;
    hold_view(hold, &v);
    return v.lease_us / US_PER_MS;
}

int hf_hold_replicas(const hf_hold *hold)
{
    struct view v;
    hold_view(hold, &v);
    return v.replicas;
}

const char *hf_hold_name(const hf_hold *hold)
{
    struct grip g;
    const char *name = "";
    if (grip_take(hold, &g, NULL) != HF_OK) return name;
    name = g.set ? hf_hold_name(g.set->parts[0]) : g.seat->entry->name;
    hf__handle_drop(&g);
    return name;
}

int hf_hold_guarantee(const hf_hold *hold)
{
    struct grip g;
    if (grip_take(hold, &g, NULL) != HF_OK) return HF_GUARANTEE_STORE;
    int is_local = !g.set && g.seat->entry->is_host;
    for (size_t i = 0; g.set && i < g.set->len; i++)
        is_local |= hf_hold_guarantee(g.set->parts[i]) == HF_GUARANTEE_LOCAL;
    hf__handle_drop(&g);
    return is_local ? HF_GUARANTEE_LOCAL : HF_GUARANTEE_STORE;
}

static void seat_why(struct pump *p, struct seat *s, char *text)
{
    char buf[HF_ERROR_TEXT_MAX];
    struct view v;
    seat_view(p, s, &v);
    hf__pump_lock(p);
    const char *cause = s->why;
    if (v.state == HF_STATE_LOST)
        cause = hf__seat_cause(&p->engine, s, HF_STATE_LOST, buf, sizeof buf);
    if (cause)
        snprintf(text, HF_ERROR_TEXT_MAX, "%s", cause);
    else if (!s->entry->is_host && hf__voters_are_short(&p->engine))
        hf__voters_text(&p->engine, HF_UNAVAILABLE, text, HF_ERROR_TEXT_MAX);
    hf__pump_unlock(p);
}

void hf_hold_why(const hf_hold *hold, char text[HF_ERROR_TEXT_MAX])
{
    struct grip g;
    text[0] = '\0';
    if (grip_take(hold, &g, NULL) != HF_OK) return;
    for (size_t i = 0; g.set && !text[0] && i < g.set->len; i++)
        hf_hold_why(g.set->parts[i], text);
    if (!g.set) seat_why(&g.client->pump, g.seat, text);
    hf__handle_drop(&g);
}

size_t hf_hold_parts(const hf_hold *hold)
{
    struct grip g;
    if (grip_take(hold, &g, NULL) != HF_OK) return 0;
    size_t len = g.set ? g.set->len : 1;
    hf__handle_drop(&g);
    return len;
}

hf_hold *hf_hold_part(hf_hold *hold, size_t i)
{
    struct grip g;
    hf_hold *part = NULL;
    if (grip_take(hold, &g, NULL) != HF_OK) return NULL;
    if (!g.set && i == 0) part = hold;
    if (g.set && i < g.set->len) part = g.set->parts[i];
    hf__handle_drop(&g);
    return part;
}

/* ---- operations ---------------------------------------------------------- */

void hf__grip_op(struct op *op, enum op_type type, const struct grip *g)
{
    hf_lock lock = {.client = g->client, .entry = g->seat->entry};
    hf__call_init(op, type, &lock, g->seat->holder);
    op->target = g->seat;
    op->hold = g->handle;
}

/* A started operation.  It pins op.target; the pump keeps the client open. */
struct started {
    struct op op; /* first */
    hf_client *client;
    hf_hold_fn fn;
    void *user;
    int is_part; /* of a set: its errors say which part */
};

static void seat_unpin(struct pump *p, struct seat *s)
{
    hf__pump_lock(p);
    hf__seat_unpin(&p->engine, s);
    hf__pump_unlock(p);
}

static void started_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_client *c = s->client;
    if (s->is_part && op->status != HF_OK)
        hf__error_about(&op->err, op->target->entry->name);
    seat_unpin(&c->pump, op->target);
    if (s->fn) s->fn(op->hold, op->status, &op->err, s->user);
    hf__free(&c->alloc, s);
}

struct started *hf__started_new(enum op_type type, const struct grip *g,
                                int64_t lease_ms, hf_hold_fn fn, void *user,
                                struct hf_error *err)
{
    struct pump *p = &g->client->pump;
    struct started *s = hf__alloc(&g->client->alloc, sizeof *s);
    if (!s) {
        hf__error_set(err, HF_NOMEM, "out of memory");
        return NULL;
    }
    hf__grip_op(&s->op, type, g);
    s->op.lease_us = lease_ms * US_PER_MS;
    s->op.complete = started_complete;
    s->client = g->client;
    s->fn = fn;
    s->user = user;
    s->is_part = 0;
    hf__pump_lock(p);
    g->seat->pins++;
    hf__pump_unlock(p);
    return s;
}

void hf__started_as_part(struct started *s)
{
    s->is_part = 1;
}

void hf__started_free(struct started *s)
{
    hf_client *c = s->client;
    seat_unpin(&c->pump, s->op.target);
    hf__free(&c->alloc, s);
}

int hf__started_go(struct started *s, struct hf_error *err)
{
    if (hf__pump_start(&s->client->pump, &s->op) == HF_OK) return HF_OK;
    hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    hf__started_free(s);
    return HF_CLOSED;
}

void hf__started_go_anyway(struct started *s)
{
    struct op *op = &s->op;
    hf__pump_start_all(&s->client->pump, &op, 1);
}

static int op_run(struct op *op, const struct grip *g, struct hf_error *err)
{
    hf__pump_call(&g->client->pump, op);
    if (op->status != HF_OK && err) *err = op->err;
    return op->status;
}

/* ---- extend -------------------------------------------------------------- */

static int extend_prepare(struct op *op, const struct grip *g, int64_t lease_ms,
                          struct hf_error *err)
{
    int status = hf__lease_check(lease_ms, err);
    if (status != HF_OK) return status;
    hf__grip_op(op, OP_TYPE_EXTEND, g);
    op->lease_us = lease_ms * US_PER_MS;
    return HF_OK;
}

int hf_hold_extend(hf_hold *hold, int64_t lease_ms, struct hf_error *err)
{
    struct grip g;
    struct op op;
    int status = grip_take(hold, &g, err);
    if (status != HF_OK) return status;
    if (g.set) {
        status = hf__lease_check(lease_ms, err);
        if (status == HF_OK)
            status = hf__set_run(g.set, OP_TYPE_EXTEND, lease_ms, err);
    } else {
        status = extend_prepare(&op, &g, lease_ms, err);
        if (status == HF_OK) status = op_run(&op, &g, err);
    }
    hf__handle_drop(&g);
    return status;
}

static int seat_extend_start(const struct grip *g, int64_t lease_ms,
                             hf_hold_fn cb, void *user, struct hf_error *err)
{
    int status = hf__lease_check(lease_ms, err);
    if (status != HF_OK) return status;
    struct started *s =
        hf__started_new(OP_TYPE_EXTEND, g, lease_ms, cb, user, err);
    return s ? hf__started_go(s, err) : HF_NOMEM;
}

int hf_hold_extend_start(hf_hold *hold, int64_t lease_ms, hf_hold_fn cb,
                         void *user, struct hf_error *err)
{
    struct grip g;
    int status = grip_take(hold, &g, err);
    if (status != HF_OK) return status;
    status = g.set ? hf__set_start(&g, lease_ms, 0, cb, user, err)
                   : seat_extend_start(&g, lease_ms, cb, user, err);
    hf__handle_drop(&g);
    return status;
}

/* ---- feed ---------------------------------------------------------------- */

/* Feed this hold; the status.  The pump's lock is held. */
static int seat_feed(struct pump *p, struct seat *s)
{
    int64_t now_us = hf__clock_us();
    if (p->engine.closing) return HF_CLOSED;
    if (s->hold.lost_status != HF_OK) return s->hold.lost_status;
    if (s->hold.state != HOLD_HELD || !s->hold.feed_ms) return HF_INVALID;
    if (now_us >= s->hold.valid_us) hf__pump_end(p, s, now_us);
    if (s->hold.state == HOLD_LOST) return s->hold.lost_status;
    hf__pump_feed(p, s, now_us);
    return HF_OK;
}

int hf_hold_feed(hf_hold *hold)
{
    struct grip g;
    int status = grip_take(hold, &g, NULL);
    if (status != HF_OK) return status;
    for (size_t i = 0; g.set && i < g.set->len; i++) {
        int one = hf_hold_feed(g.set->parts[i]);
        if (status == HF_OK) status = one;
    }
    if (!g.set) {
        hf__pump_lock(&g.client->pump);
        status = seat_feed(&g.client->pump, g.seat);
        hf__pump_unlock(&g.client->pump);
    }
    hf__handle_drop(&g);
    return status;
}

/* ---- release ------------------------------------------------------------- */

int hf_hold_release(hf_hold *hold, struct hf_error *err)
{
    struct grip g;
    struct op op;
    int status = grip_take_last(hold, &g, err);
    if (status != HF_OK) return status;
    if (g.set) {
        status = hf__set_run(g.set, OP_TYPE_RELEASE, 0, err);
    } else {
        hf__grip_op(&op, OP_TYPE_RELEASE, &g);
        status = op_run(&op, &g, err);
    }
    hf__handle_drop(&g);
    return status;
}

static int seat_release_start(const struct grip *g, hf_hold_fn cb, void *user,
                              struct hf_error *err)
{
    struct grip last;
    struct started *s = hf__started_new(OP_TYPE_RELEASE, g, 0, cb, user, err);
    if (!s) return HF_NOMEM;
    if (hf__handle_take(g->handle, &last, 1) != 0) {
        hf__started_free(s);
        return handle_refuse(g->handle, err);
    }
    int status = hf__started_go(s, err);
    hf__handle_drop(&last);
    return status;
}

int hf_hold_release_start(hf_hold *hold, hf_hold_fn cb, void *user,
                          struct hf_error *err)
{
    struct grip g;
    int status = grip_take(hold, &g, err);
    if (status != HF_OK) return status;
    status = g.set ? hf__set_start(&g, 0, 1, cb, user, err)
                   : seat_release_start(&g, cb, user, err);
    hf__handle_drop(&g);
    return status;
}

/* ---- being told ---------------------------------------------------------- */

static int listener_put(const struct grip *g, hf_hold_state_fn fn, void *user,
                        struct hf_error *err)
{
    if (g->set)
        return hf__error_set(err, HF_INVALID,
                             "hold: on_state: a set has no state of its own: "
                             "use its parts");
    struct pump *p = &g->client->pump;
    struct hold_listener *listener =
        fn ? hf__alloc(&g->client->alloc, sizeof *listener) : NULL;
    if (fn && !listener)
        return hf__error_set(err, HF_NOMEM, "hold: on_state: out of memory");
    hf__pump_lock(p);
    hf__listener_remove(&p->engine, g->seat, g->handle);
    if (listener) {
        *listener = (struct hold_listener){.next = g->seat->listeners,
                                           .hold = g->handle,
                                           .fn = fn,
                                           .user = user};
        g->seat->listeners = listener;
    }
    hf__pump_unlock(p);
    return HF_OK;
}

int hf_hold_on_state(hf_hold *hold, hf_hold_state_fn fn, void *user,
                     struct hf_error *err)
{
    struct grip g;
    int status = grip_take(hold, &g, err);
    if (status != HF_OK) return status;
    status = listener_put(&g, fn, user, err);
    hf__handle_drop(&g);
    return status;
}

/* ---- tickets, kernel locks ----------------------------------------------- */

int hf_hold_ticket(hf_hold *hold, char *ticket, size_t size,
                   struct hf_error *err)
{
    struct grip g, last;
    int status = grip_take(hold, &g, err);
    if (status != HF_OK) return status;
    if (g.set)
        status = hf__error_set(err, HF_UNSUPPORTED,
                               "ticket: a set of locks has none");
    else
        status = hf__attach_ticket_of(g.client, g.seat, ticket, size, err);
    if (status == HF_OK && hf__handle_take(hold, &last, 1) == 0)
        hf__handle_drop(&last);
    hf__handle_drop(&g);
    return status;
}

int hf_hold_inherit(hf_hold *hold, int *out_fd, struct hf_error *err)
{
    struct grip g;
    int status = grip_take(hold, &g, err);
    if (status != HF_OK) return status;
    if (g.set)
        status = hf__error_set(err, HF_UNSUPPORTED,
                               "inherit: one part of the set at a time");
    else
        status = hf__inherit_of(g.client, g.seat, out_fd, err);
    hf__handle_drop(&g);
    return status;
}
