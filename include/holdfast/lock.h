/*
 * holdfast/lock.h: the lock.
 *
 *     hf_lock *lock;
 *     hf_hold *hold;
 *     if (hf_lock_open(client, "nightly", &lock, &err) == HF_OK) {
 *         if (hf_lock_acquire(lock, NULL, &hold, &err) == HF_OK) {
 *             do_work();
 *             hf_hold_release(hold, &err);
 *         }
 *         hf_lock_close(lock);
 *     }
 *
 * A lock object is a name on a client; threads may share it.  An acquire
 * returns a hold (hold.h).  A hold belongs to a *holder*: the calling thread,
 * or an id that the caller chooses (options.holder).  A lock is reentrant: a
 * holder that acquires it again gets another handle of the same hold, with the
 * same fence.
 *
 * Every call that talks to the store has two forms: a blocking form, and
 * `..._start`, which returns at once and passes the result to a callback.
 *   - If `..._start` returns HF_OK, the callback runs exactly once, on the
 *     thread that pumps (client.h), and never from inside `..._start`.  That
 *     thread may be another one: then the callback may run before `..._start`
 *     has returned.  With any other status the callback does not run.
 *   - A callback may make any call, including blocking calls.  The thread that
 *     pumps often renews the holds as well: a callback that sleeps or computes
 *     for a long time delays the renewal of other locks.
 *   - An asynchronous acquire uses a new holder unless options.holder is set.
 */
#ifndef HOLDFAST_LOCK_H
#define HOLDFAST_LOCK_H

#include "hold.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_lock hf_lock;

#define HF_NAME_MAX 512          /* bytes in a lock's name */
#define HF_LEASE_MS_MAX 86400000 /* 24 h */
/* The shortest lease that is accepted.  Whether it can be kept depends on the
 * network.  The client renews a lease after a third of its length.  A lease
 * shorter than 20 ms, or than three times the slowest round trip, may end
 * before it is renewed.  Measured on an idle machine: 20 ms with round trips of
 * 2 ms, 30 ms with 10 ms, 150 ms with 50 ms.  Other delays of the process count
 * as well: on a busy machine use a second or more. */
#define HF_LEASE_MS_MIN 10

/* One rule for every call that waits: a wait_ms of 0, the default, means no
 * limit; a positive wait_ms is a time in milliseconds; a negative wait_ms is
 * HF_INVALID.  To try once without waiting, set the flag: HF_ACQUIRE_TRY here,
 * HF_..._TRY in the options of the other calls.  That flag together with a
 * wait_ms is HF_INVALID. */

#define HF_ACQUIRE_FIXED 1u /* do not renew: the hold ends with its lease */
/* 2u is reserved.  To share a lock, open its read side: HF_KIND_READ. */
#define HF_ACQUIRE_DETACHED                                                    \
    4u /* the hold may outlive this process; implies FIXED; needs
        * HF_CAP_DETACHED */

#define HF_ACQUIRE_NO_REENTRY                                                  \
    8u /* fail with HF_INVALID if this holder holds the lock already, instead
        * of entering it again */
#define HF_ACQUIRE_UPGRADE                                                     \
    16u /* HF_KIND_WRITE, only with HF_ACQUIRE_TRY: if this holder is the only
         * reader, it also becomes the writer; HF_TAKEN if there are other
         * readers */
#define HF_ACQUIRE_TRY 32u /* try once, do not wait: HF_TAKEN if it is held */

/* What a name is used as.  A name has one kind: acquiring a name that is in use
 * as another kind fails with HF_CONFLICT, and the error's text names that kind
 * if the store can tell.  On file: a plain lock and a read/write lock of the
 * same name are the same flock(2) lock, exclusive or shared: they exclude each
 * other with HF_TAKEN. */
enum hf_kind {
    HF_KIND_PLAIN = 0, /* one holder */
    HF_KIND_READ = 1,  /* the read side of a read/write lock: any number of
                        * readers while there is no writer; the writer may also
                        * read */
    HF_KIND_WRITE = 2, /* the write side of a read/write lock: one writer, and
                        * no other reader */
    HF_KIND_PERMIT = 3 /* at most as many holders as there are permits:
                        * semaphore.h */
};

/* Which waiter gets the lock when it is released. */
enum hf_order {
    HF_ORDER_ANY = 0,    /* the first waiter that asks then: the fastest order,
                          * and the default.  A store with HF_CAP_IN_ORDER has
                          * no such order for plain locks, and serves
                          * HF_ORDER_FAIR */
    HF_ORDER_FAIR = 1,   /* the waiter that has waited longest, on any machine;
                          * needs HF_CAP_QUEUE.  A hold begins with its whole
                          * lease, also if the store handed the lock over */
    HF_ORDER_WRITERS = 2 /* for READ and WRITE: no new reader while a writer
                          * waits; needs HF_CAP_QUEUE */
};

/* The kind of a lock object.  Zero is every field's default. */
struct hf_lock_options {
    uint32_t struct_size; /* set by HF_LOCK_OPTIONS_INIT */
    int32_t kind;         /* enum hf_kind */
    int32_t order;        /* enum hf_order, for acquires through this object */
};
#define HF_LOCK_OPTIONS_INIT                                                   \
    {                                                                          \
        sizeof(struct hf_lock_options), 0, 0                                   \
    }
static inline void hf_lock_options_init(struct hf_lock_options *options)
{
    const struct hf_lock_options init = HF_LOCK_OPTIONS_INIT;
    *options = init;
}

/* How to retry while another holder has the lock.  With any value but NONE the
 * client uses no wake-ups: it asks the store again after each pause. */
enum hf_backoff {
    HF_BACKOFF_NONE = 0,        /* wait for wake-ups (default) */
    HF_BACKOFF_EXPONENTIAL = 1, /* each pause is `backoff_factor` times the
                                 * last, up to backoff_max_ms */
    HF_BACKOFF_CONSTANT = 2,    /* each pause is backoff_ms */
    HF_BACKOFF_JITTER = 3       /* full jitter: each pause is random, from 0 to
                                 * the pause of EXPONENTIAL */
};

/* How to acquire.  Zero is every field's default. */
struct hf_acquire_options {
    uint32_t struct_size;   /* set by HF_ACQUIRE_OPTIONS_INIT */
    uint32_t flags;         /* HF_ACQUIRE_* */
    uint64_t holder;        /* id of the holder; 0: the calling thread in a
                             * blocking call, a new holder in `..._start` */
    int64_t wait_ms;        /* longest wait; 0: no limit; negative is
                             * HF_INVALID */
    int64_t lease_ms;       /* length of the lease; 0: the client's; at least
                             * three round trips, see HF_LEASE_MS_MIN */
    hf_cancel *cancel;      /* borrowed until the call is over; may be NULL */
    int64_t renew_ms;       /* interval between renewals; 0: a third of the
                             * lease; at most half of the lease */
    int64_t max_hold_ms;    /* the hold ends this long after it began, even if
                             * it is renewed; 0: no such limit; at least 10 ms.
                             * Set by the first acquire of a hold; re-entries do
                             * not change it */
    int64_t feed_ms;        /* the hold is renewed only if hf_hold_feed() was
                             * called within this time, at most 24 h; 0: no
                             * feeding needed.  Set by the first acquire of a
                             * hold; re-entries do not change it */
    int64_t backoff_ms;     /* first pause; 0: 1 ms (CONSTANT: 64 ms) */
    int64_t backoff_max_ms; /* longest pause; 0: 128 ms, or the first pause if
                             * that is longer */
    int32_t backoff;        /* enum hf_backoff */
    int32_t backoff_factor; /* 1 to 1,000; 0: 2 */
    int64_t permits;        /* HF_KIND_PERMIT: number of permits to acquire, all
                             * or none; 0: one */
};
#define HF_ACQUIRE_OPTIONS_INIT                                                \
    {                                                                          \
        sizeof(struct hf_acquire_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0                                                                  \
    }
static inline void hf_acquire_options_init(struct hf_acquire_options *options)
{
    const struct hf_acquire_options init = HF_ACQUIRE_OPTIONS_INIT;
    *options = init;
}

/* Sizes in struct hf_info, with the NUL. */
#define HF_OWNER_MAX 128
#define HF_HOST_MAX 64
#define HF_LABEL_MAX 64
#define HF_LAYOUT_MAX 16

/* What the store knows about a lock.  "The holder" is the calling thread;
 * "the owner" is the holder that has the lock. */
struct hf_info {
    /* Set by HF_INFO_INIT. */
    uint32_t struct_size;
    int locked;          /* 1 if the lock is held */
    int shared;          /* 1 if it is held by readers */
    int mine;            /* 1 if the holder holds it */
    int foreign;         /* 1 if the owner is not a holdfast client */
    int detached;        /* 1 if held by a ticket, not by a process */
    int64_t ttl_ms;      /* time left; -2 if there is no lock, -1 if it does not
                          * expire */
    int64_t count;       /* how many times the holder holds it */
    int64_t owner_count; /* how many times the owner holds it */
    uint64_t fence;      /* the owner's token as the store knows it; with
                          * handover= the token of the first holder of the row.
                          * If the lock is free, or the store does not tell the
                          * owner's token: the highest token that was granted or
                          * reserved; 0 if none */
    int64_t since_ms;    /* when it was acquired, by the store's wall clock; 0
                          * if unknown */
    int64_t now_ms;      /* the store's wall clock */
    int64_t waiters;     /* number of waiting processes; -1 if unknown */
    int64_t pid;         /* process id of the owner; 0 if unknown */
    char owner[HF_OWNER_MAX]; /* "<client uuid>:<holder>"; "" if none */
    char host[HF_HOST_MAX];   /* host of the owner; "" if unknown */
    char label[HF_LABEL_MAX]; /* label of the owner's client; "" if unknown */
    /* The layout in which the lock is stored: "holdfast", "redisson", "string"
     * (redsync, redis-py, node-redlock and other SET NX PX libraries), "flock",
     * "advisory" (a session of PostgreSQL), "shedlock" (layout=shedlock),
     * "curator" (another program's lock in ZooKeeper);
     * "" if there is no lock. */
    char layout[HF_LAYOUT_MAX];
    int guarantee;     /* enum hf_guarantee: LOCAL if the store could not be
                        * asked, and this describes the lock of this host */
    int nodes;         /* members of the quorum; 0 if this is not a quorum */
    int nodes_heard;   /* members that answered */
    int nodes_agree;   /* members that report the same owner */
    int64_t queued;    /* waiters in the queue of HF_ORDER_FAIR; -1 if
                        * unknown */
    int64_t position;  /* position of the holder in that queue; 1 is next; 0 if
                        * it is not in the queue */
    int64_t readers;   /* number of readers, including a writer that reads */
    int64_t permits;   /* of a semaphore: number of permits; otherwise 0 */
    int64_t available; /* of a semaphore: free permits; negative if more are
                        * acquired than there are now */
    int64_t node;      /* of a quorum: the member, from 0, that ttl_ms and
                        * now_ms are of; each counts its own lease */
};
#define HF_INFO_INIT                                                           \
    {                                                                          \
        sizeof(struct hf_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", "", \
            "", "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                               \
    }
static inline void hf_info_init(struct hf_info *info)
{
    const struct hf_info init = HF_INFO_INIT;
    *info = init;
}

/* Receives the result of hf_lock_acquire_start().  `hold` is owned by the
 * caller: hf_hold_release(); it is NULL unless `status` is HF_OK.  `err` is
 * borrowed. */
typedef void (*hf_acquired_fn)(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user);
/* Receives the result of hf_lock_inspect_start().  `info` is borrowed for the
 * call, and NULL unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_inspected_fn)(hf_lock *lock, int status,
                                const struct hf_info *info,
                                const struct hf_error *err, void *user);
/* Receives the result of hf_lock_break_start().  `was_locked` is 1 if the lock
 * was held; `err` is borrowed. */
typedef void (*hf_broken_fn)(hf_lock *lock, int status, int was_locked,
                             const struct hf_error *err, void *user);

/**
 * Create a lock object for a name.  Sends nothing; the lock need not exist.
 *
 * @param client  borrowed
 * @param name    1 to HF_NAME_MAX bytes, copied
 * @param out     owned by the caller: hf_lock_close(); closed with its client
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK       created
 *         HF_INVALID  the name is empty or too long
 *         HF_FORKED   the client was opened by the parent of this process
 *         HF_NOMEM    out of memory
 *
 * Threads: any.
 */
HF_API int hf_lock_open(hf_client *client, const char *name, hf_lock **out,
                        struct hf_error *err);

/**
 * Like hf_lock_open(), with an explicit length of the name.
 *
 * @param client    borrowed
 * @param name      copied; need not be NUL-terminated
 * @param name_len  bytes in `name`, 1 to HF_NAME_MAX
 * @param out       owned by the caller: hf_lock_close(); closed with its client
 * @param err       filled when this fails; may be NULL
 *
 * @return as hf_lock_open(); HF_INVALID also if the name contains a NUL
 *
 * Threads: any.
 */
HF_API int hf_lock_open_n(hf_client *client, const char *name, size_t name_len,
                          hf_lock **out, struct hf_error *err);

/**
 * Like hf_lock_open(), for a lock of another kind or order.
 *
 * @param client   borrowed
 * @param name     1 to HF_NAME_MAX bytes, copied
 * @param options  copied; NULL: a plain lock
 * @param out      owned by the caller: hf_lock_close(); closed with its client
 * @param err      filled when this fails; may be NULL
 *
 * @return as hf_lock_open(); HF_INVALID also if an option is not valid;
 *         HF_UNSUPPORTED if the store has no locks of that kind or order
 *
 * Threads: any.
 */
HF_API int hf_lock_open_as(hf_client *client, const char *name,
                           const struct hf_lock_options *options, hf_lock **out,
                           struct hf_error *err);

/**
 * Return the kind of a lock object.
 *
 * @param lock  borrowed
 * @return enum hf_kind; another value for the lock object that
 *         hf_semaphore_lock() returns for a plain counter
 *
 * Threads: any.
 */
HF_API int hf_lock_kind(const hf_lock *lock);

/**
 * Free a lock object.  Holds that were acquired through it stay held: release
 * them first, or later through their handles or another object of the same
 * name.
 *
 * @param lock  taken; NULL does nothing; its client must be open, and no call
 *              may be using it
 *
 * Threads: any.
 */
HF_API void hf_lock_close(hf_lock *lock);

/**
 * Return the lock's name.
 *
 * @param lock  borrowed
 * @return borrowed until hf_lock_close(), NUL-terminated
 *
 * Threads: any.
 */
HF_API const char *hf_lock_name(const hf_lock *lock);

/**
 * Acquire the lock, and wait for it as long as `options` allow.
 *
 * @param lock     borrowed
 * @param options  copied; NULL: no limit on the wait, the client's lease,
 *                 renewed
 * @param hold     filled on HF_OK, owned by the caller: hf_hold_release().
 *                 NULL: the caller gets no handle, and releases the lock with
 *                 hf_lock_release() on the same thread
 * @param err      filled when this fails, and with the reason when a lock of
 *                 this host is acquired instead of the store's; may be NULL
 *
 * @return HF_OK           held; the client renews the hold, unless
 *                         HF_ACQUIRE_FIXED is set
 *         HF_TAKEN        HF_ACQUIRE_TRY is set, and another holder has the
 *                         lock
 *         HF_TIMEOUT      another holder had the lock until wait_ms were over
 *         HF_CANCELLED    the cancel token was fired
 *         HF_UNAVAILABLE  the store did not answer for patience_ms, or for all
 *                         of a shorter wait_ms.  With HF_FALLBACK_WAIT: for all
 *                         of wait_ms, however long.  With HF_FALLBACK_LOCAL the
 *                         lock of this host is acquired instead, within the
 *                         rest of wait_ms, unless the store answered and
 *                         refused the request
 *         HF_CONFLICT     something other than a lock of this kind is stored
 *                         under the name; or the server is a member of a
 *                         quorum: see member=ok in client.h
 *         HF_DENIED       a wrong password, or a command is not permitted
 *         HF_UNSUPPORTED  a flag needs a capability that the store lacks
 *         HF_INVALID      an option is out of range; or HF_ACQUIRE_NO_REENTRY
 *                         is set, and the holder has the lock or waits for it
 *                         already.  Nothing was sent
 *         HF_LOST         re-entry: another holder took the lock meanwhile
 *         HF_EXPIRED      re-entry: the lease ended meanwhile
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * If this holder has a lost hold that is not yet released, this acquires a new
 * hold with its own fence.  After any status but HF_OK the lock is not held;
 * after a re-entry that failed, it is held as many times as before (HF_LOST and
 * HF_EXPIRED: no longer).  If an answer was lost, the client sends a release,
 * and the lock is free when the lease ends at the latest.
 *
 * Threads: any.
 */
HF_API int hf_lock_acquire(hf_lock *lock,
                           const struct hf_acquire_options *options,
                           hf_hold **hold, struct hf_error *err);

/**
 * Acquire the lock, asynchronously.
 *
 * @param lock     borrowed until `cb` is called
 * @param options  copied; NULL: as for hf_lock_acquire(), with a new holder
 * @param cb       called exactly once if, and only if, this returns HF_OK; its
 *                 status is one that hf_lock_acquire() returns
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an option is out of range, or `cb` is NULL, so that
 *                         nothing could release the lock
 *         HF_UNSUPPORTED  a flag needs a capability that the store lacks
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_lock_acquire_start(hf_lock *lock,
                                 const struct hf_acquire_options *options,
                                 hf_acquired_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Try once to acquire the lock: hf_lock_acquire() with HF_ACQUIRE_TRY and no
 * other option.
 *
 * @param lock  borrowed
 * @param hold  as for hf_lock_acquire()
 * @param err   as for hf_lock_acquire()
 *
 * @return as hf_lock_acquire(); HF_TAKEN if another holder has the lock
 *
 * Threads: any.
 */
HF_API int hf_lock_try(hf_lock *lock, hf_hold **hold, struct hf_error *err);

/**
 * Release the lock once, as the calling thread: for an acquire that asked for
 * no handle.  If the hold has a handle, that handle is left without a hold:
 * hf_hold_state() returns HF_STATE_NONE for it.
 *
 * @param lock   borrowed
 * @param count  filled on HF_OK: how many times the calling thread still holds
 *               the lock; may be NULL
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           released once
 *         HF_NOT_OWNER    the calling thread does not hold it; nothing was sent
 *         HF_EXPIRED      its lease had ended; no other hold was changed
 *         HF_LOST         another holder has it now; nothing was changed
 *         HF_UNAVAILABLE  no answer; the release is repeated until the lease
 *                         ends, which frees the lock at the latest
 *         HF_DENIED       the store refuses the request; the lock is free when
 *                         the lease ends
 *         HF_CONFLICT     released, but a lock of another layout remains under
 *                         the same name (a group of Redisson locks:
 *                         docs/redis-layout.md); or something other than a lock
 *                         was stored there meanwhile, and remains
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *
 * Whatever this returns, the calling thread holds the lock once less than
 * before.
 *
 * Threads: any.
 */
HF_API int hf_lock_release(hf_lock *lock, int64_t *count, struct hf_error *err);

/**
 * Break the lock: take it away from its holder, and raise the fence so that
 * writes of the former holder can be refused.  The former holder is told LOST
 * at its next renewal at the latest.
 *
 * @param lock        borrowed
 * @param was_locked  filled on HF_OK: 1 if the lock was held; may be NULL
 * @param err         filled when this fails; may be NULL
 *
 * @return HF_OK           the lock is free
 *         HF_UNAVAILABLE  no answer; the lock may or may not have been broken
 *         HF_UNSUPPORTED  the store has no HF_CAP_BREAK, or a running process
 *                         holds a kernel lock: the text gives its pid
 *         HF_CONFLICT     something other than a lock is stored there
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_lock_break(hf_lock *lock, int *was_locked, struct hf_error *err);

/**
 * Break the lock, asynchronously.
 *
 * @param lock  borrowed until `cb` is called
 * @param cb    called exactly once if, and only if, this returns HF_OK; its
 *              status is one that hf_lock_break() returns
 * @param user  passed to `cb` unchanged
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_UNSUPPORTED  the store has no HF_CAP_BREAK
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_lock_break_start(hf_lock *lock, hf_broken_fn cb, void *user,
                               struct hf_error *err);

/**
 * Ask the store about the lock.  `mine`, `count` and `position` are those of
 * the calling thread; for a hold, use hf_hold_state() and hf_hold_count().
 *
 * @param lock  borrowed
 * @param info  owned by the caller; HF_INFO_INIT; filled on HF_OK
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK           `info` is filled, also if the lock is free
 *         HF_INVALID      struct_size is not set
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_CONFLICT     something other than a lock is stored there
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_lock_inspect(hf_lock *lock, struct hf_info *info,
                           struct hf_error *err);

/**
 * Ask the store about the lock, asynchronously.  This is the asynchronous form
 * of the four calls below as well.
 *
 * @param lock  borrowed until `cb` is called
 * @param cb    called exactly once if, and only if, this returns HF_OK; its
 *              status is one that hf_lock_inspect() returns
 * @param user  passed to `cb` unchanged
 * @param err   filled when this fails; may be NULL
 *
 * @return HF_OK      the request has been started
 *         HF_FORKED  the client was opened by the parent of this process
 *         HF_CLOSED  the client is being closed
 *         HF_NOMEM   out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_lock_inspect_start(hf_lock *lock, hf_inspected_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Ask the store whether any holder holds the lock.
 *
 * @param lock  borrowed
 * @param out   1 or 0; unchanged on failure
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_lock_inspect()
 *
 * Threads: any.
 */
HF_API int hf_lock_is_locked(hf_lock *lock, int *out, struct hf_error *err);

/**
 * Ask the store whether the calling thread holds the lock.
 *
 * @param lock  borrowed
 * @param out   1 or 0; unchanged on failure
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_lock_inspect()
 *
 * Threads: any.
 */
HF_API int hf_lock_is_mine(hf_lock *lock, int *out, struct hf_error *err);

/**
 * Ask the store how many times the calling thread holds the lock.
 *
 * @param lock  borrowed
 * @param out   the number; 0 if it does not hold it; unchanged on failure
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_lock_inspect()
 *
 * Threads: any.
 */
HF_API int hf_lock_hold_count(hf_lock *lock, int64_t *out,
                              struct hf_error *err);

/**
 * Ask the store how long the lock lasts if it is not renewed.
 *
 * @param lock  borrowed
 * @param out   milliseconds; -2 if there is no lock, -1 if it does not expire;
 *              unchanged on failure
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_lock_inspect()
 *
 * Threads: any.
 */
HF_API int hf_lock_ttl_ms(hf_lock *lock, int64_t *out, struct hf_error *err);

/**
 * Take over a detached hold: the opposite of hf_hold_ticket().  Asks the store,
 * and starts the lease again with the given length.  The hold is not renewed
 * here: extend it, release it, or detach it again.
 *
 * @param lock      borrowed; has the name that the ticket was made for
 * @param ticket    copied; what hf_hold_ticket() wrote
 * @param lease_ms  length of the lease; 0: the client's
 * @param hold      filled on HF_OK, owned by the caller: hf_hold_release() or
 *                  hf_hold_ticket()
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           held by this process
 *         HF_EXPIRED      its lease has ended
 *         HF_LOST         another holder has the lock now
 *         HF_INVALID      not a ticket, the lease is out of range, or `hold` is
 *                         NULL
 *         HF_UNSUPPORTED  the lock is a semaphore: hf_semaphore_attach()
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_CONFLICT     something other than a lock is stored there
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_lock_attach(hf_lock *lock, const char *ticket, int64_t lease_ms,
                          hf_hold **hold, struct hf_error *err);

/**
 * Take over a detached hold, asynchronously.
 *
 * @param lock      borrowed until `cb` has returned; has the name that the
 *                  ticket was made for
 * @param ticket    copied; what hf_hold_ticket() wrote
 * @param lease_ms  length of the lease; 0: the client's
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never from inside this function; its status is one
 *                  that hf_lock_attach() returns
 * @param user      passed to `cb` unchanged
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      not a ticket, the lease is out of range, or `cb` is
 *                         NULL
 *         HF_UNSUPPORTED  the lock is a semaphore: hf_semaphore_attach_start()
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_lock_attach_start(hf_lock *lock, const char *ticket,
                                int64_t lease_ms, hf_acquired_fn cb, void *user,
                                struct hf_error *err);

/**
 * Release a detached hold by its ticket, without taking it over first.  In a
 * quorum the hold is released as soon as no majority can have it any more:
 * members that cannot be reached do not matter if the other members are a
 * majority and one of those has released it.
 *
 * @param lock    borrowed; has the name that the ticket was made for
 * @param ticket  copied; what hf_hold_ticket() wrote
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           released
 *         HF_EXPIRED      its lease had ended
 *         HF_LOST         another holder has the lock now; nothing was changed
 *         HF_INVALID      not a ticket
 *         HF_UNSUPPORTED  the lock is a semaphore: hf_semaphore_attach()
 *         HF_UNAVAILABLE  the store did not answer; the lock is free when the
 *                         lease ends at the latest
 *         HF_DENIED       the store refuses the request
 *         HF_CONFLICT     as for hf_lock_release()
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_ticket_release(hf_lock *lock, const char *ticket,
                             struct hf_error *err);

/* Receives the result of hf_ticket_release_start().  `err` is borrowed. */
typedef void (*hf_ticket_released_fn)(hf_lock *lock, int status,
                                      const struct hf_error *err, void *user);

/**
 * Release a detached hold by its ticket, asynchronously.
 *
 * @param lock    borrowed until `cb` has returned; has the name that the ticket
 *                was made for
 * @param ticket  copied; what hf_hold_ticket() wrote
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_ticket_release() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      not a ticket, or `cb` is NULL
 *         HF_UNSUPPORTED  the lock is a semaphore: hf_semaphore_attach_start()
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_ticket_release_start(hf_lock *lock, const char *ticket,
                                   hf_ticket_released_fn cb, void *user,
                                   struct hf_error *err);

/* One row of a list; borrowed, with all that it points to. */
struct hf_list_row {
    /* Set by the library. */
    uint32_t struct_size;
    const char *name; /* any byte but NUL may occur */
    size_t name_len;  /* bytes in `name` */
    const struct hf_info *info;
};

/* Receives one lock of a list, in no particular order.  `row` is borrowed for
 * the call.  Return 0 to continue, anything else to stop. */
typedef int (*hf_list_fn)(const struct hf_list_row *row, void *user);

/**
 * List the locks of the store in bounded steps.  Locks that are acquired or
 * released meanwhile may or may not be listed.  In a quorum, every member that
 * answers is asked, and each name is listed once, as the first member reports
 * it.  In a cluster, every master is asked; if a master fails, the locks of the
 * others are still listed, and then this returns the status of the first that
 * failed.
 *
 * @param client  borrowed
 * @param match   a glob pattern (* ? [..]), copied; NULL: all locks
 * @param fn      called on this thread
 * @param user    passed to `fn` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           all locks were listed, or `fn` stopped the list
 *         HF_INVALID      `fn` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_LIST
 *         HF_UNAVAILABLE  the store did not answer; or the server's cursor
 *                         repeats, or does not end
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_client_list(hf_client *client, const char *match, hf_list_fn fn,
                          void *user, struct hf_error *err);

/* Receives the end of hf_client_list_start(), after the last row.  `err` is
 * borrowed. */
typedef void (*hf_listed_fn)(hf_client *client, int status,
                             const struct hf_error *err, void *user);

/**
 * List the locks of the store, asynchronously.
 *
 * @param client  borrowed
 * @param match   a glob pattern (* ? [..]), copied; NULL: all locks
 * @param fn      called for each row, before `cb`
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_client_list() returns
 * @param user    passed to `fn` and to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the list has been started
 *         HF_INVALID      `fn` or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_LIST
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `fn` and `cb` run on the thread that pumps (client.h).
 */
HF_API int hf_client_list_start(hf_client *client, const char *match,
                                hf_list_fn fn, hf_listed_fn cb, void *user,
                                struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
