/*
 * link.c: the life of the link.
 *
 *   DOWN -> RESOLVING -> CONNECTING -> SECURING -> GREETING -> UP
 *     ^         |            |            |            |        |
 *     +---------+------------+------------+------------+--------+
 *
 * A try goes from endpoint to endpoint until one completes the greeting.  One
 * rule: a link that has failed is closed and never used again.  The next one
 * has a new generation, so that the server refuses what comes late on the old
 * one.
 */
#include "backend/etcd/link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/etcd/etcd.h"
#include "base/error.h"
#include "base/math.h"

#define OUT_MAX 65536
#define IDLE_US (500 * US_PER_MS) /* an idle link is read before use */

void hf__etcd_link_init(struct link *l, struct backend_conn *c)
{
    *l = (struct link){.c = c, .fd = -1, .due_us = TIME_NEVER};
    l->calls_end = &l->calls;
}

static void await(struct link *l, unsigned events)
{
    if (l->fd < 0 || l->watching == events) return;
    l->watching = events;
    l->c->env->await_fd(l->c->env, l->fd, events);
}

static void fd_close(struct link *l)
{
    await(l, 0);
    if (l->fd >= 0) close(l->fd);
    l->fd = -1;
    l->watching = 0;
}

static void socket_close(struct link *l)
{
    hf__tls_close(l->tls);
    l->tls = NULL;
    hf__etcd_session_end(l);
    hf__free_secret(l->c->env->alloc, l->token);
    l->token = NULL;
    hf__etcd_bytes_free(&l->out, l->c->env->alloc);
    l->out_done = 0;
    l->gen = 0;
    fd_close(l);
}

void hf__etcd_link_close(struct link *l)
{
    socket_close(l);
    l->life++;
    l->state = LINK_DOWN;
    l->due_us = TIME_NEVER;
}

/* ---- going down ---- */

static void error_fill(struct link *l, int status, const char *format,
                       va_list ap)
{
    char what[HF_ERROR_TEXT_MAX];
    vsnprintf(what, sizeof what, format, ap);
    hf__error_set(&l->err, status, "%s%s: %s",
                  l->c->tls ? "etcds://" : "etcd://",
                  l->c->endpoints[l->endpoint].text, what);
}

/* Answer the calls that were under way on the link, which is closed already. */
static void calls_fail(struct link *l)
{
    struct backend_conn *c = l->c;
    struct request *list = NULL, **end = &list;
    for (struct call *call = l->calls; call; call = call->next) {
        struct request *req = call->req;
        call->req = NULL;
        if (call->kind == CALL_PROPOSE) hf__etcd_propose_cut(c, req);
        if (call->kind == CALL_RELEASE) hf__etcd_lane(c, req)->releases--;
        if (call->kind == CALL_ATTACH) hf__etcd_renew_cut(c, req);
        while (req) {
            struct request *next = req->next;
            req->next = NULL;
            *end = req;
            end = &req->next;
            req = next;
        }
    }
    hf__etcd_leases_cut(c);
    hf__etcd_watches_cut(c);
    hf__etcd_clock_cut(c, 0);
    hf__etcd_link_close(l);
    while (list) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        hf__etcd_doubt(c, req, &l->err);
    }
    hf__etcd_cells_cut(c, &l->err);
}

/* Requests that were not sent yet wait for the next connection, until that has
 * failed. */
static void waiting_fail(struct backend_conn *c)
{
    struct request *list = c->waiting;
    c->waiting = NULL;
    c->waiting_end = &c->waiting;
    while (list) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        hf__etcd_doubt(c, req, &c->link.err);
    }
}

void hf__etcd_link_drop(struct link *l, const struct hf_error *why)
{
    l->err = *why;
    calls_fail(l);
    waiting_fail(l->c);
}

static void down_tell(struct link *l)
{
    struct backend_conn *c = l->c;
    calls_fail(l);
    l->endpoint = (l->endpoint + 1) % c->endpoints_len;
    l->due_us =
        hf__etcd_now(c) + hf__sql_server_pause_us(c->env, l->failures++);
    c->env->link(c->env, LINK_IS_DOWN, 0, &l->err);
    waiting_fail(c);
}

void hf__etcd_link_fail(struct link *l, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, format, ap);
    va_end(ap);
    down_tell(l);
}

static void start_at(struct link *l);

/* Try the next endpoint, unless the server has refused: every server would. */
static int endpoint_next(struct link *l, int status)
{
    if (status != HF_UNAVAILABLE || l->endpoints_left <= 0
        || hf__etcd_now(l->c) >= l->give_up_us)
        return 0;
    l->endpoint = (l->endpoint + 1) % l->c->endpoints_len;
    start_at(l);
    return 1;
}

/* A try failed where callbacks are not allowed: the timer will report it. */
__attribute__((format(printf, 3, 4))) static void try_fail(struct link *l,
                                                           int status,
                                                           const char *format,
                                                           ...)
{
    va_list ap;
    va_start(ap, format);
    error_fill(l, status, format, ap);
    va_end(ap);
    hf__etcd_leases_cut(l->c);
    hf__etcd_link_close(l);
    if (endpoint_next(l, status)) return;
    l->state = LINK_FAILED;
    l->due_us = hf__etcd_now(l->c);
}

void hf__etcd_greet_refused(struct link *l, const struct call *call)
{
    int status = HF_UNAVAILABLE;
    const char *what = "the server refused";
    if (call->status == GRPC_INVALID || call->status == GRPC_DENIED
        || call->status == GRPC_UNKNOWN_TOKEN)
        status = HF_DENIED, what = "the server wants another user or password";
    if (call->status == GRPC_UNSUPPORTED)
        status = HF_UNSUPPORTED, what = "the server is not etcd";
    if (l->state == LINK_UP)
        hf__etcd_link_fail(l, status, "%s: %s", what, call->message);
    else
        try_fail(l, status, "connect: %s: %s", what,
                 call->message[0] ? call->message : "the stream was closed");
}

/* ---- coming up ---- */

void hf__etcd_greet_stray(struct link *l)
{
    try_fail(l, HF_UNAVAILABLE,
             "connect: it is of another cluster than the server before");
}

static void greeting(struct link *l)
{
    l->state = LINK_GREETING;
    /* The pump writes at once or, if this runs in open(), at its next poll. */
    await(l, AWAIT_READ | AWAIT_WRITE);
    if (hf__etcd_session_begin(l) != 0)
        try_fail(l, HF_NOMEM, "connect: out of memory");
    else
        hf__etcd_greet(l);
}

static int secure(struct link *l)
{
    int rc = hf__tls_handshake(l->tls);
    int code = errno;
    int has_moved = hf__tls_has_moved(l->tls);
    const struct hf_error *why = hf__tls_error(l->tls);
    if (rc > 0)
        greeting(l);
    else if (rc == 0)
        await(l, hf__tls_wants_write(l->tls) ? AWAIT_READ | AWAIT_WRITE
                                             : AWAIT_READ);
    else if (why)
        try_fail(l, why->status, "%s", why->text);
    else
        try_fail(l, HF_UNAVAILABLE, "tls: handshake: %s",
                 code ? strerror(code) : "the server closed the connection");
    return rc != 0 || has_moved;
}

static void connected(struct link *l)
{
    struct hf_error err;
    struct backend_conn *c = l->c;
    if (!c->tls) {
        greeting(l);
        return;
    }
    l->state = LINK_SECURING;
    if (hf__tls_open(c->tls, l->fd, c->endpoints[l->endpoint].host, &l->tls,
                     &err)
        != HF_OK)
        try_fail(l, err.status == HF_NOMEM ? HF_NOMEM : HF_UNAVAILABLE, "%s",
                 err.text);
    else
        (void)secure(l);
}

static void address_next(struct link *l)
{
    int is_connected = 0, code = ECONNREFUSED;
    hf__tls_close(l->tls);
    l->tls = NULL;
    fd_close(l);
    while (l->fd < 0 && l->addr_next < l->addrs.count) {
        l->fd = hf__stream_open(&l->addrs.addrs[l->addr_next++], &is_connected);
        code = errno;
    }
    if (l->fd < 0) {
        try_fail(l, HF_UNAVAILABLE, "connect: %s", strerror(code));
        return;
    }
    l->state = LINK_CONNECTING;
    await(l, AWAIT_WRITE);
    if (is_connected) connected(l);
}

/* Connect to the endpoint, within its share of the time that is left for the
 * try. */
static void start_at(struct link *l)
{
    struct backend_conn *c = l->c;
    const struct endpoint *e = &c->endpoints[l->endpoint];
    int64_t now = hf__etcd_now(c);
    l->due_us = now + max64(l->give_up_us - now, 0) / l->endpoints_left;
    l->endpoints_left--;
    l->addr_next = 0;
    if (hf__resolve_numeric(e->host, e->port, &l->addrs) == 0) {
        address_next(l);
        return;
    }
    l->fd = hf__resolve_start(e->host, e->port);
    l->state = LINK_RESOLVING;
    if (l->fd < 0)
        try_fail(l, HF_UNAVAILABLE, "resolve: %s", strerror(errno));
    else
        await(l, AWAIT_READ);
}

void hf__etcd_link_start(struct link *l)
{
    struct backend_conn *c = l->c;
    struct hf_error err;
    hf__etcd_link_close(l);
    l->give_up_us = hf__etcd_now(c) + c->env->conf->timeout_us;
    l->endpoints_left = c->endpoints_len;
    if (hf__sql_server_password(&c->server, &err) == HF_OK) {
        start_at(l);
        return;
    }
    l->endpoints_left = 0;
    try_fail(l, err.status, "%s", err.text);
}

static int in_resolving(struct link *l)
{
    int rc = hf__resolve_take(l->fd, &l->addrs);
    int code = errno;
    if (rc == 0) return 0;
    fd_close(l);
    if (rc < 0)
        try_fail(l, HF_UNAVAILABLE, "resolve: %s", strerror(code));
    else if (l->addrs.code != 0)
        try_fail(l, HF_UNAVAILABLE, "resolve: %s",
                 hf__resolve_text(l->addrs.code));
    else
        address_next(l);
    return 1;
}

static int in_connecting(struct link *l)
{
    int rc = hf__stream_finish(l->fd);
    int code = errno;
    if (rc == 0) return 0;
    if (rc > 0)
        connected(l);
    else if (l->addr_next < l->addrs.count)
        address_next(l);
    else
        try_fail(l, HF_UNAVAILABLE, "connect: %s", strerror(code));
    return 1;
}

void hf__etcd_link_up(struct link *l, int is_other)
{
    struct backend_conn *c = l->c;
    l->state = LINK_UP;
    l->due_us = TIME_NEVER;
    l->failures = 0;
    l->err.status = HF_OK;
    if (is_other) hf__etcd_clock_cut(c, 1);
    c->stirred = 1;
    c->env->link(c->env, is_other ? LINK_IS_OTHER : LINK_IS_UP,
                 hf__etcd_wall(c), NULL);
    hf__etcd_watches_up(c);
}

/* ---- in use ---- */

static ssize_t some_read(struct link *l, char *buf, size_t size)
{
    return l->tls ? hf__tls_read(l->tls, buf, size)
                  : hf__stream_read(l->fd, buf, size);
}

static void lost(struct link *l, int code)
{
    const struct hf_error *why = l->tls ? hf__tls_error(l->tls) : NULL;
    struct hf_error copy = {.status = HF_OK};
    if (why) copy = *why;
    const char *text = copy.status != HF_OK ? copy.text
                       : code               ? strerror(code)
                                            : "the server closed it";
    if (l->state == LINK_GREETING)
        try_fail(l, HF_UNAVAILABLE, "connect: %s", text);
    else
        hf__etcd_link_fail(l, HF_UNAVAILABLE, "the connection was lost: %s",
                           text);
}

static int read_all(struct link *l)
{
    char *buf = l->c->scratch->in;
    unsigned life = l->life;
    int done = 0;
    ssize_t n;
    while ((n = some_read(l, buf, READ_SIZE)) > 0) {
        done = 1;
        l->active_us = hf__etcd_now(l->c);
        if (hf__etcd_session_feed(l, buf, (size_t)n) != 0) {
            errno = EPROTO;
            n = -1;
            break;
        }
        if ((size_t)n < READ_SIZE && !(l->tls && hf__tls_has_more(l->tls)))
            break;
    }
    int code = errno;
    /* Read the answers that came before the end. */
    done |= hf__etcd_answers(l);
    if (l->life != life) return 1;
    if (n < 0) lost(l, code);
    return n < 0 ? 1 : done;
}

int hf__etcd_link_ready(struct link *l, unsigned ready)
{
    switch (l->state) {
    case LINK_DOWN:
    case LINK_FAILED:
        return 0;
    case LINK_RESOLVING:
        return in_resolving(l);
    case LINK_CONNECTING:
        return in_connecting(l);
    case LINK_SECURING:
        return secure(l);
    case LINK_GREETING:
    case LINK_UP:
        break;
    }
    if ((ready & AWAIT_READ) && read_all(l)) return 1;
    return (ready & AWAIT_WRITE) != 0; /* hf__etcd_link_write() follows */
}

/* 0, or -1: no memory. */
static int out_fill(struct link *l)
{
    const unsigned char *at;
    ssize_t n;
    if (l->out_done == l->out.len) l->out_done = l->out.len = 0;
    while (l->out.len < OUT_MAX && (n = hf__etcd_session_take(l, &at)) != 0) {
        if (n < 0
            || hf__etcd_bytes_add(&l->out, l->c->env->alloc, at, (size_t)n)
                   != 0)
            return -1;
    }
    return 0;
}

void hf__etcd_link_write(struct link *l)
{
    if ((l->state != LINK_UP && l->state != LINK_GREETING) || !l->session)
        return;
    for (;;) {
        if (out_fill(l) != 0) {
            lost(l, ENOMEM);
            return;
        }
        size_t left = l->out.len - l->out_done;
        if (left == 0) break;
        const char *at = l->out.at + l->out_done;
        ssize_t n = l->tls ? hf__tls_write(l->tls, at, left)
                           : hf__stream_write(l->fd, at, left);
        if (n < 0) {
            lost(l, errno);
            return;
        }
        if (n == 0) {
            await(l, AWAIT_READ | AWAIT_WRITE);
            return;
        }
        l->out_done += (size_t)n;
        l->active_us = hf__etcd_now(l->c);
    }
    l->has_calls = 0;
    await(l, AWAIT_READ);
    if (!nghttp2_session_want_read(l->session)
        && !nghttp2_session_want_write(l->session))
        lost(l, 0);
}

void hf__etcd_link_write_calls(struct link *l)
{
    if (l->state == LINK_UP && l->session && !l->has_calls
        && l->out_done == l->out.len && nghttp2_session_want_read(l->session)
        && nghttp2_session_want_write(l->session))
        await(l, AWAIT_READ | AWAIT_WRITE);
    else
        hf__etcd_link_write(l);
}

void hf__etcd_link_check(struct link *l)
{
    if (l->state != LINK_UP || l->calls != l->watch
        || (l->calls && l->calls->next))
        return;
    if (hf__etcd_now(l->c) - l->active_us >= IDLE_US) (void)read_all(l);
}

/* ---- time ---- */

/* The earliest time by which a call must be answered. */
static int64_t calls_due(const struct link *l)
{
    int64_t due = TIME_NEVER;
    for (const struct call *call = l->calls; call; call = call->next)
        due = min64(due, call->due_us);
    return due;
}

int64_t hf__etcd_link_due(const struct link *l)
{
    return min64(l->due_us, l->state == LINK_UP ? calls_due(l) : TIME_NEVER);
}

static int try_late(struct link *l)
{
    /* The answer may have arrived: read the socket first. */
    if (hf__etcd_link_ready(l, AWAIT_READ)) return 1;
    if (l->state == LINK_CONNECTING && l->addr_next < l->addrs.count) {
        address_next(l);
        return 1;
    }
    try_fail(l, HF_UNAVAILABLE, "%s: no answer in time",
             l->state == LINK_RESOLVING ? "resolve" : "connect");
    return 1;
}

int hf__etcd_link_timer(struct link *l, int64_t now)
{
    if (l->state == LINK_UP) {
        if (now < calls_due(l)) return 0;
        if (hf__etcd_link_ready(l, AWAIT_READ)) return 1;
        if (l->state == LINK_UP)
            hf__etcd_link_fail(l, HF_UNAVAILABLE,
                               "no answer in time; the connection was given "
                               "up");
        return 1;
    }
    if (now < l->due_us) return 0;
    if (l->state == LINK_DOWN) {
        hf__etcd_link_start(l);
        return 1;
    }
    if (l->state == LINK_FAILED) {
        l->state = LINK_DOWN;
        down_tell(l);
        return 1;
    }
    return try_late(l);
}
