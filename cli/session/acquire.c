/*
 * session/acquire.c: acquire the session's lock, or report its holder.
 *
 * If a function here returns anything but 0, the lock is not held.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "option/wait.h"
#include "session/holder.h"
#include "session/interrupt.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* The first of the session's locks that is held; NULL: none now. */
static const hf_lock *busy_find(struct session *s, struct hf_info *info)
{
    struct hf_error err = {0};
    for (size_t i = 0; i < s->all_len; i++)
        if (hf_lock_inspect(s->all[i], info, &err) == HF_OK && info->locked)
            return s->all[i];
    return NULL;
}

void session_say_busy(struct session *s, const char *what, int64_t waited_ms)
{
    struct hf_info info = HF_INFO_INIT;
    char holder[HOLDER_TEXT_MAX], name[TEXT_ESCAPED_MAX] = "";
    char time[32], after[48] = "";
    if (waited_ms >= 0)
        snprintf(after, sizeof(after), " after %s",
                 duration_text(waited_ms, time, sizeof(time)));
    const hf_lock *busy = busy_find(s, &info);
    if (busy && s->multi) text_escape(hf_lock_name(busy), name, sizeof(name));
    if (busy)
        say_warn("%s: %s%s: held by %s", name[0] ? name : s->shown, what, after,
                 holder_text(&info, holder, sizeof(holder)));
    else
        say_warn("%s: %s%s: it was held by another holder", s->shown, what,
                 after);
}

/* Say who holds the lock, for --verbose and at a terminal; or that the store
 * does not answer. */
static void waiting_say(struct session *s, int is_watched, int status,
                        const struct hf_error *first)
{
    struct hf_info info = HF_INFO_INIT;
    char holder[HOLDER_TEXT_MAX], name[TEXT_ESCAPED_MAX];
    if (status == HF_UNAVAILABLE) session_warn(s, "waiting", first->text);
    int is_busy = status == HF_TAKEN || status == HF_TIMEOUT;
    const hf_lock *busy = is_busy ? busy_find(s, &info) : NULL;
    if (!busy) return;
    (is_watched ? say_warn
                : say_note)("%s: waiting: held by %s",
                            text_escape(hf_lock_name(busy), name, sizeof(name)),
                            holder_text(&info, holder, sizeof(holder)));
}

/* What an acquire does if the store cannot be reached: enum hf_fallback. */
static int fallback_of(const struct session *s)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    (void)hf_client_settings(s->client, &co, NULL);
    return co.fallback;
}

static int is_patient(const struct session *s)
{
    return fallback_of(s) == HF_FALLBACK_WAIT;
}

/* How long the first try may take before the user is told what is waited for;
 * the whole wait if nothing is to be told.  A quorum in quarantine is waited
 * for, and is no reason to fall back. */
static int64_t first_wait_ms(const struct session *s, const struct options *o,
                             int64_t wait_ms)
{
    int is_final = session_is_quorum(s) && fallback_of(s) == HF_FALLBACK_LOCAL;
    if (wait_ms == WAIT_TRY) return WAIT_TRY;
    if (o->verbose && !is_final) return WAIT_TRY;
    int is_told = wait_is_watched(o) && !is_final;
    if (!is_patient(s) && !is_told) return wait_ms;
    int64_t tell_ms = is_told ? WATCHED_MS : SILENT_MS;
    return wait_ms == 0 || wait_ms > tell_ms ? tell_ms : wait_ms;
}

static int lock_or_set(struct session *s, const struct hf_acquire_options *ao,
                       hf_hold **hold, struct hf_error *err)
{
    return s->multi ? hf_multi_acquire(s->multi, ao, hold, err)
                    : hf_lock_acquire(s->lock, ao, hold, err);
}

int session_is_queueing(const struct session *s, const struct options *o)
{
    return o->fair || (hf_client_caps(s->client) & HF_CAP_IN_ORDER) != 0;
}

static int acquire(struct session *s, const struct options *o,
                   struct hf_acquire_options *ao, hf_hold **hold,
                   struct hf_error *err)
{
    int64_t wait_ms = wait_choose(o);
    int64_t first_ms = first_wait_ms(s, o, wait_ms);
    /* In a queue, a wait that ends would give up its place. */
    if (first_ms != wait_ms && session_is_queueing(s, o)) first_ms = WAIT_TRY;
    if (first_ms != wait_ms) {
        int64_t begin_ms = clock_ms();
        acquire_wait(ao, first_ms);
        int status = lock_or_set(s, ao, hold, err);
        if (status != HF_TAKEN && status != HF_TIMEOUT
            && status != HF_UNAVAILABLE)
            return status;
        /* Without patience the second try fails as well, and reports why. */
        if (status != HF_UNAVAILABLE || is_patient(s))
            waiting_say(s, wait_is_watched(o), status, err);
        int64_t over_ms = clock_ms() - begin_ms;
        if (wait_ms > 0) wait_ms = wait_ms > over_ms ? wait_ms - over_ms : 1;
    }
    acquire_wait(ao, wait_ms);
    return lock_or_set(s, ao, hold, err);
}

/* 1 if `name` is in use as this kind.  An inspection cannot distinguish a
 * writer's hold from a plain one; a try can: it fails with HF_TAKEN, not with
 * HF_CONFLICT. */
static int is_in_use_as(struct session *s, const char *name, int kind)
{
    struct hf_lock_options lo = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;
    lo.kind = kind;
    if (hf_lock_open_as(s->client, name, &lo, &lock, NULL) != HF_OK) return 0;
    int status = hf_lock_try(lock, NULL, NULL);
    if (status == HF_OK) (void)hf_lock_release(lock, NULL, NULL);
    hf_lock_close(lock);
    return status == HF_TAKEN;
}

/* Name the option (-s or -x) by which a lock of another kind can be taken. */
static void letter_add(struct session *s, const struct options *o,
                       struct hf_error *err)
{
    size_t len = strlen(err->text);
    int has_side = o->side != SIDE_NONE;
    const char *would_do = ": -x would do, or -s to share it";
    if (has_side)
        would_do = o->side == SIDE_SHARED ? ": use run without -s"
                                          : ": use run without -x";
    for (size_t i = 0; i < s->all_len; i++)
        if (is_in_use_as(s, hf_lock_name(s->all[i]),
                         has_side ? HF_KIND_PLAIN : HF_KIND_WRITE)) {
            snprintf(err->text + len, sizeof(err->text) - len, "%s", would_do);
            return;
        }
}

static int refused(struct session *s, const struct options *o, int status,
                   const struct hf_error *err)
{
    char time[32];
    if (status == HF_CANCELLED) {
        say_note("%s: not acquired: interrupted", s->shown);
        return EXIT_SIGNAL + interrupt_signal();
    }
    if (status != HF_TAKEN && status != HF_TIMEOUT)
        return session_fail(s, status, err);
    /* No member was asked, so no holder is known. */
    if (err->unasked)
        say_warn("%s: not acquired after %s: %s", s->shown,
                 duration_text(o->wait_ms, time, sizeof(time)), err->text);
    else
        session_say_busy(s, "not acquired",
                         status == HF_TIMEOUT ? o->wait_ms : -1);
    return EXIT_NOT_ACQUIRED;
}

int session_acquire(struct session *s, const struct options *o, unsigned flags,
                    hf_hold **hold, int *status)
{
    struct hf_error err = {0};
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    hf_cancel *cancel;
    *status = hf_cancel_open(s->client, &cancel);
    if (*status != HF_OK) return session_fail(s, *status, &err);
    interrupt_setup(cancel);
    ao.flags = flags;
    ao.lease_ms = o->lease_ms;
    /* A detached hold is renewed by the command, not by the library. */
    ao.renew_ms = flags & HF_ACQUIRE_DETACHED ? 0 : o->renew_ms;
    if (o->backoff) (void)backoff_parse(o->backoff, &ao);
    ao.cancel = cancel;
    *status = acquire(s, o, &ao, hold, &err);
    interrupt_setup(NULL);
    hf_cancel_close(cancel);
    if (*status == HF_OK && interrupt_signal()) {
        /* The signal came together with the lock: release it again. */
        (void)hf_hold_release(*hold, &err);
        *status = HF_CANCELLED;
    }
    /* A detached hold is always a plain lock: no option changes that. */
    if (*status == HF_CONFLICT && !(flags & HF_ACQUIRE_DETACHED))
        letter_add(s, o, &err);
    if (*status != HF_OK) return refused(s, o, *status, &err);
    /* If the library's log is printed, it has said so already. */
    if (!s->logs && hf_hold_guarantee(*hold) == HF_GUARANTEE_LOCAL)
        session_warn(s, "", err.text);
    say_note("%s: acquired, guarantee %s", s->shown,
             guarantee_name(hf_hold_guarantee(*hold)));
    return EXIT_OK;
}
