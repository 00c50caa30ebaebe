/*
 * link.c: the life of the link.
 *
 *   DOWN -> RESOLVING -> CONNECTING -> GREETING -> UP
 *     ^         |            |            |        |
 *     +---------+------------+------------+--------+
 *                                   hf__postgres_link_fail()
 *
 * One rule: a link on which anything went wrong is closed and never used
 * again, and every job that was begun on it is failed.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/postgres/error.h"
#include "backend/postgres/postgres.h"
#include "backend/postgres/session.h"
#include "backend/postgres/watch.h"
#include "base/error.h"

#define EXTENSIONS_MAX 4
#define IDLE_US (500 * US_PER_MS) /* an older link is looked at before use */

void hf__postgres_link_init(struct link *l, struct backend_conn *c)
{
    *l = (struct link){.c = c, .fd = -1, .due_us = TIME_NEVER};
}

static int64_t now_us(const struct link *l)
{
    return l->c->env->now(l->c->env);
}

void hf__postgres_link_await(struct link *l, unsigned events)
{
    if (l->fd < 0 || l->watching == events) return;
    l->watching = events;
    l->c->env->await_fd(l->c->env, l->fd, events);
}

/* libpq may close its socket and open another inside any call. */
static void fd_forget(struct link *l)
{
    hf__postgres_link_await(l, 0);
    l->fd = -1;
    l->watching = 0;
}

void hf__postgres_link_close(struct link *l)
{
    int is_ours = l->state == LINK_RESOLVING;
    int fd = l->fd;
    fd_forget(l);
    if (is_ours && fd >= 0) close(fd);
    if (l->pg) PQfinish(l->pg);
    l->pg = NULL;
    hf__postgres_flights_drop(l);
    l->prepared = 0;
    l->life++;
    l->state = LINK_DOWN;
    l->due_us = TIME_NEVER;
}

/* ---- going down ---- */

static void retry_plan(struct link *l)
{
    l->due_us = now_us(l) + hf__sql_server_pause_us(l->c->env, l->failures++);
}

/* The connection is closed already: tell everybody why, which `err` says. */
static void down_tell(struct link *l)
{
    struct backend_conn *c = l->c;
    size_t where = strlen(c->server.endpoint) + 2;
    retry_plan(l);
    hf__sql_queue_drop(&c->queue);
    /* Its holders must not wait for the next connection to learn that their
     * locks are gone: they ask at once, and the rows answer. */
    if (c->session && hf__sql_session_forget(c->session))
        c->env->link(c->env, LINK_IS_OTHER, hf__sql_session_now_us(c->session),
                     NULL);
    c->env->link(c->env, LINK_IS_DOWN, 0, &l->err);
    hf__sql_core_lost(c->core, l->err.status, l->err.text + where);
}

static void error_fill(struct link *l, int status, const char *format,
                       va_list ap)
{
    char what[HF_ERROR_TEXT_MAX];
    vsnprintf(what, sizeof what, format, ap);
    hf__error_set(&l->err, status, "%s: %s", l->c->server.endpoint, what);
}

void hf__postgres_link_fail(struct link *l, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, format, ap);
    va_end(ap);
    hf__postgres_link_close(l);
    down_tell(l);
}

/* A try failed where callbacks are not allowed: the timer tells. */
__attribute__((format(printf, 3, 4))) static void fail_later(struct link *l,
                                                             int status,
                                                             const char *format,
                                                             ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, format, ap);
    va_end(ap);
    hf__postgres_link_close(l);
    l->state = LINK_FAILED;
    l->due_us = now_us(l);
}

/* ---- coming up ---- */

static void address_next(struct link *l);

/* Each address gets its share of what is left of the whole. */
static int64_t address_limit_us(const struct link *l)
{
    int64_t now = now_us(l);
    int left = l->addrs.count - l->addr_next;
    return left > 0 ? now + (l->give_up_us - now) / (left + 1) : l->give_up_us;
}

/* What libpq waits for now. */
static void polling_await(struct link *l, PostgresPollingStatusType polling)
{
    l->fd = PQsocket(l->pg);
    hf__postgres_link_await(l, polling == PGRES_POLLING_READING ? AWAIT_READ
                                                                : AWAIT_WRITE);
}

/* The address does not do: the next one, unless the server itself refused. */
static void connect_failed(struct link *l)
{
    char text[HF_ERROR_TEXT_MAX];
    int status = hf__postgres_error_link(l->pg, text);
    if (status == HF_UNAVAILABLE && l->addr_next < l->addrs.count)
        address_next(l);
    else
        fail_later(l, status, "connect: %s", text);
}

static void address_next(struct link *l)
{
    struct backend_conn *c = l->c;
    fd_forget(l);
    if (l->pg) PQfinish(l->pg);
    l->pg = hf__postgres_connect(
        c, c->server.socket ? NULL : &l->addrs.addrs[l->addr_next]);
    l->addr_next++;
    l->state = LINK_CONNECTING;
    l->due_us = address_limit_us(l);
    if (!l->pg)
        fail_later(l, HF_NOMEM, "connect: out of memory");
    else if (PQstatus(l->pg) == CONNECTION_BAD)
        connect_failed(l);
    else
        polling_await(l, PGRES_POLLING_WRITING);
}

void hf__postgres_link_start(struct link *l)
{
    struct backend_conn *c = l->c;
    struct hf_error err;
    hf__postgres_link_close(l);
    l->give_up_us = now_us(l) + c->env->conf->timeout_us;
    l->addr_next = 0;
    l->extensions = 0;
    l->addrs.count = 1;
    if (hf__sql_server_password(&c->server, &err) != HF_OK) {
        fail_later(l, err.status, "%s", err.text);
    } else if (!c->server.socket
               && hf__resolve_numeric(c->server.host, c->server.port, &l->addrs)
                      != 0) {
        l->fd = hf__resolve_start(c->server.host, c->server.port);
        l->state = LINK_RESOLVING;
        l->due_us = l->give_up_us;
        if (l->fd < 0)
            fail_later(l, HF_UNAVAILABLE, "resolve: %s", strerror(errno));
        else
            hf__postgres_link_await(l, AWAIT_READ);
    } else {
        address_next(l);
    }
}

static int in_resolving(struct link *l)
{
    int rc = hf__resolve_take(l->fd, &l->addrs);
    if (rc == 0) return 0;
    int code = errno, fd = l->fd;
    fd_forget(l);
    close(fd);
    if (rc < 0)
        fail_later(l, HF_UNAVAILABLE, "resolve: %s", strerror(code));
    else if (l->addrs.code != 0)
        fail_later(l, HF_UNAVAILABLE, "resolve: %s",
                   hf__resolve_text(l->addrs.code));
    else
        address_next(l);
    return 1;
}

/* The engine asks without knowing, and libpq takes a call for readiness. */
static int is_ready(const struct link *l)
{
    struct pollfd p = {.fd = l->fd};
    if (l->watching & AWAIT_READ) p.events |= POLLIN;
    if (l->watching & AWAIT_WRITE) p.events |= POLLOUT;
    return poll(&p, 1, 0) > 0;
}

static int in_connecting(struct link *l)
{
    if (!is_ready(l)) return 0;
    fd_forget(l);
    PostgresPollingStatusType polling = PQconnectPoll(l->pg);
    if (polling == PGRES_POLLING_FAILED) {
        connect_failed(l);
    } else if (polling == PGRES_POLLING_OK) {
        l->state = LINK_GREETING;
        l->due_us = l->give_up_us;
        l->fd = PQsocket(l->pg);
        hf__postgres_link_await(l, AWAIT_READ);
        if (hf__postgres_greet(l) != 0)
            fail_later(l, HF_UNAVAILABLE, "connect: %s", "out of memory");
    } else {
        polling_await(l, polling);
    }
    return 1;
}

/* ---- in use ---- */

static int read_all(struct link *l)
{
    unsigned life = l->life;
    char text[HF_ERROR_TEXT_MAX];
    int is_read = PQconsumeInput(l->pg);
    l->active_us = now_us(l);
    int done = hf__postgres_flights_take(l);
    if (l->life != life) return 1;
    done |= hf__postgres_watch_notified(l->c);
    if (l->life != life) return 1;
    if (is_read && PQstatus(l->pg) == CONNECTION_OK) return done;
    hf__postgres_error_link(l->pg, text);
    hf__postgres_link_fail(l, HF_UNAVAILABLE, "the connection was lost: %s",
                           text);
    return 1;
}

int hf__postgres_link_ready(struct link *l, unsigned ready)
{
    switch (l->state) {
    case LINK_DOWN:
    case LINK_FAILED:
        return 0;
    case LINK_RESOLVING:
        return in_resolving(l);
    case LINK_CONNECTING:
        return in_connecting(l);
    case LINK_GREETING:
    case LINK_UP:
        break;
    }
    if ((ready & AWAIT_READ) && read_all(l)) return 1;
    return (ready & AWAIT_WRITE) != 0; /* hf__postgres_link_write() follows */
}

void hf__postgres_link_write(struct link *l)
{
    if (l->state != LINK_UP && l->state != LINK_GREETING) return;
    int left = PQflush(l->pg);
    if (left < 0)
        hf__postgres_link_fail(l, HF_UNAVAILABLE, "the connection was lost");
    else
        hf__postgres_link_await(l,
                                left ? AWAIT_READ | AWAIT_WRITE : AWAIT_READ);
}

void hf__postgres_link_check(struct link *l)
{
    if (l->state != LINK_UP || l->flights.first) return;
    if (now_us(l) - l->active_us < IDLE_US) return;
    (void)read_all(l);
}

/* ---- time ---- */

/* Before anything is called late: the socket may not have been read for a
 * while, because the process slept or had no reason to poll. */
static int late_look(struct link *l, int64_t now)
{
    unsigned life = l->life;
    if (!hf__postgres_link_ready(l, AWAIT_READ)) return 0;
    if (l->life != life || l->state == LINK_UP) return 1;
    if (l->extensions == EXTENSIONS_MAX) return 0;
    l->extensions++;
    l->give_up_us = l->due_us = now + l->c->env->conf->timeout_us;
    return 1;
}

int hf__postgres_link_timer(struct link *l, int64_t now)
{
    if (now < l->due_us) return 0;
    if (l->state == LINK_UP) {
        l->due_us = TIME_NEVER;
        return 0;
    }
    if (l->state == LINK_DOWN) {
        hf__postgres_link_start(l);
        return 1;
    }
    if (l->state == LINK_FAILED) {
        l->state = LINK_DOWN;
        down_tell(l);
        return 1;
    }
    if (late_look(l, now)) return 1;
    if (l->state == LINK_CONNECTING && now < l->give_up_us
        && l->addr_next < l->addrs.count) {
        address_next(l);
        return 1;
    }
    hf__postgres_link_fail(
        l, HF_UNAVAILABLE, "%s: no answer within %lld ms",
        l->state == LINK_RESOLVING ? "resolve" : "connect",
        (long long)(l->c->env->conf->timeout_us / US_PER_MS));
    return 1;
}
