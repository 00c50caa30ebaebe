/*
 * name.c: see name.h.  One rule: two names never have the same node, and a name
 * is escaped in one way only.
 */
#include "backend/zookeeper/name.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/sha256.h"

#define SEQ_DIGITS 10
#define SEEN_OF_OWNER 31

/* Bytes that are not escaped.  A leading '.' is: "." and ".." are not valid
 * nodes, and holdfast's own nodes begin with it. */
static int is_plain(unsigned char ch, int is_first)
{
    if (ch == '.') return !is_first;
    return ch > ' ' && ch < 0x7f && ch != '/' && ch != '%';
}

size_t hf__zookeeper_name_escape(const char *name, size_t len,
                                 char out[NODE_NAME_MAX + 1])
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = out;
    for (size_t i = 0; i < len && i < NAME_LEN_MAX; i++) {
        unsigned char ch = (unsigned char)name[i];
        if (is_plain(ch, i == 0)) {
            *to++ = (char)ch;
            continue;
        }
        *to++ = '%';
        *to++ = digits[ch >> 4];
        *to++ = digits[ch & 15];
    }
    *to = '\0';
    return (size_t)(to - out);
}

static int digit_of(char ch)
{
    if (ch >= '0' && ch <= '9') return ch - '0';
    return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

size_t hf__zookeeper_name_unescape(const char *node, size_t len,
                                   char out[NAME_LEN_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char ch = (unsigned char)node[i];
        if (n == NAME_LEN_MAX) return 0;
        if (ch == '%') {
            int high = i + 2 < len ? digit_of(node[i + 1]) : -1;
            int low = i + 2 < len ? digit_of(node[i + 2]) : -1;
            if (high < 0 || low < 0) return 0;
            ch = (unsigned char)(high << 4 | low);
            if (is_plain(ch, i == 0)) return 0;
            i += 2;
        } else if (!is_plain(ch, i == 0)) {
            return 0;
        }
        out[n++] = (char)ch;
    }
    out[n] = '\0';
    return n;
}

/* There is one prefix for each attempt of a session; it has the owner, too, so
 * that two clients that share a session by mistake differ. */
void hf__zookeeper_name_prefix(const char *owner, uint64_t attempt,
                               int64_t session, char out[NODE_PREFIX_MAX])
{
    unsigned char in[SHA256_SHORT_MAX], h[SHA256_LEN];
    size_t len = strlen(owner);
    uint64_t words[3] = {attempt, (uint64_t)session, hash64(owner, len)};
    const char *tail =
        len > SEEN_OF_OWNER ? owner + len - SEEN_OF_OWNER : owner;
    for (size_t i = 0; i < 24; i++)
        in[i] = (unsigned char)(words[i / 8] >> (i % 8 * 8));
    len = strlen(tail);
    memcpy(in + 24, tail, len);
    hf__sha256_short(in, 24 + len, h);
    snprintf(out, NODE_PREFIX_MAX,
             "_c_%02x%02x%02x%02x-%02x%02x-4%01x%02x-8%01x%02x-"
             "%02x%02x%02x%02x%02x%02x-lock-",
             h[0], h[1], h[2], h[3], h[4], h[5], h[6] & 15, h[7], h[8] & 15,
             h[9], h[10], h[11], h[12], h[13], h[14], h[15]);
}

int hf__zookeeper_name_seq(const char *node, size_t len, int64_t *seq)
{
    size_t digits = 0;
    int64_t n = 0;
    while (digits < len && node[len - 1 - digits] >= '0'
           && node[len - 1 - digits] <= '9')
        digits++;
    if (digits < SEQ_DIGITS) return -1;
    for (size_t i = len - SEQ_DIGITS; i < len; i++) n = n * 10 + node[i] - '0';
    /* "%010d" of a negative number: a sign, and nine digits or more. */
    size_t before = len - SEQ_DIGITS;
    int is_negative =
        before >= 2 && node[before - 1] == '-' && node[before - 2] == '-';
    *seq = is_negative ? -n : n;
    return 0;
}
