/*
 * params.c: see params.h.  One rule: numbers are eight bytes, the highest
 * first, whatever the machine.
 */
#include "backend/postgres/params.h"

#include <assert.h>
#include <string.h>

#define ARRAY_HEAD 20 /* dimensions, flags, type, length, first index */
#define ARRAY_ROOM 256

static void number_put(unsigned char *at, uint64_t number, int bytes)
{
    for (int i = bytes; i-- > 0; number >>= 8) at[i] = (unsigned char)number;
}

int64_t hf__postgres_number(const void *bytes)
{
    const unsigned char *at = bytes;
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | at[i];
    return (int64_t)number;
}

static void put(struct params *p, const void *bytes, size_t len)
{
    assert(p->len < PARAMS_MAX);
    p->values[p->len] = bytes;
    p->lengths[p->len] = (int)len;
    p->formats[p->len] = 1;
    p->len++;
}

void hf__postgres_params_number(struct params *p, int64_t number)
{
    unsigned char *at = p->numbers[p->len];
    number_put(at, (uint64_t)number, 8);
    put(p, at, 8);
}

void hf__postgres_params_bytes(struct params *p, const void *bytes, size_t len)
{
    put(p, bytes ? bytes : "", len);
}

void hf__postgres_params_text(struct params *p, const char *text)
{
    put(p, text ? text : "", text ? strlen(text) : 0);
}

void hf__postgres_params_null(struct params *p)
{
    put(p, NULL, 0);
}

/* ---- arrays ---- */

/* Room for `len` more bytes, or NULL. */
static unsigned char *array_room(struct array *a, size_t len)
{
    while (!a->is_short && a->len + len > a->room) {
        size_t room = a->room ? a->room * 2 : ARRAY_ROOM;
        unsigned char *at = hf__realloc(a->alloc, a->at, room);
        if (!at) a->is_short = 1;
        if (at) a->at = at;
        if (at) a->room = room;
    }
    if (a->is_short) return NULL;
    a->len += len;
    return a->at + a->len - len;
}

void hf__postgres_array_begin(struct array *a, const struct allocator *alloc,
                              uint32_t type)
{
    *a = (struct array){.alloc = alloc};
    unsigned char *at = array_room(a, ARRAY_HEAD);
    if (!at) return;
    number_put(at, 1, 4);
    number_put(at + 4, 0, 4);
    number_put(at + 8, type, 4);
    number_put(at + 16, 1, 4);
}

void hf__postgres_array_bytes(struct array *a, const void *bytes, size_t len)
{
    unsigned char *at = array_room(a, len + 4);
    if (!at) return;
    number_put(at, len, 4);
    if (len > 0) memcpy(at + 4, bytes, len);
    a->count++;
}

void hf__postgres_array_number(struct array *a, int64_t number)
{
    unsigned char bytes[8];
    number_put(bytes, (uint64_t)number, 8);
    hf__postgres_array_bytes(a, bytes, sizeof bytes);
}

void hf__postgres_params_array(struct params *p, struct array *a)
{
    if (!a->is_short) number_put(a->at + 12, a->count, 4);
    put(p, a->at, a->len);
}

void hf__postgres_array_free(struct array *a)
{
    hf__free(a->alloc, a->at);
    a->at = NULL;
}
