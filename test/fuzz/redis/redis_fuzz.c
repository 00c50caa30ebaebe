/*
 * redis_fuzz.c: a server that says anything, in pieces of any size.  Whatever
 * it says, every request is answered exactly once and all memory comes back.
 *
 * The first byte chooses: the size of the pieces, whether the server greets
 * properly before the rest, and whether the rest goes to the link of the
 * requests or to that of the subscriptions.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends.h"
#include "sys/clock.h"

#define FDS_MAX 8
#define URL_OPTIONS 32
#define REQUESTS 11

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/holdfast-fuzz-XXXXXX";
static char url_text[192];
static char *url_end; /* where the options go */
static char path[64];
static int listen_fd = -1;

static struct {
    int fd;
    unsigned events;
} fds[FDS_MAX];
static int64_t timer_us;
static int answers[REQUESTS];
static int allocs_open;
static struct backend_conn *conn;

/* ---- the engine ---- */

static void *env_allocate(size_t size, void *user)
{
    (void)user;
    allocs_open++;
    return malloc(size);
}

static void *env_resize(void *ptr, size_t size, void *user)
{
    (void)user;
    if (!ptr) allocs_open++;
    return realloc(ptr, size);
}

static void env_release(void *ptr, void *user)
{
    (void)user;
    if (ptr) allocs_open--;
    free(ptr);
}

static void env_reply(struct backend_env *env, struct request *req,
                      const struct reply *reply)
{
    (void)env;
    int *count = req->user;
    if (++*count > 1) abort();
    if (reply->text && strlen(reply->text) >= HF_ERROR_TEXT_MAX) abort();
    for (size_t i = 0; i < reply->rows_len; i++)
        if (reply->rows[i].name_len > NAME_LEN_MAX) abort();
}

static void env_watch(struct backend_env *env, int fd, unsigned events)
{
    (void)env;
    int place = -1;
    for (int i = 0; i < FDS_MAX; i++) {
        if (fds[i].events && fds[i].fd == fd) place = i;
        if (!fds[i].events && place < 0) place = i;
    }
    if (place < 0) abort();
    fds[place].fd = fd;
    fds[place].events = events;
}

static void env_timer(struct backend_env *env, int64_t due_us)
{
    (void)env;
    timer_us = due_us;
}

static void env_wake(struct backend_env *env, const char *name, size_t len)
{
    (void)env;
    if (len == 0 || len > NAME_LEN_MAX || name[len] != '\0') abort();
}

static void env_link(struct backend_env *env, int up, int64_t node_us,
                     const struct hf_error *err)
{
    (void)env;
    if (node_us < 0 || (!up && !err)) abort();
}

static int64_t env_now(struct backend_env *env)
{
    (void)env;
    return hf__clock_us();
}

static uint64_t env_random(struct backend_env *env)
{
    (void)env;
    return ~UINT64_C(0); /* the longest pause: one connection per run */
}

static void env_log(struct backend_env *env, int level, const char *line)
{
    (void)env;
    (void)level;
    (void)line;
}

static struct allocator alloc = {{env_allocate, env_resize, env_release, NULL}};
static struct backend_conf conf = {.timeout_us = 60 * US_PER_S, .uuid = "u"};
static struct backend_env env = {.alloc = &alloc,
                                 .conf = &conf,
                                 .reply = env_reply,
                                 .await_fd = env_watch,
                                 .timer = env_timer,
                                 .wake = env_wake,
                                 .link = env_link,
                                 .now = env_now,
                                 .random = env_random,
                                 .log = env_log};

static void pump(void)
{
    for (int i = 0; i < FDS_MAX; i++) {
        struct pollfd p = {fds[i].fd, 0, 0};
        unsigned events = fds[i].events;
        if (!events) continue;
        p.events = (short)((events & AWAIT_READ ? POLLIN : 0)
                           | (events & AWAIT_WRITE ? POLLOUT : 0));
        if (poll(&p, 1, 0) == 1)
            hf__backend_redis.process(conn, fds[i].fd, events);
    }
    if (timer_us <= hf__clock_us()) {
        timer_us = TIME_NEVER;
        hf__backend_redis.process(conn, -1, 0);
    }
    hf__backend_redis.flush(conn);
}

/* ---- the server ---- */

static void directory_remove(void)
{
    unlink(path);
    rmdir(dir);
}

static void server_listen(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!mkdtemp(dir)) abort();
    snprintf(path, sizeof path, "%s/s", dir);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int len = snprintf(url_text, sizeof url_text - URL_OPTIONS,
                       "redis+unix://%s", path);
    url_end = url_text + len;
    atexit(directory_remove);
    listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(listen_fd, (struct sockaddr *)&a, sizeof a) != 0) abort();
    if (listen(listen_fd, 16) != 0) abort();
}

static void say(int fd, const void *data, size_t len)
{
    char sink[4096];
    while (recv(fd, sink, sizeof sink, MSG_DONTWAIT) > 0) continue;
    if (send(fd, data, len, MSG_NOSIGNAL) < 0) return;
    pump();
}

static void requests_submit(struct request reqs[REQUESTS])
{
    static const enum verb ops[REQUESTS] = {
        VERB_PROPOSE, VERB_RENEW,   VERB_RENEW, VERB_RELEASE,
        VERB_BREAK,   VERB_INSPECT, VERB_LIST,  VERB_BOOT,
        VERB_FACTS,   VERB_WATCH,   VERB_WATCH};
    static const char *const names[REQUESTS] = {"a", "a", "b", "a", "a",  "a",
                                                "*", "g", "f", "a", "{a}"};
    for (int i = 0; i < REQUESTS; i++) {
        answers[i] = 0;
        reqs[i] = (struct request){.verb = ops[i],
                                   .name = names[i],
                                   .name_len = strlen(names[i]),
                                   .owner = "u:1",
                                   .attempt = 1,
                                   .ballot = 1,
                                   .count = 1,
                                   .lease_us = US_PER_S,
                                   .window_us = US_PER_S,
                                   .info = "1 h l",
                                   .deadline_us = TIME_NEVER,
                                   .user = &answers[i]};
        hf__backend_redis.submit(conn, &reqs[i]);
    }
}

static void server_talk(const uint8_t *data, size_t size, uint8_t choice)
{
    static const char greeting[] =
        "+OK\r\n+1\r\n+2\r\n+3\r\n+4\r\n+5\r\n+6\r\n+7\r\n+8\r\n+9\r\n"
        "*2\r\n$1\r\n9\r\n$1\r\n1\r\n";
    static const char sub_greeting[] = "+OK\r\n+PONG\r\n";
    size_t piece = (choice & 31u) ? (choice & 31u) : 4096;
    pump();
    int main_fd = accept(listen_fd, NULL, NULL);
    int sub_fd = accept(listen_fd, NULL, NULL);
    if (main_fd < 0 || sub_fd < 0) abort();
    if (!(choice & 32u)) say(main_fd, greeting, sizeof greeting - 1);
    if (!(choice & 64u)) say(sub_fd, sub_greeting, sizeof sub_greeting - 1);
    while (size > 0) {
        size_t n = size < piece ? size : piece;
        say(choice & 128u ? sub_fd : main_fd, data, n);
        data += n;
        size -= n;
    }
    close(main_fd);
    close(sub_fd);
    pump();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[3] = {"", "?format=string",
                                           "?format=string&fence=off"};
    struct request reqs[REQUESTS];
    struct url url;
    if (listen_fd < 0) server_listen();
    if (size < 1) return 0;
    memset(fds, 0, sizeof fds);
    timer_us = TIME_NEVER;
    /* The length chooses the layout: every one meets every answer. */
    snprintf(url_end, URL_OPTIONS, "%s", options[size % 3]);
    if (hf__url_parse(&url, url_text, NULL) != HF_OK) abort();
    if (hf__backend_redis.open(&env, &url, &conn, NULL) != HF_OK) abort();
    requests_submit(reqs);
    server_talk(data + 1, size - 1, data[0]);
    hf__backend_redis.close(conn);
    for (int i = 0; i < REQUESTS; i++)
        if (answers[i] != 1) abort();
    if (allocs_open != 0) abort();
    return 0;
}
