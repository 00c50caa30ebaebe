/*
 * pgwire.c: see pgwire.h.  One rule: nothing but the simple query of protocol
 * 3, whose answer is as good as anything for a test.
 */
#include "lab/pgwire.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/wait.h"

#define MESSAGE_MAX (1 << 20)

/* What is being written for the caller. */
struct text {
    char *at;
    size_t size, len;
};

static void text_add(struct text *t, const char *bytes, size_t len)
{
    size_t room = t->size - t->len - 1;
    if (len > room) len = room;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
}

static int all_send(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static int all_read(int fd, char *bytes, size_t len)
{
    while (len > 0) {
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t n =
            poll(&p, 1, LAB_PATIENCE_MS) > 0 ? recv(fd, bytes, len, 0) : -1;
        if (n <= 0) return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static uint32_t number_at(const char *bytes)
{
    uint32_t n;
    memcpy(&n, bytes, sizeof n);
    return ntohl(n);
}

/* One message: its type, 0 if there is none.  `*body` is to be freed. */
static char message_read(int fd, char **body, size_t *len)
{
    char head[5];
    *body = NULL;
    if (all_read(fd, head, sizeof head) != 0) return 0;
    uint32_t size = number_at(head + 1);
    if (size < 4 || size > MESSAGE_MAX) return 0;
    *len = size - 4;
    *body = calloc(1, *len + 1);
    if (*body && all_read(fd, *body, *len) == 0) return head[0];
    return 0;
}

static int startup_send(int fd)
{
    static const char words[] = "user\0postgres\0database\0postgres\0";
    char out[8 + sizeof words];
    uint32_t size = htonl(sizeof out), version = htonl(3 << 16);
    memcpy(out, &size, 4);
    memcpy(out + 4, &version, 4);
    memcpy(out + 8, words, sizeof words);
    return all_send(fd, out, sizeof out);
}

static int query_send(int fd, const char *sql)
{
    size_t len = strlen(sql) + 1;
    uint32_t size = htonl((uint32_t)len + 4);
    char head[5] = {'Q'};
    memcpy(head + 1, &size, 4);
    return all_send(fd, head, sizeof head) || all_send(fd, sql, len) ? -1 : 0;
}

/* A row, as one line. */
static void row_add(struct text *t, const char *body, size_t len)
{
    int fields = (unsigned char)body[0] << 8 | (unsigned char)body[1];
    size_t at = 2;
    if (t->len > 0) text_add(t, "\n", 1);
    for (int i = 0; i < fields && at + 4 <= len; i++) {
        uint32_t n = number_at(body + at);
        at += 4;
        if (i > 0) text_add(t, "|", 1);
        if (n == UINT32_MAX || at + n > len) continue; /* null */
        text_add(t, body + at, n);
        at += n;
    }
}

/* An error: "-" and its message. */
static void error_add(struct text *t, const char *body, size_t len)
{
    t->len = 0;
    text_add(t, "-", 1);
    for (size_t at = 0; at < len && body[at]; at += strlen(body + at) + 1)
        if (body[at] == 'M') text_add(t, body + at + 1, strlen(body + at + 1));
}

/* Read up to the next "ready for query": 0, or -1 if it does not come. */
static int answer_read(int fd, struct text *t)
{
    for (;;) {
        char *body;
        size_t len = 0;
        char type = message_read(fd, &body, &len);
        if (type == 'D' && t->at[0] != '-') row_add(t, body, len);
        if (type == 'E') error_add(t, body, len);
        free(body);
        if (type == 'Z') return 0;
        if (type == 0) return -1;
    }
}

void lab_pgwire_say(int fd, const char *sql, char *reply, size_t size)
{
    struct text t = {reply, size, 0};
    reply[0] = '\0';
    if (startup_send(fd) == 0 && answer_read(fd, &t) == 0
        && query_send(fd, sql) == 0 && answer_read(fd, &t) == 0)
        return;
    if (reply[0] != '-') snprintf(reply, size, "(no answer)");
}
