/*
 * fallback_ops.c: which operations go to the lock of this host.
 *
 * The rule: the store is asked first, and this host only where the store could
 * not be; but who has a hold of this host works on that, until it is given
 * back, and until then the other holders of this client contend there as well:
 * no two of them have the store's lock and this host's at the same time.
 */
#include <string.h>

#include "api/fallback.h"
#include "api/handle.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

#define JOINED "another holder of this client has it there"

static void errand_begin(struct errand *t, hf_client *c, const struct op *op)
{
    memset(t, 0, sizeof *t);
    t->client = c;
    t->name = op->entry;
    t->is_one_try = op->wait_us == 0 || op->tries_once;
    t->deadline_us =
        op->wait_us < 0 ? TIME_NEVER : hf__clock_us() + op->wait_us;
}

/* ---- going there, and coming back --------------------------------------- */

static int is_of_hold(const struct op *op)
{
    return op->type == OP_TYPE_ACQUIRE || op->type == OP_TYPE_RELEASE
           || op->type == OP_TYPE_EXTEND;
}

int hf__fallback_is_for(const hf_client *c, const struct op *op)
{
    return c->fallback && op->entry && op->entry->kind == KIND_PLAIN
           && (is_of_hold(op) || op->type == OP_TYPE_INSPECT);
}

static enum host_pin how_to_pin(const struct errand *t, const struct op *op)
{
    if (op->type != OP_TYPE_ACQUIRE) return PIN_OWN;
    /* There are no tickets there; and who has the store's enters that. */
    if (op->flags & HF_ACQUIRE_DETACHED
        || hf__store_is_held(t->client, t->name, op->holder))
        return PIN_ANEW;
    return PIN_ANY;
}

/* Its holder has a hold of this host, or is to contend with one who has: 1, and
 * the client of this host is entered. */
static int host_route(struct errand *t, struct op *op)
{
    hf_client *host = is_of_hold(op) ? hf__host_enter(t->client) : NULL;
    if (!host) return 0;
    struct lock_entry *entry = hf__host_pin(host, t->name, op->holder,
                                            how_to_pin(t, op), &t->is_joined);
    if (!entry) {
        hf__host_leave(t->client);
        return 0;
    }
    if (t->is_joined) hf__error_set(&t->why, HF_TAKEN, "%s", JOINED);
    t->host = host;
    op->entry = entry;
    return 1;
}

/* Does the store's own hold stand, of which this would be a re-entry? */
static int is_reentry(const struct errand *t, const struct op *op)
{
    struct pump *p = &t->client->pump;
    hf__pump_lock(p);
    struct slot *s = hf__slot_find(t->name, op->holder);
    int is_one =
        s && (s->hold.state == HOLD_HELD || s->hold.state == HOLD_LOST);
    hf__pump_unlock(p);
    return is_one;
}

/* It answers, if only to refuse: others may well be granted its lock. */
static int store_speaks(const struct errand *t, const struct op *op)
{
    int words = 0;
    for (uint32_t left = op->spoken; left; left &= left - 1) words++;
    return words >= t->client->pump.engine.conf.quorum;
}

static int may_fall(const struct errand *t, const struct op *op)
{
    if (op->status != HF_UNAVAILABLE || store_speaks(t, op)) return 0;
    if (op->type == OP_TYPE_INSPECT) return 1;
    return op->type == OP_TYPE_ACQUIRE && !(op->flags & HF_ACQUIRE_DETACHED)
           && !is_reentry(t, op);
}

/* Neither the store nor this host. */
static int host_refused(struct errand *t, struct op *op, int status,
                        const struct hf_error *err)
{
    struct hf_error *out = &op->err;
    if (status == HF_NOMEM || status == HF_CLOSED)
        hf__error_set(out, status, "%s", hf_status_text(status));
    else
        hf__error_set(out, HF_UNAVAILABLE, "%.120s; this host: %.120s",
                      t->why.text, err->text);
    op->status = out->status;
    return 0;
}

static int64_t wait_left_us(const struct errand *t)
{
    return t->deadline_us == TIME_NEVER
               ? -1
               : max64(0, t->deadline_us - hf__clock_us());
}

static int is_first_grant(const struct op *op)
{
    return op->type == OP_TYPE_ACQUIRE && op->status == HF_OK
           && op->grant.count == 1;
}

/* Granted, but not to be kept. */
static void grant_undo(struct pump *p, struct op *op)
{
    struct op back;
    if (op->granted) {
        hf__pump_lock(p);
        hf__slot_unpin(&p->engine, op->granted);
        hf__pump_unlock(p);
        op->granted = NULL;
    }
    hf_lock lock = {.entry = op->entry};
    hf__op_init(&back, OP_TYPE_RELEASE, &lock, op->holder);
    hf__pump_run(p, &back);
}

/* The store could not be asked: 1 if this host is to be, and is entered. */
static int host_fall(struct errand *t, struct op *op)
{
    struct hf_error err;
    t->why = op->err;
    int status = hf__host_open(t->client, &t->host, &err);
    if (status != HF_OK) return host_refused(t, op, status, &err);
    struct lock_entry *entry = hf__host_pin_new(t->host, t->name);
    if (!entry) {
        hf__host_leave(t->client);
        t->host = NULL;
        return host_refused(t, op, HF_NOMEM, NULL);
    }
    t->is_fallen = 1;
    op->entry = entry;
    if (op->type == OP_TYPE_ACQUIRE) op->wait_us = wait_left_us(t);
    op->err = (struct hf_error){.node = -1};
    return 1;
}

/* The store has granted it, while another holder of this client got this
 * host's: 1, and it goes there; or it is over, given back, with a status. */
static int host_join(struct errand *t, struct op *op)
{
    hf_client *host = hf__host_enter(t->client);
    int is_joined = 0;
    if (!host) return 0;
    struct lock_entry *entry =
        hf__host_pin(host, t->name, op->holder, PIN_ANY, &is_joined);
    if (is_joined) grant_undo(&t->client->pump, op);
    if (is_joined && !(op->flags & HF_ACQUIRE_DETACHED)) {
        hf__error_set(&t->why, HF_TAKEN, "%s", JOINED);
        t->host = host;
        t->is_joined = 1;
        op->entry = entry;
        op->wait_us = wait_left_us(t);
        return 1;
    }
    if (is_joined)
        op->status = hf__error_set(&op->err, HF_UNAVAILABLE,
                                   "detached: not on this host, and "
                                   "%s",
                                   JOINED);
    if (entry) hf__host_unpin(host, entry);
    hf__host_leave(t->client);
    return 0;
}

/* The store is through with it: 1 if this host is next. */
static int host_begin(struct errand *t, struct op *op)
{
    hf__store_heard(t->client);
    /* It queued behind an acquire that has gone there. */
    if (op->status == HF_NOT_OWNER) return host_route(t, op);
    if (is_first_grant(op)) return host_join(t, op);
    return may_fall(t, op) ? host_fall(t, op) : 0;
}

/* This host is through with it: what it means to who asked the store. */
static void host_end(struct errand *t, struct op *op)
{
    /* Who got the store's before we came here did not see us: see host_join().
     * One of the two sees the other. */
    if (is_first_grant(op) && hf__store_is_held(t->client, t->name, 0)) {
        grant_undo(&t->host->pump, op);
        op->status = hf__error_set(&op->err, HF_UNAVAILABLE,
                                   "%.150s; another holder of this client "
                                   "has the store's lock by now",
                                   t->why.text);
    }
    hf__op_give(t->client, t->host, op, HANDLE_LOCAL);
    hf__host_unpin(t->host, op->entry);
    op->entry = t->name;
    op->grant.guarantee = HF_GUARANTEE_LOCAL;
    op->grant.fence = 0;
    if (op->info) {
        op->info->guarantee = HF_GUARANTEE_LOCAL;
        op->info->fence = 0;
    }
    if (op->type != OP_TYPE_ACQUIRE || !(t->is_fallen || t->is_joined)) return;
    if (op->status == HF_OK) {
        hf__host_granted(t->client, t->name->name, t->why.text, t->is_fallen);
        hf__error_set(&op->err, HF_OK, "held on this host only: %.140s",
                      t->why.text);
        return;
    }
    if (op->status == HF_TAKEN && !t->is_one_try) op->status = HF_TIMEOUT;
    if (op->status == HF_TAKEN || op->status == HF_TIMEOUT)
        hf__error_set(&op->err, op->status, "%s on this host: %.100s",
                      hf_status_text(op->status), t->why.text);
}

int hf__fallback_run(hf_client *c, struct op *op, struct hf_error *err)
{
    struct errand t;
    errand_begin(&t, c, op);
    int is_there = host_route(&t, op);
    if (!is_there) {
        hf__pump_run(&c->pump, op);
        is_there = host_begin(&t, op);
    }
    if (is_there) {
        hf__pump_run(&t.host->pump, op);
        host_end(&t, op);
        hf__host_leave(c);
    } else {
        hf__op_give(c, c, op, 0);
    }
    int is_told = op->status != HF_OK || t.is_fallen || t.is_joined;
    if (is_told && err) *err = op->err;
    return op->status;
}

/* ---- started ------------------------------------------------------------- */

static void errand_over(struct errand *t, struct op *op)
{
    op->complete_data = t->data;
    t->complete(op);
}

static void host_complete(struct op *op)
{
    struct errand *t = op->complete_data;
    host_end(t, op);
    errand_over(t, op);
}

/* This host is entered, and left again: once it is started, it may be over at
 * any moment. */
static void host_start(struct errand *t, struct op *op)
{
    hf_client *c = t->client;
    op->complete = host_complete;
    hf__pump_start_all(&t->host->pump, &op, 1);
    hf__host_leave(c);
}

static void store_complete(struct op *op)
{
    struct errand *t = op->complete_data;
    if (host_begin(t, op))
        host_start(t, op);
    else
        errand_over(t, op);
}

void hf__errand_start(struct errand *t, hf_client *c, struct op *op,
                      void (*complete)(struct op *))
{
    errand_begin(t, c, op);
    t->complete = complete;
    t->data = op->complete_data;
    op->complete_data = t;
    op->complete = store_complete;
    if (host_route(t, op))
        host_start(t, op);
    else
        hf__pump_start_all(&c->pump, &op, 1);
}

/* With its memory.  `op` is first, for it is freed as an operation. */
struct started {
    struct op op;
    struct errand errand;
};

static int is_closing(hf_client *c)
{
    hf__pump_lock(&c->pump);
    int closing = c->pump.engine.closing;
    hf__pump_unlock(&c->pump);
    return closing;
}

int hf__fallback_start(hf_client *c, const struct op *op,
                       void (*complete)(struct op *), const hf_lock *lock,
                       void (*fn)(void), void *user, struct hf_error *err)
{
    size_t extra = op->type == OP_TYPE_INSPECT ? sizeof(struct look) : 0;
    if (is_closing(c))
        return hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    struct started *s = hf__alloc(&c->alloc, sizeof *s + extra);
    if (!s) return hf__error_set(err, HF_NOMEM, "out of memory");
    s->op = *op;
    if (extra) {
        s->op.look = memset(s + 1, 0, extra);
        s->op.info = &s->op.look->info;
    }
    s->op.complete_data = (void *)lock;
    s->op.complete_fn = fn;
    s->op.complete_user = user;
    hf__errand_start(&s->errand, c, &s->op, complete);
    return HF_OK;
}
