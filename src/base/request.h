/*
 * request.h: the words that the core, the engine and the backends share.
 *
 * A request is what one hold asks of one node; a reply is what the node said.
 * Every request may be repeated: attempts are numbered and hold counts are
 * absolute.
 */
#ifndef HF_BASE_REQUEST_H
#define HF_BASE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"

/* What a name is used as: the kinds of lock objects, and those things besides
 * that are waited for but not held. */
enum lock_kind {
    KIND_PLAIN = HF_KIND_PLAIN,
    KIND_READ = HF_KIND_READ,
    KIND_WRITE = HF_KIND_WRITE,
    KIND_PERMIT = HF_KIND_PERMIT,
    KIND_COUNT,   /* plain counter: granted when `permits` could be taken off;
                   * they have no holder and no lease */
    KIND_LATCH,   /* granted when its count is 0, or there is none */
    KIND_BARRIER, /* granted when `permits` owners have asked; RELEASE: this
                   * owner waits no longer */
    KINDS_LEN
};

enum verb {
    VERB_PROPOSE, /* take the lock under number `ballot`, or say why not */
    VERB_RENEW,   /* if owner, attempt and fence match: set count and lease */
    VERB_RELEASE, /* if owner and attempt match: free it; raise the counter */
    VERB_BREAK,   /* free it, whichever owner has it; raise the counter */
    VERB_INSPECT, /* tell about it */
    VERB_LIST,    /* next page of locks from `cursor` */
    VERB_WATCH,   /* tell env->wake() when the lock is released, from the reply
                 * on and until VERB_UNWATCH */
    VERB_UNWATCH,
    VERB_VALUE_READ,  /* the value under `name` */
    VERB_VALUE_WRITE, /* set it to `data` if its version is `version` */
    VERB_GUARD,  /* remember token `version` for the resource `name` and do what
               * the flags say, unless a higher one was here */
    VERB_BOOT,   /* member of a quorum: what is it, and may it vote?  Sent after
               * every connect, and after a clock step */
    VERB_FACTS,  /* tell about the node itself: "name:value" lines in `data` */
    VERB_TALLY,  /* tell or change the number of `kind` that is kept under the
               * name: permits, a counter, a latch, a barrier */
    VERB_STOCK,  /* one segment of a sale: `stock` says what, and is told */
    VERB_LEDGER, /* the tables of sales in a database: `ledger`, likewise */
    VERB_PRIMARY /* of a Sentinel: where is the primary called `name`? */
};
#define REQUEST_OPS (VERB_PRIMARY + 1) /* for tables by operation */

/* TALLY: what is done with the number.  What it is then is told in any case. */
enum tally_do {
    TALLY_READ,
    TALLY_SET,   /* to `number`: the capacity; or the counter's value */
    TALLY_OPEN,  /* the same, unless there is one already: V_OTHER */
    TALLY_ADD,   /* `number` more, or less; V_ABSENT with REQ_IF_THERE */
    TALLY_DRAIN, /* COUNT: take all that is there */
    TALLY_DOWN,  /* LATCH: one less */
    TALLY_DELETE
};

struct tally_told {
    int is_there;
    int64_t value;    /* PERMIT, COUNT: available; LATCH: its count; BARRIER:
                       * owners that wait there */
    int64_t capacity; /* PERMIT: all there are; BARRIER: how many it needs, 0
                       * unknown */
    int64_t taken;    /* PERMIT: permits that are out; DRAIN: permits taken */
    int64_t waiters;  /* processes told, -1 unknown */
};

#define REQ_SERVER_FENCE 1u /* single node: fence = max(ballot, node clock) */
#define REQ_DETACHED 4u     /* the hold does not end with this process */
#define REQ_NO_EXPIRY 8u    /* watchdog hold on a CAP_KERNEL backend */
#define REQ_REPEATED 16u /* sent before, and that may have been carried out */
#define REQ_DELETE 32u   /* VALUE_WRITE, GUARD: delete it instead */
/* RELEASE: count the waiters, but need not wake them: a proposal of this
 * process follows right behind. */
#define REQ_HUSHED 64u
#define REQ_GUARD_LOOK 128u  /* GUARD: only tell the highest token */
#define REQ_GUARD_VALUE 256u /* GUARD: write `data`; with LOOK, read it */
/* GUARD: the token is a claim: without VALUE it is set, with VALUE it must be
 * the one that was set last. */
#define REQ_GUARD_CLAIM 512u
#define REQ_QUORUM 1024u /* PROPOSE: only where the boot marker is: `group` */
/* BOOT: the operator's word that the node is new: settled at once; refused
 * (HF_CONFLICT) where a marker or a lock is. */
#define REQ_BOOT_NEW 2048u
/* BOOT: change the marker's group from `info` to `name`; what has no marker
 * begins a quarantine. */
#define REQ_BOOT_JOIN 4096u
#define REQ_BOOT_STEP 8192u /* BOOT: its clock has jumped: begin a quarantine */
/* BOOT: the operator's word that a restart loses nothing. */
#define REQ_BOOT_DURABLE 16384u
#define REQ_BOOT_LOOK 32768u  /* BOOT: tell, change nothing */
#define REQ_BOOT_FORCE 65536u /* BOOT with NEW or JOIN: whatever is there */
/* BOOT: the client does not know yet how long the group's leases may be: where
 * there is no marker, tell, and begin none.  Nor are locks looked for. */
#define REQ_BOOT_UNSURE 131072u
/* BOOT with LOOK: whether locks are stored is not asked.  FACTS: only the
 * clock. */
#define REQ_BRIEF 262144u
/* Set by the backend before it replies V_ERROR, V_UNSENT or V_UNKNOWN: this is
 * the store's own word on the request, and no silence. */
#define REQ_SPOKEN 524288u
/* PROPOSE: if it cannot be granted, keep a place in the queue for the owner.
 * All of one wait are of one attempt: if that has it already, its lease begins
 * anew, whatever else is queued.  RELEASE: give that up, too.  WATCH: tell of
 * hand-overs as well. */
#define REQ_QUEUE 1048576u
/* PROPOSE with QUEUE: only writers queue, and readers stay behind them. */
#define REQ_WRITERS 2097152u
/* PROPOSE, WRITE: also if the owner is the only reader. */
#define REQ_UPGRADE 4194304u
#define REQ_IF_THERE 8388608u /* TALLY_ADD */
#define REQ_ANYWAY 16777216u  /* TALLY_SET, ADD: also below what is out */
/* RELEASE with QUEUE: a proposal of this attempt may come behind it, and must
 * find that it is over. */
#define REQ_UNSURE 33554432u
/* TALLY: refuse a number that another program may have made: CONFLICT. */
#define REQ_OURS 67108864u
/* RENEW: by a ticket; this client has not had the hold yet. */
#define REQ_ATTACH 134217728u
/* PRIMARY: a replica that is being promoted counts already. */
#define REQ_PROMOTED 268435456u

struct stock_job;
struct ledger_job;

/* Borrowed by the backend from submit() until it is replied to. */
struct request {
    enum verb verb;
    enum lock_kind kind;
    unsigned flags;     /* REQ_* */
    uint16_t node;      /* the engine's: where it is sent to, */
    uint16_t user_kind; /* and which kind of user it has */
    const char *name;   /* lock name, NUL behind it; LIST: pattern or
                               * NULL */
    size_t name_len;
    char owner[OWNER_LEN_MAX]; /* "<client uuid>:<holder>" */
    uint64_t attempt;          /* fresh for every attempt of this client */
    int64_t ballot;            /* T: proposed number; RELEASE: the largest T
                               * this client ever proposed for this lock */
    int32_t count;             /* absolute hold count; PROPOSE: 1 */
    int32_t permits; /* PERMIT, COUNT: wanted; BARRIER: parties it needs */
    int64_t lease_us;
    int64_t window_us; /* W */
    int64_t seen;      /* PROPOSE: `seen` of the last BUSY to this wait; 0:
                        * there was none */
    union {
        int64_t block;   /* PROPOSE: tokens wanted beyond the first; the
                          * counter becomes fence + block */
        size_t data_len; /* VALUE_WRITE, GUARD */
        int64_t number;  /* TALLY */
        int64_t fence;   /* RENEW: the token of the grant that is renewed; a
                          * hold with another token does not match.  0: not
                          * compared, as in a quorum, where a member that was
                          * healed has a number of its own */
    };
    union {
        const char *info; /* PROPOSE: "<pid> <host> <label>", no NUL in it */
        struct stock_job *stock;   /* STOCK: borrowed; the store fills `told` */
        struct ledger_job *ledger; /* LEDGER: borrowed, and told */
        const void *data; /* VALUE_WRITE, GUARD: borrowed; lease_us is its
                           * life, 0: no end.  VALUE_WRITE: owner and attempt
                           * tell a repetition */
    };
    union {
        uint64_t cursor;     /* LIST: where to go on; 0 first.  FACTS: of which
                            * of a store's servers; the same */
        enum tally_do tally; /* TALLY */
        const char *group; /* PROPOSE with REQ_QUORUM: only where the marker is
                            * of this group; NULL: of any */
        int64_t granted;   /* the backend's, of a grant that is answered when
                          * replicas have it: the token, or of a RENEW what was
                          * left of the lease */
    };
    union {
        uint64_t version;   /* VALUE_WRITE: expected; 0 none, HF_VALUE_ANY any.
                           * GUARD: the token */
        int64_t capacity;   /* PROPOSE, PERMIT and COUNT: if the store has no
                           * number under the name, it becomes this one first,
                           * as by TALLY_OPEN; 0: it does not */
        int64_t granted_us; /* with `granted`: the node's clock */
    };
    int64_t deadline_us; /* answered by then, or the link is given up */
    union {
        int64_t wanted_us; /* PROPOSE: after this nobody waits for the answer;
                            * 0: not told */
        int64_t until_us;  /* others, the engine's: repeated until then if in
                            * doubt; a store may move the end of a RELEASE */
    };

    /* The engine's. */
    void *user;      /* its hold, operation or lock */
    int64_t sent_us; /* local clock, just before submit() */
    uint32_t round;  /* which round of the hold asked */

    /* The backend's, while it has the request. */
    uint32_t priv;
    struct request *next;
    void *priv_ptr;
};

/* Is it about a side of a read/write lock? */
static inline int request_is_rw(const struct request *req)
{
    return req->kind == KIND_READ || req->kind == KIND_WRITE;
}

/* What a node said, or that nothing can be known. */
enum verdict {
    V_GRANTED, /* PROPOSE: yours.  Others: done */
    V_BUSY,    /* PROPOSE: held by another owner, or another attempt of ours */
    V_STALE,   /* PROPOSE: `ballot` is not above `counter`, or too old */
    V_ABSENT,  /* RENEW, RELEASE: no lock of that name now */
    V_OTHER,   /* RENEW, RELEASE: held, but not by this owner and attempt;
                  * RENEW: or with another token than it names.
                  * VALUE_WRITE: it has another version.
                  * GUARD: another token was here, and this one is refused */
    V_UNSETTLED, /* PROPOSE with REQ_QUORUM: no boot marker there, or another
                  * group's: it was wiped, is new or was taken; send BOOT */
    V_ERROR,     /* refused: see `status` and `text`; nothing was changed */
    V_UNSENT,    /* it never reached the node */
    V_UNKNOWN    /* it may or may not have been carried out */
};

/* One lock of a list. */
struct list_row {
    const char *name; /* any byte but NUL may occur */
    size_t name_len;
    struct hf_info info;
};

struct reply {
    enum verdict verdict;
    int status;           /* V_ERROR, V_UNSENT, V_UNKNOWN: HF_* that explains */
    int64_t fence;        /* PROPOSE granted: the token.  INSPECT: the holder's,
                           * 0 if there is none, or it is not told */
    int64_t counter;      /* highest number the node has seen, 0 if not told */
    int64_t node_us;      /* node's wall clock, 0 if not told */
    int64_t ttl_us;       /* BUSY: the holder's time left, -1 unknown.
                          * RENEW: what was left before */
    int64_t seen;         /* BUSY: for the next PROPOSE of this wait.  BARRIER:
                           * node_us.  LATCH: its last deletion, 1 if none is
                           * known */
    int silent;           /* BUSY: the holder's library tells nobody when it
                          * releases: look again and again */
    int64_t waiters;      /* RELEASE: processes told, -1 unknown */
    int64_t poll_us;      /* BUSY with REQ_QUEUE: ask again within this time, or
                           * lose the place */
    int replicas;         /* PROPOSE, RENEW: replicas that confirmed it; 0: they
                           * were not asked */
    const char *text;     /* where: what: why; borrowed for the call; or NULL.
                           * ABSENT, OTHER: what has become of it */
    struct hf_info *info; /* INSPECT, BREAK(locked); borrowed */
    struct list_row *rows; /* LIST; borrowed for the call */
    size_t rows_len;
    uint64_t cursor;  /* LIST: next cursor, 0 at the end; if it failed, where
                       * the next of a store's servers begins.  FACTS: the
                       * next of them, 0 if there are no more */
    uint64_t version; /* VALUE_*: its version now, 0 if there is none.
                       * GUARD: the highest token, 0 if there was none */
    const void *data; /* VALUE_READ, GUARD; borrowed for the call; ttl_us is its
                       * life, -1 no end; GUARD: NULL if there is none.
                       * FACTS: the lines */
    size_t data_len;
    const struct boot *boot;        /* BOOT; borrowed for the call */
    const struct tally_told *tally; /* TALLY; borrowed for the call */
};

/* The store has given the lock to one that queued for it. */
struct handoff {
    const char *name;
    size_t name_len;
    enum lock_kind kind;
    const char *owner; /* borrowed for the call, as is the name */
    uint64_t attempt;  /* of its proposals, and the number of the last one */
    int64_t ballot;
    int64_t fence;
    int64_t lease_us; /* how long the store keeps it for the owner, from when
                       * it gave it; an owner with another lease asks for it */
};

#define IDENTITY_MAX 96
#define GROUP_MAX 64

/* What a member of a quorum says of itself.  BOOT: `name` is the group (a hash
 * of the sorted members and their number), lease_us the longest lease of the
 * group, window_us the quarantine. */
struct boot {
    char identity[IDENTITY_MAX]; /* another one after every restart */
    int64_t left_us;             /* time until it may vote; 0: settled */
    int64_t lease_us; /* the group's longest lease, as the marker says */
    int is_new;       /* there was no marker */
    int is_durable;   /* it is known to lose nothing in a restart */
    int is_known;     /* 0: the identity cannot be told (INFO denied): every
                           * connect counts as a restart */
    int64_t version;  /* of the server, 7 * 10000 + 0 * 100 + 15; 0 unknown */
    int has_locks;    /* LOOK: locks are stored there */
    char group[GROUP_MAX]; /* as the marker says now; "": no marker */
};

#endif
