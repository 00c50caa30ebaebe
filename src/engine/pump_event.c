/*
 * pump_event.c: telling the user about changes of state, and being told to
 * cancel.
 *
 * The rule: the user's functions run with no lock of the library held.
 */
#include "engine/pump_event.h"

#include <sched.h>
#include <string.h>

#include "engine/seats.h"
#include "engine/pump.h"
#include "sys/clock.h"

/* Keep the newest; a full ring forgets the oldest. */
static void ring_add(struct pump *p, const struct hf_event *ev)
{
    const struct allocator *a = p->engine.alloc;
    struct hf_event *copy = hf__alloc(a, sizeof *copy);
    if (!copy) return;
    *copy = *ev;
    if (p->events_len == EVENTS_MAX) {
        hf__free(a, p->events[p->events_head % EVENTS_MAX]);
        p->events_head++;
        p->events_len--;
    }
    p->events[(p->events_head + p->events_len) % EVENTS_MAX] = copy;
    p->events_len++;
    hf__bell_ring(&p->event_bell);
}

/* The next notice for the thread that tells; `begins`: that wants to.  0 if
 * there is none left, or if another thread tells. */
static int notice_next(struct pump *p, struct hf_event *ev, struct seat **about,
                       int begins)
{
    int64_t now_us = hf__clock_us();
    int some = 0;
    hf__pump_lock(p);
    if (!begins || !p->telling)
        some = p->telling =
            hf__engine_take_notice(&p->engine, ev, about, now_us);
    if (some && p->events) ring_add(p, ev);
    hf__pump_unlock(p);
    return some;
}

/* The next callback of the hold that is to be told; 0 if there is none.  The
 * list may change meanwhile. */
static int listener_next(struct pump *p, const struct seat *s,
                         struct hold_listener *out)
{
    hf__pump_lock(p);
    struct hold_listener *listener = s->listeners;
    while (listener && !listener->is_due) listener = listener->next;
    if (listener) {
        listener->is_due = 0;
        *out = *listener;
    }
    hf__pump_unlock(p);
    return listener != NULL;
}

static void ears_tell(struct pump *p, struct seat *s, const struct hf_event *ev)
{
    struct hold_listener listener;
    while (listener_next(p, s, &listener))
        listener.fn(listener.hold, ev, listener.user);
    hf__pump_lock(p);
    hf__seat_unpin(&p->engine, s);
    hf__pump_unlock(p);
}

/* One thread at a time tells, also what comes up meanwhile.  Otherwise a second
 * thread could tell LOST before the first has told AT_RISK, and a callback that
 * waits inside AT_RISK would be called with LOST inside it.  Lock not held. */
void hf__pump_tell(struct pump *p)
{
    struct hf_event ev;
    struct seat *about = NULL;
    for (int begins = 1; notice_next(p, &ev, &about, begins); begins = 0) {
        if (about) ears_tell(p, about, &ev);
        if (p->told) p->told(p, &ev);
        if (p->on_state) p->on_state(&ev, p->state_user);
    }
}

int hf__pump_event_fd(struct pump *p)
{
    int fd = -1;
    hf__pump_lock(p);
    if (!p->events) {
        p->events =
            hf__alloc_zero(p->engine.alloc, EVENTS_MAX * sizeof *p->events);
        if (p->events && hf__bell_open(&p->event_bell) != 0) {
            hf__free(p->engine.alloc, p->events);
            p->events = NULL;
        }
    }
    if (p->events) fd = p->event_bell.read_fd;
    hf__pump_unlock(p);
    return fd;
}

int hf__pump_next_event(struct pump *p, struct hf_event *out)
{
    int status = HF_EMPTY;
    hf__pump_lock(p);
    if (p->events && p->events_len > 0) {
        struct hf_event *ev = p->events[p->events_head % EVENTS_MAX];
        *out = *ev;
        hf__free(p->engine.alloc, ev);
        p->events_head++;
        p->events_len--;
        status = HF_OK;
    }
    if (p->events && p->events_len == 0) hf__bell_hush(&p->event_bell);
    hf__pump_unlock(p);
    return status;
}

void hf__pump_look(struct pump *p)
{
    atomic_store(&p->cancel_fired, 1);
    hf__bell_ring(&p->wake);
    hf__bell_ring(&p->keeper_wake);
}

/* May run in a signal handler, so it takes no lock. */
void hf__cancel_fire(struct hf_cancel *c)
{
    atomic_store(&c->fired, 1);
    hf__pump_look(c->pump);
    atomic_fetch_add(&c->firing, 1);
    for (struct cancel_listener *e = atomic_load(&c->listeners); e;
         e = atomic_load(&e->next))
        hf__pump_look(e->pump);
    atomic_fetch_sub(&c->firing, 1);
}

void hf__cancel_listen(struct hf_cancel *c, struct cancel_listener *listener,
                       struct pump *p)
{
    listener->pump = p;
    pthread_mutex_lock(&c->listeners_mutex);
    atomic_store(&listener->next, atomic_load(&c->listeners));
    atomic_store(&c->listeners, listener);
    pthread_mutex_unlock(&c->listeners_mutex);
}

void hf__cancel_unlisten(struct hf_cancel *c, struct cancel_listener *listener)
{
    struct cancel_listener *_Atomic *at = &c->listeners;
    pthread_mutex_lock(&c->listeners_mutex);
    while (atomic_load(at) != listener) at = &atomic_load(at)->next;
    atomic_store(at, atomic_load(&listener->next));
    pthread_mutex_unlock(&c->listeners_mutex);
    /* A thread that fires may have reached this listener before, and still uses
     * its pump and its next: wait until it has passed.  That is a moment; a
     * signal handler of this thread is over before this line is reached. */
    while (atomic_load(&c->firing)) sched_yield();
}

void hf__pump_cancel_waits(struct pump *p, int64_t now_us)
{
    atomic_store(&p->cancel_fired, 0);
    for (struct op *op = p->engine.all, *next; op; op = next) {
        next = op->all_next;
        int status = hf__op_stopped(op);
        if (status != HF_OK) hf__engine_fail(&p->engine, op, status, now_us);
    }
}
