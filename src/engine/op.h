/*
 * op.h: one operation that a user waits for.
 *
 * Made by the API, on the caller's stack (blocking) or allocated (started);
 * carried by the engine; completed exactly once.
 */
#ifndef HF_ENGINE_OP_H
#define HF_ENGINE_OP_H

#include <stdatomic.h>

#include "base/request.h"
#include "core/hold.h"
#include "sys/park.h"

struct lock_entry;
struct seat;

enum op_type {
    OP_TYPE_ACQUIRE,
    OP_TYPE_ATTACH,
    OP_TYPE_RELEASE,
    OP_TYPE_EXTEND,
    OP_TYPE_TICKET_RELEASE,
    OP_TYPE_INSPECT,
    OP_TYPE_BREAK,
    OP_TYPE_LIST,
    OP_TYPE_VALUE_READ,
    OP_TYPE_VALUE_WRITE,
    OP_TYPE_GUARD,
    OP_TYPE_TALLY,
    OP_TYPE_BOOT,
    OP_TYPE_FACTS,
    OP_TYPE_STOCK,
    OP_TYPE_NAP /* nothing is asked: HF_TIMEOUT after wait_us, or cancelled */
};

/* The parts of a ticket. */
struct ticket {
    char owner[OWNER_LEN_MAX];
    uint64_t holder;
    uint64_t secret;
    uint64_t attempt; /* its hash */
    int64_t number;
    int64_t fence;
    int64_t permits; /* of a semaphore; else 0 */
};

/* BOOT, of an operator: what is asked for, and what came back. */
struct boot_job {
    const char *group; /* borrowed, as is `from` */
    const char *from;  /* group to be left; NULL: none */
    unsigned flags;    /* REQ_BOOT_* */
    int64_t quarantine_us;
    struct boot found;
};

/* VALUE_*: what is asked for, and what came back. */
struct value_job {
    const char *key; /* borrowed until the operation is over, as is `data` */
    size_t key_len;
    uint64_t version; /* WRITE: expected; HF_VALUE_ANY */
    const void *data;
    size_t len;
    int remove;            /* WRITE: delete it instead */
    int brief;             /* FACTS: only the clock */
    uint64_t part;         /* FACTS: which of the store's servers: `next` of
                            * the one before; 0: the first */
    uint64_t next;         /* FACTS: which comes next; 0: no more */
    int64_t node_us;       /* the node's clock, as it answered; 0 not told */
    struct hf_value found; /* READ, FACTS: its data is of the engine's
                            * allocator */
    uint64_t written;
    struct boot_job *boot; /* BOOT: this instead of all that */
};

/* GUARD: what is asked for, and what came back. */
struct guard_job {
    const char *key; /* borrowed until the operation is over, as is `data` */
    size_t key_len;
    unsigned flags; /* REQ_GUARD_*, REQ_DELETE */
    uint64_t token;
    const void *data;
    size_t len;
    struct hf_value found; /* version is the highest token; its data is of the
                            * engine's allocator */
};

/* TALLY: what is asked for, and what came back. */
struct tally_job {
    enum tally_do what;
    int64_t number;
    unsigned flags; /* REQ_IF_THERE... */
    int is_done;    /* 0: OPEN found one already, ADD with IF_THERE found none;
                     * nothing was changed */
    struct tally_told found; /* what it is then; also unless it is done */
};

/* ACQUIRE, ATTACH, EXTEND: what was obtained. */
struct grant {
    uint64_t fence;
    int64_t count; /* of the holder's acquires, now */
    int guarantee; /* enum hf_guarantee */
    int replicas;  /* that confirmed it */
};

/* INSPECT: what was found, and what each node of a quorum said. */
struct look {
    struct hf_info info;
    uint64_t said[NODES_MAX]; /* hash of the holder; 0: it is free */
    int64_t token[NODES_MAX]; /* the holder's token; 0: not told */
    int64_t since_ms[NODES_MAX];
};

/* Acquires of which one is wanted: the first that is granted ends the others,
 * with HF_CANCELLED.  Two may be granted in one step. */
struct op_race {
    int is_won;
};

/* May the operation be carried out on this host, whose lock stands in for the
 * store's? */
enum op_fall {
    FALL_NEVER,
    FALL_IF_SILENT, /* if the store is silent; and a holder that has a hold of
                     * this host works on that */
    FALL_OWN_FIRST  /* INSPECT: the same, also to look at it */
};

struct op {
    enum op_type type;
    struct lock_entry *entry; /* referenced while under way; NULL for
                               * LIST */
    enum op_fall fall;
    uint64_t holder;
    struct seat *target; /* RELEASE, EXTEND: of this hold, which is pinned;
                          * NULL: of the one that the holder has */
    unsigned flags;      /* HF_ACQUIRE_* */
    int order;           /* ACQUIRE: enum hf_order */
    int64_t permits;     /* ACQUIRE of permits, of a counter; at a barrier */
    /* ACQUIRE of permits, of a counter: how many there are, for a store that
     * does not know; 0: not said. */
    int64_t capacity;
    int64_t wait_us; /* < 0 for ever, 0 one try; RELEASE: > 0: the caller waits
                      * no longer than that, and the release goes on alone;
                      * INSPECT, VALUE_*: > 0: the store is asked for no longer
                      * than that */
    int tries_once;  /* ACQUIRE: not for a lock that is taken; `wait_us` is for
                      * the store alone */
    int64_t lease_us;
    int lease_any;         /* a default, not the caller's: may be shorter */
    struct hold_plan plan; /* ACQUIRE: borrowed by its hold until it is over */
    struct ticket ticket;  /* ATTACH, TICKET_RELEASE */
    const char *pattern;   /* LIST */
    uint64_t cursor;       /* LIST: in and out */
    uint32_t only;         /* LIST: of a quorum, this node, by its bit; 0: the
                             * first that can be reached */
    struct value_job *value;   /* VALUE_*, else NULL; lease_us is its life */
    struct guard_job *guard;   /* GUARD, else NULL; the same */
    struct tally_job *tally;   /* TALLY, else NULL */
    struct stock_job *stock;   /* STOCK, else NULL */
    struct ledger_job *ledger; /* STOCK: of a database; else NULL */
    struct op_race *race;      /* ACQUIRE: it is one of these; else NULL */
    struct hf_cancel *cancel;
    const atomic_int *stop; /* not 0: it ends with HF_CLOSED; NULL: none */
    int64_t begun_us;       /* when it came to the engine */
    int64_t deadline_us;    /* of direct operations */
    int64_t until_us;       /* RELEASE: end of its caller's wait */

    hf_hold *handle; /* ACQUIRE, ATTACH: reserved for what is granted; NULL:
                      * none is wanted */

    int status;           /* the result, and what belongs to it */
    struct seat *granted; /* with a handle: pinned for it; else NULL */
    hf_hold *hold;        /* the handle, once it stands for that; of a target
                           * the one that it is released by */
    struct hf_error err;
    struct grant grant;
    struct {
        int64_t count; /* how many times it is still held */
    } released;
    struct look *look;    /* INSPECT: filled; owned by the op's maker */
    struct hf_info *info; /* INSPECT: of that look; else NULL */
    int was_locked;       /* BREAK */
    /* LIST: called in the step, for copying only */
    int (*on_row)(const struct list_row *row, void *user);
    void *on_row_user;

    /* Carried out on this host: */
    struct lock_entry *named; /* the store's entry; NULL: it is not */
    char *why;                /* FELL: the store's silence, in words; or NULL */
    unsigned fell : 1;        /* ACQUIRE: because the store is silent */
    unsigned joined : 1; /* because another holder of this client is there */
    unsigned fell_trying : 1; /* its caller asked for one try */
    unsigned falls : 1;       /* it is to begin again on this host */
    unsigned outrun : 1;      /* another one of its race was granted */
    unsigned undo : 1;    /* it begins again: what was granted is released */
    unsigned forbids : 1; /* TICKET_RELEASE: nodes that do not have the hold are
                           * told its number, and will not grant it */

    uint32_t
        spoken; /* ACQUIRE, INSPECT: nodes, by bit, that themselves answered
                      * the last request */
    uint32_t asked, heard;      /* INSPECT, BREAK, TICKET_RELEASE: nodes of a
                                  * quorum, by bit */
    uint32_t done, gone, taken; /* nodes, by bit, by what they said */
    int agree;                  /* INSPECT: count of the majority vote */
    struct seat *seat;          /* the hold it works on, while it does */
    struct op *next;            /* in one list at a time */
    struct op *all_next, *all_prev; /* all that are under way */
    int finished;                   /* the engine is through with it */
    struct park park;               /* where its caller sleeps, if one does */
    struct op *sleep_next, *sleep_prev; /* callers asleep, for the pump */
    int sleeps;
    int left; /* its sleeping caller is no longer counted in pump.users */
    void (*complete)(struct op *op); /* a callback; NULL: a caller waits */
    void *complete_data;
    void (*complete_fn)(void); /* the user's function, cast */
    void *complete_user;
};

#endif
