/*
 * inner.h: connections inside a connection.
 *
 * A backend that is made of others (a cluster's nodes, a sentinel's primary)
 * owns a set.  Each inner connection gets an env of its own: descriptors,
 * clock, randomness and log go straight to the engine, all timers become one,
 * and what the inner one tells comes to the owner first.
 *
 *   engine -> owner's submit() -> hf__redis_inner_submit() -> inner connection
 *   inner connection -> on->reply() -> owner -> outer->reply() -> engine
 *
 * The owner calls hf__redis_inner_flush() and hf__redis_inner_process() from
 * its functions of the same names, and does nothing behind them: their end lets
 * everything out, closes what was dropped and sets the one timer.
 */
#ifndef HF_REDIS_INNER_H
#define HF_REDIS_INNER_H

#include "backend/backend.h"

#define INNER_FDS_MAX 4 /* of one inner connection at a time */

struct inner_set;

/* One inner connection.  The first member of what the owner has for it, and
 * the owner's memory, until dropped() at the latest. */
struct inner {
    struct backend_env env; /* first: the callbacks find the inner by it */
    struct inner_set *inners;
    struct inner *next;
    const struct backend *backend;
    struct backend_conn *conn;
    int64_t timer_us;
    int fds[INNER_FDS_MAX]; /* watched; -1 is a free place */
    int is_dirty;           /* submitted, not flushed */
    int is_dropped;         /* closed as soon as nothing of it runs */
};

/* What the owner is told.  All may submit, open and drop; none is called from
 * inside hf__redis_inner_submit(), _open() or _drop(). */
struct inner_hooks {
    /* `req` is answered: hand it on, or submit it elsewhere. */
    void (*reply)(struct inner *n, struct request *req,
                  const struct reply *reply);
    void (*link)(struct inner *n, int up, int64_t node_us,
                 const struct hf_error *err);
    void (*wake)(struct inner *n, const char *name, size_t name_len);
    /* The owner's own time has come: hf__redis_inner_timer(). */
    void (*timer)(struct inner_set *inners);
    /* It is closed, its requests are answered: free it. */
    void (*dropped)(struct inner *n);
};

struct inner_set {
    struct backend_env *outer; /* the engine's */
    const struct inner_hooks *on;
    struct inner *first;
    int depth; /* inside how many inner calls we are */
    int is_dirty;
    int has_dropped;
    int64_t own_us;  /* the owner's timer */
    int64_t told_us; /* what the engine's is set to */
};

void hf__redis_inner_init(struct inner_set *inners, struct backend_env *outer,
                          const struct inner_hooks *on);

/* Open an inner connection.  HF_OK, and it is in the set until it is dropped;
 * or what the backend's open() said, and `n` is the owner's to free.  `conf` is
 * borrowed for its life; NULL: the engine's. */
int hf__redis_inner_open(struct inner_set *inners, struct inner *n,
                         const struct backend *backend,
                         const struct backend_conf *conf, const struct url *url,
                         struct hf_error *err);

/* Send `req` by `n`, which was not dropped; it goes out with the next end of
 * hf__redis_inner_flush() or hf__redis_inner_process(). */
void hf__redis_inner_submit(struct inner *n, struct request *req);

/* `n` has output to be written, although nothing was submitted. */
void hf__redis_inner_touch(struct inner *n);

/* Close `n` soon: its open requests come to reply() as V_UNKNOWN or V_UNSENT,
 * then dropped() is called. */
void hf__redis_inner_drop(struct inner *n);

/* Call on->timer() at `due_us`; replaces the last; TIME_NEVER: not at all. */
void hf__redis_inner_timer(struct inner_set *inners, int64_t due_us);

void hf__redis_inner_flush(struct inner_set *inners);
int hf__redis_inner_process(struct inner_set *inners, int fd, unsigned ready);

/* Drop all, now.  Not from inside a hook. */
void hf__redis_inner_close(struct inner_set *inners);
void hf__redis_inner_forked(struct inner_set *inners);

#endif
