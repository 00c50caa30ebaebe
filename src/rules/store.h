/*
 * store.h: one node's locks, as a pure function of the time and the
 * requests it is given.
 *
 * It follows the rules of the redis scripts, reply for reply, and is therefore
 * also the model node of the simulator; test/fault/replay/replay_test.c holds
 * it against a real server.  The rules:
 *
 *   PROPOSE  held by this owner and attempt under this T: granted again, and
 *            nothing moves.  Held by another (or another attempt): BUSY.
 *            Of a quorum, and no boot marker here: UNSETTLED.
 *            T not above the counter, or older than the window: STALE.  Else
 *            granted: the fence is T, or the clock if that is higher and the
 *            client left it to the node; the counter becomes the fence, and
 *            more by as many tokens as the client reserves.
 *   RENEW    owner, attempt and token match: count and lease are set.
 *   RELEASE  owner and attempt match: freed.  In every case the counter is
 *            raised to T, so that a late PROPOSE finds itself stale.
 *            With REQ_QUEUE an owner that cannot have it gets a place, keeps it
 *            as long as it asks again in time, and a free lock is given to the
 *            first place, ahead of every request: queue.c.
 *   BREAK    freed, and the counter rises above every token given; a proposal
 *            up to that number gets neither the lock nor a new place.
 *   BOOT     as base/boot.h says.
 *   VALUE_*  a value has a version, a life of its own and no lock.
 *   GUARD    a value behind the highest token seen: lower ones change nothing.
 *   TALLY    a number without a holder; and what waits for one (gate.c)
 *            is no lock: a name in use as one kind is no other.
 *
 * A lock is gone once the clock's milliseconds are *past* its expiry, as Redis
 * counts.  Not thread-safe; allocates only for names it has not met.
 */
#ifndef HF_RULES_STORE_H
#define HF_RULES_STORE_H

#include "base/request.h"
#include "sys/alloc.h"

#define STORE_PAGE_ROWS 64   /* rows in one answer to VERB_LIST */
#define STORE_PAGE_STEPS 512 /* names looked at for it */

struct store;

/* An empty store, or NULL: no memory.  `alloc` must outlive it. */
struct store *hf__rules_store_open(const struct allocator *alloc);
void hf__rules_store_close(struct store *s);

/* Carry out `req` at `now_us` on the node's wall clock and fill `rep`.  What
 * `rep` points to is the store's and good until the next call.  VERB_WATCH and
 * VERB_UNWATCH are the space's: V_ERROR. */
void hf__rules_store_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);

/* Are permits free for the first in the queue of its semaphore? */
int hf__rules_store_owes_permits(const struct store *s,
                                 const struct request *req);

/* Did the last RELEASE make room for a waiter? */
int hf__rules_store_has_news(const struct store *s);

/* What the store has under one name.  Pointers are good until the next call. */
struct store_view {
    const char *name;
    size_t name_len;
    int64_t counter;
    int locked; /* the rest is 0 or "" if it is not */
    const char *owner;
    uint64_t attempt;
    int64_t ballot;
    int64_t fence;
    int64_t count;
    int64_t expires_us; /* first moment at which it is gone */
};

/* Look, without changing anything.  1 if it is held at `now_us`, else 0; `out`
 * may be NULL. */
int hf__rules_store_look(const struct store *s, int64_t now_us,
                         const char *name, size_t name_len,
                         struct store_view *out);

/* The `place`-th name ever used; 0 once there are no more. */
int hf__rules_store_at(const struct store *s, int64_t now_us, size_t place,
                       struct store_view *out);

/* The waiter at `place` of the queue, from 0; 0 if there is none. */
struct store_waiter {
    const char *owner;
    uint64_t attempt;
    int64_t ballot;
    int64_t deadline_us;
};
int hf__rules_store_waiter(const struct store *s, const char *name,
                           size_t name_len, size_t place,
                           struct store_waiter *out);

/* The `place`-th side of a read/write lock, or the `place`-th acquire of a
 * semaphore, that is held or waited for at `now_us`, from 0; 0 if there are no
 * more. */
struct store_share {
    int writes;
    int waits;       /* a place in the queue, not a hold */
    int64_t permits; /* of a semaphore, that it has */
    struct store_view view;
};
int hf__rules_store_share(const struct store *s, int64_t now_us,
                          const char *name, size_t name_len, size_t place,
                          struct store_share *out);

/* Did the last request hand a lock over?  `out` is good until the next one. */
int hf__rules_store_handed(const struct store *s, struct handoff *out);

/* Other times than limits.h has for the queue. */
void hf__rules_store_queue_times(struct store *s, int64_t poll_us,
                                 int64_t live_us, int64_t handoff_us,
                                 int64_t fresh_us);

/* May the request, answered by `rep`, have made room for a waiter? */
int hf__rules_store_is_news(const struct store *s, const struct request *req,
                            const struct reply *rep);

/* Empty it: all names go, with their counters.  What is only memory stays for
 * the next ones. */
void hf__rules_store_forget(struct store *s);

/* A pointer that the store's user keeps by name, forgotten by a wipe.  Setting
 * it returns HF_OK or HF_NOMEM; it cannot fail for a name that has had one. */
void *hf__rules_store_tag(const struct store *s, const char *name,
                          size_t name_len);
int hf__rules_store_set_tag(struct store *s, const char *name, size_t name_len,
                            void *tag);

/* End one lock at once, as if its lease were over.  1 if there was one. */
int hf__rules_store_expire(struct store *s, const char *name, size_t name_len);

/* All locks are gone, the counters stay: what eviction or a clock step does. */
void hf__rules_store_flush_locks(struct store *s);

/* A restart without the data; with `keep_counters`, without the locks only. */
void hf__rules_store_wipe(struct store *s, int keep_counters);

/* A restart that lost nothing, of which the node may know (`is_durable` below)
 * or not. */
void hf__rules_store_restart(struct store *s);

/* What tells it from every other store, for VERB_BOOT; and whether it may say
 * that restarts lose nothing. */
void hf__rules_store_identify(struct store *s, uint64_t id, int is_durable);

/* Bugs for the simulator to find, one at a time.  Not in the library: a test
 * compiles store.c once more, with HF_MUTATIONS. */
enum store_mutation {
    STORE_MUT_NONE,
    STORE_MUT_EQUAL_BALLOT,      /* T equal to the counter is accepted */
    STORE_MUT_COUNTER_KEPT,      /* a grant does not raise the counter */
    STORE_MUT_BLOCK_FORGOTTEN,   /* ... or not by the tokens it reserves */
    STORE_MUT_NO_WINDOW,         /* an old T is accepted */
    STORE_MUT_NO_TOMBSTONE,      /* a release does not raise the counter */
    STORE_MUT_COUNTER_AGED,      /* the counter is forgotten after a second */
    STORE_MUT_RENEW_ATTEMPT,     /* renew compares the owner only */
    STORE_MUT_RENEW_FENCE,       /* renew does not compare the token */
    STORE_MUT_RELEASE_ATTEMPT,   /* release compares the owner only */
    STORE_MUT_PROPOSE_ATTEMPT,   /* a new attempt of the owner takes it over */
    STORE_MUT_GRANT_HELD,        /* granted although another owner has it */
    STORE_MUT_COUNT_ADDED,       /* the hold count is taken for an increment */
    STORE_MUT_REPEAT_MOVES,      /* a repeated PROPOSE starts the lease anew */
    STORE_MUT_EXPIRED_RENEWED,   /* renew revives a lock whose lease is over */
    STORE_MUT_EARLY_EXPIRY,      /* a lease ends at nine tenths */
    STORE_MUT_NO_MARKER,         /* a node without a marker votes */
    STORE_MUT_NO_QUARANTINE,     /* a node that lost its data votes at once */
    STORE_MUT_QUEUE_LIFO,        /* the last in the queue is served first */
    STORE_MUT_QUEUE_BARGED,      /* others go before the queue */
    STORE_MUT_QUEUE_DEAD_SERVED, /* the dead keep their places */
    STORE_MUT_QUEUE_LATE_JOINS,  /* what comes late gets a place */
    STORE_MUT_QUEUE_FORGETS,     /* ... after it has left, in doubt */
    STORE_MUT_QUEUE_PLACE_LOST,  /* asking again moves to the end */
    STORE_MUT_QUEUE_PLACE_STAYS, /* the new holder stays in the queue */
    STORE_MUT_QUEUE_LEAVE_IGNORED,   /* giving up keeps the place */
    STORE_MUT_QUEUE_NOT_GIVEN,       /* a release gives it to no waiter */
    STORE_MUT_QUEUE_TOKEN_OLD,       /* what is given has the clock as token */
    STORE_MUT_QUEUE_BREAK_FORGOTTEN, /* a proposal from before a break joins */
    STORE_MUT_QUEUE_FORGETS_EARLY,   /* a number ahead of the clock is forgotten
                                    * before it is too old */
    STORE_MUT_PERMIT_OVERDRAWN, /* permits: more are given than there are */
    STORE_MUT_PERMIT_GONE,      /* ... a release leaves no mark */
    STORE_MUT_PERMIT_REPEATED,  /* ... a repeated proposal gets more */
    STORE_MUT_PERMIT_LOST,      /* ... what is released is not free */
    STORE_MUT_PERMIT_BARGED,    /* ... others go before the queue */
    STORE_MUT_RW_RENEW_FENCE,   /* read/write: renew compares no token */
    STORE_MUT_RW_BREAK_FLOOR,   /* a break leaves the floor as it was */
    STORE_MUT_RW_RELEASE_FLOOR, /* ... and so does a release */
    STORE_MUT_RW_READ_BARGED,   /* a reader is let in beside a writer */
    STORE_MUT_RW_WRITE_BARGED,  /* ... a writer beside readers */
    STORE_MUT_RW_PLACE_STAYS,   /* the new holder stays in the queue */
    STORE_MUT_RW_TOKEN_OLD,     /* a token is not above the last one */
    STORE_NMUTATIONS
};

/* The first that is not of plain locks; the first of read/write locks. */
#define STORE_MUT_PERMIT STORE_MUT_PERMIT_OVERDRAWN
#define STORE_MUT_RW STORE_MUT_RW_RENEW_FENCE

#ifdef HF_MUTATIONS
void hf__rules_store_mutate(struct store *s, enum store_mutation mutation);
#endif

#endif
