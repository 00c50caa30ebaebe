/*
 * fallback_ops.c: which operations go to the lock of this host.
 *
 * The rule: the store is asked first, and this host only where the store could
 * not be; but who has a hold of this host works on that, until it is given
 * back.
 */
#include <string.h>

#include "api/fallback.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

/* An operation on its way. */
struct errand {
    hf_client *client;
    hf_client *host;         /* NULL: it is the store's */
    struct lock_entry *name; /* the store's entry */
    int64_t deadline_us;     /* of the caller's wait */
    int is_one_try;
    int is_fallen;       /* it left the store for this host */
    struct hf_error why; /* is_fallen: because of this */
};

/* One that was started.  `op` is first, for it is freed as an operation. */
struct started {
    struct op op;
    struct errand errand;
    void (*complete)(struct op *op);
};

static void errand_begin(struct errand *t, hf_client *c, const struct op *op)
{
    memset(t, 0, sizeof *t);
    t->client = c;
    t->name = op->entry;
    t->is_one_try = op->wait_us == 0;
    t->deadline_us =
        op->wait_us < 0 ? TIME_NEVER : hf__clock_us() + op->wait_us;
}

/* ---- holds of this host ------------------------------------------------- */

/* The entry of a hold of this host, pinned; NULL: this holder has none.  To
 * acquire `anew` is to forget one that is lost. */
static struct lock_entry *hold_pin(hf_client *host,
                                   const struct lock_entry *name,
                                   uint64_t holder, int anew)
{
    struct engine *e = &host->pump.engine;
    struct hold_event forget = {.type = EV_FORGET};
    hf__pump_lock(&host->pump);
    struct lock_entry *entry = hf__entry_find(e, name->name, name->name_len);
    struct slot *s = entry ? hf__slot_find(entry, holder) : NULL;
    if (s && anew && s->hold.state == HOLD_LOST && !s->op) {
        e->now_us = hf__clock_us();
        hf__slot_step(e, s, &forget);
        hf__pump_news(&host->pump);
        s = NULL;
    }
    if (s) entry->refs++;
    hf__pump_unlock(&host->pump);
    return s ? entry : NULL;
}

static void entry_unpin(hf_client *host, struct lock_entry *entry)
{
    hf__pump_lock(&host->pump);
    hf__entry_unref(&host->pump.engine, entry);
    hf__pump_unlock(&host->pump);
}

int hf__fallback_enter(hf_lock *lock, uint64_t holder, hf_lock *shadow)
{
    hf_client *host = hf__host_enter(lock->client);
    if (!host) return 0;
    struct lock_entry *entry =
        hold_pin(host, lock->entry, holder ? holder : hf_holder_self(), 0);
    if (!entry) {
        hf__host_leave(lock->client);
        return 0;
    }
    memset(shadow, 0, sizeof *shadow);
    shadow->client = host;
    shadow->entry = entry;
    return 1;
}

void hf__fallback_leave(hf_lock *lock, hf_lock *shadow)
{
    entry_unpin(shadow->client, shadow->entry);
    hf__host_leave(lock->client);
}

/* ---- going there, and coming back --------------------------------------- */

static int is_of_hold(const struct op *op)
{
    return op->type == OP_TYPE_ACQUIRE || op->type == OP_TYPE_RELEASE
           || op->type == OP_TYPE_EXTEND;
}

int hf__fallback_is_for(const hf_client *c, const struct op *op)
{
    return c->fallback && (is_of_hold(op) || op->type == OP_TYPE_INSPECT);
}

/* Its holder has a hold of this host: 1, and the client of this host is
 * entered. */
static int host_route(struct errand *t, struct op *op)
{
    hf_client *host = is_of_hold(op) ? hf__host_enter(t->client) : NULL;
    if (!host) return 0;
    struct lock_entry *entry =
        hold_pin(host, t->name, op->holder, op->type == OP_TYPE_ACQUIRE);
    if (!entry) {
        hf__host_leave(t->client);
        return 0;
    }
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

static int may_fall(const struct errand *t, const struct op *op)
{
    if (op->status != HF_UNAVAILABLE) return 0;
    if (op->type == OP_TYPE_INSPECT) return 1;
    return op->type == OP_TYPE_ACQUIRE && !(op->flags & HF_ACQUIRE_DETACHED)
           && !is_reentry(t, op);
}

/* What the store said, without the name in front. */
static const char *why_text(const struct errand *t)
{
    const char *text = t->why.text;
    size_t len = t->name->name_len;
    int is_named = strncmp(text, t->name->name, len) == 0
                   && strncmp(text + len, ": ", 2) == 0;
    return is_named ? text + len + 2 : text;
}

/* Neither the store nor this host. */
static int host_refused(struct errand *t, struct op *op, int status,
                        const struct hf_error *err)
{
    struct hf_error *out = &op->err;
    if (status == HF_NOMEM || status == HF_CLOSED)
        hf__error_set(out, status, "%s: %s", t->name->name,
                      hf_status_text(status));
    else
        hf__error_set(out, HF_UNAVAILABLE, "%.80s: %.80s; this host: %.80s",
                      t->name->name, why_text(t), err->text);
    op->status = out->status;
    return 0;
}

static struct lock_entry *entry_pin(hf_client *host,
                                    const struct lock_entry *name)
{
    hf__pump_lock(&host->pump);
    struct lock_entry *entry =
        hf__entry_get(&host->pump.engine, name->name, name->name_len);
    hf__pump_unlock(&host->pump);
    return entry;
}

/* The store could not be asked: 1 if this host is to be, and is entered. */
static int host_fall(struct errand *t, struct op *op)
{
    struct hf_error err;
    t->why = op->err;
    int status = hf__host_open(t->client, &t->host, &err);
    if (status != HF_OK) return host_refused(t, op, status, &err);
    struct lock_entry *entry = entry_pin(t->host, t->name);
    if (!entry) {
        hf__host_leave(t->client);
        t->host = NULL;
        return host_refused(t, op, HF_NOMEM, NULL);
    }
    t->is_fallen = 1;
    op->entry = entry;
    if (op->type == OP_TYPE_ACQUIRE)
        op->wait_us = t->deadline_us == TIME_NEVER
                          ? -1
                          : max64(0, t->deadline_us - hf__clock_us());
    op->err.status = HF_OK;
    op->err.node = -1;
    op->err.sys_errno = 0;
    op->err.text[0] = '\0';
    return 1;
}

/* The store is through with it: is it over? */
static int host_begin(struct errand *t, struct op *op)
{
    hf__store_heard(t->client);
    /* It queued behind an acquire that has gone there. */
    if (op->status == HF_NOT_OWNER) return host_route(t, op);
    return may_fall(t, op) ? host_fall(t, op) : 0;
}

/* This host is through with it: what it means to who asked the store. */
static void host_end(struct errand *t, struct op *op)
{
    entry_unpin(t->host, op->entry);
    op->entry = t->name;
    op->grant.guarantee = HF_GUARANTEE_LOCAL;
    op->grant.fence = 0;
    if (op->info) {
        op->info->guarantee = HF_GUARANTEE_LOCAL;
        op->info->fence = 0;
    }
    if (!t->is_fallen || op->type != OP_TYPE_ACQUIRE) return;
    if (op->status == HF_OK) {
        hf__host_granted(t->client, t->name->name, why_text(t));
        return;
    }
    if (op->status == HF_TAKEN && !t->is_one_try) op->status = HF_TIMEOUT;
    if (op->status == HF_TAKEN || op->status == HF_TIMEOUT)
        hf__error_set(&op->err, op->status, "%.90s: %s on this host: %.100s",
                      t->name->name, hf_status_text(op->status), why_text(t));
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
    }
    if (op->status != HF_OK && err) *err = op->err;
    return op->status;
}

/* ---- started ones ------------------------------------------------------- */

static void host_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    host_end(&s->errand, op);
    s->complete(op);
}

static void store_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_client *c = s->errand.client;
    if (!host_begin(&s->errand, op)) {
        s->complete(op);
        return;
    }
    op->complete = host_complete;
    /* From here on it may be over at any moment. */
    if (hf__pump_start(&s->errand.host->pump, op) != HF_OK) {
        op->status = HF_CLOSED;
        hf__error_set(&op->err, HF_CLOSED, "%s: %s", s->errand.name->name,
                      hf_status_text(HF_CLOSED));
        host_complete(op);
    }
    hf__host_leave(c);
}

static int started_go(struct started *s)
{
    struct errand *t = &s->errand;
    hf_client *c = t->client;
    if (!host_route(t, &s->op)) {
        s->op.complete = store_complete;
        return hf__pump_start(&c->pump, &s->op);
    }
    hf_client *host = t->host;
    struct lock_entry *entry = s->op.entry;
    s->op.complete = host_complete;
    int status = hf__pump_start(&host->pump, &s->op);
    if (status != HF_OK) entry_unpin(host, entry);
    hf__host_leave(c);
    return status;
}

int hf__fallback_start(hf_client *c, const struct op *op,
                       void (*complete)(struct op *), const hf_lock *lock,
                       void (*fn)(void), void *user, struct hf_error *err)
{
    size_t extra = op->type == OP_TYPE_INSPECT ? sizeof(struct hf_info) : 0;
    struct started *s = hf__alloc(&c->alloc, sizeof *s + extra);
    if (!s)
        return hf__error_set(err, HF_NOMEM, "%s: out of memory",
                             lock->entry->name);
    s->op = *op;
    if (extra) s->op.info = memset(s + 1, 0, extra);
    s->op.complete_data = (void *)lock;
    s->op.complete_fn = fn;
    s->op.complete_user = user;
    s->complete = complete;
    errand_begin(&s->errand, c, op);
    int status = started_go(s);
    if (status == HF_OK) return HF_OK;
    hf__free(&c->alloc, s);
    return hf__error_set(err, HF_CLOSED, "%s: %s", lock->entry->name,
                         hf_status_text(HF_CLOSED));
}
