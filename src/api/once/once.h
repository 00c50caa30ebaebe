/*
 * once.h: the record of a run, and what follows from it.
 *
 * once/record.c is pure: text in, struct out; the time is an argument.
 */
#ifndef HF_API_ONCE_H
#define HF_API_ONCE_H

#include <stddef.h>

#include "holdfast/once.h"

#define ONCE_HEAD_MAX 256 /* the record without the result */

/* What is written down of one run. */
struct once_record {
    int is_ended;
    int status;
    uint64_t fence;
    int64_t began_ms; /* wall clock of the store */
    int64_t ended_ms;
    int64_t pid;
    char host[HF_HOST_MAX];
    uint64_t id;     /* of this run, drawn at random; 0: it has none */
    size_t head_len; /* parsed: where the result begins */
    int is_void;     /* read: this client knows that it was never run */
};

/* "v1 running|ended <status> <fence> <began> <ended> <pid> <host> <id>\n";
 * returns its length.  `out` has ONCE_HEAD_MAX bytes; the result goes behind
 * it.  The id may be missing. */
size_t hf__once_format(const struct once_record *r, char *out);

/* 0; or -1 if the text is no such record, and `r` is all zero. */
int hf__once_parse(const char *text, size_t len, struct once_record *r);

/* 1 if both are about the same run. */
int hf__once_is_same(const struct once_record *a, const struct once_record *b);

/* Decide what to do, for a client that has the lock.  `r` is NULL if there is
 * no record.  HF_ONCE_MINE: run it. */
int hf__once_decide(const struct once_record *r,
                    const struct hf_once_options *o, int64_t now_ms);

/* 1 if the record is of a later period than now: a clock is or was wrong.  The
 * record counts all the same. */
int hf__once_is_ahead(const struct once_record *r,
                      const struct hf_once_options *o, int64_t now_ms);

/* How long a record is kept that is written at `now_ms`, of a run that began
 * at `began_ms`. */
int64_t hf__once_keep_ms(const struct hf_once_options *o, int64_t began_ms,
                         int64_t now_ms, int is_ended);

/* The key of the record: `out` has NAME_LEN_MAX + 1 bytes. */
void hf__once_key(const char *name, char *out);

#endif
