/*
 * raw_tls.c: peer=raw-tls, the commands of peer=raw over TLS as hiredis does
 * it: its formatter and its reader, around a blocking SSL_write and SSL_read on
 * one connection per thread.  The server's certificate is not checked.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "raw_redis.h"
#include "tool.h"

#define READ_SIZE (16 * 1024)

struct raw_tls {
    SSL *ssl;
    redisReader *reader;
    char sha[SHA_LEN + 1]; /* delete if it is ours */
    char name[64];
    char value[48];
    char lease[16];
    uint64_t turn;
};

static int port_of(const struct options *o)
{
    int port = 0;
    if (!o->url || sscanf(o->url, "rediss://127.0.0.1:%d", &port) != 1)
        fail("url=rediss://127.0.0.1:PORT is missing");
    return port;
}

static int socket_connect(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        fail("redis: port %d: cannot connect", port);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static SSL *tls_connect(int port)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = context ? SSL_new(context) : NULL;

    if (!ssl) fail("out of memory");
    SSL_set_fd(ssl, socket_connect(port));
    if (SSL_connect(ssl) != 1) fail("port %d: no TLS", port);
    return ssl;
}

static redisReply *reply_read(struct raw_tls *r)
{
    void *reply = NULL;
    char buf[READ_SIZE];

    for (;;) {
        if (redisReaderGetReply(r->reader, &reply) != REDIS_OK)
            fail("redis: %s", r->reader->errstr);
        if (reply) return reply;
        int n = SSL_read(r->ssl, buf, sizeof(buf));
        if (n <= 0) fail("redis: the connection was lost");
        redisReaderFeed(r->reader, buf, (size_t)n);
    }
}

static redisReply *ask(struct raw_tls *r, int argc, const char **argv)
{
    char *command = NULL;
    size_t lens[8];

    for (int i = 0; i < argc; i++) lens[i] = strlen(argv[i]);
    int len = (int)redisFormatCommandArgv(&command, argc, argv, lens);
    if (len < 0 || SSL_write(r->ssl, command, len) != len)
        fail("redis: %s: cannot be written", argv[0]);
    redisFreeCommand(command);
    redisReply *a = reply_read(r);
    if (a->type == REDIS_REPLY_ERROR) fail("redis: %s: %s", argv[0], a->str);
    return a;
}

static void tls_open(struct worker *w)
{
    struct raw_tls *r = allocate(1, sizeof(*r));
    const char *argv[] = {"SCRIPT", "LOAD", raw_release_script};

    r->ssl = tls_connect(port_of(w->options));
    r->reader = redisReaderCreate();
    if (!r->reader) fail("out of memory");
    snprintf(r->lease, sizeof(r->lease), "%" PRId64, w->options->lease_ms);
    redisReply *a = ask(r, 3, argv);
    if (a->type != REDIS_REPLY_STRING || a->len != SHA_LEN) fail("no script");
    memcpy(r->sha, a->str, SHA_LEN + 1);
    freeReplyObject(a);
    w->impl = r;
}

static void tls_name_set(struct worker *w, const char *name)
{
    struct raw_tls *r = w->impl;

    snprintf(r->name, sizeof(r->name), "%s", name);
}

static void tls_lock(struct worker *w)
{
    struct raw_tls *r = w->impl;
    const char *argv[] = {"SET", r->name, r->value, "NX", "PX", r->lease};

    snprintf(r->value, sizeof(r->value), "%d:%d:%" PRIu64, w->options->proc,
             w->id, r->turn++);
    for (;;) {
        redisReply *a = ask(r, 6, argv);
        int taken = a->type != REDIS_REPLY_STATUS;
        freeReplyObject(a);
        if (!taken) return;
        pause_ns(NS_PER_MS);
    }
}

static void tls_unlock(struct worker *w)
{
    struct raw_tls *r = w->impl;
    const char *argv[] = {"EVALSHA", r->sha, "1", r->name, r->value};
    redisReply *a = ask(r, 5, argv);

    if (a->integer != 1) w->fails++;
    freeReplyObject(a);
}

const struct lock_peer raw_tls_peer = {
    .name = "raw-tls",
    .open = tls_open,
    .name_set = tls_name_set,
    .lock = tls_lock,
    .unlock = tls_unlock,
};
