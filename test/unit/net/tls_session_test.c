/*
 * tls_session_test.c: what is taken over from one connection to the next.  One
 * rule: a session saves the handshake its certificates, so it is good only for
 * as long as the authority that signed them is trusted.
 */
#include <poll.h>
#include <unistd.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/tls_server.h"
#include "net/resolve.h"
#include "net/tls_parts.h"

#define WAIT_MS 20000

struct line {
    int fd;
    struct tls *tls;
};

static struct lab_tls s;
static struct tls_context *context;
static struct line lines[3];

static void all_end(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        hf__tls_close(lines[i].tls);
        if (lines[i].tls) close(lines[i].fd);
        lines[i].tls = NULL;
    }
    hf__tls_context_close(context);
    context = NULL;
}

static void begin(void)
{
    struct hf_error err = {0};
    tls_server_begin(&s, "no");
    certs_authority(&s.certs, "other");
    struct tls_conf conf = {.ca = s.ca};
    test_cleanup(all_end, NULL);
    if (hf__tls_context_open(&hf__alloc_default, &conf, &context, &err)
        != HF_OK)
        TEST_FAIL("%s", err.text);
}

static void ready_await(int fd, short events)
{
    struct pollfd p = {fd, events, 0};
    CHECK_INT(poll(&p, 1, WAIT_MS), 1);
}

static void line_open(struct line *l, int port)
{
    struct resolved to;
    struct hf_error err = {0};
    int is_through = 0;
    CHECK_INT(hf__resolve_numeric("127.0.0.1", port, &to), 0);
    l->fd = hf__stream_open(&to.addrs[0], &is_through);
    CHECK(l->fd >= 0);
    ready_await(l->fd, POLLOUT);
    CHECK_INT(hf__stream_finish(l->fd), 1);
    if (hf__tls_open(context, l->fd, "127.0.0.1", &l->tls, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
}

/* 1 it is through, -1 it failed. */
static int line_shake(struct line *l)
{
    int rc;
    while ((rc = hf__tls_handshake(l->tls)) == 0) ready_await(l->fd, POLLIN);
    return rc;
}

/* The server offers its session behind the handshake: take it. */
static void line_listen(struct line *l)
{
    char buf[64];
    ready_await(l->fd, POLLIN);
    CHECK_INT(hf__tls_read(l->tls, buf, sizeof buf), 0);
}

static void line_begin(struct line *l, struct lab_proxy *p)
{
    proxy_begin(p, s.port);
    line_open(l, p->port);
    CHECK_INT(line_shake(l), 1);
    line_listen(l);
}

TEST(tls_session, of_the_same_server_is_resumed)
{
    static struct lab_proxy p[2];
    begin();
    rig_begin_at("");
    line_begin(&lines[0], &p[0]);
    while (!context->session) line_listen(&lines[0]); /* it comes in pieces */
    line_begin(&lines[1], &p[1]);
    long whole = atomic_load(&p[0].bytes[PROXY_DOWN]);
    long resumed = atomic_load(&p[1].bytes[PROXY_DOWN]);
    CHECK(resumed < whole / 2); /* without its certificates */
}

TEST(tls_session, of_an_authority_that_is_trusted_no_more_is_not_resumed)
{
    begin();
    line_open(&lines[0], s.port);
    CHECK_INT(line_shake(&lines[0]), 1);
    certs_replace(&s.certs, "other.crt", "ca.crt");
    line_open(&lines[1], s.port); /* the new authority is read */
    line_listen(&lines[0]);
    line_open(&lines[2], s.port);
    CHECK_INT(line_shake(&lines[2]), -1);
    const struct hf_error *why = hf__tls_error(lines[2].tls);
    CHECK(why != NULL);
    CHECK_INT(why->status, HF_DENIED);
}
