/*
 * record_text.c: the record as text that people can read.  One rule: a record
 * is believed only if its checksum, which covers all of it, is right.
 *
 * No stdio: this is on the path of every acquire.
 */
#include <string.h>

#include "backend/file/record_text.h"

#define MAGIC "holdfast 1\n"
#define MAGIC_LEN (sizeof MAGIC - 1)
#define RECORD_BASE 544 /* everything but the title, at its longest */
#define RECORD_STEP 512

static const char *const mode_names[] = {"exclusive", "detached", "free"};

/* Eight bytes at a time: it must find torn writes, not forged ones. */
static uint64_t check_sum(const char *text, size_t len)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ len;
    while (len > 0) {
        uint64_t word = 0;
        size_t n = len < 8 ? len : 8;
        memcpy(&word, text, n);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
        text += n;
        len -= n;
    }
    return h;
}

/* ---- writing -------------------------------------------------------- */

static char *put_bytes(char *at, const char *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

#define PUT(at, literal) put_bytes(at, literal, sizeof(literal) - 1)

static char *put_number(char *at, uint64_t n)
{
    char digits[20];
    size_t from = sizeof digits; /* as many as 2^64 has */
    do {
        digits[--from] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0 && from > 0);
    return put_bytes(at, digits + from, sizeof digits - from);
}

/* Numbers of a record are never negative; a negative one is written as 0. */
static char *put_signed(char *at, int64_t n)
{
    return put_number(at, n < 0 ? 0 : (uint64_t)n);
}

/* A line must stay one line, whatever the host or the label is called. */
static char *put_text(char *at, const char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size && text[i]; i++) {
        unsigned char b = (unsigned char)text[i];
        *at++ = b < 0x20 || b == 0x7f ? '?' : text[i];
    }
    return at;
}

size_t hf__file_record_sign(const char *text, size_t len, char *out)
{
    uint64_t sum = check_sum(text, len);
    char *at = PUT(out, "check=");
    for (int i = 60; i >= 0; i -= 4)
        *at++ = "0123456789abcdef"[(sum >> i) & 15];
    *at++ = '\n';
    return (size_t)(at - out);
}

static char *put_numbers(char *at, const struct record *r)
{
    at = put_signed(PUT(at, "\ncounter="), r->counter);
    at = put_signed(PUT(at, "\nfence="), r->fence);
    at = put_signed(PUT(at, "\nballot="), r->ballot);
    at = put_signed(PUT(at, "\ncount="), r->count);
    at = put_signed(PUT(at, "\npid="), r->pid);
    at = put_signed(PUT(at, "\nsince="), r->since_us);
    at = put_signed(PUT(at, "\ndeadline="), r->deadline_us);
    return put_number(PUT(at, "\nattempt="), r->attempt);
}

size_t hf__file_record_format(const struct record *r, char *out)
{
    size_t size = RECORD_BASE + r->title_len;
    size = (size + RECORD_STEP - 1) / RECORD_STEP * RECORD_STEP;
    char *at = PUT(out, MAGIC);
    at = put_bytes(PUT(at, "name="), r->title, r->title_len);
    at = put_numbers(at, r);
    const char *mode = mode_names[r->mode];
    at = put_bytes(PUT(at, "\nmode="), mode, strlen(mode));
    at = put_text(PUT(at, "\nowner="), r->owner, sizeof r->owner);
    at = put_text(PUT(at, "\nhost="), r->host, sizeof r->host);
    at = put_text(PUT(at, "\nlabel="), r->label, sizeof r->label);
    at = put_text(PUT(at, "\nboot="), r->boot, sizeof r->boot);
    *at++ = '\n';
    at += hf__file_record_sign(out, (size_t)(at - out), at);
    memset(at, ' ', size - (size_t)(at - out));
    out[size - 1] = '\n';
    return size;
}

/* ---- reading -------------------------------------------------------- */

/* What is left to read; `at` is NULL once something did not fit. */
struct reader {
    const char *at;
    const char *end;
};

static int take_key(struct reader *in, const char *key, size_t len)
{
    if (!in->at || (size_t)(in->end - in->at) < len
        || memcmp(in->at, key, len)) {
        in->at = NULL;
        return 0;
    }
    in->at += len;
    return 1;
}

#define TAKE(in, literal) take_key(in, literal, sizeof(literal) - 1)

/* The rest of the line; its newline stays for the next key. */
static const char *take_line(struct reader *in, size_t *len)
{
    const char *from = in->at;
    if (!from) return NULL;
    const char *to = memchr(from, '\n', (size_t)(in->end - from));
    in->at = to;
    if (!to) return NULL;
    *len = (size_t)(to - from);
    return from;
}

static void take_text(struct reader *in, char *out, size_t size)
{
    size_t len = 0;
    const char *text = take_line(in, &len);
    if (!text || len >= size) {
        in->at = NULL;
        return;
    }
    memcpy(out, text, len);
    out[len] = '\0';
}

static uint64_t take_number(struct reader *in)
{
    uint64_t n = 0;
    const char *from = in->at;
    if (!from) return 0;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        unsigned digit = (unsigned)(*in->at - '0');
        if (n > (UINT64_MAX - digit) / 10) goto bad;
        n = n * 10 + digit;
    }
    if (in->at > from) return n;
bad:
    in->at = NULL;
    return 0;
}

static int64_t take_signed(struct reader *in)
{
    uint64_t n = take_number(in);
    if (n > INT64_MAX) {
        in->at = NULL;
        return 0;
    }
    return (int64_t)n;
}

/* Not written by us if it is higher: no proposal could be above it, and what is
 * counted on from it would overflow. */
static int64_t take_ballot(struct reader *in)
{
    int64_t n = take_signed(in);
    if (n > BALLOT_MAX) in->at = NULL;
    return n > BALLOT_MAX ? 0 : n;
}

static void take_numbers(struct reader *in, struct record *r)
{
    if (TAKE(in, "\ncounter=")) r->counter = take_ballot(in);
    if (TAKE(in, "\nfence=")) r->fence = take_ballot(in);
    if (TAKE(in, "\nballot=")) r->ballot = take_ballot(in);
    if (TAKE(in, "\ncount=")) r->count = take_signed(in);
    if (TAKE(in, "\npid=")) r->pid = take_signed(in);
    if (TAKE(in, "\nsince=")) r->since_us = take_signed(in);
    if (TAKE(in, "\ndeadline=")) r->deadline_us = take_signed(in);
    if (TAKE(in, "\nattempt=")) r->attempt = take_number(in);
}

static void take_mode(struct reader *in, struct record *r)
{
    size_t len = 0;
    const char *text = take_line(in, &len);
    for (int i = 0; text && i < 3; i++)
        if (strlen(mode_names[i]) == len && !memcmp(text, mode_names[i], len)) {
            r->mode = (enum record_mode)i;
            return;
        }
    in->at = NULL;
}

static void take_fields(struct reader *in, struct record *r)
{
    if (TAKE(in, "name=")) r->title = take_line(in, &r->title_len);
    take_numbers(in, r);
    if (TAKE(in, "\nmode=")) take_mode(in, r);
    if (TAKE(in, "\nowner=")) take_text(in, r->owner, sizeof r->owner);
    if (TAKE(in, "\nhost=")) take_text(in, r->host, sizeof r->host);
    if (TAKE(in, "\nlabel=")) take_text(in, r->label, sizeof r->label);
    if (TAKE(in, "\nboot=")) take_text(in, r->boot, sizeof r->boot);
    TAKE(in, "\n");
}

static int take_check(struct reader *in, const char *text)
{
    char line[32];
    if (!in->at) return 0;
    size_t len = hf__file_record_sign(text, (size_t)(in->at - text), line);
    return take_key(in, line, len);
}

static int is_all_zero(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i]) return 0;
    return 1;
}

enum record_state hf__file_record_parse(const char *text, size_t len,
                                        struct record *r)
{
    memset(r, 0, sizeof *r);
    if (len == 0) return RECORD_EMPTY;
    size_t head = len < MAGIC_LEN ? len : MAGIC_LEN;
    if (memcmp(text, MAGIC, head)) {
        /* A file system that lost power may leave zeros where we wrote. */
        return is_all_zero(text, len) ? RECORD_TORN : RECORD_ALIEN;
    }
    struct reader in = {text + head, text + len};
    take_fields(&in, r);
    if (take_check(&in, text)) return RECORD_OK;
    memset(r, 0, sizeof *r);
    return RECORD_TORN;
}
