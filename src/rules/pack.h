/*
 * pack.h: numbers and texts as bytes, for cell.h.
 *
 * A number is a varint, seven bits in a byte, the lowest first; one that may be
 * below 0 is folded to the even and odd ones.  One rule: what cannot be read
 * makes the reader bad for good, and it then reads zeros.
 */
#ifndef HF_RULES_PACK_H
#define HF_RULES_PACK_H

#include "rules/cell.h"

/* The largest number or time that is believed: sums of some stay in range. */
#define PACK_MAX (INT64_MAX / 8)

void hf__rules_pack_unsigned(struct cell_bytes *b, uint64_t number);
void hf__rules_pack_signed(struct cell_bytes *b, int64_t number);
void hf__rules_pack_bytes(struct cell_bytes *b, const void *data, size_t len);
void hf__rules_pack_text(struct cell_bytes *b, const char *text);

struct unpack {
    const unsigned char *at, *end;
    int is_bad;   /* the bytes are not ours, or end too early */
    int is_short; /* there was no memory */
};

uint64_t hf__rules_unpack_unsigned(struct unpack *u);
/* -PACK_MAX to PACK_MAX. */
int64_t hf__rules_unpack_signed(struct unpack *u);
/* `min` to `max`. */
int64_t hf__rules_unpack_range(struct unpack *u, int64_t min, int64_t max);
/* 0 to PACK_MAX, or TIME_NEVER. */
int64_t hf__rules_unpack_time(struct unpack *u);
/* Bytes, borrowed; NULL if there are none. */
const void *hf__rules_unpack_bytes(struct unpack *u, size_t *len);
/* Into `out`, with a NUL behind it and none in it. */
void hf__rules_unpack_text(struct unpack *u, char *out, size_t size);

/* A zeroed record; NULL: the reader is bad by now, or there is no memory. */
void *hf__rules_unpack_make(struct unpack *u, const struct store *s,
                            size_t size);

#endif
