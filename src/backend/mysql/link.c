/*
 * link.c: the life of the link.
 *
 *   DOWN -> RESOLVING -> CONNECTING -> GREETING -> UP
 *     ^         |            |            |        |
 *     +---------+------------+------------+--------+
 *                                      hf__mysql_link_fail()
 *
 * One rule: a link on which anything went wrong is closed and never used
 * again, and every job that was begun on it is failed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/mysql/error.h"
#include "backend/mysql/mysql.h"
#include "backend/sql/session.h"
#include "base/error.h"

#define EXTENSIONS_MAX 4
#define IDLE_US (500 * US_PER_MS) /* an older link is looked at before use */

void hf__mysql_link_init(struct link *l, struct backend_conn *c)
{
    *l = (struct link){.c = c, .fd = -1, .due_us = TIME_NEVER};
    l->wire.fd = -1;
    l->packet.text.alloc = c->env->alloc;
}

static int64_t now_us(const struct link *l)
{
    return l->c->env->now(l->c->env);
}

static void fd_await(struct link *l, unsigned events)
{
    if (l->fd < 0 || l->watching == events) return;
    l->watching = events;
    l->c->env->await_fd(l->c->env, l->fd, events);
}

/* libmariadb may close its socket and open another inside any call. */
static void fd_forget(struct link *l)
{
    fd_await(l, 0);
    l->fd = -1;
    l->watching = 0;
}

/* A link with nothing under way is watched all the same: it notices its end. */
void hf__mysql_link_await(struct link *l)
{
    const struct wire *w = &l->wire;
    if (l->fd != w->fd) fd_forget(l);
    l->fd = w->fd;
    fd_await(l, w->call != CALL_NONE && !w->is_new && w->wants ? w->wants
                                                               : AWAIT_READ);
}

void hf__mysql_link_close(struct link *l)
{
    int is_ours = l->state == LINK_RESOLVING;
    int fd = l->fd;
    fd_forget(l);
    if (is_ours && fd >= 0) close(fd);
    hf__mysql_wire_close(&l->wire);
    hf__mysql_packet_begin(l);
    l->must_roll_back = 0;
    l->life++;
    l->state = LINK_DOWN;
    l->due_us = TIME_NEVER;
}

/* ---- going down ---- */

/* The connection is closed already: tell everybody why, which `err` says. */
static void down_tell(struct link *l)
{
    struct backend_conn *c = l->c;
    size_t where = strlen(c->server.endpoint) + 2;
    l->due_us = now_us(l) + hf__sql_server_pause_us(c->env, l->failures++);
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

void hf__mysql_link_fail(struct link *l, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, format, ap);
    va_end(ap);
    hf__mysql_link_close(l);
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
    hf__mysql_link_close(l);
    l->state = LINK_FAILED;
    l->due_us = now_us(l);
}

/* ---- coming up ---- */

/* Each address gets its share of what is left of the whole. */
static int64_t address_limit_us(const struct link *l)
{
    int64_t now = now_us(l);
    int left = l->addrs.count - l->addr_next;
    return left > 0 ? now + (l->give_up_us - now) / (left + 1) : l->give_up_us;
}

static void address_next(struct link *l)
{
    struct backend_conn *c = l->c;
    const struct stream_addr *addr =
        c->server.socket ? NULL : &l->addrs.addrs[l->addr_next];
    fd_forget(l);
    hf__mysql_wire_close(&l->wire);
    l->addr_next++;
    l->state = LINK_CONNECTING;
    l->due_us = address_limit_us(l);
    if (hf__mysql_wire_open(&l->wire, &c->server, addr) != 0) {
        fail_later(l, HF_NOMEM, "connect: out of memory");
        return;
    }
    hf__mysql_link_await(l);
    /* What has ended at once is told by the timer. */
    if (l->wire.is_new) l->due_us = now_us(l);
}

/* The address does not do: the next one, unless the server itself refused. */
static void connect_failed(struct link *l)
{
    char text[HF_ERROR_TEXT_MAX];
    int status =
        hf__mysql_error(mysql_errno(l->wire.my), mysql_error(l->wire.my), text);
    if (status == HF_UNAVAILABLE && l->addr_next < l->addrs.count)
        address_next(l);
    else
        fail_later(l, status, "connect: %s", text);
}

static void resolve_begin(struct link *l)
{
    l->fd = hf__resolve_start(l->c->server.host, l->c->server.port);
    l->state = LINK_RESOLVING;
    l->due_us = l->give_up_us;
    if (l->fd < 0)
        fail_later(l, HF_UNAVAILABLE, "resolve: %s", strerror(errno));
    else
        fd_await(l, AWAIT_READ);
}

void hf__mysql_link_start(struct link *l)
{
    struct server *p = &l->c->server;
    struct hf_error err;
    hf__mysql_link_close(l);
    l->give_up_us = now_us(l) + p->env->conf->timeout_us;
    l->addr_next = 0;
    l->extensions = 0;
    l->addrs.count = 1;
    if (hf__sql_server_password(p, &err) != HF_OK)
        fail_later(l, err.status, "%s", err.text);
    else if (!p->socket
             && hf__resolve_numeric(p->host, p->port, &l->addrs) != 0)
        resolve_begin(l);
    else
        address_next(l);
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

static int in_connecting(struct link *l)
{
    enum wire_said said = hf__mysql_wire_step(&l->wire);
    if (said == WIRE_WAITS) {
        hf__mysql_link_await(l);
        return 0;
    }
    if (said != WIRE_CONNECTED) {
        connect_failed(l);
        return 1;
    }
    if (l->wire.is_tls && !mysql_get_ssl_cipher(l->wire.my)) {
        fail_later(l, HF_DENIED,
                   "connect: no TLS that can be trusted: the server has none");
        return 1;
    }
    l->state = LINK_GREETING;
    l->due_us = l->give_up_us;
    if (hf__mysql_greet(l) != 0)
        fail_later(l, HF_NOMEM, "connect: out of memory");
    return 1;
}

/* ---- in use ---- */

/* Nothing is asked, so nothing but the end can have come. */
static int idle_look(struct link *l)
{
    char byte;
    ssize_t n = recv(l->wire.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    hf__mysql_link_fail(l, HF_UNAVAILABLE, "the server closed the connection");
    return 1;
}

static int answers_take(struct link *l)
{
    unsigned life = l->life;
    int done = 0;
    if (!l->packet.is_sent) return idle_look(l);
    while (l->packet.is_sent) {
        enum wire_said said = hf__mysql_wire_step(&l->wire);
        if (said == WIRE_WAITS) break;
        done = 1;
        hf__mysql_packet_take(l, (int)said);
        if (l->life != life) return 1;
    }
    l->active_us = now_us(l);
    hf__mysql_link_await(l);
    return done;
}

int hf__mysql_link_ready(struct link *l)
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
    return answers_take(l);
}

void hf__mysql_link_check(struct link *l)
{
    if (l->state != LINK_UP || l->packet.is_sent) return;
    if (now_us(l) - l->active_us < IDLE_US) return;
    (void)idle_look(l);
}

/* ---- time ---- */

/* Before anything is called late: the socket may not have been read for a
 * while, because the process slept or had no reason to poll. */
static int late_look(struct link *l, int64_t now)
{
    unsigned life = l->life;
    if (!hf__mysql_link_ready(l)) return 0;
    if (l->life != life || l->state == LINK_UP) return 1;
    if (l->extensions == EXTENSIONS_MAX) return 0;
    l->extensions++;
    l->give_up_us = l->due_us = now + l->c->env->conf->timeout_us;
    return 1;
}

static void late_tell(struct link *l, int64_t now)
{
    if (l->state == LINK_CONNECTING && now < l->give_up_us
        && l->addr_next < l->addrs.count)
        address_next(l);
    else
        hf__mysql_link_fail(
            l, HF_UNAVAILABLE, "%s: no answer within %lld ms",
            l->state == LINK_RESOLVING ? "resolve" : "connect",
            (long long)(l->c->env->conf->timeout_us / US_PER_MS));
}

int hf__mysql_link_timer(struct link *l, int64_t now)
{
    if (now < l->due_us) return 0;
    if (l->state == LINK_UP) {
        l->due_us = TIME_NEVER;
        return 0;
    }
    if (l->state == LINK_DOWN) {
        hf__mysql_link_start(l);
    } else if (l->state == LINK_FAILED) {
        l->state = LINK_DOWN;
        down_tell(l);
    } else if (!late_look(l, now)) {
        late_tell(l, now);
    }
    return 1;
}
