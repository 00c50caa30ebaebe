/*
 * input.c: what comes in on a link.  One rule: one read in the usual
 * case; a second one only if the first left something behind.
 */
#include <errno.h>
#include <string.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/watch/watch.h"

#define READ_SIZE (16 * 1024)

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

int hf__redis_link_read(struct link *l)
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
