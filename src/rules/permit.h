/* permit.h: semaphores and plain counters. */
#ifndef HF_RULES_PERMIT_H
#define HF_RULES_PERMIT_H

#include "rules/mark.h"

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
struct permits *hf__rules_permit_need(struct store *s, int64_t now_us,
                                      const struct request *req,
                                      struct reply *rep, struct entry **out);

/* The number of permits that are out. */
int64_t hf__rules_permit_taken(const struct permits *p);

/* Answer everything about semaphores and plain counters: 1; 0: it is not. */
int hf__rules_permit_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);

/* Is one in use under the name of `e` (may be NULL)? */
int hf__rules_permit_is_used(struct store *s, const struct entry *e,
                             int64_t now_us);

/* As hf__rules_store_share(), of a semaphore. */
struct store_share;
int hf__rules_permit_share(const struct entry *e, int64_t now_us, size_t place,
                           struct store_share *out);

void hf__rules_permit_free_all(struct store *s);

/* Its part of the state: cell.h. */
void hf__rules_permit_save(const struct store *s, int64_t now_us,
                           const struct entry *e, unsigned tag,
                           struct cell_bytes *b);
void hf__rules_permit_load(struct store *s, struct entry *e, struct unpack *u);

#endif
