/*
 * semaphore.c: semaphores: check and copy arguments, hand one operation to the
 * engine.
 *
 * The rule: each acquire is a holder of its own, and what it got is given back
 * as a whole, once.
 */
#include "api/semaphore/semaphore.h"

#include <string.h>

#include "api/hold/handle.h"
#include "api/client/object.h"
#include "api/semaphore/slots.h"
#include "api/gate/tally.h"
#include "base/error.h"
#include "kind/kind.h"

/* ---- objects ------------------------------------------------------------- */

/* 1 if each permit is a lock of its own. */
static int is_of_slots(const hf_client *c, const struct hf_semaphore_options *o)
{
    return !(o->flags & HF_SEMAPHORE_PLAIN)
           && !(c->pump.engine.caps & HF_CAP_PERMIT);
}

static int order_check(const hf_client *c, enum lock_kind k,
                       const struct hf_semaphore_options *o,
                       struct hf_error *err)
{
    int order = o->order;
    if (order < 0 || order > HF_ORDER_WRITERS
        || !(hf__kind(k)->orders >> order & 1))
        return hf__error_set(err, HF_INVALID, "order %d: not an order of %s",
                             order, hf__kind(k)->word);
    if (order != HF_ORDER_ANY
        && (is_of_slots(c, o) || !(c->pump.engine.caps & HF_CAP_QUEUE)))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "HF_ORDER_FAIR: %.80s keeps no queue", c->url);
    return HF_OK;
}

static int permits_check(const hf_client *c,
                         const struct hf_semaphore_options *o,
                         struct hf_error *err)
{
    if (o->permits < 0 || o->permits > HF_SEMAPHORE_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%lld permits: out of range: 1 to %d",
                             (long long)o->permits, HF_SEMAPHORE_MAX);
    if (!is_of_slots(c, o)) return HF_OK;
    if (o->permits == 0)
        return hf__error_set(err, HF_INVALID,
                             "a semaphore: %.80s keeps no number of permits: "
                             "give it in options.permits",
                             c->url);
    if (o->permits > HF_SEMAPHORE_SLOTS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%lld permits: out of range: 1 to %d on %.80s, "
                             "where each permit is a lock",
                             (long long)o->permits, HF_SEMAPHORE_SLOTS_MAX,
                             c->url);
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
        return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                             o->flags & ~known);
    enum lock_kind kind =
        o->flags & HF_SEMAPHORE_PLAIN ? KIND_COUNT : KIND_PERMIT;
    int status = permits_check(c, o, err);
    if (status != HF_OK) return status;
    unsigned cap = hf__kind(kind)->cap;
    if ((c->pump.engine.caps & cap) == cap || is_of_slots(c, o))
        return order_check(c, kind, o, err);
    return hf__error_set(err, HF_UNSUPPORTED,
                         "a plain counter: %.80s has no plain counters",
                         c->url);
}

static hf_semaphore *semaphore_new(hf_client *client, int32_t slots,
                                   struct hf_error *err)
{
    hf_semaphore *sem = hf__alloc_zero(
        &client->alloc, sizeof *sem + (size_t)slots * sizeof *sem->slots);
    if (!sem) {
        hf__error_set(err, HF_NOMEM, "semaphore: out of memory");
        return NULL;
    }
    sem->client = client;
    hf__object_add(client, &sem->object);
    return sem;
}

int hf_semaphore_open(hf_client *client, const char *name,
                      const struct hf_semaphore_options *options,
                      hf_semaphore **out, struct hf_error *err)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    int status = hf__client_check(client, err);
    if (status == HF_OK && options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
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
    if (status == HF_OK && o.flags & HF_SEMAPHORE_OURS) sem->lock->is_ours = 1;
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
    hf__object_remove(client, &sem->object);
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

/* ---- acquire ------------------------------------------------------------- */

/* Each request carries the number of permits that the semaphore was opened
 * with: a store that has no number uses it, for a new semaphore as after a loss
 * of its data. */
static int acquire_prepare(const hf_semaphore *sem, struct op *op,
                           const struct hf_acquire_options *options,
                           struct hf_error *err)
{
    int status =
        hf__acquire_prepare(op, sem->lock, options, hf_holder_new(), err);
    if (status != HF_OK) return status;
    op->capacity = sem->permits;
    return sem->is_plain ? HF_OK : hf__call_reserve(sem->lock, op, err);
}

int hf_semaphore_acquire(hf_semaphore *sem,
                         const struct hf_acquire_options *options,
                         hf_hold **hold, struct hf_error *err)
{
    struct op op;
    hf_hold *none;
    int status = HF_OK;
    if (sem->is_plain && !hold) hold = &none;
    status = hf__out_check(hold, err);
    if (status != HF_OK) return status;
    if (sem->slots_len) return hf__slots_acquire(sem, options, hold, err);
    status = acquire_prepare(sem, &op, options, err);
    if (status == HF_OK) status = hf__call_wait(sem->client, &op, err);
    if (status == HF_OK) *hold = op.hold;
    return status;
}

int hf_semaphore_try(hf_semaphore *sem, hf_hold **hold, struct hf_error *err)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = HF_ACQUIRE_TRY;
    return hf_semaphore_acquire(sem, &o, hold, err);
}

/* A started operation; its callback is given the semaphore. */
struct started {
    struct op op; /* first */
    hf_semaphore *sem;
};

static void acquire_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_semaphore_acquired_fn fn = (hf_semaphore_acquired_fn)op->complete_fn;
    hf_client *c = s->sem->client;
    hf__call_give(c, op);
    fn(s->sem, op->status, op->hold, &op->err, op->complete_user);
    hf__free(&c->alloc, s);
}

int hf__semaphore_start(hf_semaphore *sem, const struct op *op,
                        hf_semaphore_acquired_fn cb, void *user,
                        struct hf_error *err)
{
    hf_client *c = sem->client;
    struct started *s = hf__alloc_zero(&c->alloc, sizeof *s);
    if (!s) return hf__error_set(err, HF_NOMEM, "out of memory");
    s->op = *op;
    s->sem = sem;
    s->op.complete = acquire_complete;
    s->op.complete_fn = (void (*)(void))cb;
    s->op.complete_user = user;
    if (hf__pump_start(&c->pump, &s->op) == HF_OK) return HF_OK;
    hf__free(&c->alloc, s);
    return hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
}

int hf_semaphore_acquire_start(hf_semaphore *sem,
                               const struct hf_acquire_options *options,
                               hf_semaphore_acquired_fn cb, void *user,
                               struct hf_error *err)
{
    struct op op;
    int status = hf__told_check(cb != NULL, err);
    if (status != HF_OK) return status;
    if (sem->slots_len)
        return hf__slots_acquire_start(sem, options, cb, user, err);
    status = acquire_prepare(sem, &op, options, err);
    if (status != HF_OK) return status;
    status = hf__semaphore_start(sem, &op, cb, user, err);
    if (status != HF_OK && op.handle) hf__handle_cancel(op.handle, sem->client);
    return status;
}
