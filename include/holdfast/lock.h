/*
 * holdfast/lock.h: the lock.
 *
 *     hf_lock *lock;  hf_hold *hold;
 *     hf_lock_open(client, "nightly", &lock, &err);
 *     if (hf_lock_acquire(lock, NULL, &hold, &err) == HF_OK) {
 *         ...
 *         hf_hold_release(hold, &err);
 *     }
 *
 * A lock object is a name on a client; it may be shared by threads.  What an
 * acquire gives is a hold (hold.h).  It belongs to a *holder*: the calling
 * thread, or an id of the caller's choice (options.holder).  A lock is
 * reentrant: a holder that acquires it again enters it once more, with the same
 * fence, and gets another handle of the same hold.
 *
 * Every call that talks to the store comes in two forms: blocking, and
 * `..._start`, which returns at once and answers through a callback.
 *   - If `..._start` returns HF_OK the callback runs exactly once, never before
 *     the call has returned, on the thread that pumps; otherwise never.
 *   - A callback may call anything, blocking calls included.  It runs on the
 *     thread that pumps, often the one that renews: one that sleeps or computes
 *     for long delays the renewals of other locks.
 *   - Asynchronous acquires make a fresh holder unless one is given.
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
/* The shortest lease that is accepted; whether it can be kept is a matter of
 * the network.  The watchdog renews after a third of the lease, so a lease must
 * be at least three times as long as the slowest round trip, and 20 ms, or it
 * ends before it is renewed: measured, 20 ms with round trips of 2 ms, 30 ms
 * with 10 ms, 150 ms with 50 ms, on a machine that runs the client at once.
 * What else delays a process counts as well: on a busy machine take a second or
 * more. */
#define HF_LEASE_MS_MIN 10

/* One rule for every call that waits: wait_ms of 0 is no limit, the default; a
 * positive one is milliseconds; a negative one is HF_INVALID.  One try, without
 * any wait, is a flag: HF_ACQUIRE_TRY here, and HF_..._TRY in the options of
 * the other calls.  That flag together with a wait_ms is HF_INVALID. */

#define HF_ACQUIRE_FIXED 1u /* let the lease end; no watchdog */
/* 2u is reserved.  To share a lock, open its read side: HF_KIND_READ. */
#define HF_ACQUIRE_DETACHED                                                    \
    4u /* may outlive this process; implies FIXED;
                                * needs HF_CAP_DETACHED */

#define HF_ACQUIRE_NO_REENTRY                                                  \
    8u /* HF_INVALID if this holder has it already, instead of entering it
        * once more */
#define HF_ACQUIRE_UPGRADE                                                     \
    16u /* HF_KIND_WRITE, with HF_ACQUIRE_TRY: if the only reader is this
         * holder, it is the writer as well from now on; HF_TAKEN if there are
         * others */
#define HF_ACQUIRE_TRY 32u /* one try, and no wait: HF_TAKEN if it is held */

/* What a name is used as: one name, one kind.  Acquiring a name that is in use
 * as another kind fails with HF_CONFLICT, and the error's text names that kind.
 * On file: a plain lock and a read/write lock of one name are the same flock(2)
 * lock, exclusive or shared: they exclude each other with HF_TAKEN. */
enum hf_kind {
    HF_KIND_PLAIN = 0, /* one holder */
    HF_KIND_READ = 1,  /* the readers' side of a read/write lock: many at once,
                        * unless there is a writer; the writer may read, too */
    HF_KIND_WRITE = 2, /* the writer's side of it: one, and no readers but
                        * himself */
    HF_KIND_PERMIT = 3 /* so many at once as there are permits: semaphore.h */
};

/* Who comes first when it is free. */
enum hf_order {
    HF_ORDER_ANY = 0,    /* whoever asks first then: the fastest (default) */
    HF_ORDER_FAIR = 1,   /* who has waited longest, on whatever machine; needs
                          * HF_CAP_QUEUE.  A grant has its whole lease, also
                          * where the store has handed the lock over */
    HF_ORDER_WRITERS = 2 /* READ, WRITE: no new reader while a writer waits;
                          * needs HF_CAP_QUEUE */
};

/* What kind of lock a lock object is.  Zero is every field's default. */
struct hf_lock_options {
    uint32_t struct_size; /* set by HF_LOCK_OPTIONS_INIT */
    int32_t kind;         /* enum hf_kind */
    int32_t order;        /* enum hf_order: for acquires through this object */
};
#define HF_LOCK_OPTIONS_INIT                                                   \
    {                                                                          \
        sizeof(struct hf_lock_options), 0, 0                                   \
    }

/* How to look again while somebody else has it.  With any but NONE no wake-ups
 * are asked for: the store is asked again after a pause, and nothing else. */
enum hf_backoff {
    HF_BACKOFF_NONE = 0,        /* wait for wake-ups (default) */
    HF_BACKOFF_EXPONENTIAL = 1, /* each pause `backoff_factor` times the last,
                                 * up to backoff_max_ms */
    HF_BACKOFF_CONSTANT = 2,    /* always backoff_ms */
    HF_BACKOFF_JITTER = 3       /* full jitter: anything from 0 to what
                                 * EXPONENTIAL would pause */
};

/* How to acquire.  Zero is every field's default. */
struct hf_acquire_options {
    uint32_t struct_size;   /* set by HF_ACQUIRE_OPTIONS_INIT */
    uint32_t flags;         /* HF_ACQUIRE_* */
    uint64_t holder;        /* 0: this thread (blocking), a new one (start) */
    int64_t wait_ms;        /* at most so long; 0: no limit; negative is
                             * HF_INVALID */
    int64_t lease_ms;       /* 0: the client's; at least three round trips, see
                             * HF_LEASE_MS_MIN */
    hf_cancel *cancel;      /* borrowed until the call is over; may be NULL */
    int64_t renew_ms;       /* the watchdog renews so often; 0: every third of
                           * the lease; at most half of it */
    int64_t max_hold_ms;    /* the hold ends so long after it began, whatever
                           * the watchdog does; 0: no such end; at least 10 ms.
                           * Decided by the first acquire of a hold, not by
                           * re-entries */
    int64_t feed_ms;        /* the watchdog renews only while hf_hold_feed() was
                           * called within so long (to 24 h); 0: it needs no
                           * feeding.
                           * Decided by the first acquire too */
    int64_t backoff_ms;     /* the first pause; 0: 1 ms (CONSTANT: 64 ms) */
    int64_t backoff_max_ms; /* the longest; 0: 128 ms, or the first if that is
                             * longer */
    int32_t backoff;        /* enum hf_backoff */
    int32_t backoff_factor; /* 1 to 1,000; 0: 2 */
    int64_t permits;        /* HF_KIND_PERMIT: so many, all or none; 0: one */
};
#define HF_ACQUIRE_OPTIONS_INIT                                                \
    {                                                                          \
        sizeof(struct hf_acquire_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0                                                                  \
    }

/* What is left after a release. */
struct hf_released {
    int64_t count; /* still held so many times by this holder; 0: free */
};

/* Room in struct hf_info. */
#define HF_OWNER_MAX 128
#define HF_HOST_MAX 64
#define HF_LABEL_MAX 64
#define HF_LAYOUT_MAX 16

/* What the store knows of a lock. */
struct hf_info {
    int locked;          /* 1 if anybody holds it */
    int shared;          /* 1 if it is held by readers */
    int mine;            /* 1 if the holder that was asked for holds it */
    int foreign;         /* 1 if the owner is not a holdfast client */
    int detached;        /* 1 if held by a ticket, not by a process */
    int64_t ttl_ms;      /* -2 no lock, -1 no expiry, else time left */
    int64_t count;       /* holds of the holder that was asked for */
    int64_t owner_count; /* holds of the owner */
    uint64_t fence;      /* the owner's token as the store knows it (with
                          * handover= that of the first in a chain); if nobody
                          * holds it, or it is not told: the highest that was
                          * given or reserved; 0 if none */
    int64_t since_ms;    /* held since, wall clock of the store; 0 unknown */
    int64_t now_ms;      /* wall clock of the store */
    int64_t waiters;     /* processes waiting, -1 unknown */
    int64_t pid;         /* of the owner, 0 unknown */
    char owner[HF_OWNER_MAX]; /* "<client uuid>:<holder>", "" if none */
    char host[HF_HOST_MAX];   /* of the owner, "" unknown */
    char label[HF_LABEL_MAX]; /* what the owner calls itself, "" unknown */
    /* As which library stores it: "holdfast", "redisson", "string" (redsync,
     * redis-py, node-redlock and other SET NX PX libraries), "flock"; "" if
     * there is no lock. */
    char layout[HF_LAYOUT_MAX];
    int guarantee;     /* enum hf_guarantee: LOCAL if the store could
                               * not be asked and this host was */
    int nodes;         /* members of the quorum; 0: it is none */
    int nodes_heard;   /* of them: have answered */
    int nodes_agree;   /* of them: say the same as this, by its owner */
    int64_t queued;    /* in the queue of HF_ORDER_FAIR; -1 unknown */
    int64_t position;  /* in it, of the holder that was asked for: 1 is
                               * next; 0: he is not in it */
    int64_t readers;   /* that have it; so does a writer who reads */
    int64_t permits;   /* of a semaphore: all there are; else 0 */
    int64_t available; /* of them: free.  Below 0: more are out than
                               * there are now */
};

typedef void (*hf_acquired_fn)(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user);
typedef void (*hf_inspected_fn)(hf_lock *lock, int status,
                                const struct hf_info *info,
                                const struct hf_error *err, void *user);
typedef void (*hf_broken_fn)(hf_lock *lock, int status, int was_locked,
                             const struct hf_error *err, void *user);

/**
 * Fill `options` with the defaults; for languages without the INIT macro.
 *
 * @param options  owned by the caller
 *
 * Threads: any.
 */
HF_API void hf_acquire_options_init(struct hf_acquire_options *options);

/**
 * Name a lock.  Nothing is sent; the lock need not exist.
 *
 * @param client  borrowed; must outlive the lock object
 * @param name    1 to HF_NAME_MAX bytes, copied
 * @param out     owned by the caller: hf_lock_close()
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_INVALID (the name is empty or too long), HF_FORKED,
 *         HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_lock_open(hf_client *client, const char *name, hf_lock **out,
                        struct hf_error *err);

/**
 * As hf_lock_open(), with the length of the name given.
 *
 * @param name_len  bytes in `name`; a NUL among them is refused
 */
HF_API int hf_lock_open_n(hf_client *client, const char *name, size_t name_len,
                          hf_lock **out, struct hf_error *err);

/**
 * As hf_lock_open(), for a lock of another kind or order.
 *
 * @param options  copied; NULL: a plain lock
 *
 * @return as hf_lock_open(); HF_UNSUPPORTED: the store has no such locks
 *
 * Threads: any.
 */
HF_API int hf_lock_open_as(hf_client *client, const char *name,
                           const struct hf_lock_options *options, hf_lock **out,
                           struct hf_error *err);

/**
 * What kind of lock it is.
 *
 * @param lock  borrowed
 * @return enum hf_kind; of what hf_semaphore_lock() of a plain counter returns:
 *         none of them
 *
 * Threads: any.
 */
HF_API int hf_lock_kind(const hf_lock *lock);

/**
 * Forget a lock object.  Holds taken through it stay held: release them first,
 * or through another object of the same name.
 *
 * @param lock  taken; NULL does nothing; no call may be using it
 *
 * Threads: any.
 */
HF_API void hf_lock_close(hf_lock *lock);

/**
 * The lock's name.
 *
 * @param lock  borrowed
 * @return borrowed until hf_lock_close(), with a NUL behind it
 *
 * Threads: any.
 */
HF_API const char *hf_lock_name(const hf_lock *lock);

/**
 * Acquire the lock, waiting as long as `options` say.
 *
 * @param lock     borrowed
 * @param options  copied; NULL: wait for ever, the client's lease, watchdog
 * @param hold     filled on HF_OK: owned by the caller: hf_hold_release().
 *                 NULL: the calling thread keeps no handle, and releases it
 *                 with hf_lock_release()
 * @param err      filled when this fails, and with the reason when a hold of
 *                 this host is granted instead of the store's; may be NULL
 *
 * @return HF_OK           held; the watchdog keeps it unless HF_ACQUIRE_FIXED
 *         HF_TAKEN        HF_ACQUIRE_TRY, and somebody has it
 *         HF_TIMEOUT      somebody had it until wait_ms were over
 *         HF_CANCELLED    the token was fired
 *         HF_UNAVAILABLE  the store did not answer for patience_ms, or for
 *                         the whole of a shorter wait_ms; with
 *                         HF_FALLBACK_WAIT for the whole of wait_ms, however
 *                         long.  With HF_FALLBACK_LOCAL the lock of this host
 *                         is taken instead, for what is left of wait_ms,
 *                         unless the store did answer, and refused it
 *         HF_CONFLICT     something that is no lock is stored under the name
 *         HF_DENIED       wrong password, or a command is not permitted
 *         HF_UNSUPPORTED  a flag needs a capability that is not there
 *         HF_INVALID      an option is out of range, or the holder has it or
 *                         waits for it already and HF_ACQUIRE_NO_REENTRY is
 *                         given; nothing was sent
 *         HF_LOST, HF_EXPIRED  the hold was lost while this entered it again
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * A hold that has been lost and not yet released is forgotten: this is a new
 * one, with its own fence.  After any status but HF_OK the lock is not held
 * (or, on re-entry, not once more); if an answer was lost, a
 * release is on its way, and the lease ends the matter in any case.
 *
 * Threads: any.
 */
HF_API int hf_lock_acquire(hf_lock *lock,
                           const struct hf_acquire_options *options,
                           hf_hold **hold, struct hf_error *err);

/**
 * Acquire, asynchronously.  Statuses as hf_lock_acquire().
 *
 * @param cb    called exactly once if, and only if, this returns HF_OK;
 *              `hold` is NULL unless its status is HF_OK, and owned by the
 *              caller: hf_hold_release(); `err` is borrowed
 * @param user  passed to `cb`, never looked at
 *
 * @return HF_OK (the request is on its way), HF_INVALID (also: no callback, so
 *         that nothing could release the lock), HF_UNSUPPORTED, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_lock_acquire_start(hf_lock *lock,
                                 const struct hf_acquire_options *options,
                                 hf_acquired_fn cb, void *user,
                                 struct hf_error *err);

/**
 * One try: hf_lock_acquire() with HF_ACQUIRE_TRY and no other option.
 */
HF_API int hf_lock_try(hf_lock *lock, hf_hold **hold, struct hf_error *err);

/**
 * Give the lock back once, as the calling thread.
 *
 * @param lock      borrowed
 * @param released  filled on HF_OK: how often it is still held; may be NULL
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           given back (released->count says how often it is
 *                         still held)
 *         HF_NOT_OWNER    this holder does not hold it: nothing was sent
 *         HF_EXPIRED      its lease had ended; nobody else's hold was touched
 *         HF_LOST         somebody else holds it now; nothing was touched
 *         HF_UNAVAILABLE  no answer; it is free when the lease ends at the
 *                         latest, and the release is repeated until then
 *         HF_DENIED       the store refuses; the lease ends it
 *         HF_CONFLICT     released, but a lock of another layout under the
 *                         same name stays (Redisson's group of locks:
 *                         docs/redis-layout.md); or something that is no lock
 *                         was stored there meanwhile, and stays
 *         HF_FORKED, HF_CLOSED
 *
 * Whatever it returns, this holder holds the lock once less than before.
 *
 * Threads: any.
 */
HF_API int hf_lock_release(hf_lock *lock, struct hf_released *released,
                           struct hf_error *err);

/**
 * Take the lock away from whoever holds it, and raise the fence so that the
 * former holder's writes can be refused.
 *
 * @param lock        borrowed
 * @param was_locked  filled on HF_OK: 1 if there was a hold; may be NULL
 * @param err         filled when this fails; may be NULL
 *
 * @return HF_OK, HF_UNAVAILABLE (it may or may not have been broken),
 *         HF_UNSUPPORTED (a living process holds a kernel lock: the text names
 *         its pid), HF_CONFLICT, HF_DENIED, HF_FORKED, HF_CLOSED
 *
 * Threads: any.
 */
HF_API int hf_lock_break(hf_lock *lock, int *was_locked, struct hf_error *err);

/** Break, asynchronously.  Statuses as hf_lock_break(). */
HF_API int hf_lock_break_start(hf_lock *lock, hf_broken_fn cb, void *user,
                               struct hf_error *err);

/**
 * Ask the store about the lock.
 *
 * @param lock    borrowed
 * @param holder  whose `mine` and `count` are wanted; 0: the calling thread
 * @param info    filled on HF_OK
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_UNAVAILABLE, HF_CONFLICT, HF_DENIED, HF_FORKED, HF_CLOSED
 *
 * Threads: any.
 */
HF_API int hf_lock_inspect(hf_lock *lock, uint64_t holder, struct hf_info *info,
                           struct hf_error *err);

/** Inspect, asynchronously: for all the questions below. */
HF_API int hf_lock_inspect_start(hf_lock *lock, uint64_t holder,
                                 hf_inspected_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Is it held by anybody?  Asks the store.
 *
 * @param out  1 or 0; untouched on failure
 * @return as hf_lock_inspect()
 */
HF_API int hf_lock_is_locked(hf_lock *lock, int *out, struct hf_error *err);

/**
 * Does this holder of this client hold it?  Asks the store.
 *
 * @param holder  0: the calling thread
 * @param out     1 or 0; untouched on failure
 * @return as hf_lock_inspect()
 */
HF_API int hf_lock_is_held_by(hf_lock *lock, uint64_t holder, int *out,
                              struct hf_error *err);

/**
 * How often does this holder have it?  Asks the store.
 *
 * @param holder  0: the calling thread
 * @param out     0 if it does not; untouched on failure
 * @return as hf_lock_inspect()
 */
HF_API int hf_lock_hold_count(hf_lock *lock, uint64_t holder, int64_t *out,
                              struct hf_error *err);

/**
 * How long until it ends by itself?  Asks the store.
 *
 * @param out  milliseconds, -2 no lock, -1 no expiry; untouched on failure
 * @return as hf_lock_inspect()
 */
HF_API int hf_lock_ttl_ms(hf_lock *lock, int64_t *out, struct hf_error *err);

/**
 * Take over a detached hold: the opposite of hf_hold_ticket().  The store is
 * asked, and the lease begins anew with the given length.
 *
 * @param lock      borrowed; of the name the ticket was made for
 * @param ticket    copied; what hf_hold_ticket() wrote
 * @param lease_ms  0: the client's
 * @param hold      filled on HF_OK; owned by the caller: hf_hold_release() or
 *                  hf_hold_ticket()
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK (held here, not watched: extend, release or detach it),
 *         HF_EXPIRED (its lease has ended), HF_LOST (somebody else has it),
 *         HF_INVALID (no ticket), HF_UNAVAILABLE, HF_FORKED, HF_CLOSED
 *
 * Threads: any.
 */
HF_API int hf_lock_attach(hf_lock *lock, const char *ticket, int64_t lease_ms,
                          hf_hold **hold, struct hf_error *err);

/**
 * Release a detached hold by its ticket, without taking it over first.  Of a
 * quorum it is released once no majority can have it any more: members that
 * cannot be reached do not matter if the others are a majority and one of them
 * has given it back.
 *
 * @param ticket  copied; what hf_hold_ticket() wrote
 *
 * @return HF_OK, HF_EXPIRED, HF_LOST, HF_INVALID, HF_UNAVAILABLE, HF_DENIED,
 *         HF_CONFLICT (as of hf_lock_release()), HF_FORKED, HF_CLOSED
 *
 * Threads: any.
 */
HF_API int hf_ticket_release(hf_lock *lock, const char *ticket,
                             struct hf_error *err);

/* One row of a list.  `name` may hold any byte but NUL. */
struct hf_list_row {
    const char *name;
    size_t name_len;
    struct hf_info info;
};

/* Called per lock, in no order; return 0 to go on, anything else to stop. */
typedef int (*hf_list_fn)(const struct hf_list_row *row, void *user);

/**
 * Go through the locks of the store in bounded steps.  Locks that come or go
 * meanwhile may or may not be seen.  Of a quorum every node is asked that
 * answers, and each name is told once, as the first of them tells it.  Of a
 * cluster every master is asked: if one fails, those of the others are told all
 * the same, and then this fails for the first that did.
 *
 * @param client  borrowed
 * @param match   a glob pattern (* ? [..]), copied; NULL: all
 * @param fn      called on this thread; `row` is borrowed for the call
 * @param user    passed to `fn`
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_UNSUPPORTED, HF_UNAVAILABLE (also: the server's cursor goes
 *         in a circle, or on for more pages than any store has), HF_DENIED,
 *         HF_FORKED, HF_CLOSED
 *
 * Threads: any.
 */
HF_API int hf_client_list(hf_client *client, const char *match, hf_list_fn fn,
                          void *user, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
