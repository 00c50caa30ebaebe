/*
 * pump.c: a caller that waits also polls; see pump.h.
 *
 * The rule: a thread that made a step takes what the step finished, in the same
 * critical section, and delivers it with the lock released.  A parked caller
 * touches nothing until it is told, and the telling is the last access to its
 * operation.
 */
#include "engine/pump.h"

#include <poll.h>
#include <sched.h>
#include <time.h>

#include "engine/seats.h"
#include "engine/nodes.h"
#include "engine/pump_event.h"
#include "engine/pump_keeper.h"
#include "sys/clock.h"

#define CROWD 4        /* callers asleep */
#define FLUSH_BATCH 16 /* operations that wait for a poller to flush them */

/* The pump whose callbacks this thread is running: what they start is flushed
 * together, after them. */
static _Thread_local const struct pump *delivering;

void hf__pump_lock(struct pump *p)
{
    pthread_mutex_lock(&p->mutex);
}

void hf__pump_unlock(struct pump *p)
{
    pthread_mutex_unlock(&p->mutex);
}

/* ---- sleeping callers ------------------------------------------------- */

static void sleeper_add(struct pump *p, struct op *op)
{
    op->sleeps = 1;
    op->sleep_prev = NULL;
    op->sleep_next = p->sleepers;
    if (p->sleepers)
        p->sleepers->sleep_prev = op;
    else
        p->sleepers_last = op;
    p->sleepers = op;
    p->sleepers_len++;
}

static void sleeper_remove(struct pump *p, struct op *op)
{
    if (op->sleep_prev)
        op->sleep_prev->sleep_next = op->sleep_next;
    else
        p->sleepers = op->sleep_next;
    if (op->sleep_next)
        op->sleep_next->sleep_prev = op->sleep_prev;
    else
        p->sleepers_last = op->sleep_prev;
    op->sleeps = 0;
    p->sleepers_len--;
}

static int is_poller(const struct pump *p, const struct op *op)
{
    return p->poller_op == op;
}

static void poller_set(struct pump *p, struct op *op)
{
    p->has_poller = op != NULL;
    p->poller_op = op;
}

/* Does no caller wait for anything that comes over the sockets?  Then callers
 * that wait for another thread sleep, and the keeper watches the timers.  Not
 * while the keeper runs callbacks: it may be the thread that waits. */
int hf__pump_is_quiet(const struct pump *p)
{
    return p->has_keeper && !p->keeper_away
           && !hf__engine_wants_poll(&p->engine);
}

/* Wake the next caller that polls.  With many callers the place is kept for it,
 * so that what others ask until it is awake goes out in one write.  With few
 * callers the next one that comes may take the place: it need not be woken. */
static void poll_hand_over(struct pump *p)
{
    struct op *next = p->sleepers, *oldest = p->sleepers_last;
    /* The store serves the oldest waiter of its queue first: if that caller
     * polls, no thread has to be woken for it. */
    if (oldest && oldest->order != HF_ORDER_ANY) next = oldest;
    poller_set(p, NULL);
    if (!next || hf__pump_is_quiet(p)) {
        hf__pump_news(p);
        return;
    }
    sleeper_remove(p, next);
    if (p->sleepers_len >= CROWD) poller_set(p, next);
    if (hf__park_nudge(&next->park)) hf__park_kick(&next->park);
}

/* ---- what a step has finished ------------------------------------------ */

/* Take the finished operations; `self` is not among them, but noted. */
struct op *hf__pump_take(struct pump *p, struct op *self, int *self_done)
{
    struct op *list = hf__engine_take_done(&p->engine);
    struct op **at = &list;
    while (*at) {
        struct op *op = *at;
        if (op->sleeps) { /* parked: it touches the pump no more */
            sleeper_remove(p, op);
            op->left = 1;
            p->users--;
        }
        if (op == p->poller_op && op != self) hf__bell_ring(&p->wake);
        if (op == self) {
            *self_done = 1;
            *at = op->next;
        } else {
            at = &op->next;
        }
    }
    return list;
}

/* Wake the callers and run the callbacks.  With the lock released. */
static void ops_deliver(struct op *list)
{
    while (list) {
        struct op *op = list;
        list = op->next;
        if (op->complete)
            op->complete(op);
        else
            hf__park_done(&op->park);
    }
}

static int has_callback(const struct op *list)
{
    while (list && !list->complete) list = list->next;
    return list != NULL;
}

/* ---- polling ----------------------------------------------------------- */

static int fd_find(const struct engine *e, int fd)
{
    int i = 0;
    while (i < e->fds_len && e->fds[i].fd != fd) i++;
    return i < e->fds_len ? i : -1;
}

static void fd_process(struct engine *e, int fd, unsigned ready)
{
    int i = fd_find(e, fd);
    if (i < 0) return;
    struct node *n = e->fds[i].node;
    n->backend->process(n->conn, fd, ready);
}

/* Look at the sockets without sleeping, until something comes or the limit is
 * reached.  Returns 1 if something came.  Only for a lone caller: with more
 * callers the CPU has other work. */
static int spin_wait(struct pump *p, struct op *self)
{
    struct engine *e = &p->engine;
    int64_t start = e->now_us;
    int came = 0;
    if (!hf__spin_begin(&p->spin)) return 0;
    for (;;) {
        for (int i = 0; i < e->fds_len; i++) {
            struct awaited_fd w = e->fds[i];
            struct node *n = w.node;
            if (w.events & AWAIT_READ)
                came |= n->backend->process(n->conn, w.fd, AWAIT_READ);
        }
        if (came || self->finished) break;
        hf__pump_unlock(p);
        sched_yield();
        hf__pump_lock(p);
        int64_t now_us = hf__clock_us();
        e->now_us = now_us;
        hf__engine_flush(e);
        if (self->finished || now_us - start > p->spin.limit_us) break;
    }
    return came || self->finished;
}

static int poll_sleep(struct pollfd *fds, nfds_t len, int64_t until_us)
{
    if (until_us == TIME_NEVER) return poll(fds, len, -1);
    int64_t left = until_us - hf__clock_us();
    if (left < 0) left = 0;
    if (left > 3600 * US_PER_S) left = 3600 * US_PER_S;
    struct timespec ts = {.tv_sec = (time_t)(left / US_PER_S),
                          .tv_nsec = (long)(left % US_PER_S * 1000)};
    return ppoll(fds, len, &ts, NULL);
}

static nfds_t poll_fill(const struct engine *e, struct pollfd *fds, nfds_t len)
{
    for (int i = 0; i < e->fds_len; i++) {
        fds[len].fd = e->fds[i].fd;
        fds[len].events = 0;
        fds[len].revents = 0;
        if (e->fds[i].events & AWAIT_READ) fds[len].events |= POLLIN;
        if (e->fds[i].events & AWAIT_WRITE) fds[len].events |= POLLOUT;
        len++;
    }
    return len;
}

static void poll_process(struct engine *e, const struct pollfd *fds,
                         nfds_t from, nfds_t len)
{
    for (nfds_t i = from; i < len; i++) {
        unsigned ready = 0;
        if (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) ready |= AWAIT_READ;
        if (fds[i].revents & (POLLOUT | POLLHUP | POLLERR))
            ready |= AWAIT_WRITE;
        if (ready) fd_process(e, fds[i].fd, ready);
    }
}

/* Sleep until `fd` is readable, `until_us` has come or, with POLL_SOCKETS, one
 * of them is ready; handle the sockets.  Lock held, but not while asleep.
 * Returns whether `fd` is readable. */
int hf__pump_poll(struct pump *p, int fd, int64_t until_us, unsigned how)
{
    struct engine *e = &p->engine;
    struct pollfd fds[FDS_MAX + 1];
    fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    nfds_t len = how & POLL_SOCKETS ? poll_fill(e, fds, 1) : 1;
    hf__pump_unlock(p);
    poll_sleep(fds, len, until_us);
    /* Before the lock is taken: the thread that has it leaves the flush to this
     * one from now on. */
    if (how & POLL_AS_POLLER) atomic_store(&p->asleep, 0);
    hf__pump_lock(p);
    /* After the lock is taken: with an earlier time, an answer that came while
     * this thread waited for the lock would look like a step of the node's
     * clock. */
    e->now_us = hf__clock_us();
    poll_process(e, fds, 1, len);
    return fds[0].revents != 0;
}

static void poller_tick(struct pump *p)
{
    struct engine *e = &p->engine;
    if (hf__engine_next_us(e) <= e->now_us) hf__engine_tick(e, e->now_us);
    hf__pump_cancelled(p, e->now_us);
}

/* As the poller: sleep until something happens, and handle it. */
static void poller_wait(struct pump *p, struct op *self)
{
    struct engine *e = &p->engine;
    int64_t start = e->now_us;
    int alone = !p->sleepers && e->inflight == 1;
    if (alone && spin_wait(p, self)) {
        e->now_us = hf__clock_us();
        hf__spin_end(&p->spin, e->now_us - start);
        poller_tick(p);
        return;
    }
    p->poller_until_us = hf__engine_next_us(e);
    p->poller_fds = e->fds_version;
    atomic_store(&p->asleep, 1);
    if (hf__pump_poll(p, p->wake.read_fd, p->poller_until_us,
                      POLL_SOCKETS | POLL_AS_POLLER))
        hf__bell_hush(&p->wake);
    if (alone && self->finished) hf__spin_end(&p->spin, e->now_us - start);
    poller_tick(p);
}

/* Something changed and this thread will not poll: tell the thread that
 * does. */
void hf__pump_news(struct pump *p)
{
    struct engine *e = &p->engine;
    int64_t next = hf__engine_next_us(e);
    if (p->own_loop && !p->has_poller) {
        hf__loop_arm(p);
        return;
    }
    if (p->has_poller) {
        if (atomic_load(&p->asleep)
            && (next < p->poller_until_us || p->poller_fds != e->fds_version))
            hf__bell_ring(&p->wake);
        return;
    }
    int poll_wanted = hf__engine_wants_poll(e) || hf__engine_is_to_listen(e);
    if (next < p->keeper_until_us || (poll_wanted && !p->keeper_polls)
        || (p->keeper_polls && p->keeper_fds != e->fds_version)) {
        p->keeper_until_us = 0; /* ring once only */
        p->keeper_polls = poll_wanted;
        p->keeper_fds = e->fds_version;
        hf__bell_ring(&p->keeper_wake);
    }
}

/* ---- callers ------------------------------------------------------------ */

/* A callback may take its time: one of the callers that sleep because the
 * keeper watches the timers must watch them instead. */
static void clock_hand_over(struct pump *p, const struct op *list)
{
    int has_work = has_callback(list) || hf__pump_has_notice(p);
    if (p->keeper_away && has_work && !p->has_poller && p->sleepers)
        poll_hand_over(p);
}

/* Deliver `list` and what follows from it, until nothing is left.  Lock held
 * before and after, not during. */
void hf__pump_deliver_all(struct pump *p, struct op *list)
{
    int none = 0;
    while (list || hf__pump_has_notice(p)) {
        const struct pump *outer = delivering;
        clock_hand_over(p, list);
        hf__pump_unlock(p);
        delivering = p;
        ops_deliver(list);
        hf__pump_tell(p);
        delivering = outer;
        int64_t now_us = hf__clock_us();
        hf__pump_lock(p);
        p->engine.now_us = now_us;
        hf__engine_flush(&p->engine);
        list = hf__pump_take(p, NULL, &none);
    }
}

static void op_begin(struct pump *p, struct op *op, int64_t now_us)
{
    p->users++;
    p->unflushed++;
    hf__engine_begin(&p->engine, op, now_us);
    int status = hf__op_stopped(op);
    if (status != HF_OK) hf__engine_fail(&p->engine, op, status, now_us);
}

static void op_enter(struct pump *p, struct op *op)
{
    int64_t now_us = hf__clock_us();
    op->sleeps = op->left = 0;
    hf__pump_lock(p);
    op_begin(p, op, now_us);
}

static void flush(struct pump *p)
{
    p->unflushed = 0;
    hf__engine_flush(&p->engine);
}

/* A poller that is awake flushes soon, for all callers: leave the flush to it,
 * unless that would keep the server waiting. */
static int is_to_flush(const struct pump *p)
{
    return !p->has_poller || atomic_load(&p->asleep)
           || p->unflushed >= FLUSH_BATCH;
}

/* The caller's operation is done: hand the poll over and leave. */
static void run_leave(struct pump *p, struct op *op, struct op *list)
{
    int none = 0;
    /* Keep the place while the other callers are woken, so that what they ask
     * next goes out together. */
    while (list && is_poller(p, op) && !has_callback(list)) {
        hf__pump_unlock(p);
        ops_deliver(list);
        int64_t now_us = hf__clock_us();
        hf__pump_lock(p);
        p->engine.now_us = now_us;
        flush(p);
        list = hf__pump_take(p, op, &none);
    }
    /* Also if no caller has the place: the caller that was woken for it may be
     * the one that leaves now. */
    if (is_poller(p, op) || (!p->has_poller && p->sleepers))
        poll_hand_over(p);
    else
        hf__pump_news(p);
    if (has_callback(list) || hf__pump_has_notice(p)) {
        hf__pump_deliver_all(p, list);
        hf__pump_news(p); /* what the callbacks began was sent after them */
        list = NULL;
    }
    p->users--;
    hf__pump_unlock(p);
    ops_deliver(list); /* sleeping callers, not counted in `users` */
}

/* Sleep until woken.  1: `op` is done, and the pump must not be touched. */
static int run_park(struct pump *p, struct op *op)
{
    if (is_poller(p, op)) poller_set(p, NULL);
    hf__pump_news(p);
    sleeper_add(p, op);
    hf__pump_unlock(p);
    enum park_word word = hf__park_wait(&op->park);
    if (word == PARK_DONE && op->left) return 1;
    hf__pump_lock(p);
    if (word != PARK_DONE) return 0;
    if (is_poller(p, op)) flush(p);
    run_leave(p, op, NULL); /* woken to poll, but done by then */
    return 1;
}

/* Wait until `op` is done.  Lock held before, not after. */
static void run_wait(struct pump *p, struct op *op)
{
    int done = 0;
    for (;;) {
        if (is_poller(p, op) || is_to_flush(p)) flush(p);
        struct op *list = hf__pump_take(p, op, &done);
        if (done) {
            run_leave(p, op, list);
            break;
        }
        if (op->finished) { /* by another thread, which will wake this one */
            run_leave(p, op, list);
            while (hf__park_wait(&op->park) != PARK_DONE) continue;
            break;
        }
        if (has_callback(list) || hf__pump_has_notice(p)) {
            /* A callback may take its time: let another caller poll. */
            if (is_poller(p, op)) poll_hand_over(p);
            hf__pump_deliver_all(p, list);
        } else if (list) {
            hf__pump_unlock(p);
            ops_deliver(list);
            hf__pump_lock(p);
        } else if ((is_poller(p, op) || !p->has_poller)
                   && !hf__pump_is_quiet(p)) {
            poller_set(p, op);
            poller_wait(p, op);
        } else if (run_park(p, op)) {
            break;
        }
    }
    hf__park_free(&op->park);
}

void hf__pump_call(struct pump *p, struct op *op)
{
    op->complete = NULL;
    hf__park_init(&op->park);
    op_enter(p, op);
    run_wait(p, op);
}

/* Tell the thread that pumps that there is something to deliver. */
static void deliver_later(struct pump *p)
{
    if (p->engine.done_head || hf__pump_has_notice(p))
        hf__bell_ring(p->has_poller || p->own_loop ? &p->wake
                                                   : &p->keeper_wake);
    hf__pump_news(p);
}

static void seat_step(struct pump *p, struct seat *s, enum hold_event_type type,
                      int64_t now_us)
{
    struct hold_event ev = {.type = type};
    p->engine.now_us = now_us;
    hf__seat_step(&p->engine, s, &ev);
    if (is_to_flush(p)) flush(p);
    deliver_later(p);
}

void hf__pump_end(struct pump *p, struct seat *s, int64_t now_us)
{
    seat_step(p, s, EV_TIMER, now_us);
}

void hf__pump_feed(struct pump *p, struct seat *s, int64_t now_us)
{
    seat_step(p, s, EV_FEED, now_us);
}

/* Send what was started.  What finished at once is delivered by the thread
 * that pumps, never from inside this call.  What callbacks start is flushed
 * together, after them. */
static void start_leave(struct pump *p, size_t len)
{
    int together = delivering == p && p->unflushed < FLUSH_BATCH;
    if (!together && is_to_flush(p)) flush(p);
    deliver_later(p);
    p->users -= len;
    hf__pump_unlock(p);
}

int hf__pump_start(struct pump *p, struct op *op)
{
    hf__pump_lock(p);
    int closing = p->engine.closing;
    hf__pump_unlock(p);
    if (closing) return HF_CLOSED;
    op_enter(p, op);
    start_leave(p, 1);
    return HF_OK;
}

/* ---- several at once ---------------------------------------------------- */

static void all_enter(struct pump *p, struct op *const *ops, size_t len)
{
    int64_t now_us = hf__clock_us();
    for (size_t i = 0; i < len; i++) ops[i]->sleeps = ops[i]->left = 0;
    hf__pump_lock(p);
    for (size_t i = 0; i < len; i++) op_begin(p, ops[i], now_us);
}

void hf__pump_start_all(struct pump *p, struct op *const *ops, size_t len)
{
    all_enter(p, ops, len);
    start_leave(p, len);
}

void hf__pump_enter_all(struct pump *p, struct op *const *ops, size_t len,
                        int is_waited_for)
{
    for (size_t i = 0; i < len; i++) {
        ops[i]->complete = NULL;
        hf__park_init(&ops[i]->park);
    }
    all_enter(p, ops, len);
    if (is_to_flush(p)) flush(p);
    /* A caller that waits for them at once polls for them itself. */
    if (!is_waited_for) deliver_later(p);
    hf__pump_unlock(p);
}

void hf__pump_wait_all(struct pump *p, struct op *const *ops, size_t len)
{
    /* Answers come in order: when the last has come, the others have, too. */
    while (len > 0) {
        hf__pump_lock(p);
        run_wait(p, ops[--len]);
    }
}
