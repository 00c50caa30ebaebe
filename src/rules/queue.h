/* queue.h: the waiters for a plain lock. */
#ifndef HF_RULES_QUEUE_H
#define HF_RULES_QUEUE_H

#include "rules/model.h"

/* Answer a proposal of a waiter in the queue; 0: it is an ordinary one. */
int hf__rules_queue_propose(struct store *s, struct entry *e, int64_t now_us,
                            const struct request *req, struct reply *rep);

/* The lock is free, after a release if `is_released`: give it to the first
 * waiter.  0: no owner waits. */
int hf__rules_queue_give(struct store *s, struct entry *e, int64_t now_us,
                         int is_released);

/* An owner that releases waits no longer. */
void hf__rules_queue_leave(struct store *s, struct entry *e, int64_t now_us,
                           const struct request *req);

/* The lock is taken away from its holder, whose later proposals may still be
 * under way.  The counter has been raised. */
void hf__rules_queue_break(struct store *s, struct entry *e);

/* The number of waiters, and the place of `owner` among them; 0: it does not
 * wait. */
int64_t hf__rules_queue_count(const struct entry *e, const char *owner,
                              int64_t *position);

void hf__rules_queue_free(struct store *s, struct entry *e);

/* Its part of the state: cell.h. */
void hf__rules_queue_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b);
void hf__rules_queue_load(struct store *s, struct entry *e, struct unpack *u);

#endif
