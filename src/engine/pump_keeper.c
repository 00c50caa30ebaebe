/*
 * pump_keeper.c: what goes on while no caller waits: the keeper thread, or the
 * program's own loop; and opening and closing the pump.
 *
 * The rule: the keeper sleeps on the next timer, and polls the sockets only
 * when no caller does and an answer is due.
 */
#include "engine/pump_keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/timerfd.h>
#endif

#include "base/error.h"
#include "base/math.h"
#include "engine/nodes.h"
#include "engine/pump.h"
#include "engine/pump_event.h"
#include "engine/pump_fork.h"
#include "sys/clock.h"

#define CLOSE_FEW_US (50 * US_PER_MS)

/* ---- the keeper ------------------------------------------------------- */

static void keeper_turn(struct pump *p)
{
    struct engine *e = &p->engine;
    int none = 0;
    int64_t now_us = hf__clock_us();
    e->now_us = now_us;
    if (!p->has_poller && hf__engine_next_us(e) <= now_us)
        hf__engine_tick(e, now_us);
    hf__pump_cancelled(p, now_us);
    if (!p->has_poller || atomic_load(&p->asleep)) hf__engine_flush(e);
    struct op *list = hf__pump_take(p, NULL, &none);
    if (list || hf__pump_has_notice(p)) {
        p->keeper_away = 1;
        hf__pump_deliver_all(p, list);
        p->keeper_away = 0;
        return;
    }
    if (p->has_poller) hf__pump_news(p);
    /* This thread has read what a caller polls for: let that caller sleep
     * instead, because a caller that polls also runs the callbacks. */
    if (p->has_poller && atomic_load(&p->asleep) && hf__pump_is_quiet(p))
        hf__bell_ring(&p->wake);
    p->keeper_polls =
        !p->has_poller
        && (hf__engine_wants_poll(e) || hf__engine_is_to_listen(e));
    p->keeper_fds = e->fds_version;
    p->keeper_until_us =
        p->has_poller ? hf__engine_lull_us(e)
                      : min64(hf__engine_next_us(e), hf__engine_listen_us(e));
    hf__pump_poll(p, p->keeper_wake.read_fd, p->keeper_until_us,
                  p->keeper_polls ? POLL_SOCKETS : 0);
    hf__bell_hush(&p->keeper_wake);
    p->keeper_until_us = 0; /* awake: no thread needs to ring */
}

void *hf__keeper_main(void *arg)
{
    struct pump *p = arg;
    hf__pump_lock(p);
    while (!p->stop) keeper_turn(p);
    hf__pump_unlock(p);
    return NULL;
}

static int keeper_start(struct pump *p, struct hf_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&p->keeper, NULL, hf__keeper_main, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return hf__error_errno(err, HF_NOMEM, rc, "client: keeper thread");
    p->has_keeper = 1;
    return HF_OK;
}

/* ---- the program's own loop ------------------------------------------- */

#ifdef __linux__
static void loop_fd_changed(struct engine *e, int fd, unsigned events)
{
    struct pump *p = e->owner;
    struct epoll_event ev = {.data.fd = fd};
    if (events & AWAIT_READ) ev.events |= EPOLLIN;
    if (events & AWAIT_WRITE) ev.events |= EPOLLOUT;
    if (!events)
        epoll_ctl(p->loop_fd, EPOLL_CTL_DEL, fd, &ev);
    else if (epoll_ctl(p->loop_fd, EPOLL_CTL_MOD, fd, &ev) != 0)
        epoll_ctl(p->loop_fd, EPOLL_CTL_ADD, fd, &ev);
}

void hf__loop_arm(struct pump *p)
{
    int64_t next = hf__engine_next_us(&p->engine);
    struct itimerspec at;
    /* A timer that fires too early costs less than setting it every time. */
    if (next >= p->timer_armed_us || p->timer_fd < 0) return;
    memset(&at, 0, sizeof at);
    int64_t left = next - hf__clock_us();
    if (left < 1) left = 1;
    at.it_value.tv_sec = (time_t)(left / US_PER_S);
    at.it_value.tv_nsec = (long)(left % US_PER_S * 1000);
    timerfd_settime(p->timer_fd, 0, &at, NULL);
    p->timer_armed_us = next;
}

static int loop_open(struct pump *p, struct hf_error *err)
{
    struct epoll_event ev = {.events = EPOLLIN};
    p->loop_fd = epoll_create1(EPOLL_CLOEXEC);
    /* CLOCK_BOOTTIME, as all times of the library. */
    p->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->loop_fd < 0 || p->timer_fd < 0)
        return hf__error_errno(err, HF_NOMEM, errno, "client: own loop");
    ev.data.fd = p->wake.read_fd;
    epoll_ctl(p->loop_fd, EPOLL_CTL_ADD, p->wake.read_fd, &ev);
    ev.data.fd = p->timer_fd;
    epoll_ctl(p->loop_fd, EPOLL_CTL_ADD, p->timer_fd, &ev);
    p->engine.fd_changed = loop_fd_changed;
    return HF_OK;
}

static void loop_hush(struct pump *p)
{
    uint64_t ticks;
    if (p->timer_fd < 0) return;
    if (read(p->timer_fd, &ticks, sizeof ticks) > 0)
        p->timer_armed_us = TIME_NEVER;
}
#else
void hf__loop_arm(struct pump *p)
{
    (void)p;
}

static int loop_open(struct pump *p, struct hf_error *err)
{
    (void)p;
    return hf__error_set(err, HF_UNSUPPORTED,
                         "client: own loop: needs epoll on this system");
}

static void loop_hush(struct pump *p)
{
    (void)p;
}
#endif

void hf__pump_process(struct pump *p)
{
    struct engine *e = &p->engine;
    int none = 0;
    hf__pump_lock(p);
    p->users++;
    loop_hush(p);
    if (!p->has_poller) {
        hf__pump_poll(p, p->wake.read_fd, 0, POLL_SOCKETS);
        hf__bell_hush(&p->wake);
        if (hf__engine_next_us(e) <= e->now_us) hf__engine_tick(e, e->now_us);
        hf__pump_cancelled(p, e->now_us);
        hf__engine_flush(e);
    }
    hf__pump_deliver_all(p, hf__pump_take(p, NULL, &none));
    hf__pump_news(p);
    p->users--;
    hf__pump_unlock(p);
}

/* ---- opening and closing ---------------------------------------------- */

int hf__pump_open(struct pump *p, struct hf_error *err)
{
    pthread_mutex_init(&p->mutex, NULL);
    p->loop_fd = p->timer_fd = -1;
    p->timer_armed_us = TIME_NEVER;
    p->keeper_until_us = TIME_NEVER;
    p->wake.read_fd = p->wake.write_fd = -1;
    p->keeper_wake = p->event_bell = p->wake;
    p->engine.owner = p;
    if (hf__bell_open(&p->wake) != 0 || hf__bell_open(&p->keeper_wake) != 0)
        return hf__error_errno(err, HF_NOMEM, errno, "client: wake-up");
    return p->own_loop ? loop_open(p, err) : HF_OK;
}

/* The engine and its nodes are open: let it run. */
int hf__pump_begin(struct pump *p, struct hf_error *err)
{
    hf__pump_enlist(p);
    p->engine.is_kept = !p->own_loop;
    if (!p->own_loop) return keeper_start(p, err);
    hf__pump_lock(p);
    hf__loop_arm(p);
    hf__pump_unlock(p);
    return HF_OK;
}

/* Is there anything to wait for?  Not for long if most members of a quorum have
 * answered: the others carry out a release that was sent to them without being
 * waited for. */
static int close_is_awaited(const struct engine *e, int64_t *limit_us)
{
    int64_t now_us = hf__clock_us();
    int64_t few_us = now_us + max64(CLOSE_FEW_US, 4 * e->conf.rtt_us);
    enum owed owed = hf__nodes_owe(e);
    if (owed == OWED_BY_FEW) *limit_us = min64(*limit_us, few_us);
    return owed != OWED_NOTHING && now_us < *limit_us;
}

/* Let answers come in, and callers leave, until `limit_us`. */
static void close_settle(struct pump *p, int64_t limit_us)
{
    int none = 0;
    hf__engine_flush(&p->engine);
    hf__pump_deliver_all(p, hf__pump_take(p, NULL, &none));
    while (close_is_awaited(&p->engine, &limit_us)) {
        if (p->has_poller) { /* a caller on its way out */
            hf__bell_ring(&p->wake);
            hf__pump_poll(p, -1, hf__clock_us() + US_PER_MS, 0);
        } else {
            hf__pump_poll(p, p->wake.read_fd, limit_us, POLL_SOCKETS);
            hf__bell_hush(&p->wake);
            hf__engine_tick(&p->engine, hf__clock_us());
        }
        hf__engine_flush(&p->engine);
        hf__pump_deliver_all(p, hf__pump_take(p, NULL, &none));
    }
    while (p->users > 0) { /* callers that have been told and now leave */
        hf__bell_ring(&p->wake);
        hf__pump_poll(p, -1, hf__clock_us() + US_PER_MS, 0);
        hf__pump_deliver_all(p, hf__pump_take(p, NULL, &none));
    }
}

static void keeper_stop(struct pump *p)
{
    if (!p->has_keeper) return;
    hf__pump_lock(p);
    p->stop = 1;
    hf__bell_ring(&p->keeper_wake);
    hf__pump_unlock(p);
    pthread_join(p->keeper, NULL);
    p->has_keeper = 0;
}

void hf__pump_shut(struct pump *p)
{
    int none = 0;
    hf__pump_lock(p);
    if (p->engine.table) {
        hf__engine_shut(&p->engine, hf__clock_us());
        hf__engine_flush(&p->engine);
        hf__pump_deliver_all(p, hf__pump_take(p, NULL, &none));
        if (p->has_poller) hf__bell_ring(&p->wake);
    }
    hf__pump_unlock(p);
}

void hf__pump_close(struct pump *p, int64_t limit_us)
{
    int none = 0;
    hf__pump_delist(p);
    hf__pump_shut(p); /* the keeper may be inside a callback that waits */
    keeper_stop(p);
    hf__pump_lock(p);
    if (p->engine.table) close_settle(p, hf__clock_us() + limit_us);
    hf__nodes_close(&p->engine);
    hf__pump_deliver_all(p, hf__pump_take(p, NULL, &none));
    hf__engine_close(&p->engine);
    hf__pump_unlock(p);
    while (p->events && p->events_len > 0) {
        hf__free(p->engine.alloc, p->events[p->events_head % EVENTS_MAX]);
        p->events_head++;
        p->events_len--;
    }
    hf__free(p->engine.alloc, p->events);
    hf__bell_close(&p->wake);
    hf__bell_close(&p->keeper_wake);
    hf__bell_close(&p->event_bell);
    if (p->loop_fd >= 0) close(p->loop_fd);
    if (p->timer_fd >= 0) close(p->timer_fd);
    pthread_mutex_destroy(&p->mutex);
}
