/* watch.h: waiting without polling. */
#ifndef HF_FILE_WATCH_H
#define HF_FILE_WATCH_H

#include "backend/file/lock.h"

#define TICK_US (200 * US_PER_MS) /* for releases that notify no waiter */

/* Answer VERB_WATCH and VERB_UNWATCH. */
int hf__file_watch_start(struct backend_conn *c, struct request *req,
                         struct reply *reply);
int hf__file_watch_stop(struct backend_conn *c, struct request *req,
                        struct reply *reply);

/* The name means another file now: watch that one. */
void hf__file_watch_again(struct backend_conn *c, struct file_lock *l);

/* Our own waiters too: hf__file_watch_wake_all() wakes them. */
void hf__file_watch_wake(struct backend_conn *c, struct file_lock *l);
void hf__file_watch_wake_all(struct backend_conn *c);

/* An echo or the tick is due.  1 if anything was done. */
int hf__file_watch_due(struct backend_conn *c, int64_t now_us);

#endif
