/*
 * link.c: the life of the link.
 *
 *   DOWN -> RESOLVING -> CONNECTING -> (SECURING ->) ATTACHING -> GREETING
 *     ^         |            |             |             |         |  -> UP
 *     +---------+------------+-------------+-------------+---------+-----+
 *                                             hf__zookeeper_link_fail()
 *
 * One rule: a link on which anything went wrong is closed and never used again,
 * and the next try is at the next host.
 */
#include "backend/zookeeper/link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/zookeeper/job.h"
#include "backend/zookeeper/zookeeper.h"
#include "base/error.h"
#include "base/math.h"

#define EXTENSIONS_MAX 4
#define READ_SIZE ((size_t)16 * 1024)

static int64_t now_us(const struct backend_conn *c)
{
    return c->env->now(c->env);
}

static void await(struct backend_conn *c, unsigned events)
{
    struct link *l = &c->link;
    if (l->fd < 0 || l->watching == events) return;
    l->watching = events;
    c->env->await_fd(c->env, l->fd, events);
}

static void fd_drop(struct backend_conn *c)
{
    struct link *l = &c->link;
    if (l->fd < 0) return;
    await(c, 0);
    hf__tls_close(l->tls);
    l->tls = NULL;
    close(l->fd);
    l->fd = -1;
    l->watching = 0;
}

void hf__zookeeper_link_close(struct backend_conn *c)
{
    struct link *l = &c->link;
    fd_drop(c);
    l->life++;
    l->state = LINK_DOWN;
    l->due_us = TIME_NEVER;
    l->out.len = l->out_done = l->in_len = 0;
    c->is_starved = 0;
    hf__zookeeper_calls_drop(c);
}

void hf__zookeeper_link_free(struct backend_conn *c)
{
    hf__zookeeper_link_close(c);
    hf__zookeeper_out_free(&c->link.out);
    hf__free(c->env->alloc, c->link.in);
}

/* ---- going down --------------------------------------------------------- */

static void retry_plan(struct backend_conn *c)
{
    struct link *l = &c->link;
    unsigned doublings = l->failures < 16 ? l->failures : 16;
    int64_t most = min64(RECONNECT_US_MIN << doublings, RECONNECT_US_MAX);
    /* Full jitter: many clients must not connect again at the same moment. */
    l->due_us =
        now_us(c) + (int64_t)(c->env->random(c->env) % (uint64_t)(most + 1));
    l->failures++;
}

/* The socket is closed already: tell everybody why, which `err` says. */
static void down_tell(struct backend_conn *c)
{
    struct link *l = &c->link;
    retry_plan(c);
    if (hf__zookeeper_host_next(c) != 0)
        hf__error_set(&l->err, HF_NOMEM, "%s: out of memory", c->endpoint);
    hf__zookeeper_places_doubt(c);
    c->env->link(c->env, LINK_IS_DOWN, 0, &l->err);
    hf__zookeeper_jobs_fail(c, l->err.status, l->err.text);
    hf__zookeeper_cells_fail(c, l->err.status, l->err.text);
}

static void error_fill(struct backend_conn *c, int status, const char *format,
                       va_list ap)
{
    char what[HF_ERROR_TEXT_MAX];
    vsnprintf(what, sizeof what, format, ap);
    hf__error_set(&c->link.err, status, "%s: %s", c->endpoint, what);
}

void hf__zookeeper_link_fail(struct backend_conn *c, int status,
                             const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(c, status, format, ap);
    va_end(ap);
    hf__zookeeper_link_close(c);
    down_tell(c);
}

/* A try failed where callbacks are not allowed: the timer tells. */
__attribute__((format(printf, 3, 4))) static void fail_later(
    struct backend_conn *c, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(c, status, format, ap);
    va_end(ap);
    hf__zookeeper_link_close(c);
    c->link.state = LINK_FAILED;
    c->link.due_us = now_us(c);
}

/* ---- coming up ---------------------------------------------------------- */

static void attach(struct backend_conn *c)
{
    struct link *l = &c->link;
    l->state = LINK_ATTACHING;
    l->due_us = l->give_up_us;
    await(c, AWAIT_READ | AWAIT_WRITE);
    if (hf__zookeeper_session_ask(c) != 0)
        fail_later(c, HF_NOMEM, "connect: out of memory");
}

static int secure(struct backend_conn *c)
{
    struct link *l = &c->link;
    int rc = hf__tls_handshake(l->tls);
    int code = errno, has_moved = hf__tls_has_moved(l->tls);
    const struct hf_error *why = hf__tls_error(l->tls);
    if (rc > 0)
        attach(c);
    else if (rc == 0)
        await(c, hf__tls_wants_write(l->tls) ? AWAIT_READ | AWAIT_WRITE
                                             : AWAIT_READ);
    else if (why)
        fail_later(c, why->status, "%s", why->text);
    else
        fail_later(c, HF_UNAVAILABLE, "tls: handshake: %s",
                   code ? strerror(code) : "the server closed the connection");
    return rc != 0 || has_moved;
}

static void connected(struct backend_conn *c)
{
    struct link *l = &c->link;
    struct hf_error err;
    if (!c->is_tls) {
        attach(c);
        return;
    }
    l->state = LINK_SECURING;
    l->due_us = l->give_up_us;
    if (hf__tls_open(c->tls, l->fd, c->host, &l->tls, &err) != HF_OK)
        fail_later(c, err.status == HF_NOMEM ? HF_NOMEM : HF_UNAVAILABLE, "%s",
                   err.text);
    else
        secure(c);
}

/* Each address gets its share of what is left of the whole. */
static int64_t address_limit_us(const struct backend_conn *c)
{
    const struct link *l = &c->link;
    int64_t now = now_us(c);
    int left = l->addrs.count - l->addr_next;
    return left > 0 ? now + (l->give_up_us - now) / (left + 1) : l->give_up_us;
}

static void address_try(struct backend_conn *c, int last_errno)
{
    struct link *l = &c->link;
    while (l->addr_next < l->addrs.count) {
        int is_through = 0;
        fd_drop(c);
        l->fd = hf__stream_open(&l->addrs.addrs[l->addr_next++], &is_through);
        if (l->fd < 0) {
            last_errno = errno;
        } else if (is_through) {
            connected(c);
            return;
        } else {
            l->state = LINK_CONNECTING;
            l->due_us = address_limit_us(c);
            await(c, AWAIT_WRITE);
            return;
        }
    }
    fail_later(c, HF_UNAVAILABLE, "connect: %s", strerror(last_errno));
}

void hf__zookeeper_link_start(struct backend_conn *c)
{
    struct link *l = &c->link;
    struct hf_error err;
    hf__zookeeper_link_close(c);
    l->give_up_us = now_us(c) + c->env->conf->timeout_us;
    l->addr_next = 0;
    l->extensions = 0;
    if (hf__zookeeper_password(c, &err) != HF_OK) {
        fail_later(c, err.status, "%s", err.text);
    } else if (hf__resolve_numeric(c->host, c->port, &l->addrs) == 0) {
        address_try(c, ECONNREFUSED);
    } else {
        l->fd = hf__resolve_start(c->host, c->port);
        l->state = LINK_RESOLVING;
        l->due_us = l->give_up_us;
        if (l->fd < 0)
            fail_later(c, HF_UNAVAILABLE, "resolve: %s", strerror(errno));
        else
            await(c, AWAIT_READ);
    }
}

static int in_resolving(struct backend_conn *c)
{
    struct link *l = &c->link;
    int rc = hf__resolve_take(l->fd, &l->addrs);
    int code = errno;
    if (rc == 0) return 0;
    fd_drop(c);
    if (rc < 0)
        fail_later(c, HF_UNAVAILABLE, "resolve: %s", strerror(code));
    else if (l->addrs.code != 0)
        fail_later(c, HF_UNAVAILABLE, "resolve: %s",
                   hf__resolve_text(l->addrs.code));
    else
        address_try(c, ECONNREFUSED);
    return 1;
}

static int in_connecting(struct backend_conn *c)
{
    int rc = hf__stream_finish(c->link.fd);
    if (rc == 0) return 0;
    if (rc > 0)
        connected(c);
    else
        address_try(c, errno);
    return 1;
}

void hf__zookeeper_link_is_up(struct backend_conn *c)
{
    struct link *l = &c->link;
    int up = c->session.is_other ? LINK_IS_OTHER : LINK_IS_UP;
    l->state = LINK_UP;
    l->due_us = TIME_NEVER;
    l->failures = 0;
    l->err = (struct hf_error){.node = -1};
    c->session.is_other = 0;
    if (c->env->bound) c->env->bound(c->env, hf__zookeeper_session_lease_us(c));
    unsigned life = l->life;
    hf__zookeeper_places_look(c);
    hf__zookeeper_watches_up(c);
    c->env->link(c->env, up, hf__zookeeper_clock_us(c), NULL);
    if (l->life == life) hf__zookeeper_jobs_begin(c);
}

/* ---- in use ------------------------------------------------------------- */

static int frame_take(struct backend_conn *c, const char *data, size_t len)
{
    struct jute_in in = {.at = (const unsigned char *)data, .left = len};
    if (c->link.state == LINK_ATTACHING)
        return hf__zookeeper_session_answer(c, in);
    return hf__zookeeper_frame_take(c, in);
}

static void nonsense(struct backend_conn *c)
{
    hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                            "what it says is not ZooKeeper's protocol%s",
                            c->is_tls ? "" : ": does it want tls=on?");
}

/* Take the frames that are there.  An answer may end the link. */
static int frames_take(struct backend_conn *c)
{
    struct link *l = &c->link;
    unsigned life = l->life;
    size_t at = 0;
    int done = 0;
    for (;;) {
        ptrdiff_t len = hf__zookeeper_frame(l->in + at, l->in_len - at);
        if (len == 0) break;
        done = 1;
        int rc = len < 0 ? -1 : frame_take(c, l->in + at + 4, (size_t)len - 4);
        if (l->life != life) return 1;
        if (rc != 0) {
            nonsense(c);
            return 1;
        }
        at += (size_t)len;
    }
    memmove(l->in, l->in + at, l->in_len - at);
    l->in_len -= at;
    return done;
}

/* Room to read into.  0, or -1: no memory. */
static int in_reserve(struct backend_conn *c)
{
    struct link *l = &c->link;
    size_t size = l->in_size ? l->in_size : READ_SIZE;
    while (size - l->in_len < READ_SIZE / 2) size *= 2;
    if (size == l->in_size) return 0;
    char *more = hf__realloc(c->env->alloc, l->in, size);
    if (!more) return -1;
    l->in = more;
    l->in_size = size;
    return 0;
}

static int read_all(struct backend_conn *c)
{
    struct link *l = &c->link;
    unsigned life = l->life;
    int done = 0;
    for (;;) {
        if (in_reserve(c) != 0) {
            hf__zookeeper_link_fail(c, HF_NOMEM, "read: out of memory");
            return 1;
        }
        size_t room = l->in_size - l->in_len;
        char *to = l->in + l->in_len;
        ssize_t n = l->tls ? hf__tls_read(l->tls, to, room)
                           : hf__stream_read(l->fd, to, room);
        if (n < 0) {
            const struct hf_error *why = l->tls ? hf__tls_error(l->tls) : NULL;
            hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                    "the connection was lost: %s",
                                    why     ? why->text
                                    : errno ? strerror(errno)
                                            : "the server closed it");
            return 1;
        }
        if (n == 0) return done;
        l->in_len += (size_t)n;
        l->active_us = now_us(c);
        done = 1;
        (void)frames_take(c);
        if (l->life != life) return 1;
        if ((size_t)n < room && !(l->tls && hf__tls_has_more(l->tls)))
            return done;
    }
}

int hf__zookeeper_link_ready(struct backend_conn *c, unsigned ready)
{
    switch (c->link.state) {
    case LINK_DOWN:
    case LINK_FAILED:
        return 0;
    case LINK_RESOLVING:
        return in_resolving(c);
    case LINK_CONNECTING:
        return in_connecting(c);
    case LINK_SECURING:
        return secure(c);
    case LINK_ATTACHING:
    case LINK_GREETING:
    case LINK_UP:
        break;
    }
    if ((ready & AWAIT_READ) && read_all(c)) return 1;
    return (ready & AWAIT_WRITE) != 0; /* hf__zookeeper_link_write() follows */
}

void hf__zookeeper_link_write(struct backend_conn *c)
{
    struct link *l = &c->link;
    if (l->state < LINK_ATTACHING) return;
    size_t left = l->out.len - l->out_done;
    if (left > 0) {
        const char *from = l->out.data + l->out_done;
        ssize_t n = l->tls ? hf__tls_write(l->tls, from, left)
                           : hf__stream_write(l->fd, from, left);
        if (n < 0) {
            hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                    "the connection was lost: write: %s",
                                    strerror(errno));
            return;
        }
        l->out_done += (size_t)n;
        if (l->out_done == l->out.len) l->out.len = l->out_done = 0;
    }
    await(c, l->out.len > 0 ? AWAIT_READ | AWAIT_WRITE : AWAIT_READ);
}

/* ---- time --------------------------------------------------------------- */

/* Before anything is called late: the socket may not have been read for a
 * while, because the process slept or had no reason to poll. */
static int late_look(struct backend_conn *c, int64_t now)
{
    struct link *l = &c->link;
    unsigned life = l->life;
    if (!hf__zookeeper_link_ready(c, AWAIT_READ)) return 0;
    if (l->life != life || l->state == LINK_UP) return 1;
    if (l->extensions == EXTENSIONS_MAX) return 0;
    l->extensions++;
    l->give_up_us = l->due_us = now + c->env->conf->timeout_us;
    return 1;
}

int hf__zookeeper_link_timer(struct backend_conn *c, int64_t now)
{
    struct link *l = &c->link;
    if (now < l->due_us) return 0;
    if (l->state == LINK_UP) {
        l->due_us = TIME_NEVER;
        return 0;
    }
    if (l->state == LINK_DOWN) {
        hf__zookeeper_link_start(c);
        return 1;
    }
    if (l->state == LINK_FAILED) {
        l->state = LINK_DOWN;
        down_tell(c);
        return 1;
    }
    if (late_look(c, now)) return 1;
    if (l->state == LINK_CONNECTING && now < l->give_up_us
        && l->addr_next < l->addrs.count) {
        address_try(c, ETIMEDOUT);
        return 1;
    }
    hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "%s: no answer within %lld ms",
                            l->state == LINK_RESOLVING  ? "resolve"
                            : l->state == LINK_SECURING ? "tls: handshake"
                                                        : "connect",
                            (long long)(c->env->conf->timeout_us / US_PER_MS));
    return 1;
}
