/*
 * resp.h: bytes in, values out.
 *
 * hiredis' reader finds the values; they are built in an arena that is kept
 * from reply to reply, so that a usual one costs no allocation.
 */
#ifndef HF_REDIS_RESP_H
#define HF_REDIS_RESP_H

#include <stddef.h>
#include <stdint.h>

#include "sys/alloc.h"

#define REPLY_LEN_MAX (16 * 1024 * 1024) /* bytes of one reply */
#define REPLY_DEPTH_MAX 8                /* arrays in arrays */

enum resp_type {
    RESP_STRING,
    RESP_STATUS,
    RESP_ERROR,
    RESP_INTEGER,
    RESP_ARRAY,
    RESP_NIL,
    RESP_STRANGE /* nothing that RESP2 has */
};

struct resp {
    enum resp_type type;
    const char *text;   /* STRING, STATUS, ERROR; a NUL behind it */
    size_t len;         /* of `text`, or elements of an ARRAY */
    int64_t number;     /* INTEGER */
    struct resp *first; /* ARRAY */
    struct resp *last;
    struct resp *next; /* in the array it is an element of */
};

struct chunk;

struct reader {
    const struct allocator *alloc;
    void *hiredis;        /* redisReader; NULL until the first use */
    struct chunk *chunks; /* the arena; the first one is kept */
    size_t pending;       /* bytes fed since the last whole value */
    int is_too_deep;      /* more than REPLY_DEPTH_MAX: not RESP of ours */
    char head[32];        /* the first bytes ever fed: what they look like */
    size_t head_len;
};

/* Make it ready for a new connection.  0, or -1: no memory. */
int hf__redis_reader_begin(struct reader *r, const struct allocator *alloc);
void hf__redis_reader_free(struct reader *r);

/* 0, or -1: no memory, or a reply without an end. */
int hf__redis_reader_feed(struct reader *r, const char *data, size_t len);

/* 1 with the next whole value, good until the next call; 0 there is none yet;
 * -1 these bytes are not RESP (or no memory: hf__redis_reader_is_starved). */
int hf__redis_reader_next(struct reader *r, const struct resp **out);
int hf__redis_reader_is_starved(const struct reader *r);

/* The i-th element, or NULL. */
const struct resp *hf__redis_resp_at(const struct resp *v, size_t i);

/* 1 if it is an array of at least `len` elements. */
int hf__redis_resp_is_array(const struct resp *v, size_t len);

/* The number in an INTEGER or a decimal STRING; `otherwise` for all else, and
 * for a number outside [min, max]. */
int64_t hf__redis_resp_within(const struct resp *v, int64_t min, int64_t max,
                              int64_t otherwise);

/* The same within [-BALLOT_MAX, BALLOT_MAX]: two of them can be added, or one
 * turned from milliseconds into microseconds, without an overflow. */
int64_t hf__redis_resp_number(const struct resp *v, int64_t otherwise);
/* The same of the i-th element. */
int64_t hf__redis_resp_number_at(const struct resp *v, size_t i,
                                 int64_t otherwise);

/* Milliseconds that are left, in microseconds; -1 if negative or no number, at
 * most BALLOT_MAX milliseconds. */
int64_t hf__redis_resp_ttl_us(const struct resp *v);

/* 1 if it is this text. */
int hf__redis_resp_is_text(const struct resp *v, const char *text);

#endif
