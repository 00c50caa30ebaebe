/*
 * backend.h: the contract between the engine and a store.
 *
 * A backend turns requests into its client library's calls and that library's
 * answers into replies.  It never blocks and owns no policy: retries, quorums
 * and renewals are the core's.  All its calls are made by one thread at a time
 * (the engine's lock is held), and it calls back only from inside them; reply()
 * never from inside submit().
 */
#ifndef HF_BACKEND_H
#define HF_BACKEND_H

#include "base/request.h"
#include "base/url.h"
#include "sys/alloc.h"

/* Bumped when this file changes shape; a module of another version is refused
 * with a clear message. */
#define BACKEND_ABI 9

/* env->link(): what `up` says. */
#define LINK_IS_DOWN 0
#define LINK_IS_UP 1
/* It may be another server than before, or one that has forgotten: what is held
 * there is checked at once. */
#define LINK_IS_OTHER 2

#define AWAIT_READ 1u
#define AWAIT_WRITE 2u

struct backend_conn;
struct tls_context;

/* Client-wide facts that a backend may need.  Borrowed for the connection's
 * life. */
struct backend_conf {
    const char *user;          /* AUTH; NULL or "" if none */
    const char *password;      /* NULL if none */
    const char *password_file; /* read it at every connect; NULL if none */
    int64_t timeout_us;        /* longest wait for an answer or a connection */
    const char *uuid;          /* this client's, lower case text */
    int takes_replica;         /* the opener asks for its role */

    /* A part of a connection of the same URL: the files that it names were
     * good when that was opened, and may be just being written now. */
    int is_part;
    struct tls_context *tls; /* to be shared with it; NULL if none */
};

/* What the engine lends to one connection. */
struct backend_env {
    const struct allocator *alloc;
    const struct backend_conf *conf;

    /* Answer `req`.  `reply` is borrowed for the call.  The request belongs to
     * the engine again and may be freed or reused at once. */
    void (*reply)(struct backend_env *env, struct request *req,
                  const struct reply *reply);

    /* Call process(fd) when `fd` is ready for `events` (WATCH_*); 0 stops.
     * Call with 0 before closing the fd. */
    void (*await_fd)(struct backend_env *env, int fd, unsigned events);

    /* Call process(-1, 0) at `due_us`; TIME_NEVER: not at all.  One timer per
     * connection: each call replaces the last. */
    void (*timer)(struct backend_env *env, int64_t due_us);

    /* A watched lock was released (or may have been): the waiters for the
     * name, as whatever kind, ask again. */
    void (*wake)(struct backend_env *env, const char *name, size_t name_len);

    /* A lock was given to one of this client's that queued for it (REQ_QUEUE).
     * It may be told late, twice or never: a waiter that asks finds out. */
    void (*handed)(struct backend_env *env, const struct handoff *h);

    /* The connection can be used, or not: LINK_IS_*; err says why not, and is
     * borrowed.  `node_us` is the node's wall clock at that moment.  After a
     * loss the backend renews its watches by itself and calls wake() for each,
     * for messages may have been missed. */
    void (*link)(struct backend_env *env, int up, int64_t node_us,
                 const struct hf_error *err);

    /* No lease may be longer on this connection from now on; shorter ones that
     * are held already stay.  NULL: nobody asks. */
    void (*bound)(struct backend_env *env, int64_t lease_us);

    /* The local clock (CLOCK_BOOTTIME), as of the current step. */
    int64_t (*now)(struct backend_env *env);

    /* 64 random bits, for jitter. */
    uint64_t (*random)(struct backend_env *env);

    /* One line of log. */
    void (*log)(struct backend_env *env, int level, const char *line);
};

/* One storage backend. */
struct backend {
    int abi;             /* BACKEND_ABI */
    const char *scheme;  /* "redis" in redis://host:6379; several schemes are
                           * separated by spaces */
    unsigned caps;       /* HF_CAP_*: what this store can promise */
    const char *options; /* query options it knows, separated by spaces */

    /* Start connecting to the endpoint in `url` (borrowed for the call).
     * Returns at once; requests may be submitted right away and wait for the
     * connection.  `where` for error texts is up to the backend. */
    int (*open)(struct backend_env *env, const struct url *url,
                struct backend_conn **out, struct hf_error *err);

    /* What this connection can promise, where its URL changes that.  NULL:
     * `caps` above. */
    unsigned (*conn_caps)(const struct backend_conn *c);

    /* Take `req`; answer it exactly once through env->reply(), never from
     * inside this call.  A broken link answers V_UNKNOWN for every request
     * that may have reached the server, V_UNSENT for the others. */
    void (*submit)(struct backend_conn *c, struct request *req);

    /* Everything submitted since the last flush may go out now.  Direct
     * backends (memory, file) do their work and reply here. */
    void (*flush)(struct backend_conn *c);

    /* An fd that env->await_fd() named is ready, or (fd -1) the timer is due.
     * Returns 1 if anything was done, 0 if it was a false alarm (the engine's
     * spin loop calls this without knowing). */
    int (*process)(struct backend_conn *c, int fd, unsigned ready);

    /* Answer what is open with V_UNKNOWN or V_UNSENT, free everything. */
    void (*close)(struct backend_conn *c);

    /* In a forked child: close file descriptors, send nothing, free nothing,
     * take no lock.  May be NULL. */
    void (*forked)(struct backend_conn *c);

    /* A duplicate, without FD_CLOEXEC, of the descriptor that carries the
     * kernel lock of this attempt; -1 if there is none.  NULL: the backend has
     * no kernel locks. */
    int (*lend)(struct backend_conn *c, const char *name, size_t name_len,
                const char *owner, uint64_t attempt);
};

/* What a module exports: a pointer to its backend. */
#define BACKEND_MODULE_SYMBOL "hf_backend_module"

#endif
