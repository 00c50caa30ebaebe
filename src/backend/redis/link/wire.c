/*
 * wire.c: what goes over a link: commands out, values in.  Two rules: a command
 * is in the output exactly as long as its flight is in the ring, in the same
 * order; and there is one read in the usual case, a second one only if the
 * first left something behind.
 */
#include "backend/redis/link/wire.h"

#include <errno.h>
#include <string.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/watch/watch.h"

#define OUT_KEPT_MAX (64 * 1024) /* a larger buffer is given back when empty */
#define ARG_FRAME_MAX 25         /* "$", 20 digits and twice "\r\n" */
#define READ_SIZE (16 * 1024)

/* ---- flights ---- */

static struct flight *flight_at(struct flights *f, size_t i)
{
    return &f->ring[(f->first + i) & (f->size - 1)];
}

static int flights_grow(struct flights *f, const struct allocator *a)
{
    size_t size = f->size ? f->size * 2 : 64;
    struct flight *ring = hf__alloc(a, size * sizeof *ring);
    if (!ring) return -1;
    for (size_t i = 0; i < f->len; i++) ring[i] = *flight_at(f, i);
    hf__free(a, f->ring);
    *f = (struct flights){.ring = ring, .size = size, .len = f->len};
    return 0;
}

struct flight *hf__redis_flight_first(struct link *l)
{
    return l->flights.len > 0 ? flight_at(&l->flights, 0) : NULL;
}

struct flight *hf__redis_flight_nth(struct link *l, size_t i)
{
    return i < l->flights.len ? flight_at(&l->flights, i) : NULL;
}

void hf__redis_flight_drop(struct link *l)
{
    struct flights *f = &l->flights;
    f->first = (f->first + 1) & (f->size - 1);
    f->len--;
}

int hf__redis_flight_is_unsent(const struct link *l, const struct flight *f)
{
    return f->begins >= l->out_base + l->out_done;
}

/* ---- output ---- */

/* Room for `len` more.  0, or -1: no memory. */
static int bytes_reserve(struct bytes *b, const struct allocator *a, size_t len)
{
    if (b->size - b->len >= len) return 0;
    size_t size = b->size ? b->size : 4096;
    while (size - b->len < len) size *= 2;
    char *more = hf__realloc(a, b->data, size);
    if (!more) return -1;
    b->data = more;
    b->size = size;
    return 0;
}

/* "<type><number>\r\n"; returns its end. */
static char *head_put(char *at, char type, size_t number)
{
    char digits[24];
    size_t n = 0;
    *at++ = type;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (n > 0) *at++ = digits[--n];
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

/* An array of bulk strings, straight into the output: by hiredis' formatter,
 * which prints every length and copies twice, it was 60 % of what a lock costs
 * its caller outside the kernel. */
static int output_add(struct link *l, const struct command *cmd)
{
    size_t most = ARG_FRAME_MAX;
    if (cmd->is_full) return -1;
    for (int i = 0; i < cmd->argc; i++) most += cmd->lens[i] + ARG_FRAME_MAX;
    if (bytes_reserve(&l->out, l->c->env->alloc, most) != 0) return -1;
    char *at = head_put(l->out.data + l->out.len, '*', (size_t)cmd->argc);
    for (int i = 0; i < cmd->argc; i++) {
        at = head_put(at, '$', cmd->lens[i]);
        if (cmd->lens[i] > 0) memcpy(at, cmd->argv[i], cmd->lens[i]);
        at += cmd->lens[i];
        *at++ = '\r';
        *at++ = '\n';
    }
    l->out.len = (size_t)(at - l->out.data);
    return 0;
}

struct flight *hf__redis_link_push(struct link *l, enum flight_kind kind)
{
    struct flights *fs = &l->flights;
    uint64_t begins = l->out_base + l->out.len;
    if (fs->len == fs->size && flights_grow(fs, l->c->env->alloc) != 0)
        return NULL;
    if (output_add(l, &l->c->cmd) != 0) return NULL;
    if (fs->len == 0) l->owed_us = l->c->env->now(l->c->env);
    struct flight *f = flight_at(fs, fs->len++);
    *f = (struct flight){.kind = kind, .begins = begins};
    return f;
}

static void output_reset(struct link *l)
{
    l->out_base += l->out.len;
    l->out.len = 0;
    l->out_done = 0;
    if (l->out.size <= OUT_KEPT_MAX) return;
    hf__free(l->c->env->alloc, l->out.data);
    l->out = (struct bytes){0};
}

void hf__redis_link_watch(struct link *l, unsigned events)
{
    if (l->fd < 0 || l->watching == events) return;
    l->watching = events;
    l->c->env->await_fd(l->c->env, l->fd, events);
}

void hf__redis_link_write(struct link *l)
{
    size_t left = l->out.len - l->out_done;
    if (left == 0 || l->fd < 0) return;
    const char *from = l->out.data + l->out_done;
    ssize_t n = l->tls ? hf__tls_write(l->tls, from, left)
                       : hf__stream_write(l->fd, from, left);
    if (n < 0) {
        /* What the server said before it closed the connection tells more than
         * EPIPE: reading finds both. */
        int code = errno;
        if (hf__redis_link_ready(l, AWAIT_READ) == 0)
            hf__redis_link_fail(l, HF_UNAVAILABLE, code, "write");
        return;
    }
    l->active_us = l->c->env->now(l->c->env);
    l->out_done += (size_t)n;
    if (l->out_done == l->out.len) output_reset(l);
    hf__redis_link_watch(l, l->out.len > 0 ? AWAIT_READ | AWAIT_WRITE
                                           : AWAIT_READ);
}

/* ---- input ---- */

/* How a server that expects TLS begins its answer to anything else. */
static const char tls_alert[] = {0x15, 0x03};

/* Sentinels and clusters have no scheme of their own for it. */
static const char *tls_advice(const struct backend_conn *c)
{
    return c->env->conf->is_part ? "tls=on" : "rediss:// or tls=on";
}

static void nonsense(struct link *l)
{
    char seen[sizeof l->in.head + 1];
    size_t len = 0;
    if (hf__redis_reader_is_starved(&l->in)) {
        hf__redis_link_fail(l, HF_NOMEM, 0, "read: out of memory");
        return;
    }
    if (l->state == LINK_UP) {
        hf__redis_link_fail(l, HF_UNAVAILABLE, 0,
                            "read: the answer is no RESP");
        return;
    }
    if (l->in.head_len > 1 && !memcmp(l->in.head, tls_alert, 2)) {
        hf__redis_link_fail(l, HF_UNAVAILABLE, 0,
                            "the server speaks TLS: use %s", tls_advice(l->c));
        return;
    }
    for (; len < l->in.head_len; len++) {
        char ch = l->in.head[len];
        if (ch == '\r' || ch == '\n') break;
        seen[len] = ch >= ' ' && ch <= '~' ? ch : '?';
    }
    seen[len] = '\0';
    hf__redis_link_fail(l, HF_UNAVAILABLE, 0,
                        "not a Redis server: it answers \"%s\"", seen);
}

static void value_take(struct link *l, const struct resp *v)
{
    struct flight *first = hf__redis_flight_first(l);
    if (l->is_sub && l->state == LINK_UP) {
        if (hf__redis_watch_reply(l->c, v) != 0)
            hf__redis_link_fail(l, HF_UNAVAILABLE, 0,
                                "read: unexpected answer");
        return;
    }
    if (!first) {
        /* A server may tell why before it closes the connection. */
        if (v->type == RESP_ERROR) {
            char text[HF_ERROR_TEXT_MAX];
            int status = hf__redis_error(NULL, NULL, v, text);
            hf__redis_link_fail(l, status, 0, "%s", text);
        } else {
            hf__redis_link_fail(l, HF_UNAVAILABLE, 0,
                                "read: unexpected answer");
        }
        return;
    }
    struct flight f = *first;
    hf__redis_flight_drop(l);
    if (l->state == LINK_GREETING)
        hf__redis_greet_reply(l, &f, v);
    else
        hf__redis_answered(l->c, &f, v);
}

/* Take all complete values; 0 if the link was closed meanwhile. */
static int values_take(struct link *l)
{
    unsigned life = l->life;
    const struct resp *v;
    int rc;
    l->c->heard = 0;
    while ((rc = hf__redis_reader_next(&l->in, &v)) == 1) {
        value_take(l, v);
        if (l->life != life) return 0;
    }
    if (rc < 0) nonsense(l);
    return rc == 0;
}

static void broken(struct link *l, int code)
{
    const struct hf_error *why = l->tls ? hf__tls_error(l->tls) : NULL;
    const char *what = code ? "read" : "the server closed the connection";
    /* Redis closes the connection without an answer when it expects TLS. */
    int is_mute = l->state == LINK_GREETING && l->in.head_len == 0 && !l->tls;
    if (why)
        hf__redis_link_fail(l, why->status, 0, "%s", why->text);
    else
        hf__redis_link_fail(
            l, HF_UNAVAILABLE, code, "%s%s%s%s", what,
            is_mute ? " at our first command (if it speaks TLS, use " : "",
            is_mute ? tls_advice(l->c) : "", is_mute ? ")" : "");
}

/* Read, parse, hand out.  0 if there was nothing. */
static int link_read(struct link *l)
{
    char buf[READ_SIZE];
    int done = 0;
    for (;;) {
        ssize_t n = l->tls ? hf__tls_read(l->tls, buf, sizeof buf)
                           : hf__stream_read(l->fd, buf, sizeof buf);
        int code = errno;
        if (n == 0) return done;
        done = 1;
        l->active_us = l->owed_us = l->c->env->now(l->c->env);
        if (n < 0) {
            broken(l, code);
            return 1;
        }
        if (hf__redis_reader_feed(&l->in, buf, (size_t)n) != 0) {
            nonsense(l);
            return 1;
        }
        if (!values_take(l)) return 1;
        if ((size_t)n < sizeof buf && !(l->tls && hf__tls_has_more(l->tls)))
            return 1;
    }
}

int hf__redis_link_ready(struct link *l, unsigned ready)
{
    if (l->state < LINK_GREETING) return hf__redis_link_go_on(l);
    if ((ready & AWAIT_READ) && link_read(l)) return 1;
    /* The pump writes what is left. */
    return (ready & AWAIT_WRITE) != 0;
}
