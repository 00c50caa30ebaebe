/*
 * mywire.c: see mywire.h.  One rule: nothing but a text query of protocol 4.1,
 * whose answer is as good as anything for a test.
 */
#include "lab/mywire.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/wire.h"

#define CAN_41 0x200u
#define CAN_TRANSACTIONS 0x2000u
#define CAN_SECURE 0x8000u
#define CAN_STATEMENTS 0x10000u
#define CAN_RESULTS 0x20000u
#define CAN_PLUGIN 0x80000u
#define STATUS_MORE 8u /* another result follows */
#define NUMBER_NULL UINT64_MAX
#define CHARSET_UTF8MB4 45

/* One packet. */
struct packet {
    unsigned char *at; /* to be freed */
    size_t len, next;  /* `next`: what is read next */
};

static int packet_read(int fd, struct packet *p)
{
    unsigned char head[4];
    *p = (struct packet){0};
    if (lab_wire_read(fd, head, sizeof head) != 0) return -1;
    p->len = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;
    p->at = calloc(1, p->len + 1);
    return p->at ? lab_wire_read(fd, p->at, p->len) : -1;
}

static int packet_send(int fd, int number, const void *bytes, size_t len)
{
    unsigned char head[4] = {(unsigned char)len, (unsigned char)(len >> 8),
                             (unsigned char)(len >> 16), (unsigned char)number};
    if (lab_wire_send(fd, head, sizeof head) != 0) return -1;
    return lab_wire_send(fd, bytes, len);
}

/* A number of `bytes` bytes, the lowest first. */
static uint64_t bytes_take(struct packet *p, unsigned bytes)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < bytes && p->next < p->len; i++)
        n |= (uint64_t)p->at[p->next++] << (8 * i);
    return n;
}

/* A number whose first byte says how long it is. */
static uint64_t number_take(struct packet *p)
{
    uint64_t first = bytes_take(p, 1);
    if (first == 0xfb) return NUMBER_NULL;
    if (first < 0xfb) return first;
    return bytes_take(p, first == 0xfc ? 2 : first == 0xfd ? 3 : 8);
}

static int hello_send(int fd)
{
    static const char words[] = "root\0\0mysql_native_password";
    unsigned can = CAN_41 | CAN_TRANSACTIONS | CAN_SECURE | CAN_STATEMENTS
                   | CAN_RESULTS | CAN_PLUGIN;
    unsigned char out[32 + sizeof words] = {0};
    for (int i = 0; i < 4; i++) out[i] = (unsigned char)(can >> (8 * i));
    out[7] = 1; /* packets of up to 16 MB */
    out[8] = CHARSET_UTF8MB4;
    memcpy(out + 32, words, sizeof words);
    return packet_send(fd, 1, out, sizeof out);
}

static int query_send(int fd, const char *sql)
{
    size_t len = strlen(sql);
    char *out = malloc(len + 1);
    if (!out) return -1;
    out[0] = 3;
    memcpy(out + 1, sql, len);
    int rc = packet_send(fd, 0, out, len + 1);
    free(out);
    return rc;
}

/* "-" and the server's words; the number and the state stand before them. */
static void error_add(struct lab_wire_text *t, const struct packet *p)
{
    size_t from = p->len > 9 && p->at[3] == '#' ? 9 : 3;
    t->len = 0;
    lab_wire_add(t, "-", 1);
    if (from < p->len)
        lab_wire_add(t, (const char *)p->at + from, p->len - from);
}

static void row_add(struct lab_wire_text *t, struct packet *p, uint64_t fields)
{
    for (uint64_t i = 0; i < fields && p->next < p->len; i++) {
        uint64_t n = number_take(p);
        int is_null = n == NUMBER_NULL || n > p->len - p->next;
        lab_wire_field(t, (int)i,
                       is_null ? NULL : (const char *)p->at + p->next,
                       (size_t)n);
        if (!is_null) p->next += (size_t)n;
    }
}

static int is_end(const struct packet *p)
{
    return p->len < 9 && p->at[0] == 0xfe;
}

/* The rows of one result: the server's status behind them, or -1. */
static int rows_read(int fd, struct lab_wire_text *t, uint64_t fields)
{
    int status = -1, ends = 0;
    while (ends < 2) { /* behind the columns, and behind the rows */
        struct packet p;
        int rc = packet_read(fd, &p);
        int is_error = rc == 0 && p.at[0] == 0xff;
        if (is_error) error_add(t, &p);
        if (rc == 0 && is_end(&p)) {
            ends++;
            p.next = 3;
            status = (int)bytes_take(&p, 2);
        } else if (rc == 0 && !is_error && ends == 1) {
            row_add(t, &p, fields);
        }
        free(p.at);
        if (rc != 0) return -1;
        if (is_error) return 0;
    }
    return status;
}

/* One result: the server's status, or -1 if none came. */
static int result_read(int fd, struct lab_wire_text *t)
{
    struct packet p;
    int status = -1;
    uint64_t fields = 0;
    if (packet_read(fd, &p) == 0 && p.len > 0) {
        status = 0;
        if (p.at[0] == 0xff) error_add(t, &p);
        fields = p.at[0] == 0xff ? 0 : number_take(&p);
        if (p.at[0] == 0 && p.len > 1) { /* done: rows, id, status */
            (void)number_take(&p);
            (void)number_take(&p);
            status = (int)bytes_take(&p, 2);
        }
    }
    free(p.at);
    return fields > 0 ? rows_read(fd, t, fields) : status;
}

static int answer_read(int fd, struct lab_wire_text *t)
{
    int status;
    do status = result_read(fd, t);
    while (status > 0 && (unsigned)status & STATUS_MORE);
    return status;
}

void lab_mywire_say(int fd, const char *sql, char *reply, size_t size)
{
    struct lab_wire_text t = {reply, size, 0};
    struct packet greeting;
    reply[0] = '\0';
    int rc = packet_read(fd, &greeting);
    if (rc == 0 && greeting.len > 0 && greeting.at[0] == 0xff)
        error_add(&t, &greeting);
    free(greeting.at);
    if (rc == 0 && reply[0] != '-' && hello_send(fd) == 0
        && answer_read(fd, &t) >= 0
        && (reply[0] == '-'
            || (query_send(fd, sql) == 0 && answer_read(fd, &t) >= 0)))
        return;
    if (reply[0] != '-') snprintf(reply, size, "(no answer)");
}
