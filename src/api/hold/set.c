/*
 * hold/set.c: several holds behind one handle.
 *
 * The rule: an operation that fails for one part is carried out on the others
 * all the same.
 */
#include "api/hold/set.h"

#include <stdatomic.h>
#include <stdio.h>

#include "api/client/client.h"
#include "api/hold/hold.h"
#include "base/error.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"

/* ---- making -------------------------------------------------------------- */

struct hold_set *hf__set_reserve(hf_client *c, size_t len)
{
    struct hold_set *set =
        hf__alloc_zero(&c->alloc, sizeof *set + len * sizeof set->parts[0]);
    if (!set) return NULL;
    set->alloc = c->alloc;
    set->len = len;
    int status = len > 1 ? hf__handle_reserve(c, &set->own) : HF_OK;
    for (size_t i = 0; i < len && status == HF_OK; i++)
        status = hf__handle_reserve(c, &set->parts[i]);
    if (status == HF_OK) return set;
    hf__set_cancel(set, c);
    return NULL;
}

void hf__set_cancel(struct hold_set *set, hf_client *c)
{
    struct allocator a = set->alloc;
    if (set->own) hf__handle_cancel(set->own, c);
    for (size_t i = 0; i < set->len; i++)
        if (set->parts[i]) hf__handle_cancel(set->parts[i], c);
    hf__free(&a, set);
}

/* Release the parts that are still held: parts of other clients, if the set is
 * freed because its own client is closed. */
void hf__set_free(struct hold_set *set)
{
    struct allocator a = set->alloc;
    for (size_t i = 0; i < set->len; i++)
        if (set->parts[i])
            (void)hf_hold_release_start(set->parts[i], NULL, NULL, NULL);
    hf__free(&a, set);
}

/* ---- claiming ------------------------------------------------------------ */

int hf__set_claim_one(hf_hold *handle, hf_client *c, hf_lock *lock,
                      uint64_t holder, hf_hold **out, struct hf_error *err)
{
    struct pump *p = &lock->client->pump;
    hf__pump_lock(p);
    struct seat *s = hf__holder_seat(&p->engine, lock->entry, holder);
    if (s) s->pins++;
    /* Without a hold: either closing the client has released it, or its lease
     * has ended. */
    int status = p->engine.closing ? HF_CLOSED : HF_EXPIRED;
    hf__pump_unlock(p);
    struct grip g = {.client = lock->client, .seat = s};
    if (s) {
        status = hf__handle_given(handle, c, &g, out, err);
    } else {
        hf__handle_cancel(handle, c);
        hf__error_set(err, status, "%s", hf_status_text(status));
    }
    return status;
}

/* Give each part its handle; if one cannot have it, the others are released. */
static int parts_claim(struct hold_set *set, hf_client *c,
                       hf_lock *const *locks, uint64_t holder,
                       struct hf_error *err)
{
    int first = HF_OK;
    for (size_t i = 0; i < set->len; i++) {
        struct hf_error own;
        hf_hold *handle = set->parts[i];
        set->parts[i] = NULL;
        int status = hf__set_claim_one(handle, c, locks[i], holder,
                                       &set->parts[i], &own);
        if (status == HF_OK || first != HF_OK) continue;
        first = status;
        if (set->len > 1) hf__error_about(&own, locks[i]->entry->name);
        if (err) *err = own;
    }
    return first;
}

static int set_fill(struct hold_set *set, hf_client *c, hf_hold **out,
                    struct hf_error *err)
{
    struct grip g = {.client = c, .set = set};
    hf_hold *own = set->own;
    if (hf__handle_fill(own, c, &g) != HF_OK)
        return hf__error_set(err, HF_CLOSED, "set of locks: %s",
                             hf_status_text(HF_CLOSED));
    *out = own;
    return HF_OK;
}

int hf__set_claim(struct hold_set *set, hf_client *c, hf_lock *const *locks,
                  uint64_t holder, hf_hold **out, struct hf_error *err)
{
    hf_hold *own = set->own;
    int status = parts_claim(set, c, locks, holder, err);
    if (status == HF_OK && own) {
        status = set_fill(set, c, out, err);
        if (status == HF_OK) return HF_OK; /* the set may be gone by now */
    } else if (status == HF_OK) {
        *out = set->parts[0];
        set->parts[0] = NULL;
    }
    hf__set_free(set);
    if (own) hf__handle_cancel(own, c);
    return status;
}

/* A part cannot be taken in hand any more. */
static int gone_set(struct hf_error *err)
{
    return hf__error_set(err, HF_INVALID,
                         "hold: one of its parts was released before, or its "
                         "client was closed");
}

/* ---- for a caller that waits --------------------------------------------- */

/* An operation on every part that could be taken in hand. */
struct set_run {
    size_t len;
    struct grip grips[HOLD_SET_MAX];
    struct op ops[];
};

static void run_take(struct set_run *r, struct hold_set *set, enum op_type type,
                     int64_t lease_us)
{
    for (size_t i = 0; i < set->len; i++) {
        struct grip *g = &r->grips[r->len];
        int is_release = type == OP_TYPE_RELEASE;
        if (hf__handle_take(set->parts[i], g, is_release) != 0) continue;
        hf__grip_op(&r->ops[r->len], type, g);
        r->ops[r->len++].lease_us = lease_us;
    }
}

/* The operations of one client: that of the first part that is not yet `done`.
 * Returns their number. */
static size_t run_next(const struct set_run *r, char *done, struct op **out,
                       struct op *ops)
{
    size_t n = 0;
    const hf_client *client = NULL;
    for (size_t i = 0; i < r->len; i++) {
        if (done[i] || (client && r->grips[i].client != client)) continue;
        client = r->grips[i].client;
        done[i] = 1;
        out[n++] = &ops[i];
    }
    return n;
}

static struct pump *pump_of(const struct set_run *r, const struct op *op)
{
    return &r->grips[op - r->ops].client->pump;
}

static void run_all(struct set_run *r)
{
    struct op *batch[HOLD_SET_MAX];
    char done[HOLD_SET_MAX] = {0};
    size_t n;
    while ((n = run_next(r, done, batch, r->ops)) > 0)
        hf__pump_enter_all(pump_of(r, batch[0]), batch, n, n == r->len);
    for (size_t i = 0; i < r->len; i++) done[i] = 0;
    while ((n = run_next(r, done, batch, r->ops)) > 0)
        hf__pump_wait_all(pump_of(r, batch[0]), batch, n);
}

static int run_result(struct set_run *r, const struct hold_set *set,
                      struct hf_error *err)
{
    int first = HF_OK;
    for (size_t i = 0; i < r->len; i++) {
        const struct op *op = &r->ops[i];
        if (op->status != HF_OK && first == HF_OK) {
            first = op->status;
            if (err) *err = op->err;
            hf__error_about(err, op->entry->name);
        }
        hf__handle_drop(&r->grips[i]);
    }
    if (first == HF_OK && r->len < set->len) first = gone_set(err);
    return first;
}

/* There is no memory to run all at once: run one after the other. */
static int run_singly(struct hold_set *set, enum op_type type, int64_t lease_ms,
                      struct hf_error *err)
{
    int first = HF_OK;
    for (size_t i = 0; i < set->len; i++) {
        struct hf_error own;
        char name[NAME_LEN_MAX + 1];
        snprintf(name, sizeof name, "%s", hf_hold_name(set->parts[i]));
        int status = type == OP_TYPE_RELEASE
                         ? hf_hold_release(set->parts[i], &own)
                         : hf_hold_extend(set->parts[i], lease_ms, &own);
        if (status == HF_OK || first != HF_OK) continue;
        first = status;
        hf__error_about(&own, name);
        if (err) *err = own;
    }
    return first;
}

int hf__set_run(struct hold_set *set, enum op_type type, int64_t lease_ms,
                struct hf_error *err)
{
    struct set_run *r =
        hf__alloc(&set->alloc, sizeof *r + set->len * sizeof r->ops[0]);
    if (!r) return run_singly(set, type, lease_ms, err);
    struct allocator a = set->alloc;
    r->len = 0;
    run_take(r, set, type, lease_ms * US_PER_MS);
    run_all(r);
    int status = run_result(r, set, err);
    hf__free(&a, r);
    return status;
}

/* ---- started ------------------------------------------------------------- */

/* One operation on all parts, of which the user is told once. */
struct set_call {
    struct allocator alloc;
    hf_hold *hold;
    hf_hold_fn fn;
    void *user;
    atomic_size_t left;
    atomic_flag has_failed;
    int status; /* of the first that failed */
    struct hf_error err;
};

static void call_note(struct set_call *c, int status,
                      const struct hf_error *err)
{
    if (status == HF_OK || atomic_flag_test_and_set(&c->has_failed)) return;
    c->status = status;
    c->err = *err;
}

static void call_free(struct set_call *c)
{
    struct allocator a = c->alloc;
    hf__free(&a, c);
}

static void part_over(struct set_call *c)
{
    if (atomic_fetch_sub(&c->left, 1) != 1) return;
    if (c->fn) c->fn(c->hold, c->status, &c->err, c->user);
    call_free(c);
}

static void part_done(hf_hold *part, int status, const struct hf_error *err,
                      void *user)
{
    (void)part;
    call_note(user, status, err);
    part_over(user);
}

/* A part that is in hand, so that its client is not freed meanwhile, and what
 * is needed to start the operation on it. */
struct part {
    struct grip grip;
    struct started *start;
};

static void part_drop(struct part *p)
{
    if (p->start) hf__started_free(p->start);
    hf__handle_drop(&p->grip);
}

/* Take the parts that still exist in hand, and allocate their operations, so
 * that starting them cannot fail halfway.  Their number, or -1 if there is no
 * memory. */
static int parts_prepare(struct set_call *c, const struct hold_set *set,
                         enum op_type type, int64_t lease_ms, struct part *out)
{
    int n = 0;
    for (size_t i = 0; i < set->len; i++) {
        struct part *p = &out[n];
        if (hf__handle_take(set->parts[i], &p->grip, 0) != 0) continue;
        p->start =
            hf__started_new(type, &p->grip, lease_ms, part_done, c, NULL);
        n++;
        if (p->start) {
            hf__started_as_part(p->start);
            continue;
        }
        while (n > 0) part_drop(&out[--n]);
        return -1;
    }
    return n;
}

/* Take the parts for the last time, so that no other call can.  Returns how
 * many were not released meanwhile. */
static int parts_take(struct part *parts, int len)
{
    int n = 0;
    for (int i = 0; i < len; i++) {
        struct part p = parts[i];
        struct grip last;
        if (hf__handle_take(p.grip.handle, &last, 1) != 0) {
            part_drop(&p); /* released since */
            continue;
        }
        hf__handle_drop(&p.grip);
        p.grip = last;
        parts[n++] = p;
    }
    return n;
}

/* One client that is not being closed is enough: what is begun on the others
 * ends with HF_CLOSED, told by the thread that pumps them. */
static int has_open(const struct part *parts, size_t len)
{
    int is_open = 0;
    for (size_t i = 0; i < len && !is_open; i++) {
        struct pump *p = &parts[i].grip.client->pump;
        hf__pump_lock(p);
        is_open = !p->engine.closing;
        hf__pump_unlock(p);
    }
    return is_open;
}

/* Start the operations.  HF_OK: the last of them completes `c`, after this has
 * returned.  Otherwise none was started, and `c` is freed. */
static int parts_go(struct set_call *c, struct part *parts, size_t len,
                    struct hf_error *err)
{
    if (!has_open(parts, len)) {
        call_free(c);
        return hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    }
    atomic_store(&c->left, len);
    for (size_t i = 0; i < len; i++) {
        struct started *s = parts[i].start;
        parts[i].start = NULL;
        hf__started_go_anyway(s);
    }
    return HF_OK;
}

static struct set_call *call_new(const struct grip *g, hf_hold_fn fn,
                                 void *user)
{
    struct set_call *c = hf__alloc_zero(&g->set->alloc, sizeof *c);
    if (!c) return NULL;
    c->alloc = g->set->alloc;
    c->hold = g->handle;
    c->fn = fn;
    c->user = user;
    atomic_init(&c->left, 0);
    atomic_flag_clear(&c->has_failed);
    return c;
}

/* `n` parts are in hand, and so is the set, for the last time if it is being
 * released; `c` is taken. */
static int set_go(const struct grip *g, struct set_call *c, struct part *parts,
                  int n, struct hf_error *err)
{
    struct hf_error gone = {0};
    if ((size_t)n < g->set->len) call_note(c, gone_set(&gone), &gone);
    if (n > 0) return parts_go(c, parts, (size_t)n, err);
    call_free(c);
    return gone_set(err);
}

/* Start the operation on all parts; `c` is taken, and `parts` has room for all.
 */
static int set_start(const struct grip *g, struct set_call *c,
                     struct part *parts, int64_t lease_ms, int is_release,
                     struct hf_error *err)
{
    struct grip last = {0};
    enum op_type type = is_release ? OP_TYPE_RELEASE : OP_TYPE_EXTEND;
    int n = parts_prepare(c, g->set, type, lease_ms, parts);
    int is_gone =
        n >= 0 && is_release && hf__handle_take(g->handle, &last, 1) != 0;
    int status = HF_NOMEM;
    if (n < 0 || is_gone) {
        call_free(c);
        if (is_gone)
            status = hf__error_set(err, HF_INVALID, "hold: released before");
    } else {
        if (is_release) n = parts_take(parts, n);
        status = set_go(g, c, parts, n, err);
    }
    for (int i = 0; i < n; i++) part_drop(&parts[i]);
    if (last.handle) hf__handle_drop(&last);
    return status;
}

int hf__set_start(const struct grip *g, int64_t lease_ms, int is_release,
                  hf_hold_fn fn, void *user, struct hf_error *err)
{
    struct allocator a = g->set->alloc;
    int status = hf__lease_check(lease_ms, err);
    if (status != HF_OK) return status;
    struct part *parts = hf__alloc(&a, g->set->len * sizeof *parts);
    struct set_call *c = parts ? call_new(g, fn, user) : NULL;
    status = c ? set_start(g, c, parts, lease_ms, is_release, err) : HF_NOMEM;
    hf__free(&a, parts);
    if (status != HF_NOMEM) return status;
    return hf__error_set(err, HF_NOMEM, "set of locks: out of memory");
}
