/*
 * lock.c: lock objects: opened, closed, released, and what the local clock says
 * of them.
 *
 * The rule: results go out only on success; a bad argument changes nothing.
 */
#include "holdfast/lock.h"

#include <string.h>

#include "api/client/client.h"
#include "api/client/object.h"
#include "base/error.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "kind/kind.h"
#include "sys/clock.h"

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
