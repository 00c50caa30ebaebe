/*
 * nest.h: connections inside a connection.
 *
 * A backend that is made of others (a cluster's nodes, a sentinel's primary)
 * owns a nest.  Each inner connection gets an env of its own: descriptors,
 * clock, randomness and log go straight to the engine, all timers become one,
 * and what the inner one tells comes to the owner first.
 *
 *   engine -> owner's submit() -> hf__nest_submit() -> inner connection
 *   inner connection -> on->reply() -> owner -> nest->outer->reply() -> engine
 *
 * The owner calls hf__nest_flush() and hf__nest_process() from its functions of
 * the same names, and does nothing behind them: their end lets everything out,
 * closes what was dropped and sets the one timer.
 */
#ifndef HF_NEST_H
#define HF_NEST_H

#include "backend/backend.h"

#define NESTED_FDS_MAX 4 /* of one inner connection at a time */

struct nest;

/* One inner connection.  The first member of what the owner has for it, and
 * the owner's memory, until dropped() at the latest. */
struct nested {
    struct backend_env env; /* first: the inner callbacks find us by it */
    struct nest *nest;
    struct nested *next;
    const struct backend *backend;
    struct backend_conn *conn;
    int64_t timer_us;
    int fds[NESTED_FDS_MAX]; /* watched; -1 is a free place */
    int is_dirty;            /* submitted, not flushed */
    int is_dropped;          /* closed as soon as nothing of it runs */
};

/* What the owner is told.  All may submit, open and drop; none is called from
 * inside hf__nest_submit(), hf__nest_open() or hf__nest_drop(). */
struct nest_hooks {
    /* `req` is answered: hand it on, or submit it elsewhere. */
    void (*reply)(struct nested *n, struct request *req,
                  const struct reply *reply);
    void (*link)(struct nested *n, int up, int64_t node_us,
                 const struct hf_error *err);
    void (*wake)(struct nested *n, const char *name, size_t name_len);
    /* The owner's own time has come: hf__nest_timer(). */
    void (*timer)(struct nest *nest);
    /* It is closed, its requests are answered: free it. */
    void (*dropped)(struct nested *n);
};

struct nest {
    struct backend_env *outer; /* the engine's */
    const struct nest_hooks *on;
    struct nested *first;
    int depth; /* inside how many inner calls we are */
    int is_dirty;
    int has_dropped;
    int64_t own_us;  /* the owner's timer */
    int64_t told_us; /* what the engine's is set to */
};

void hf__nest_init(struct nest *nest, struct backend_env *outer,
                   const struct nest_hooks *on);

/* Open an inner connection.  HF_OK, and it is in the nest until it is dropped;
 * or what the backend's open() said, and `n` is the owner's to free.  `conf` is
 * borrowed for its life; NULL: the engine's. */
int hf__nest_open(struct nest *nest, struct nested *n,
                  const struct backend *backend,
                  const struct backend_conf *conf, const struct url *url,
                  struct hf_error *err);

/* Send `req` by `n`, which was not dropped; it goes out with the next end of
 * hf__nest_flush() or hf__nest_process(). */
void hf__nest_submit(struct nested *n, struct request *req);

/* Something of it is to go out though nothing was submitted. */
void hf__nest_touch(struct nested *n);

/* Close `n` soon: its open requests come to reply() as V_UNKNOWN or V_UNSENT,
 * then dropped() is called. */
void hf__nest_drop(struct nested *n);

/* Call on->timer() at `due_us`; replaces the last; TIME_NEVER: not at all. */
void hf__nest_timer(struct nest *nest, int64_t due_us);

void hf__nest_flush(struct nest *nest);
int hf__nest_process(struct nest *nest, int fd, unsigned ready);

/* Drop all, now.  Not from inside a hook. */
void hf__nest_close(struct nest *nest);
void hf__nest_forked(struct nest *nest);

#endif
