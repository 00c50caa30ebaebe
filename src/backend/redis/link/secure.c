/*
 * secure.c: from a connected socket to the first commands on it.  One rule:
 * if the URL asks for TLS, no command goes out before the server has proved its
 * identity.
 */
#include <assert.h>
#include <errno.h>

#include "backend/redis/link/auth.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"

/* A file that was good before may be in the middle of being replaced: its error
 * may be gone at the next try. */
static void file_failed(struct link *l, const struct hf_error *err)
{
    int is_starved = err->status == HF_NOMEM;
    hf__redis_link_fail_later(l, is_starved ? HF_NOMEM : HF_UNAVAILABLE, 0,
                              "%s", err->text);
}

static void greeting(struct link *l)
{
    struct hf_error err;
    l->state = LINK_GREETING;
    l->due_us = l->give_up_us;
    /* The pump writes: at once or, if this runs in open(), at its next poll. */
    hf__redis_link_watch(l, AWAIT_READ | AWAIT_WRITE);
    if (hf__redis_auth_refresh(l->c, &err) != HF_OK)
        file_failed(l, &err);
    else if (hf__redis_reader_begin(&l->in, l->c->env->alloc) != 0
             || hf__redis_greet(l) != 0)
        hf__redis_link_fail_later(l, HF_NOMEM, 0, "connect: out of memory");
}

int hf__redis_link_secure(struct link *l)
{
    int rc = hf__tls_handshake(l->tls);
    int code = errno;
    const struct hf_error *why = hf__tls_error(l->tls);
    if (rc > 0)
        greeting(l);
    else if (rc == 0)
        hf__redis_link_watch(l, hf__tls_wants_write(l->tls)
                                    ? AWAIT_READ | AWAIT_WRITE
                                    : AWAIT_READ);
    else if (why)
        hf__redis_link_fail_later(l, why->status, 0, "%s", why->text);
    else
        hf__redis_link_fail_later(l, HF_UNAVAILABLE, code, "tls: handshake%s",
                                  code ? ""
                                       : ": the server closed the connection");
    return rc != 0 || hf__tls_has_moved(l->tls);
}

void hf__redis_link_connected(struct link *l)
{
    struct hf_error err;
    const char *host = l->c->is_unix ? NULL : l->c->host;
    assert(!l->c->is_tls == !l->c->tls);
    if (!l->c->is_tls) {
        greeting(l);
        return;
    }
    l->state = LINK_SECURING;
    l->due_us = l->give_up_us;
    if (hf__tls_open(l->c->tls, l->fd, host, &l->tls, &err) != HF_OK)
        file_failed(l, &err);
    else
        hf__redis_link_secure(l);
}
