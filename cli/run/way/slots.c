/*
 * run/way/slots.c: the right to run of `holdfast run --slots N`: a permit of a
 * semaphore.
 *
 * The rule: the number that was given last is the number of slots; a command
 * that has a slot keeps it.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/wait.h"
#include "run/supervise.h"
#include "session/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Set the number of slots in the store.  A store that keeps no permits needs
 * none: each slot is a lock. */
static int number_set(struct run *r, struct hf_error *err)
{
    struct hf_semaphore_state st = HF_SEMAPHORE_STATE_INIT;
    int64_t want = r->o->slots;
    int status = hf_semaphore_try_set(r->sem, want, &st, err);
    if (status == HF_UNSUPPORTED) return HF_OK;
    if (status != HF_OK || st.is_done || st.capacity == want) return status;
    say_warn("%s: there were %" PRId64 " slots; now there are %" PRId64,
             r->s.shown, st.capacity, want);
    return hf_semaphore_set(r->sem, want, HF_SEMAPHORE_ANYWAY, NULL, err);
}

static int slots_open(struct run *r, struct hf_error *err)
{
    struct hf_semaphore_options so = HF_SEMAPHORE_OPTIONS_INIT;
    so.order = r->o->fair ? HF_ORDER_FAIR : HF_ORDER_ANY;
    so.permits = r->o->slots;
    if (!r->o->foreign) so.flags = HF_SEMAPHORE_OURS;
    int status = hf_semaphore_open(r->s.client, r->name, &so, &r->sem, err);
    return status == HF_OK ? number_set(r, err) : status;
}

/* Which command shows the holders: where each slot is a lock, it has a name of
 * its own. */
static const char *holders_hint(const struct run *r, char *out, size_t size)
{
    const hf_lock *lock = hf_semaphore_lock(r->sem);
    char first[TEXT_ESCAPED_MAX];
    if (hf_lock_kind(lock) == HF_KIND_PERMIT)
        return "holdfast status shows the holders";
    snprintf(out, size, "holdfast list shows the holders, as %s and so on",
             text_escape(hf_lock_name(lock), first, sizeof(first)));
    return out;
}

/* At a terminal say after a second what is waited for.  In a queue that is said
 * at once, because a wait that ends would give up its place. */
static int slot_wait(struct run *r, struct hf_acquire_options *ao,
                     struct hf_error *err)
{
    int64_t wait_ms = wait_choose(r->o);
    int is_long = wait_ms == 0 || wait_ms > WATCHED_MS;
    if (is_long && wait_is_watched(r->o)) {
        char hint[TEXT_ESCAPED_MAX + 64];
        int64_t begin_ms = clock_ms();
        acquire_wait(ao,
                     session_is_queueing(&r->s, r->o) ? WAIT_TRY : WATCHED_MS);
        int status = hf_semaphore_acquire(r->sem, ao, &r->hold, err);
        if (status != HF_TAKEN && status != HF_TIMEOUT) return status;
        say_warn("%s: waiting: all slots are taken (%s)", r->s.shown,
                 holders_hint(r, hint, sizeof(hint)));
        int64_t over_ms = clock_ms() - begin_ms;
        if (wait_ms > 0) wait_ms = wait_ms > over_ms ? wait_ms - over_ms : 1;
    }
    acquire_wait(ao, wait_ms);
    return hf_semaphore_acquire(r->sem, ao, &r->hold, err);
}

static int slots_acquire(struct run *r, struct hf_error *err)
{
    const struct options *o = r->o;
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    int status = hf_cancel_open(r->s.client, &ao.cancel);
    if (status != HF_OK) return status;
    interrupt_setup(ao.cancel);
    ao.lease_ms = o->lease_ms;
    ao.renew_ms = o->renew_ms;
    if (o->backoff) (void)backoff_parse(o->backoff, &ao);
    status = slot_wait(r, &ao, err);
    interrupt_setup(NULL);
    hf_cancel_close(ao.cancel);
    return status;
}

static struct outcome slots_refused(struct run *r, int status,
                                    const struct hf_error *err)
{
    char time[32], hint[TEXT_ESCAPED_MAX + 64];
    if (status == HF_CANCELLED) {
        say_note("%s: not acquired: interrupted", r->s.shown);
        return (struct outcome){EXIT_SIGNAL + interrupt_signal(),
                                "interrupted"};
    }
    if (status == HF_TAKEN)
        say_warn("%s: not acquired: all slots are taken (%s)", r->s.shown,
                 holders_hint(r, hint, sizeof(hint)));
    if (status == HF_TIMEOUT)
        say_warn("%s: not acquired after %s: all slots are taken (%s)",
                 r->s.shown, duration_text(r->o->wait_ms, time, sizeof(time)),
                 holders_hint(r, hint, sizeof(hint)));
    if (status == HF_TAKEN || status == HF_TIMEOUT)
        return (struct outcome){run_skipped(r),
                                run_reason(EXIT_NOT_ACQUIRED, status)};
    int code = session_fail(&r->s, status, err);
    return (struct outcome){code, run_reason(code, status)};
}

static int slots_get(struct run *r, struct outcome *end)
{
    struct hf_error err = {0};
    int status = slots_open(r, &err);
    if (status == HF_OK) status = slots_acquire(r, &err);
    if (status != HF_OK) {
        *end = slots_refused(r, status, &err);
        return 0;
    }
    say_note("%s: acquired a slot", r->s.shown);
    return 1;
}

static void slots_give(struct run *r, int code)
{
    (void)code;
    if (hold_is_over(r)) return;
    hold_give(r);
}

static void slots_close(struct run *r)
{
    hf_semaphore_close(r->sem);
    r->sem = NULL;
}

const struct way way_slots = {
    .get = slots_get, .give = slots_give, .close = slots_close};
