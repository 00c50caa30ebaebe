/*
 * link.c: the life of a link.
 *
 *   DOWN -> RESOLVING -> CONNECTING -> (SECURING ->) GREETING -> UP
 *     ^         |            |             |            |        |
 *     +---------+------------+-------------+------------+--------+
 *                                                     hf__redis_link_fail()
 *
 * One rule: a link on which anything went wrong is closed and never used
 * again; every flight on it is answered first, by what can be known of it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/redis/inner/bounds.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/wait.h"
#include "backend/redis/watch/watch.h"
#include "base/error.h"

#define EXTENSIONS_MAX 4

void hf__redis_link_init(struct link *l, struct backend_conn *c, int is_sub)
{
    *l =
        (struct link){.c = c, .is_sub = is_sub, .fd = -1, .due_us = TIME_NEVER};
}

static int64_t now_us(const struct link *l)
{
    return l->c->env->now(l->c->env);
}

static void fd_drop(struct link *l)
{
    if (l->fd < 0) return;
    hf__redis_link_watch(l, 0);
    hf__tls_close(l->tls);
    l->tls = NULL;
    close(l->fd);
    l->fd = -1;
    l->watching = 0;
}

void hf__redis_link_close(struct link *l)
{
    fd_drop(l);
    l->life++;
    l->state = LINK_DOWN;
    l->due_us = TIME_NEVER;
    l->ping_sent = 0;
    l->out.len = l->out_done = 0;
    l->out_base = 0;
}

void hf__redis_link_free(struct link *l)
{
    const struct allocator *a = l->c->env->alloc;
    hf__redis_link_close(l);
    hf__redis_reader_free(&l->in);
    hf__free(a, l->out.data);
    hf__free(a, l->flights.ring);
    l->out = (struct bytes){0};
    l->flights = (struct flights){0};
}

/* ---- going down ---- */

/* Answer what is on its way; a request of which the kernel has nothing was
 * never sent. */
static void flights_answer(struct link *l)
{
    struct flight *f;
    while ((f = hf__redis_flight_first(l)) != NULL) {
        struct request *reqs = f->reqs;
        enum verdict v =
            hf__redis_flight_is_unsent(l, f) ? V_UNSENT : V_UNKNOWN;
        hf__redis_flight_drop(l);
        if (reqs)
            hf__redis_answer_all(l->c, reqs, v, l->err.status, l->err.text);
    }
}

static void retry_plan(struct link *l)
{
    struct backend_env *env = l->c->env;
    unsigned doublings = l->failures < 16 ? l->failures : 16;
    int64_t most = RECONNECT_US_MIN << doublings;
    if (most > RECONNECT_US_MAX) most = RECONNECT_US_MAX;
    /* Full jitter: many clients must not connect again at the same moment. */
    int64_t wait = (int64_t)(env->random(env) % (uint64_t)(most + 1));
    l->failures++;
    l->retry_us = now_us(l) + wait;
}

/* Requests may wait in the engine for the main link: it is always wanted. */
static int is_wanted(const struct link *l)
{
    return !l->is_sub || l->c->watches.len > 0;
}

/* The socket is closed already: tell the engine why, which `err` says. */
static void down_tell(struct link *l, int was_trying)
{
    struct backend_conn *c = l->c;
    retry_plan(l);
    if (!l->is_sub) hf__redis_wait_fail(c, l->err.status, l->err.text);
    flights_answer(l);
    if (l->is_sub) {
        hf__redis_watch_down(c, was_trying ? V_UNSENT : V_UNKNOWN);
    } else {
        c->env->link(c->env, 0, 0, &l->err);
        /* Fail at once: the core decides when to ask again. */
        struct request *waiting =
            was_trying ? hf__redis_list_take(&c->unsent) : NULL;
        hf__redis_answer_all(c, waiting, V_UNSENT, l->err.status, l->err.text);
    }
    l->due_us = is_wanted(l) ? l->retry_us : TIME_NEVER;
}

static void error_fill(struct link *l, int status, int sys_errno,
                       const char *format, va_list ap)
{
    char what[HF_ERROR_TEXT_MAX];
    vsnprintf(what, sizeof what, format, ap);
    if (sys_errno)
        hf__error_errno(&l->err, status, sys_errno, "%s: %s", l->c->endpoint,
                        what);
    else
        hf__error_set(&l->err, status, "%s: %s", l->c->endpoint, what);
}

void hf__redis_link_fail(struct link *l, int status, int sys_errno,
                         const char *format, ...)
{
    int was_trying = l->state != LINK_UP;
    struct bytes out = l->out;
    size_t done = l->out_done;
    uint64_t base = l->out_base;
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, sys_errno, format, ap);
    va_end(ap);
    hf__redis_link_close(l);
    /* The flights are judged by how far the output had come. */
    l->out = out;
    l->out_done = done;
    l->out_base = base;
    down_tell(l, was_trying);
    l->out.len = l->out_done = 0;
    l->out_base = 0;
}

void hf__redis_link_fail_later(struct link *l, int status, int sys_errno,
                               const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, sys_errno, format, ap);
    va_end(ap);
    hf__redis_link_close(l);
    l->state = LINK_FAILED;
    l->due_us = now_us(l);
}

/* ---- coming up ---- */

/* Each address gets its share of what is left of the whole. */
static int64_t address_limit_us(const struct link *l, int64_t now)
{
    int left = l->addrs.count - l->addr_next;
    int64_t whole = l->give_up_us - now;
    return left > 0 ? now + whole / (left + 1) : l->give_up_us;
}

const struct stream_addr *hf__redis_link_addr(const struct link *l)
{
    return &l->addrs.addrs[l->addr_next > 0 ? l->addr_next - 1 : 0];
}

/* `addr` is NULL if it is not known yet. */
static int is_allowed(const struct link *l, const struct stream_addr *addr)
{
    const struct backend_conn *c = l->c;
    return !c->bounds || hf__redis_bounds_allow(c->bounds, c->host, addr);
}

static void refused_later(struct link *l)
{
    hf__redis_link_fail_later(l, HF_DENIED, 0, "%s",
                              hf__redis_bounds_text(l->c->bounds));
}

static void address_try(struct link *l, int last_errno)
{
    int refused = 0;
    while (l->addr_next < l->addrs.count) {
        int is_through = 0;
        fd_drop(l);
        l->addr_next++;
        if (!is_allowed(l, hf__redis_link_addr(l))) {
            refused++;
            continue;
        }
        l->fd = hf__stream_open(hf__redis_link_addr(l), &is_through);
        if (l->fd < 0) {
            last_errno = errno;
            continue;
        }
        if (is_through) {
            hf__redis_link_connected(l);
            return;
        }
        l->state = LINK_CONNECTING;
        l->due_us = address_limit_us(l, now_us(l));
        hf__redis_link_watch(l, AWAIT_WRITE);
        return;
    }
    if (refused > 0 && refused == l->addrs.count)
        refused_later(l);
    else
        hf__redis_link_fail_later(l, HF_UNAVAILABLE, last_errno, "connect");
}

void hf__redis_link_start(struct link *l)
{
    struct backend_conn *c = l->c;
    hf__redis_link_close(l);
    l->owed_us = now_us(l);
    l->give_up_us = l->owed_us + c->env->conf->timeout_us;
    l->addr_next = 0;
    l->extensions = 0;
    if (c->is_unix) {
        l->addrs.count = 1;
        if (hf__stream_addr_unix(&l->addrs.addrs[0], c->host) != 0) {
            hf__redis_link_fail_later(l, HF_INVALID, 0,
                                      "connect: the path is too long");
            return;
        }
    } else if (!is_allowed(l, NULL)) {
        refused_later(l);
        return;
    } else if (hf__resolve_numeric(c->host, c->port, &l->addrs) != 0) {
        l->fd = hf__resolve_start(c->host, c->port);
        if (l->fd < 0) {
            hf__redis_link_fail_later(l, HF_UNAVAILABLE, errno, "resolve");
            return;
        }
        l->state = LINK_RESOLVING;
        l->due_us = l->give_up_us;
        hf__redis_link_watch(l, AWAIT_READ);
        return;
    }
    address_try(l, ECONNREFUSED);
}

static int in_resolving(struct link *l)
{
    int rc = hf__resolve_take(l->fd, &l->addrs);
    if (rc == 0) return 0;
    int code = errno;
    fd_drop(l);
    if (rc < 0)
        hf__redis_link_fail_later(l, HF_UNAVAILABLE, code, "resolve");
    else if (l->addrs.code != 0)
        hf__redis_link_fail_later(l, HF_UNAVAILABLE, 0, "resolve: %s",
                                  hf__resolve_text(l->addrs.code));
    else
        address_try(l, ECONNREFUSED);
    return 1;
}

static int in_connecting(struct link *l)
{
    int rc = hf__stream_finish(l->fd);
    if (rc == 0) return 0;
    if (rc > 0)
        hf__redis_link_connected(l);
    else
        address_try(l, errno);
    return 1;
}

int hf__redis_link_go_on(struct link *l)
{
    switch (l->state) {
    case LINK_RESOLVING:
        return in_resolving(l);
    case LINK_CONNECTING:
        return in_connecting(l);
    case LINK_SECURING:
        return hf__redis_link_secure(l);
    default:
        return 0;
    }
}

/* ---- time ---- */

/* Before anything is called late: the socket may not have been read for a
 * while, because the process slept or had no reason to poll. */
static int late_look(struct link *l, int64_t now)
{
    unsigned life = l->life;
    if (!hf__redis_link_ready(l, AWAIT_READ)) return 0;
    if (l->life != life || l->state == LINK_UP) return 1;
    if (l->extensions == EXTENSIONS_MAX) return 0;
    l->extensions++;
    l->give_up_us = l->due_us = now + l->c->env->conf->timeout_us;
    return 1;
}

int hf__redis_link_timer(struct link *l, int64_t now)
{
    if (now < l->due_us) return 0;
    int64_t limit_ms = l->c->env->conf->timeout_us / US_PER_MS;
    switch (l->state) {
    case LINK_DOWN:
        l->due_us = TIME_NEVER;
        hf__redis_link_start(l);
        return 1;
    case LINK_FAILED:
        l->state = LINK_DOWN;
        down_tell(l, 1);
        return 1;
    case LINK_CONNECTING:
        if (late_look(l, now)) return 1;
        if (now < l->give_up_us) {
            address_try(l, ETIMEDOUT);
            return 1;
        }
        break;
    case LINK_RESOLVING:
    case LINK_SECURING:
    case LINK_GREETING:
        if (late_look(l, now)) return 1;
        break;
    case LINK_UP:
        l->due_us = TIME_NEVER;
        return 0;
    }
    hf__redis_link_fail(l, HF_UNAVAILABLE, 0, "%s: no answer within %lld ms%s",
                        l->state == LINK_RESOLVING  ? "resolve"
                        : l->state == LINK_SECURING ? "tls: handshake"
                                                    : "connect",
                        (long long)limit_ms,
                        l->state == LINK_SECURING ? ": does it speak TLS there?"
                                                  : "");
    return 1;
}
