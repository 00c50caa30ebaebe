/*
 * pack.c: numbers and texts as bytes, and back.  One rule: no byte is read that
 * is not there, and no number is believed that was not checked.
 */
#include <string.h>

#include "rules/model.h"
#include "rules/pack.h"

#define ROOM_MIN 128u
#define VARINT_MAX 10 /* bytes of 64 bits */

/* ---- writing ------------------------------------------------------------ */

static int bytes_reserve(struct cell_bytes *b, size_t more)
{
    if (b->is_short) return -1;
    if (b->room - b->len >= more) return 0;
    size_t room = b->room ? b->room : ROOM_MIN;
    while (room - b->len < more) room *= 2;
    unsigned char *at = hf__realloc(b->alloc, b->at, room);
    if (!at) {
        b->is_short = 1;
        return -1;
    }
    b->at = at;
    b->room = room;
    return 0;
}

void hf__rules_pack_unsigned(struct cell_bytes *b, uint64_t number)
{
    if (bytes_reserve(b, VARINT_MAX) != 0) return;
    for (; number > 0x7f; number >>= 7)
        b->at[b->len++] = (unsigned char)(number | 0x80);
    b->at[b->len++] = (unsigned char)number;
}

void hf__rules_pack_signed(struct cell_bytes *b, int64_t number)
{
    uint64_t sign = number < 0 ? UINT64_MAX : 0;
    hf__rules_pack_unsigned(b, ((uint64_t)number << 1) ^ sign);
}

void hf__rules_pack_bytes(struct cell_bytes *b, const void *data, size_t len)
{
    hf__rules_pack_unsigned(b, len);
    if (len == 0 || bytes_reserve(b, len) != 0) return;
    memcpy(b->at + b->len, data, len);
    b->len += len;
}

void hf__rules_pack_text(struct cell_bytes *b, const char *text)
{
    hf__rules_pack_bytes(b, text, strlen(text));
}

/* ---- reading ------------------------------------------------------------ */

uint64_t hf__rules_unpack_unsigned(struct unpack *u)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !u->is_bad; shift += 7) {
        if (u->at == u->end) break;
        unsigned char byte = *u->at++;
        if (shift == 63 && byte > 1) break;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return number;
    }
    u->is_bad = 1;
    return 0;
}

static int64_t signed_take(struct unpack *u)
{
    uint64_t folded = hf__rules_unpack_unsigned(u);
    uint64_t half = folded >> 1;
    return folded & 1 ? -(int64_t)half - 1 : (int64_t)half;
}

int64_t hf__rules_unpack_range(struct unpack *u, int64_t min, int64_t max)
{
    int64_t number = signed_take(u);
    if (!u->is_bad && number >= min && number <= max) return number;
    u->is_bad = 1;
    return min > 0 ? min : 0;
}

int64_t hf__rules_unpack_signed(struct unpack *u)
{
    return hf__rules_unpack_range(u, -PACK_MAX, PACK_MAX);
}

int64_t hf__rules_unpack_time(struct unpack *u)
{
    int64_t time = signed_take(u);
    if (time == TIME_NEVER || (time >= 0 && time <= PACK_MAX)) return time;
    u->is_bad = 1;
    return 0;
}

const void *hf__rules_unpack_bytes(struct unpack *u, size_t *len)
{
    uint64_t wanted = hf__rules_unpack_unsigned(u);
    *len = 0;
    if (u->is_bad || wanted > (uint64_t)(u->end - u->at)) {
        u->is_bad = 1;
        return NULL;
    }
    if (wanted == 0) return NULL;
    const unsigned char *at = u->at;
    *len = (size_t)wanted;
    u->at += wanted;
    return at;
}

void hf__rules_unpack_text(struct unpack *u, char *out, size_t size)
{
    size_t len;
    const void *text = hf__rules_unpack_bytes(u, &len);
    if (len >= size || (len > 0 && memchr(text, '\0', len))) {
        u->is_bad = 1;
        len = 0;
    }
    if (len > 0) memcpy(out, text, len);
    out[len] = '\0';
}

void *hf__rules_unpack_make(struct unpack *u, const struct store *s,
                            size_t size)
{
    if (u->is_bad || u->is_short) return NULL;
    void *record = hf__alloc_zero(s->alloc, size);
    if (!record) u->is_short = 1;
    return record;
}
