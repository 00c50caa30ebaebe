/*
 * no_redis_test.c: something listens, but it speaks no Redis.  One rule: what
 * it says is never believed, and a call ends in time whatever it does.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/rig.h"

#define SOON_MS 20000

/* Answers every read with the same bytes; NULL: never; "": hangs up. */
struct stranger {
    int listen_fd;
    int port;
    const char *answer;
    int repeats; /* how often at a time */
    atomic_int stop;
};

static void stranger_answer(struct stranger *s, int *fd)
{
    char buf[4096];
    ssize_t n = recv(*fd, buf, sizeof buf, 0);
    if (n > 0 && !s->answer) return;
    for (int i = 0; n > 0 && s->answer[0] && i < s->repeats; i++)
        if (send(*fd, s->answer, strlen(s->answer), MSG_NOSIGNAL) < 0) n = 0;
    if (n > 0 && s->answer[0]) return;
    close(*fd);
    *fd = -1;
}

static void stranger_run(void *arg)
{
    struct stranger *s = arg;
    int fds[16];
    for (int i = 0; i < 16; i++) fds[i] = -1;
    for (int next = 0; !atomic_load(&s->stop);) {
        struct pollfd p[17] = {{s->listen_fd, POLLIN, 0}};
        for (int i = 0; i < 16; i++)
            p[i + 1] = (struct pollfd){fds[i], POLLIN, 0};
        if (poll(p, 17, 20) <= 0) continue;
        for (int i = 0; i < 16; i++)
            if (fds[i] >= 0 && p[i + 1].revents) stranger_answer(s, &fds[i]);
        if (!p[0].revents) continue;
        if (fds[next] >= 0) close(fds[next]);
        fds[next] = accept(s->listen_fd, NULL, NULL);
        next = (next + 1) % 16;
    }
    for (int i = 0; i < 16; i++)
        if (fds[i] >= 0) close(fds[i]);
    close(s->listen_fd);
}

static void stranger_end(void *arg)
{
    struct stranger *s = arg;
    atomic_store(&s->stop, 1);
}

static void stranger_begin(struct stranger *s, const char *answer, int repeats)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(s, 0, sizeof *s);
    s->answer = answer;
    s->repeats = repeats;
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(s->listen_fd >= 0);
    CHECK(bind(s->listen_fd, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK(listen(s->listen_fd, 16) == 0);
    CHECK(getsockname(s->listen_fd, (struct sockaddr *)&a, &len) == 0);
    s->port = ntohs(a.sin_port);
    rig_spawn(stranger_run, s);
    test_cleanup(stranger_end, s);
}

/* A try, a wait and a close: all end, and nothing is held. */
static void is_refused(const char *answer, int repeats)
{
    static struct stranger s;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    char url[64];
    rig_begin_at("");
    stranger_begin(&s, answer, repeats);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", s.port);
    o.timeout_ms = 400;
    o.patience_ms = 800;
    int64_t began_ms = rig_now_ms();
    hf_client *c = rig_client_at(url, &o);
    hf_lock *l = rig_lock(c, "a");
    int status = hf_lock_try(l, NULL, &err);
    if (status != HF_UNAVAILABLE && status != HF_UNSUPPORTED)
        TEST_FAIL("%s: %s", hf_status_name(status), err.text);
    CHECK(err.text[0] != 0);
    status = rig_acquire(l, 0, 60000, NULL);
    CHECK(status == HF_UNAVAILABLE || status == HF_UNSUPPORTED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    rig_close(c);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
}

TEST(no_redis, a_web_server)
{
    is_refused("HTTP/1.1 400 Bad Request\r\n"
               "Connection: close\r\n\r\n<html>no</html>\r\n",
               1);
}

TEST(no_redis, one_that_never_answers)
{
    is_refused(NULL, 1);
}

TEST(no_redis, one_that_hangs_up)
{
    is_refused("", 1);
}

TEST(no_redis, one_that_promises_endless_data)
{
    is_refused("$999999999\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1);
}

TEST(no_redis, one_that_says_ok_to_everything)
{
    is_refused("+OK\r\n", 1);
}

TEST(no_redis, one_that_says_ok_far_too_often)
{
    is_refused("+OK\r\n", 200);
}

TEST(no_redis, one_that_answers_in_numbers)
{
    is_refused(":1\r\n", 50);
}

TEST(no_redis, one_that_sends_nested_arrays)
{
    is_refused("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
               20);
}

TEST(no_redis, one_that_sends_noise)
{
    is_refused("\x01\xff\x80\x7f\r\n\r\n\xfe garbage \x02", 3);
}
