/*
 * pgwire.c: see pgwire.h.  One rule: nothing but the simple query of protocol
 * 3, whose answer is as good as anything for a test.
 */
#include "lab/pgwire.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/wire.h"

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
    if (lab_wire_read(fd, head, sizeof head) != 0) return 0;
    uint32_t size = number_at(head + 1);
    if (size < 4 || size > LAB_WIRE_MESSAGE_MAX) return 0;
    *len = size - 4;
    *body = calloc(1, *len + 1);
    if (*body && lab_wire_read(fd, *body, *len) == 0) return head[0];
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
    return lab_wire_send(fd, out, sizeof out);
}

static int query_send(int fd, const char *sql)
{
    size_t len = strlen(sql) + 1;
    uint32_t size = htonl((uint32_t)len + 4);
    char head[5] = {'Q'};
    memcpy(head + 1, &size, 4);
    return lab_wire_send(fd, head, sizeof head) || lab_wire_send(fd, sql, len)
               ? -1
               : 0;
}

/* A row, as one line. */
static void row_add(struct lab_wire_text *t, const char *body, size_t len)
{
    int fields = (unsigned char)body[0] << 8 | (unsigned char)body[1];
    size_t at = 2;
    for (int i = 0; i < fields && at + 4 <= len; i++) {
        uint32_t n = number_at(body + at);
        int is_null = n == UINT32_MAX || at + 4 + n > len;
        at += 4;
        lab_wire_field(t, i, is_null ? NULL : body + at, n);
        if (!is_null) at += n;
    }
}

/* An error: "-" and its message. */
static void error_add(struct lab_wire_text *t, const char *body, size_t len)
{
    t->len = 0;
    lab_wire_add(t, "-", 1);
    for (size_t at = 0; at < len && body[at]; at += strlen(body + at) + 1)
        if (body[at] == 'M')
            lab_wire_add(t, body + at + 1, strlen(body + at + 1));
}

/* Read up to the next "ready for query": 0, or -1 if it does not come. */
static int answer_read(int fd, struct lab_wire_text *t)
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
    struct lab_wire_text t = {reply, size, 0};
    reply[0] = '\0';
    if (startup_send(fd) == 0 && answer_read(fd, &t) == 0
        && query_send(fd, sql) == 0 && answer_read(fd, &t) == 0)
        return;
    if (reply[0] != '-') snprintf(reply, size, "(no answer)");
}
