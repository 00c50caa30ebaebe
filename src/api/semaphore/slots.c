/*
 * slots.c: semaphores of one lock per permit: the calls.
 *
 * The rule: each acquire has a holder id of its own, and its permits are the
 * slots that this holder holds; nothing else is remembered.
 */
#include "api/semaphore/slots.h"

#include <stdio.h>
#include <string.h>

#include "api/hold/set.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"
#include "sys/random.h"

/* ---- objects ------------------------------------------------------------- */

static int slot_open(hf_semaphore *sem, const char *name, const char *which,
                     hf_lock **out, struct hf_error *err)
{
    char text[NAME_LEN_MAX + 1];
    int len = snprintf(text, sizeof text, "%s#%s", name, which);
    if (len < 0 || (size_t)len >= sizeof text)
        return hf__error_set(err, HF_INVALID,
                             "semaphore name: %zu bytes: with #%s behind it, "
                             "at most %d are allowed",
                             strlen(name), which, NAME_LEN_MAX);
    return hf__lock_open(sem->client, KIND_PLAIN, HF_ORDER_ANY, text,
                         (size_t)len, out, err);
}

int hf__slots_open(hf_semaphore *sem, const char *name, struct hf_error *err)
{
    int status = slot_open(sem, name, "gate", &sem->collector, err);
    for (int32_t i = 0; i < sem->slots_len && status == HF_OK; i++) {
        char number[12];
        snprintf(number, sizeof number, "%d", i + 1);
        status = slot_open(sem, name, number, &sem->slots[i], err);
    }
    sem->lock = sem->slots[0];
    return status;
}

void hf__slots_close(hf_semaphore *sem)
{
    hf_lock_close(sem->collector);
    for (int32_t i = 0; i < sem->slots_len; i++) hf_lock_close(sem->slots[i]);
}

/* ---- acquire ------------------------------------------------------------- */

static struct slots_call *call_new(hf_semaphore *sem)
{
    size_t len = (size_t)sem->slots_len;
    struct slots_call *c = hf__alloc_zero(
        &sem->client->alloc, sizeof *c + len * sizeof(struct slots_part));
    if (!c) return NULL;
    c->seq.step = hf__slots_step;
    c->sem = sem;
    c->len = len;
    c->collector.lock = sem->collector;
    for (size_t i = 0; i < len; i++) c->parts[i].lock = sem->slots[i];
    uint64_t random = 0;
    if (hf__random_bytes(&random, sizeof random) != 0)
        random = (uint64_t)hf__clock_us();
    c->from = (size_t)(random % len);
    return c;
}

static int permits_check(const hf_semaphore *sem, int64_t permits,
                         struct hf_error *err)
{
    if (permits >= 0 && permits <= sem->slots_len) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "%lld permits wanted: there are only %d",
                         (long long)permits, sem->slots_len);
}

static int is_slot_of(hf_semaphore *sem, uint64_t holder, int32_t i)
{
    return holder && hf__lock_state(sem->slots[i], holder) != HF_STATE_NONE;
}

/* A holder that has slots already would re-enter one of them and count it
 * twice, and the permits of its two acquires could not be told apart. */
static int holder_check(hf_semaphore *sem, uint64_t holder,
                        struct hf_error *err)
{
    for (int32_t i = 0; i < sem->slots_len; i++)
        if (is_slot_of(sem, holder, i))
            return hf__error_set(err, HF_INVALID,
                                 "this holder has permits already: use "
                                 "another holder");
    return HF_OK;
}

/* A call with its options checked, and its first batch not yet asked; NULL:
 * `*status` says why. */
static struct slots_call *acquire_new(hf_semaphore *sem,
                                      const struct hf_acquire_options *given,
                                      int *status, struct hf_error *err)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    struct op op;
    *status = hf__client_check(sem->client, err);
    if (*status == HF_OK && given)
        *status =
            hf__options_copy(&o, sizeof o, given, given->struct_size, err);
    o.struct_size = sizeof o;
    int64_t permits = o.permits;
    if (*status == HF_OK) *status = permits_check(sem, permits, err);
    if (*status == HF_OK) *status = holder_check(sem, o.holder, err);
    if (*status == HF_OK && o.flags & HF_ACQUIRE_DETACHED)
        *status =
            hf__error_set(err, HF_UNSUPPORTED, "detached: " NOT_WITH_SLOTS);
    o.permits = 0;
    if (*status == HF_OK)
        *status = hf__acquire_prepare(&op, sem->lock, &o, 0, err);
    if (*status != HF_OK) return NULL;
    int64_t want = permits ? permits : 1;
    struct slots_call *c = call_new(sem);
    if (c) c->set = hf__set_reserve(sem->client, (size_t)want);
    if (!c || !c->set) {
        hf__free(&sem->client->alloc, c);
        *status = hf__error_set(err, HF_NOMEM, "out of memory");
        return NULL;
    }
    c->options = o;
    c->holder = o.holder ? o.holder : hf_holder_new();
    c->want = want;
    c->deadline_us = op.wait_us > 0 ? hf__clock_us() + op.wait_us : TIME_NEVER;
    return c;
}

int hf__slots_acquire(hf_semaphore *sem, const struct hf_acquire_options *given,
                      hf_hold **hold, struct hf_error *err)
{
    int status;
    struct slots_call *c = acquire_new(sem, given, &status, err);
    if (!c) return status;
    hf__call_enter(sem->client);
    hf__sequence_run(&c->seq, NULL);
    hf__slots_give(c);
    status = c->seq.status;
    if (status == HF_OK) *hold = c->hold;
    if (status != HF_OK && err) *err = c->seq.err;
    hf__free(&sem->client->alloc, c);
    hf__call_leave(sem->client);
    return status;
}

static void call_over(struct sequence *s)
{
    struct slots_call *c = (struct slots_call *)s;
    hf_client *client = c->sem->client;
    hf__slots_give(c);
    c->fn(c->sem, s->status, c->hold, &s->err, c->user);
    hf__free(&client->alloc, c);
}

int hf__slots_acquire_start(hf_semaphore *sem,
                            const struct hf_acquire_options *given,
                            hf_semaphore_acquired_fn cb, void *user,
                            struct hf_error *err)
{
    int status;
    struct slots_call *c = acquire_new(sem, given, &status, err);
    if (!c) return status;
    c->seq.over = call_over;
    c->fn = cb;
    c->user = user;
    status = hf__sequence_start(&c->seq, sem->client, err);
    if (status != HF_OK) {
        hf__set_cancel(c->set, sem->client);
        hf__free(&sem->client->alloc, c);
    }
    return status;
}

/* ---- looking ------------------------------------------------------------- */

static struct hf_semaphore_state state_of(const hf_semaphore *sem,
                                          int64_t taken)
{
    return (struct hf_semaphore_state){.struct_size =
                                           sizeof(struct hf_semaphore_state),
                                       .is_set = 1,
                                       .is_done = 1,
                                       .available = sem->slots_len - taken,
                                       .capacity = sem->slots_len,
                                       .taken = taken};
}

/* A slot is a plain lock, but has no fallback to this host. */
static int slot_check(const struct hf_info *info, struct hf_error *err)
{
    if (info->guarantee == HF_GUARANTEE_STORE) return HF_OK;
    return hf__error_set(err, HF_UNAVAILABLE,
                         "the store does not answer, and permits are not kept "
                         "on this host");
}

int hf__slots_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                    struct hf_error *err)
{
    int status = HF_OK;
    int64_t taken = 0;
    hf__call_enter(sem->client);
    for (int32_t i = 0; i < sem->slots_len && status == HF_OK; i++) {
        struct hf_info info = HF_INFO_INIT;
        status = hf_lock_inspect(sem->slots[i], &info, err);
        if (status == HF_OK) status = slot_check(&info, err);
        taken += info.locked;
    }
    hf__call_leave(sem->client);
    if (status == HF_OK) *out = state_of(sem, taken);
    return status;
}

/* ---- the same, started --------------------------------------------------- */

/* One slot is asked about after the other. */
struct slots_look {
    hf_semaphore *sem;
    int32_t at; /* the slot that is being asked about */
    int64_t taken;
    hf_semaphore_fn fn;
    void *user;
};

static void look_told(hf_lock *lock, int status, const struct hf_info *info,
                      const struct hf_error *err, void *user)
{
    struct slots_look *l = user;
    hf_semaphore *sem = l->sem;
    hf_client *client = sem->client;
    struct hf_error why = *err;
    (void)lock;
    if (status == HF_OK) status = slot_check(info, &why);
    if (status == HF_OK) l->taken += info->locked;
    if (status == HF_OK && ++l->at < sem->slots_len) {
        status = hf_lock_inspect_start(sem->slots[l->at], look_told, l, &why);
        if (status == HF_OK) return;
    }
    struct hf_semaphore_state state = state_of(sem, l->taken);
    if (l->fn)
        l->fn(sem, status, status == HF_OK ? &state : NULL, &why, l->user);
    hf__free(&client->alloc, l);
}

int hf__slots_state_start(hf_semaphore *sem, hf_semaphore_fn cb, void *user,
                          struct hf_error *err)
{
    struct slots_look *l = hf__alloc_zero(&sem->client->alloc, sizeof *l);
    if (!l) return hf__error_set(err, HF_NOMEM, "out of memory");
    l->sem = sem;
    l->fn = cb;
    l->user = user;
    int status = hf_lock_inspect_start(sem->slots[0], look_told, l, err);
    if (status != HF_OK) hf__free(&sem->client->alloc, l);
    return status;
}
