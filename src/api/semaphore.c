/*
 * semaphore.c: semaphores: check and copy arguments, hand one operation to the
 * engine.
 *
 * The rule: each acquire is a holder of its own, and what it got is given back
 * as a whole, once.
 */
#include "api/semaphore.h"

#include <string.h>

#include "api/slots.h"
#include "api/tally.h"
#include "base/error.h"
#include "kind/kind.h"

/* ---- objects ------------------------------------------------------------- */

/* One lock for each permit? */
static int is_of_slots(const hf_client *c, const struct hf_semaphore_options *o)
{
    return !(o->flags & HF_SEMAPHORE_PLAIN)
           && !(c->pump.engine.caps & HF_CAP_PERMIT);
}

static int order_check(const hf_client *c, const char *name, enum lock_kind k,
                       const struct hf_semaphore_options *o,
                       struct hf_error *err)
{
    int order = o->order;
    if (order < 0 || order > HF_ORDER_WRITERS
        || !(hf__kind(k)->orders >> order & 1))
        return hf__error_set(err, HF_INVALID,
                             "%.150s: order %d: there is no such for %s", name,
                             order, hf__kind(k)->word);
    if (order != HF_ORDER_ANY
        && (is_of_slots(c, o) || !(c->pump.engine.caps & HF_CAP_QUEUE)))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "%.150s: in order: %.80s keeps no queue", name,
                             c->url);
    return HF_OK;
}

static int permits_check(const hf_client *c, const char *name,
                         const struct hf_semaphore_options *o,
                         struct hf_error *err)
{
    if (o->permits < 0 || o->permits > HF_SEMAPHORE_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%.150s: %lld permits: out of range: 1 to %d",
                             name, (long long)o->permits, HF_SEMAPHORE_MAX);
    if (!is_of_slots(c, o)) return HF_OK;
    if (o->permits == 0)
        return hf__error_set(err, HF_INVALID,
                             "%.100s: a semaphore: %.80s keeps no number of "
                             "permits: give it in options.permits",
                             name, c->url);
    if (o->permits > HF_SEMAPHORE_SLOTS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%.100s: %lld permits: out of range: 1 to %d on "
                             "%.80s, where each permit is a lock",
                             name, (long long)o->permits,
                             HF_SEMAPHORE_SLOTS_MAX, c->url);
    return HF_OK;
}

static int options_check(const hf_client *c, const char *name,
                         const struct hf_semaphore_options *o,
                         struct hf_error *err)
{
    if (!name || !name[0])
        return hf__error_set(err, HF_INVALID,
                             "semaphore name: empty: give it 1 to 512 bytes");
    const uint32_t known = HF_SEMAPHORE_PLAIN | HF_SEMAPHORE_OURS;
    if (o->flags & ~known)
        return hf__error_set(err, HF_INVALID, "%.150s: flags 0x%x: unknown",
                             name, o->flags & ~known);
    enum lock_kind kind =
        o->flags & HF_SEMAPHORE_PLAIN ? KIND_COUNT : KIND_PERMIT;
    int status = permits_check(c, name, o, err);
    if (status != HF_OK) return status;
    unsigned cap = hf__kind(kind)->cap;
    if ((c->pump.engine.caps & cap) == cap || is_of_slots(c, o))
        return order_check(c, name, kind, o, err);
    return hf__error_set(err, HF_UNSUPPORTED,
                         "%.100s: a plain counter: %.80s has no such", name,
                         c->url);
}

static hf_semaphore *semaphore_new(hf_client *client, int32_t slots,
                                   struct hf_error *err)
{
    hf_semaphore *sem = hf__alloc_zero(
        &client->alloc, sizeof *sem + (size_t)slots * sizeof *sem->slots);
    if (!sem)
        hf__error_set(err, HF_NOMEM, "semaphore: out of memory");
    else
        sem->client = client;
    return sem;
}

int hf_semaphore_open(hf_client *client, const char *name,
                      const struct hf_semaphore_options *options,
                      hf_semaphore **out, struct hf_error *err)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    int status = hf__client_check(client, err);
    if (status == HF_OK && options)
        status = hf__options_copy(&o, sizeof o, options, options->struct_size,
                                  "semaphore", err);
    if (status == HF_OK) status = options_check(client, name, &o, err);
    if (status != HF_OK) return status;
    int32_t slots = is_of_slots(client, &o) ? (int32_t)o.permits : 0;
    hf_semaphore *sem = semaphore_new(client, slots, err);
    if (!sem) return HF_NOMEM;
    sem->slots_len = slots;
    sem->permits = o.permits;
    sem->is_plain = (o.flags & HF_SEMAPHORE_PLAIN) != 0;
    if (slots)
        status = hf__slots_open(sem, name, err);
    else
        status = hf__lock_open(client, sem->is_plain ? KIND_COUNT : KIND_PERMIT,
                               o.order, name, strlen(name), &sem->lock, err);
    if (status == HF_OK && o.flags & HF_SEMAPHORE_OURS)
        sem->lock->tally_flags = REQ_OURS;
    if (status == HF_OK)
        *out = sem;
    else
        hf_semaphore_close(sem);
    return status;
}

void hf_semaphore_close(hf_semaphore *sem)
{
    if (!sem) return;
    hf_client *client = sem->client;
    if (client->pump.forked) return;
    if (sem->slots_len)
        hf__slots_close(sem);
    else
        hf_lock_close(sem->lock);
    hf__free(&client->alloc, sem);
}

hf_lock *hf_semaphore_lock(hf_semaphore *sem)
{
    return sem->lock;
}

hf_lock *hf_semaphore_permit_lock(hf_semaphore *sem,
                                  const struct hf_permit *permit)
{
    if (!sem->slots_len) return sem->lock;
    int is_there = permit->slot >= 1 && permit->slot <= sem->slots_len;
    return is_there ? sem->slots[permit->slot - 1] : NULL;
}

/* ---- acquire ------------------------------------------------------------- */

static void permit_fill(const hf_semaphore *sem, const struct op *op,
                        struct hf_permit *out)
{
    *out = (struct hf_permit){.holder = sem->is_plain ? 0 : op->grant.holder,
                              .fence = op->grant.fence,
                              .count = op->permits,
                              .valid_ms = sem->is_plain ? INT64_MAX
                                                        : op->grant.valid_ms};
}

/* The number it was opened with goes with each request: a store that has none
 * takes it in the same step, the first time as after a loss of its data. */
static int acquire_prepare(const hf_semaphore *sem, struct op *op,
                           const struct hf_acquire_options *options,
                           struct hf_error *err)
{
    int status =
        hf__acquire_prepare(op, sem->lock, options, hf_holder_new(), err);
    op->capacity = sem->permits;
    return status;
}

int hf_semaphore_acquire(hf_semaphore *sem,
                         const struct hf_acquire_options *options,
                         struct hf_permit *out, struct hf_error *err)
{
    struct op op;
    if (sem->slots_len) return hf__slots_acquire(sem, options, out, err);
    int status = acquire_prepare(sem, &op, options, err);
    if (status == HF_OK) status = hf__op_run(sem->client, &op, err);
    if (status == HF_OK) permit_fill(sem, &op, out);
    return status;
}

int hf_semaphore_try(hf_semaphore *sem, struct hf_permit *out,
                     struct hf_error *err)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = HF_ACQUIRE_TRY;
    return hf_semaphore_acquire(sem, &o, out, err);
}

/* An operation of which the user is told by its semaphore. */
struct started {
    struct op op; /* first */
    hf_semaphore *sem;
    struct hf_permit permit; /* RELEASE: which */
};

static void acquire_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_permit_fn fn = (hf_permit_fn)op->complete_fn;
    hf_client *c = s->sem->client;
    if (op->status == HF_OK) permit_fill(s->sem, op, &s->permit);
    if (fn)
        fn(s->sem, op->status, op->status == HF_OK ? &s->permit : NULL,
           &op->err, op->complete_user);
    hf__free(&c->alloc, s);
}

static void release_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_permit_fn fn = (hf_permit_fn)op->complete_fn;
    hf_client *c = s->sem->client;
    if (fn) fn(s->sem, op->status, &s->permit, &op->err, op->complete_user);
    hf__free(&c->alloc, s);
}

static int op_start(hf_semaphore *sem, const struct op *op,
                    const struct hf_permit *permit,
                    void (*complete)(struct op *), hf_permit_fn cb, void *user,
                    struct hf_error *err)
{
    hf_client *c = sem->client;
    struct started *s = hf__alloc_zero(&c->alloc, sizeof *s);
    if (!s)
        return hf__error_set(err, HF_NOMEM, "%s: out of memory",
                             sem->lock->entry->name);
    s->op = *op;
    s->sem = sem;
    if (permit) s->permit = *permit;
    s->op.complete = complete;
    s->op.complete_fn = (void (*)(void))cb;
    s->op.complete_user = user;
    if (hf__pump_start(&c->pump, &s->op) == HF_OK) return HF_OK;
    hf__free(&c->alloc, s);
    return hf__error_set(err, HF_CLOSED, "%s: %s", sem->lock->entry->name,
                         hf_status_text(HF_CLOSED));
}

int hf_semaphore_acquire_start(hf_semaphore *sem,
                               const struct hf_acquire_options *options,
                               hf_permit_fn cb, void *user,
                               struct hf_error *err)
{
    struct op op;
    int status =
        hf__told_check(sem->lock->entry->name, options, cb != NULL, err);
    if (status != HF_OK) return status;
    if (sem->slots_len)
        return hf__slots_acquire_start(sem, options, cb, user, err);
    status = acquire_prepare(sem, &op, options, err);
    if (status != HF_OK) return status;
    return op_start(sem, &op, NULL, acquire_complete, cb, user, err);
}

/* ---- release, extend ----------------------------------------------------- */

int hf__permit_unknown(const hf_semaphore *sem, const struct hf_permit *permit,
                       struct hf_error *err)
{
    return hf__error_set(err, HF_NOT_OWNER,
                         "%.150s: permit %llu: it is not out: released before, "
                         "or never acquired here",
                         sem->lock->entry->name,
                         (unsigned long long)permit->holder);
}

/* A plain counter knows no permits: so many more, and that is all. */
static int plain_check(const hf_semaphore *sem, const struct hf_permit *permit,
                       struct hf_error *err)
{
    if (permit->count >= 1 && permit->count <= HF_SEMAPHORE_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "%.150s: release of %lld permits: out of range: 1 to "
                         "%d",
                         sem->lock->entry->name, (long long)permit->count,
                         HF_SEMAPHORE_MAX);
}

int hf_semaphore_release(hf_semaphore *sem, const struct hf_permit *permit,
                         struct hf_error *err)
{
    int status = hf__client_check(sem->client, err);
    if (status != HF_OK) return status;
    if (sem->is_plain) {
        status = plain_check(sem, permit, err);
        if (status != HF_OK) return status;
        return hf_semaphore_add(sem, permit->count, 0, NULL, err);
    }
    if (sem->slots_len) return hf__slots_release(sem, permit, err);
    if (!permit->holder) return hf__permit_unknown(sem, permit, err);
    status = hf_lock_release_as(sem->lock, permit->holder, NULL, err);
    return status == HF_NOT_OWNER ? hf__permit_unknown(sem, permit, err)
                                  : status;
}

static void plain_released(const struct tally_end *end)
{
    hf_permit_fn fn = (hf_permit_fn)end->fn;
    struct hf_permit permit = {.count = end->job->number,
                               .valid_ms = INT64_MAX};
    if (fn) fn(end->object, end->status, &permit, end->err, end->user);
}

int hf_semaphore_release_start(hf_semaphore *sem,
                               const struct hf_permit *permit, hf_permit_fn cb,
                               void *user, struct hf_error *err)
{
    struct op op;
    int status = hf__client_check(sem->client, err);
    if (status == HF_OK && sem->is_plain)
        status = plain_check(sem, permit, err);
    if (status != HF_OK) return status;
    if (sem->is_plain) {
        struct tally_job job = {.what = TALLY_ADD, .number = permit->count};
        return hf__tally_start_as(sem->lock, &job, plain_released, sem,
                                  (void (*)(void))cb, user, err);
    }
    if (sem->slots_len)
        return hf__slots_release_start(sem, permit, cb, user, err);
    if (!permit->holder
        || hf_lock_state(sem->lock, permit->holder) == HF_STATE_NONE)
        return hf__permit_unknown(sem, permit, err);
    hf__op_init(&op, OP_TYPE_RELEASE, sem->lock, permit->holder);
    return op_start(sem, &op, permit, release_complete, cb, user, err);
}

int hf_semaphore_extend(hf_semaphore *sem, struct hf_permit *permit,
                        int64_t lease_ms, struct hf_error *err)
{
    struct hf_grant grant;
    if (sem->is_plain)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "%.150s: extend: what was taken from a plain "
                             "counter has no end",
                             sem->lock->entry->name);
    int status = hf__client_check(sem->client, err);
    if (status != HF_OK) return status;
    if (sem->slots_len) return hf__slots_extend(sem, permit, lease_ms, err);
    if (!permit->holder) return hf__permit_unknown(sem, permit, err);
    status = hf_lock_extend(sem->lock, permit->holder, lease_ms, &grant, err);
    if (status == HF_NOT_OWNER) return hf__permit_unknown(sem, permit, err);
    if (status == HF_OK) permit->valid_ms = grant.valid_ms;
    return status;
}

int64_t hf_semaphore_valid_ms(hf_semaphore *sem, const struct hf_permit *permit)
{
    if (sem->is_plain) return INT64_MAX;
    if (sem->slots_len) return hf__slots_valid_ms(sem, permit);
    return permit->holder ? hf_lock_valid_ms(sem->lock, permit->holder) : 0;
}
