/*
 * mark.h: what a store keeps of the attempts at a semaphore or a plain counter,
 * so that a late copy of a request is recognised.
 */
#ifndef HF_RULES_MARK_H
#define HF_RULES_MARK_H

#include "rules/model.h"

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

/* All marks of one name, looked up by their attempt.  Those that are over are
 * dropped when there are twice as many as were left the last time. */
struct marks {
    struct mark **buckets;
    size_t size; /* a power of two, or 0 */
    size_t len;
    size_t full; /* sweep at this `len` */
    int64_t now_ms;
};

/* Set the time: a mark that ends by then is not found any more. */
void hf__rules_mark_sweep(struct store *s, struct marks *marks, int64_t now_ms);
void hf__rules_mark_free_all(struct store *s, struct marks *marks);
struct mark *hf__rules_mark_find(const struct marks *marks, enum mark_kind kind,
                                 const struct request *req);
/* NULL: no memory. */
struct mark *hf__rules_mark_add(struct store *s, struct marks *marks,
                                enum mark_kind kind, const struct request *req,
                                int64_t expires_ms);
void hf__rules_mark_drop(struct store *s, struct marks *marks,
                         struct mark *mark);

/* Those that are not over, as bytes: cell.h. */
uint64_t hf__rules_mark_count(const struct marks *marks, int64_t now_ms);
void hf__rules_mark_save(const struct marks *marks, int64_t now_ms,
                         struct cell_bytes *b);
void hf__rules_mark_load(struct store *s, struct marks *marks,
                         struct unpack *u);

#endif
