/*
 * permit.h: what a store has under the name of a semaphore or a plain
 * counter; shared by permit.c, tally.c and mark.c.
 */
#ifndef HF_MEMORY_PERMIT_H
#define HF_MEMORY_PERMIT_H

#include "backend/memory/model.h"

/* What one acquire got. */
struct permit {
    struct permit *next;
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t count;
    int64_t fence;
    int64_t since_us;
    int64_t expires_ms; /* gone once the clock shows this */
    char info[HELD_INFO_MAX];
};

/* A waiter in the queue. */
struct place {
    struct place *next; /* that comes later */
    int64_t expires_ms;
    char owner[OWNER_LEN_MAX];
};

enum mark_kind {
    MARK_GONE, /* the attempt was given up: it gets nothing any more */
    MARK_TOOK, /* the attempt took from a counter */
    MARK_MADE  /* the change was made */
};

/* What a late copy of a request must find. */
struct mark {
    struct mark *next;
    enum mark_kind kind;
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t taken; /* MADE: what it took */
    int64_t expires_ms;
};

/* They are looked up by their attempt.  Those that are over are dropped when
 * there are twice as many as were left the last time. */
struct marks {
    struct mark **buckets;
    size_t size; /* a power of two, or 0 */
    size_t len;
    size_t full; /* sweep at this `len` */
    int64_t now_ms;
};

struct permits {
    enum lock_kind kind; /* PERMIT or COUNT */
    int is_set;
    int64_t free;
    struct permit *out;
    struct place *queue;
    struct marks marks;
};

/* The record of the name as this kind, made if there is none; NULL: `rep` says
 * why not.  What has ended is cleared away. */
struct permits *hf__memory_permit_need(struct store *s, int64_t now_us,
                                       const struct request *req,
                                       struct reply *rep, struct entry **out);

int64_t hf__memory_permit_taken(const struct permits *p);

/* ---- mark.c ---- */
/* It is that late now: what ends by then is not found any more. */
void hf__memory_mark_sweep(struct store *s, struct marks *marks,
                           int64_t now_ms);
void hf__memory_mark_free_all(struct store *s, struct marks *marks);
struct mark *hf__memory_mark_find(const struct marks *marks,
                                  enum mark_kind kind,
                                  const struct request *req);
/* NULL: no memory. */
struct mark *hf__memory_mark_add(struct store *s, struct marks *marks,
                                 enum mark_kind kind, const struct request *req,
                                 int64_t expires_ms);
void hf__memory_mark_drop(struct store *s, struct marks *marks,
                          struct mark *mark);

#endif
