/*
 * server.c: starts, asks and stops the Redis server.  It is stopped by its pid
 * and nothing else.
 */
#define _POSIX_C_SOURCE 200809L
#include "server.h"

#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "child.h"
#include "lab/lab.h"
#include "lab/port.h"
#include "tool.h"

#define MISSING_BATCH 500

/* Sent by clients only: no script may call these. */
static const char only_clients[] =
    "eval evalsha evalsha_ro eval_ro fcall script subscribe unsubscribe "
    "psubscribe ssubscribe sunsubscribe blpop ping hello auth client select";

int port_free(void)
{
    int port;

    if (lab_port_reserve(&port) < 0) fail("%s", lab_error());
    return port; /* ours until the driver ends */
}

static redisReply *ask(struct server *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    redisReply *a = redisvCommand(s->redis, format, args);
    va_end(args);
    if (!a) fail("redis-server: %s: %s", format, s->redis->errstr);
    if (a->type == REDIS_REPLY_ERROR)
        fail("redis-server: %s: %s", format, a->str);
    return a;
}

static void server_connect(struct server *s)
{
    struct timeval patience = {5, 0};

    s->redis = redisConnectWithTimeout("127.0.0.1", s->port, patience);
    if (!s->redis || s->redis->err) fail("redis-server: no connection");
}

pid_t server_launch(const struct lab_launch *l)
{
    pid_t pid = child_fork();

    if (pid == 0) lab_launch_exec(l);
    if (pid < 0) fail("redis-server cannot be started");
    if (lab_launch_await(l, pid, 0) != LAB_OK) fail("%s", lab_error());
    return pid;
}

static void version_read(struct server *s)
{
    redisReply *a = ask(s, "INFO server");
    const char *at = strstr(a->str, "redis_version:");

    if (at && sscanf(at, "redis_version:%31[^\r\n]", s->version) != 1)
        s->version[0] = '\0';
    freeReplyObject(a);
}

static void start(struct server *s, const char *dir, int is_node)
{
    char bus[16];
    /* What is for a cluster's node only comes last. */
    const char *const args[] = {"--maxclients",
                                "4000",
                                is_node ? "--cluster-enabled" : NULL,
                                "yes",
                                "--cluster-port",
                                bus,
                                NULL};
    struct lab_launch l = {.dir = dir, .args = args};

    memset(s, 0, sizeof(*s));
    l.port = s->port = port_free();
    s->bus_port = is_node ? s->port + LAB_PORT_BUS : 0;
    snprintf(bus, sizeof(bus), "%d", s->bus_port);
    s->pid = server_launch(&l);
    server_connect(s);
    version_read(s);
}

void server_start(struct server *s, const char *dir)
{
    start(s, dir, 0);
}

void server_start_node(struct server *s, const char *dir)
{
    start(s, dir, 1);
}

void server_stop(struct server *s)
{
    if (s->redis) redisFree(s->redis);
    s->redis = NULL;
    if (s->pid > 0) child_end(s->pid, SIGTERM);
    s->pid = 0;
}

int server_tls_begin(struct server *s, const char *crt, const char *key)
{
    int port = port_free();
    redisReply *a =
        redisCommand(s->redis,
                     "CONFIG SET tls-cert-file %s tls-key-file %s "
                     "tls-ca-cert-file %s tls-auth-clients no tls-port %d",
                     crt, key, crt, port);

    if (!a || a->type != REDIS_REPLY_STATUS) port = 0;
    if (a) freeReplyObject(a);
    return port;
}

void server_tls_end(struct server *s)
{
    freeReplyObject(ask(s, "CONFIG SET tls-port 0"));
}

void server_flush(struct server *s)
{
    freeReplyObject(ask(s, "FLUSHALL"));
}

void server_count_begin(struct server *s)
{
    freeReplyObject(ask(s, "CONFIG RESETSTAT"));
}

static int list_has(const char *list, const char *word, size_t len)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, " ");
        if (n == len && memcmp(at, word, len) == 0) return 1;
        at += n + (at[n] == ' ');
    }
    return 0;
}

double server_count_end(struct server *s, const char *plain)
{
    redisReply *a = ask(s, "INFO commandstats");
    double total = 0;

    for (char *at = a->str; (at = strstr(at, "cmdstat_"));) {
        at += strlen("cmdstat_");
        size_t len = strcspn(at, ":|");
        const char *calls = strstr(at, "calls=");
        if (calls
            && (list_has(only_clients, at, len) || list_has(plain, at, len)))
            total += strtod(calls + strlen("calls="), NULL);
    }
    freeReplyObject(a);
    return total;
}

int64_t server_missing(struct server *s, const char *stem, int len)
{
    int64_t there = 0;

    for (int first = 0; first < len; first += MISSING_BATCH) {
        int end = first + MISSING_BATCH < len ? first + MISSING_BATCH : len;
        for (int i = first; i < end; i++)
            redisAppendCommand(s->redis, "EXISTS %s-%d", stem, i);
        for (int i = first; i < end; i++) {
            void *a = NULL;
            if (redisGetReply(s->redis, &a) != REDIS_OK || !a)
                fail("redis-server: EXISTS: %s", s->redis->errstr);
            there += ((redisReply *)a)->integer;
            freeReplyObject(a);
        }
    }
    return len - there;
}

int64_t server_ttl_ms(struct server *s)
{
    redisReply *keys = ask(s, "KEYS *");
    int64_t longest = 0;

    for (size_t i = 0; i < keys->elements; i++) {
        redisReply *k = keys->element[i];
        redisReply *a = ask(s, "PTTL %b", k->str, (size_t)k->len);
        if (a->integer > longest) longest = a->integer;
        freeReplyObject(a);
    }
    freeReplyObject(keys);
    return longest;
}
