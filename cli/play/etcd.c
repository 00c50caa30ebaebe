/*
 * play/etcd.c: see play/etcd.h.  The gateway writes the bytes of keys and
 * values in base64, and numbers of 64 bits as texts.
 */
#include "play/etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/ask.h"

#define ANSWER_MAX 8192
#define KEY "bG9jaw==" /* "lock" */

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void letter_encode(char letter, char out[5])
{
    out[0] = digits[(letter >> 2) & 63];
    out[1] = digits[(letter & 3) << 4];
    memcpy(out + 2, "==", 3);
}

static void text_encode(const char *text, char *out, size_t size)
{
    size_t len = 0;
    for (; *text && len + 5 < size; text += 3) {
        unsigned a = (unsigned char)text[0], b = (unsigned char)text[1];
        unsigned c = b ? (unsigned char)text[2] : 0;
        out[len++] = digits[a >> 2];
        out[len++] = digits[(a & 3) << 4 | b >> 4];
        out[len++] = b ? digits[(b & 15) << 2 | c >> 6] : '=';
        out[len++] = c ? digits[c & 63] : '=';
        if (!b || !c) break;
    }
    out[len] = 0;
}

static void text_decode(const char *from, char *out, size_t size)
{
    size_t len = 0;
    unsigned bits = 0;
    int have = 0;
    for (const char *at;
         *from && (at = strchr(digits, *from)) && len + 1 < size; from++) {
        bits = bits << 6 | (unsigned)(at - digits);
        have += 6;
        if (have < 8) continue;
        have -= 8;
        out[len++] = (char)(bits >> have & 255);
    }
    out[len] = 0;
}

/* The whole answer, headers included; "" if there is none. */
static void etcd_post(int port, const char *path, const char *body,
                      char out[ANSWER_MAX])
{
    char request[2048];
    size_t len = 0;
    ssize_t n;
    out[0] = 0;
    int size = snprintf(request, sizeof(request),
                        "POST /v3/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                        path, strlen(body), body);
    int fd = lab_ask_connect(NULL, port);
    if (fd < 0) return;
    if (write(fd, request, (size_t)size) == size)
        while ((n = read(fd, out + len, ANSWER_MAX - 1 - len)) > 0)
            len += (size_t)n;
    out[len] = 0;
    close(fd);
}

/* The text of a field, which is quoted; NULL if there is none. */
static const char *field_find(char *answer, const char *name)
{
    char quoted[40];
    snprintf(quoted, sizeof(quoted), "\"%s\":\"", name);
    char *at = strstr(answer, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    at[strcspn(at, "\"")] = 0;
    return at;
}

int etcd_lock(int port, char me, int64_t lease_ms)
{
    static char answer[ANSWER_MAX];
    char body[512], value[5], lease[32];
    snprintf(body, sizeof(body), "{\"TTL\":\"%lld\"}",
             (long long)(lease_ms + 999) / 1000);
    etcd_post(port, "lease/grant", body, answer);
    const char *id = field_find(answer, "ID");
    if (!id) return 0;
    snprintf(lease, sizeof(lease), "%.31s", id);
    letter_encode(me, value);
    snprintf(body, sizeof(body),
             "{\"compare\":[{\"key\":\"" KEY "\",\"target\":\"CREATE\","
             "\"result\":\"EQUAL\",\"create_revision\":\"0\"}],"
             "\"success\":[{\"request_put\":{\"key\":\"" KEY "\","
             "\"value\":\"%s\",\"lease\":\"%s\"}}]}",
             value, lease);
    etcd_post(port, "kv/txn", body, answer);
    return strstr(answer, "\"succeeded\":true") != NULL;
}

int etcd_unlock(int port)
{
    static char answer[ANSWER_MAX];
    etcd_post(port, "kv/deleterange", "{\"key\":\"" KEY "\"}", answer);
    return strstr(answer, "\"deleted\":\"1\"") != NULL;
}

void etcd_look(int port, int is_naive, char *out, size_t size)
{
    static char answer[ANSWER_MAX];
    char first[64], end[64], body[512];
    text_encode(ETCD_PREFIX "/lock/", first, sizeof(first));
    text_encode(ETCD_PREFIX "/lock0", end, sizeof(end));
    snprintf(body, sizeof(body),
             "{\"key\":\"%s\",\"range_end\":\"%s\",\"limit\":\"1\","
             "\"sort_order\":\"ASCEND\",\"sort_target\":\"CREATE\"}",
             first, end);
    etcd_post(port, "kv/range", is_naive ? "{\"key\":\"" KEY "\"}" : body,
              answer);
    const char *value = field_find(answer, "value");
    text_decode(value ? value : "", out, size);
}
