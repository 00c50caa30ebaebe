/*
 * lock.c: the lock calls: check and copy arguments, hand one operation to the
 * engine.
 *
 * The rule: results go out only on success; a bad argument changes nothing.
 */
#include "holdfast/lock.h"

#include <string.h>

#include "api/client/client.h"
#include "api/hold/handle.h"
#include "api/client/object.h"
#include "api/lock/plan.h"
#include "base/error.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "holdfast/semaphore.h"
#include "kind/kind.h"
#include "sys/clock.h"

/* ---- operations --------------------------------------------------------- */

void hf__call_init(struct op *op, enum op_type type, const hf_lock *lock,
                   uint64_t holder)
{
    op->type = type;
    op->entry = lock ? lock->entry : NULL;
    op->holder = holder ? holder : hf_holder_self();
    op->fall = FALL_NEVER;
    op->named = NULL;
    op->why = NULL;
    op->falls = op->fell = op->joined = op->fell_trying = op->undo = 0;
    op->target = NULL;
    op->handle = op->hold = NULL;
    op->granted = NULL;
    op->grant = (struct grant){0};
    op->flags = 0;
    op->order = HF_ORDER_ANY;
    op->permits = 1;
    op->capacity = 0;
    op->wait_us = 0;
    op->tries_once = 0;
    op->lease_us = 0;
    op->lease_any = 0;
    memset(&op->plan, 0, sizeof op->plan);
    op->pattern = NULL;
    op->cursor = 0;
    op->only = 0;
    op->value = NULL;
    op->guard = NULL;
    op->tally = NULL;
    op->race = NULL;
    op->cancel = NULL;
    op->stop = NULL;
    op->look = NULL;
    op->info = NULL;
    op->was_locked = 0;
    op->on_row = NULL;
    op->complete = NULL;
    op->complete_data = NULL;
    op->err.status = HF_OK;
    op->err.node = -1;
    op->err.sys_errno = 0;
    op->err.text[0] = '\0';
    op->err.unasked = 0;
    memset(op->err.reserved, 0, sizeof op->err.reserved);
}

void hf__call_give(hf_client *c, struct op *op)
{
    hf_hold *handle = op->handle;
    if (!handle) return;
    op->handle = NULL;
    if (op->status != HF_OK) {
        hf__handle_cancel(handle, c);
        return;
    }
    struct grip g = {.client = c, .seat = op->granted};
    op->status = hf__handle_given(handle, c, &g, &op->hold, &op->err);
    op->granted = NULL;
}

int hf__call_wait(hf_client *c, struct op *op, struct hf_error *err)
{
    if (op->fall == FALL_NEVER) op->fall = FALL_IF_SILENT;
    hf__pump_call(&c->pump, op);
    hf__call_give(c, op);
    if (err && (op->status != HF_OK || op->err.text[0])) *err = op->err;
    return op->status;
}

int hf__call_start(hf_client *c, const struct op *op,
                   void (*complete)(struct op *), const hf_lock *lock,
                   void (*fn)(void), void *user, struct hf_error *err)
{
    size_t extra = op->type == OP_TYPE_INSPECT ? sizeof(struct look) : 0;
    struct op *copy = hf__alloc(&c->alloc, sizeof *copy + extra);
    if (!copy) return hf__error_set(err, HF_NOMEM, "out of memory");
    *copy = *op;
    copy->fall = FALL_IF_SILENT;
    if (extra) {
        copy->look = (struct look *)(copy + 1);
        copy->info = &copy->look->info;
    }
    copy->complete = complete;
    copy->complete_data = (void *)lock;
    copy->complete_fn = fn;
    copy->complete_user = user;
    if (hf__pump_start(&c->pump, copy) == HF_OK) return HF_OK;
    hf__free(&c->alloc, copy);
    return hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
}

/* ---- objects ------------------------------------------------------------ */

int hf__lock_open(hf_client *client, enum lock_kind kind, int order,
                  const char *name, size_t name_len, hf_lock **out,
                  struct hf_error *err)
{
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (name_len == 0)
        return hf__error_set(err, HF_INVALID,
                             "lock name: empty: give it 1 to "
                             "512 bytes");
    if (name_len > NAME_LEN_MAX)
        return hf__error_set(err, HF_INVALID,
                             "lock name: %zu bytes: at most %d are allowed",
                             name_len, NAME_LEN_MAX);
    if (memchr(name, '\0', name_len))
        return hf__error_set(err, HF_INVALID,
                             "lock name: holds a NUL byte: not allowed");
    hf_lock *lock = hf__alloc(&client->alloc, sizeof *lock);
    if (!lock) return hf__error_set(err, HF_NOMEM, "lock: out of memory");
    lock->client = client;
    lock->order = (uint8_t)order;
    lock->parties = 0;
    lock->is_ours = 0;
    hf__pump_lock(&client->pump);
    lock->entry = hf__entry_get(&client->pump.engine, kind, name, name_len);
    if (lock->entry) hf__object_link(client, &lock->object);
    hf__pump_unlock(&client->pump);
    if (!lock->entry) {
        hf__free(&client->alloc, lock);
        return hf__error_set(err, HF_NOMEM, "lock: out of memory");
    }
    *out = lock;
    return HF_OK;
}

int hf_lock_open_n(hf_client *client, const char *name, size_t name_len,
                   hf_lock **out, struct hf_error *err)
{
    return hf__lock_open(client, KIND_PLAIN, HF_ORDER_ANY, name, name_len, out,
                         err);
}

static int name_check(const char *name, struct hf_error *err)
{
    if (name) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "lock name: NULL: give it 1 to 512 bytes");
}

int hf_lock_open(hf_client *client, const char *name, hf_lock **out,
                 struct hf_error *err)
{
    if (name_check(name, err) != HF_OK) return HF_INVALID;
    return hf_lock_open_n(client, name, strlen(name), out, err);
}

/* Check that the kind exists, has this order, and that the store has both. */
static int kind_check(const hf_client *c, const struct hf_lock_options *o,
                      struct hf_error *err)
{
    unsigned caps = c->pump.engine.caps;
    if (o->kind < 0 || o->kind > HF_KIND_PERMIT)
        return hf__error_set(err, HF_INVALID, "kind %d: not an enum hf_kind",
                             o->kind);
    const struct kind *k = hf__kind((enum lock_kind)o->kind);
    if (o->order < 0 || o->order > HF_ORDER_WRITERS
        || !(k->orders >> o->order & 1))
        return hf__error_set(err, HF_INVALID, "order %d: not an order of %s",
                             o->order, k->word);
    if ((caps & k->cap) != k->cap)
        return hf__error_set(err, HF_UNSUPPORTED, "%s: %s has no such locks",
                             k->word, c->url);
    if (o->order != HF_ORDER_ANY && !(caps & HF_CAP_QUEUE))
        return hf__error_set(
            err, HF_UNSUPPORTED,
            "HF_ORDER_FAIR, HF_ORDER_WRITERS: %s keeps no queue", c->url);
    return HF_OK;
}

int hf_lock_open_as(hf_client *client, const char *name,
                    const struct hf_lock_options *options, hf_lock **out,
                    struct hf_error *err)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    int status = hf__client_check(client, err);
    if (status == HF_OK) status = name_check(name, err);
    if (status == HF_OK && options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
    if (status == HF_OK) status = kind_check(client, &o, err);
    if (status != HF_OK) return status;
    return hf__lock_open(client, (enum lock_kind)o.kind, o.order, name,
                         strlen(name), out, err);
}

int hf_lock_kind(const hf_lock *lock)
{
    return (int)lock->entry->kind;
}

void hf_lock_close(hf_lock *lock)
{
    if (!lock) return;
    hf_client *c = lock->client;
    if (c->pump.forked) return;
    hf__pump_lock(&c->pump);
    hf__object_unlink(&lock->object);
    hf__entry_unref(&c->pump.engine, lock->entry);
    hf__pump_unlock(&c->pump);
    hf__free(&c->alloc, lock);
}

const char *hf_lock_name(const hf_lock *lock)
{
    return lock->entry->name;
}

/* ---- acquire ------------------------------------------------------------ */

int hf__lease_check(int64_t lease_ms, struct hf_error *err)
{
    if (lease_ms == 0) return HF_OK;
    if (lease_ms >= HF_LEASE_MS_MIN && lease_ms <= HF_LEASE_MS_MAX)
        return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "lease of %lld ms: out of range: %d ms to 24 h",
                         (long long)lease_ms, HF_LEASE_MS_MIN);
}

static int flags_check(const hf_lock *lock, uint32_t flags,
                       struct hf_error *err)
{
    unsigned caps = lock->client->pump.engine.caps;
    uint32_t known = HF_ACQUIRE_FIXED | HF_ACQUIRE_DETACHED
                     | HF_ACQUIRE_NO_REENTRY | HF_ACQUIRE_UPGRADE
                     | HF_ACQUIRE_TRY;
    const struct kind *k = hf__kind(lock->entry->kind);
    if (flags & ~known)
        return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                             flags & ~known);
    if (flags & HF_ACQUIRE_UPGRADE && lock->entry->kind != KIND_WRITE)
        return hf__error_set(err, HF_INVALID, "upgrade: not for %s", k->word);
    if (flags & HF_ACQUIRE_DETACHED && !k->is_detachable)
        return hf__error_set(err, HF_UNSUPPORTED, "detached: not with %s",
                             k->word);
    if (flags & HF_ACQUIRE_DETACHED && !(caps & HF_CAP_DETACHED))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "detached: holds of %s end with their process",
                             lock->client->url);
    return HF_OK;
}

static int permits_check(const hf_lock *lock,
                         const struct hf_acquire_options *o,
                         struct hf_error *err)
{
    if (o->flags & HF_ACQUIRE_UPGRADE && !(o->flags & HF_ACQUIRE_TRY))
        return hf__error_set(err, HF_INVALID,
                             "upgrade: only as one try (HF_ACQUIRE_TRY): two "
                             "upgrades would wait for each other");
    enum lock_kind kind = lock->entry->kind;
    if (o->permits && kind != KIND_PERMIT && kind != KIND_COUNT)
        return hf__error_set(err, HF_INVALID, "permits: %s has none",
                             hf__kind(kind)->word);
    int most = kind == KIND_COUNT ? HF_SEMAPHORE_MAX : HF_PERMITS_MAX;
    if (o->permits < 0 || o->permits > most)
        return hf__error_set(err, HF_INVALID,
                             "%lld permits: out of range: 1 to %d",
                             (long long)o->permits, most);
    return HF_OK;
}

int hf__acquire_prepare(struct op *op, const hf_lock *lock,
                        const struct hf_acquire_options *given,
                        uint64_t default_holder, struct hf_error *err)
{
    struct hf_acquire_options own = HF_ACQUIRE_OPTIONS_INIT, *o = &own;
    struct hold_plan plan;
    int status = hf__client_check(lock->client, err);
    if (status == HF_OK && given)
        status = hf__options_copy(o, sizeof *o, given, given->struct_size, err);
    if (status != HF_OK) return status;
    int is_try = (o->flags & HF_ACQUIRE_TRY) != 0;
    status = hf__wait_check(o->wait_ms, is_try, err);
    if (status == HF_OK) status = hf__lease_check(o->lease_ms, err);
    if (status == HF_OK) status = flags_check(lock, o->flags, err);
    if (status == HF_OK) status = permits_check(lock, o, err);
    if (status != HF_OK) return status;
    int64_t lease_us = o->lease_ms ? o->lease_ms * US_PER_MS
                                   : lock->client->pump.engine.lease_us;
    status = hf__plan_make(&plan, o, lease_us, err);
    if (status != HF_OK) return status;
    hf__call_init(op, OP_TYPE_ACQUIRE, lock,
                  o->holder ? o->holder : default_holder);
    op->flags = o->flags;
    op->order = lock->order;
    op->permits = o->permits ? o->permits : 1;
    op->plan = plan;
    op->cancel = o->cancel;
    op->lease_us = lease_us;
    op->lease_any = !o->lease_ms && !lock->client->pump.engine.lease_given;
    if (!is_try) op->wait_us = o->wait_ms ? o->wait_ms * US_PER_MS : -1;
    return HF_OK;
}

int hf__call_reserve(const hf_lock *lock, struct op *op, struct hf_error *err)
{
    if (hf__handle_reserve(lock->client, &op->handle) == HF_OK) return HF_OK;
    return hf__error_set(err, HF_NOMEM, "out of memory");
}

int hf_lock_acquire(hf_lock *lock, const struct hf_acquire_options *options,
                    hf_hold **hold, struct hf_error *err)
{
    struct op op;
    int status = hf__acquire_prepare(&op, lock, options, hf_holder_self(), err);
    if (status == HF_OK && hold) status = hf__call_reserve(lock, &op, err);
    if (status != HF_OK) return status;
    status = hf__call_wait(lock->client, &op, err);
    if (status == HF_OK && hold) *hold = op.hold;
    return status;
}

int hf_lock_try(hf_lock *lock, hf_hold **hold, struct hf_error *err)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = HF_ACQUIRE_TRY;
    return hf_lock_acquire(lock, &o, hold, err);
}

static void acquire_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_acquired_fn fn = (hf_acquired_fn)op->complete_fn;
    hf__call_give(c, op);
    if (fn)
        fn(lock, op->status, op->status == HF_OK ? op->hold : NULL, &op->err,
           op->complete_user);
    hf__free(&c->alloc, op);
}

int hf__told_check(int is_told, struct hf_error *err)
{
    if (is_told) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "cb is NULL: what is granted could not be released");
}

int hf__out_check(hf_hold **out, struct hf_error *err)
{
    if (out) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "hold is NULL: what is granted could not be "
                         "released");
}

int hf_lock_acquire_start(hf_lock *lock,
                          const struct hf_acquire_options *options,
                          hf_acquired_fn cb, void *user, struct hf_error *err)
{
    struct op op;
    int status = hf__told_check(cb != NULL, err);
    if (status == HF_OK)
        status = hf__acquire_prepare(&op, lock, options, hf_holder_new(), err);
    if (status == HF_OK) status = hf__call_reserve(lock, &op, err);
    if (status != HF_OK) return status;
    status = hf__call_start(lock->client, &op, acquire_complete, lock,
                            (void (*)(void))cb, user, err);
    if (status != HF_OK && op.handle)
        hf__handle_cancel(op.handle, lock->client);
    return status;
}

/* ---- release ------------------------------------------------------------ */

int hf_lock_release(hf_lock *lock, int64_t *count, struct hf_error *err)
{
    struct op op;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    hf__call_init(&op, OP_TYPE_RELEASE, lock, 0);
    status = hf__call_wait(lock->client, &op, err);
    if (status == HF_OK && count) *count = op.released.count;
    return status;
}

/* The lock object may be closed by now. */
static void undo_complete(struct op *op)
{
    const hf_client *c = op->complete_user;
    hf__free(&c->alloc, op);
}

void hf__lock_undo(hf_lock *lock, uint64_t holder)
{
    struct op op;
    hf__call_init(&op, OP_TYPE_RELEASE, lock, holder);
    (void)hf__call_start(lock->client, &op, undo_complete, lock, NULL,
                         lock->client, NULL);
}

/* ---- by the local clock alone ------------------------------------------- */

static int64_t holder_valid_us(hf_lock *lock, uint64_t holder, int *state)
{
    struct pump *p = &lock->client->pump;
    int64_t now_us = hf__clock_us(), valid_us = 0;
    *state = HF_STATE_NONE;
    if (p->forked) return 0;
    hf__pump_lock(p);
    struct seat *s = hf__holder_seat(&p->engine, lock->entry,
                                     holder ? holder : hf_holder_self());
    if (s) {
        if (s->hold.state == HOLD_HELD && now_us >= s->hold.valid_us)
            hf__pump_end(p, s, now_us);
        *state = hf__hold_view(&s->hold, now_us);
        if (*state == HF_STATE_HELD || *state == HF_STATE_AT_RISK)
            valid_us = s->hold.valid_us;
    }
    hf__pump_unlock(p);
    return valid_us == TIME_NEVER ? TIME_NEVER : valid_us - now_us;
}

int hf__lock_state(hf_lock *lock, uint64_t holder)
{
    int state;
    (void)holder_valid_us(lock, holder, &state);
    return state;
}

int64_t hf__lock_valid_ms(hf_lock *lock, uint64_t holder)
{
    int state;
    int64_t us = holder_valid_us(lock, holder, &state);
    if (state != HF_STATE_HELD && state != HF_STATE_AT_RISK) return 0;
    return us == TIME_NEVER ? INT64_MAX : us / US_PER_MS;
}
