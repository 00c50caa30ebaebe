/*
 * server.c: see server.h.  One rule: everything is on one thread; a function
 * that waits pumps the backend meanwhile.
 */
#include "lib/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/registry.h"
#include "sys/clock.h"
#include "test.h"

static void backend_end(void *arg)
{
    struct fake_env *f = arg;
    f->fail_allocs = 0;
    fake_close(f);
}

const struct backend *server_backend(void)
{
    struct hf_error err;
    const struct backend *b = hf__backend_find("redis", &err);
    if (!b) test_skip("%s", err.text);
    return b;
}

void server_open(struct fake_env *f, const char *url)
{
    struct hf_error err;
    fake_init(f, server_backend());
    test_cleanup(backend_end, f);
    if (fake_open(f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
}

void server_wait_link(struct fake_env *f, int up)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    while (f->is_up != up) {
        if (hf__clock_us() > end_us)
            TEST_FAIL("the link is not %s: %s", up ? "up" : "down",
                      f->link_err.text);
        fake_pump(f, 50);
    }
}

void server_connect(struct fake_env *f, const char *url)
{
    server_open(f, url);
    server_wait_link(f, 1);
}

void server_pump_ms(struct fake_env *f, int64_t ms)
{
    int64_t end_us = hf__clock_us() + ms * US_PER_MS;
    while (hf__clock_us() < end_us) fake_pump(f, 1);
}

struct request server_request(enum verb op, const char *name, uint64_t attempt,
                              int64_t ballot)
{
    struct request req = {.verb = op,
                          .name = name,
                          .name_len = name ? strlen(name) : 0,
                          .owner = SERVER_OWNER,
                          .attempt = attempt,
                          .ballot = ballot,
                          .count = 1,
                          .lease_us = 30 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US,
                          .info = "4711 host some label"};
    return req;
}

int64_t server_clock(const struct fake_env *f)
{
    (void)f;
    return hf__clock_wall_us();
}

enum verdict server_do(struct fake_env *f, struct request req,
                       struct fake_answer *answer)
{
    static struct request sent;
    static struct fake_answer own;
    sent = req;
    fake_call(f, &sent, answer ? answer : &own);
    return answer ? answer->reply.verdict : own.reply.verdict;
}

/* ---- the scripted server ---- */

static void script_end(void *arg)
{
    struct script *s = arg;
    script_hang_up(s);
    close(s->listen_fd);
}

void script_begin(struct script *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    memset(s, 0, sizeof *s);
    s->fd = -1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listen_fd =
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(s->listen_fd >= 0);
    test_cleanup(script_end, s);
    CHECK(bind(s->listen_fd, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK(listen(s->listen_fd, 16) == 0);
    CHECK(getsockname(s->listen_fd, (struct sockaddr *)&a, &len) == 0);
    s->port = ntohs(a.sin_port);
    snprintf(s->url, sizeof s->url, "redis://127.0.0.1:%d", s->port);
}

void script_hang_up(struct script *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    s->got_len = 0;
}

void script_accept(struct script *s, struct fake_env *f)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    script_hang_up(s);
    while (s->fd < 0) {
        CHECK(hf__clock_us() < end_us);
        fake_pump(f, 1);
        s->fd = accept(s->listen_fd, NULL, NULL);
        if (s->fd >= 0) CHECK(fcntl(s->fd, F_SETFL, O_NONBLOCK) == 0);
    }
}

static void script_read(struct script *s)
{
    ssize_t n =
        recv(s->fd, s->got + s->got_len, sizeof s->got - 1 - s->got_len, 0);
    if (n > 0) s->got_len += (size_t)n;
    s->got[s->got_len] = '\0';
}

void script_expect(struct script *s, struct fake_env *f, const char *word)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    char *at = NULL;
    while (!at) {
        if (hf__clock_us() > end_us) TEST_FAIL("no %s was received", word);
        fake_pump(f, 1);
        script_read(s);
        at = memmem(s->got, s->got_len, word, strlen(word));
    }
    at += strlen(word);
    s->got_len -= (size_t)(at - s->got);
    memmove(s->got, at, s->got_len);
}

void script_send(struct script *s, const char *data, size_t len)
{
    CHECK(send(s->fd, data, len, MSG_NOSIGNAL) == (ssize_t)len);
}

void script_say(struct script *s, const char *text)
{
    script_send(s, text, strlen(text));
}

void script_greet(struct script *s, struct fake_env *f)
{
    script_accept(s, f);
    script_expect(s, f, "TIME\r\n");
    script_say(s, "+OK\r\n");
    for (int i = 0; i < SERVER_SCRIPTS; i++) script_say(s, "$1\r\nx\r\n");
    script_say(s, "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n");
    server_wait_link(f, 1);
}
