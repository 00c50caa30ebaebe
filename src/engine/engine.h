/*
 * engine.h: the pump's inner half: it knows all locks, holds and nodes of one
 * client, carries out what the core decides, and completes operations.
 *
 * It reads no clock, makes no thread and sleeps nowhere: time is given to it,
 * the backend does the talking, and the simulator drives it as the real pump
 * does (engine/pump.c).  One caller at a time.
 *
 *   engine.c  holds and their steps         ops.c    operations
 *   locks.c   names, turns, wake-ups        nodes.c  requests, replies, clocks
 *   pass.c    hand-over in the process      heap.c   timers
 *   member.c  nodes of a quorum: may they vote?      clocks.c  their clocks
 *   direct.c  operations without a hold     again.c  what is to be repeated
 *   recheck.c holds after a failover        host.c   the lock of this host, for
 *                                                    a store that is silent
 */
#ifndef HF_ENGINE_H
#define HF_ENGINE_H

#include "backend/backend.h"
#include "core/hold.h"
#include "engine/heap.h"
#include "engine/op.h"
#include "holdfast/hold.h"

#define FDS_MAX (4 * NODES_MAX + 2 * CLUSTER_NODES_MAX)

enum watch_state { WATCH_OFF, WATCH_ASKED, WATCH_ON };

/* A name in use: held, waited for, or open as a lock object.  Ordered for
 * size, as the hold is. */
struct lock_entry {
    struct lock_entry *hash_next;
    struct ballot ballot;
    struct slot *slots;      /* holds of this name */
    struct slot *queue_head; /* holds that wait for their turn */
    struct slot *queue_tail;
    struct slot *turn;   /* the one that contends or holds; of a semaphore
                           * those that contend, each for less than the one
                           * before it, by queue_next */
    struct timer linger; /* unwatch then */
    uint32_t hash;       /* of kind and name */
    int32_t told;        /* others that heard of the last release; -1 unknown */
    int32_t debt;        /* wake-ups at which others go first */
    uint32_t refs;       /* lock objects, operations, slots, requests */
    uint32_t getting;    /* holds that are being acquired */
    int32_t turns;       /* hand-overs in a row within this process */
    uint32_t watch_round; /* which OP_WATCH counts */
    uint16_t watch_open;  /* unanswered, nodes by bit */
    uint16_t watch_on;    /* these tell */
    uint8_t watch;        /* enum watch_state */
    uint8_t crowded : 1;  /* others queued while it was last held; or it has
                           * not been held so far */
    uint8_t is_host : 1;  /* of this host instead of the store: host.c */
    uint8_t queues;       /* hand-overs by the store are to be told as well */
    uint8_t kind;         /* enum lock_kind */
    uint16_t name_len;
    char name[]; /* NUL behind it */
};

/* To be told of the changes of one hold's state, by one of its handles. */
struct hold_ear {
    struct hold_ear *next;
    hf_hold *hold;
    hf_hold_state_fn fn;
    void *user;
    int is_due; /* a change is being told, and not yet to this one */
};

/* A hold and what the engine knows of it. */
struct slot {
    struct timer timer; /* first: the heap's timers are slots */
    struct hold hold;
    struct lock_entry *entry;
    struct slot *next; /* in entry->slots */
    struct slot *queue_next;
    struct slot *notice_next;
    uint64_t holder;
    int64_t seen_us;      /* the node's clock when it last said BUSY; 0 */
    char *owner;          /* of a ticket; NULL: made from uuid and holder */
    char *why;            /* it was lost, or not renewed the last time, by
                              * the store's words; or NULL */
    uint64_t chain_owner; /* instead of the holder, with hand-over; or 0 */
    hf_hold *handle;      /* the first that was given of it; or NULL */
    struct hold_ear *ears;
    struct op *op;           /* under way */
    struct op *pending_last; /* of the same holder, behind it; its next is the
                              * first; NULL: none */
    int32_t permits;         /* of a semaphore or counter; at a barrier */
    uint32_t requests;       /* on their way */
    uint32_t pins;           /* handles of it, and those that look at it */
    uint16_t replicas;       /* that confirmed the grant */
    uint8_t notices;         /* bits by enum hf_state, not yet told */
    unsigned linked : 1;     /* found by its holder: in entry->slots */
    unsigned queued : 1;
    unsigned getting : 1;
    unsigned followed : 1; /* its release is: by the next one's proposal */
};

/* May it vote?  Always, if it is the only node. */
enum stand {
    STAND_UNKNOWN,     /* it has not been asked, or not answered */
    STAND_QUARANTINED, /* not before its time */
    STAND_SETTLED,
    STAND_REFUSED /* never: last_error says why */
};

/* A reply that told the time; see clocks.c. */
struct clock_sample {
    int64_t sent_us, heard_us; /* ours; 0: there is none yet */
    int64_t node_us;
};

struct node {
    struct backend_env env; /* first */
    struct engine *engine;
    int index;
    int is_host; /* the one of struct host */
    const struct backend *backend;
    struct backend_conn *conn;
    int dirty; /* submitted, not flushed */
    int up;
    int tried; /* it was up, or could not be connected to */
    int clock_known;
    int64_t offset_us; /* node's wall clock - ours */
    int64_t timer_us;
    struct request *again, *again_last; /* to be repeated, oldest first */
    size_t again_len;
    size_t releases; /* of requests on their way */
    int drop_told;   /* that no more of them are kept */
    int64_t again_us;
    struct hf_error last_error;

    /* A member of a quorum. */
    const struct backend_conf *conf; /* its own; NULL: the engine's */
    const char *url;                 /* borrowed, for texts; without secrets */
    enum stand stand;
    struct boot boot;       /* what it last said of itself */
    int64_t quarantined_us; /* until then, as it said */
    int64_t blind_us;       /* and until then if it cannot tell its restarts */
    int64_t boot_us;        /* ask it then */
    unsigned boot_flags;    /* REQ_BOOT_* */
    int boot_open;          /* asked, unanswered */
    int was_member;         /* it was one, and told its marker */
    int is_blank;           /* it has no marker, and we have not begun one */
    int misplaced_told;     /* that it is no member, and so has no vote */
    struct clock_sample sample;
    int suspect;           /* replies that say its clock was set forward */
    int64_t suspect_us;    /* when the last of them came */
    int64_t suspect_by_us; /* by how much at least */
};

struct fd_watch {
    int fd;
    unsigned events;
    struct node *node;
};

/* The lock of this host that stands in for a silent store: a store of its own,
 * with one node, which is opened when it is first needed. */
struct host {
    struct hold_conf conf;
    unsigned caps;
    struct node node;
    int is_open;
    /* HF_OK, or why not.  In a step. */
    int (*open)(struct engine *e, struct hf_error *err);
    const char *store;  /* borrowed: the store's URL, for the log */
    int is_standing_in; /* holds were given here, and the store has not answered
                         * since */
    int64_t stood_in_us; /* the last of them */
};

/* What a client that closes has to wait for. */
enum owed {
    OWED_NOTHING,
    OWED_BY_FEW, /* most of a quorum have answered: the others need not */
    OWED_BY_MOST
};

struct engine {
    const struct allocator *alloc;
    struct backend_conf backend_conf;
    struct hold_conf conf;
    unsigned caps;
    char uuid[37];
    char *info;          /* "<pid> <host> <label>" */
    int64_t lease_us;    /* default */
    int lease_given;     /* that is somebody's wish */
    int64_t now_us;      /* of this step */
    int64_t answered_us; /* when a node last answered a request */
    int64_t sent_us;     /* when one was last sent */
    int is_kept;         /* by a thread that can listen */
    uint64_t random;
    struct node nodes[NODES_MAX];
    struct host *host; /* NULL: nothing stands in for the store */
    struct fd_watch fds[FDS_MAX];
    int fds_len;
    unsigned fds_version; /* rises with every change */
    void (*fd_changed)(struct engine *e, int fd, unsigned events);
    void *owner; /* the pump */
    /* The time, which may be later than that of the step; or NULL. */
    int64_t (*clock)(void);

    struct lock_entry **table;
    size_t table_size, table_len;
    struct heap heap;    /* slots' timers */
    struct heap lingers; /* entries' */
    size_t slots_len;
    size_t waiting;                     /* holds that wait to be woken */
    uint64_t chains;                    /* owners made for hand-over */
    struct request *spare;              /* requests to be used again */
    size_t requests_len;                /* all there are */
    struct op *ready_head, *ready_tail; /* operations to be started */
    struct op *done_head, *done_tail;   /* operations to be completed */
    struct op *all;                     /* operations under way */
    int64_t pending_us;                 /* the first of those behind others
                                         * in their holder's queue is late, or
                                         * of the releases' callers, or of
                                         * naps */
    size_t ops_len;
    size_t ops_async; /* of them with callbacks */
    int race_is_won;  /* of some of them: the others are to be ended */
    struct slot *notice_head, *notice_tail;
    size_t inflight; /* requests with a backend */
    size_t pressing; /* of them, awaited without an operation: renewals... */
    int closing;

    char group[GROUP_MAX];  /* of a quorum */
    int64_t group_lease_us; /* the longest lease of it, as its markers say;
                             * 0: none has been met */
    int64_t group_lease_guess_us; /* what it is taken for until then */
    int votes_wanted;             /* a lock was asked for, not only a look */
    int settle_told;              /* that one has to wait for its nodes */
    int refusal_told;             /* that no quorum can be had with this URL */
    int64_t linger_us;            /* until then all nodes are waited for; 0 no
                                   * majority so far, -1 it is over */
    void (*log)(struct engine *e, int level, const char *line);
};

/* engine.c */
int hf__engine_open(struct engine *e, int64_t now_us);
void hf__engine_close(struct engine *e);
void hf__engine_begin(struct engine *e, struct op *op, int64_t now_us);
void hf__engine_fail(struct engine *e, struct op *op, int status,
                     int64_t now_us);
void hf__engine_tick(struct engine *e, int64_t now_us);
void hf__engine_drain(struct engine *e);
int64_t hf__engine_next_us(const struct engine *e);
int64_t hf__engine_lull_us(const struct engine *e);
struct op *hf__engine_take_done(struct engine *e);
int hf__engine_take_notice(struct engine *e, struct hf_event *out,
                           struct slot **about, int64_t now_us);
int hf__engine_wants_poll(const struct engine *e);
int hf__engine_is_to_listen(const struct engine *e);
int64_t hf__engine_listen_us(const struct engine *e);
void hf__engine_shut(struct engine *e, int64_t now_us);
void hf__slot_step(struct engine *e, struct slot *s, struct hold_event *ev);
void hf__slot_let_go(struct engine *e, struct slot *s);
void hf__op_finish(struct engine *e, struct op *op, int status,
                   const char *text);
void hf__op_append(struct op **head, struct op **tail, struct op *op);
void hf__pending_append(struct slot *s, struct op *op);
int hf__engine_detach(struct engine *e, struct slot *s, struct ticket *out,
                      int64_t now_us);
/* Its fencing token; 0 for a hold of this host. */
uint64_t hf__slot_fence(const struct slot *s);
/* One handle, or look, less; it may be freed. */
void hf__slot_unpin(struct engine *e, struct slot *s);

/* ops.c */
void hf__op_begin(struct engine *e, struct op *op);

/* values.c */
void hf__value_start(struct engine *e, struct op *op);
int hf__value_is_repeatable(const struct request *r);
/* What a node has lent, for the user; HF_OK or HF_NOMEM. */
int hf__value_copy(struct engine *e, struct hf_value *out,
                   const struct reply *rep, int is_there);
void hf__value_answered(struct engine *e, struct op *op,
                        const struct request *r, const struct reply *rep);

/* guards.c */
void hf__guard_start(struct engine *e, struct op *op);
int hf__guard_is_repeatable(const struct request *r);
void hf__guard_answered(struct engine *e, struct op *op,
                        const struct request *r, const struct reply *rep);

/* tallies.c */
void hf__tally_start(struct engine *e, struct op *op);
void hf__tally_answered(struct engine *e, struct op *op,
                        const struct reply *rep);

/* locks.c */
struct lock_entry *hf__entry_get(struct engine *e, enum lock_kind kind,
                                 const char *name, size_t name_len);
struct lock_entry *hf__entry_find(struct engine *e, enum lock_kind kind,
                                  const char *name, size_t name_len);
/* The same name and kind, of this host instead of the store. */
struct lock_entry *hf__entry_get_host(struct engine *e,
                                      const struct lock_entry *entry);
struct lock_entry *hf__entry_find_host(struct engine *e,
                                       const struct lock_entry *entry);
/* Where and as which kind: is_host, kind. */
struct lock_entry *hf__entry_find_at(struct engine *e, int is_host,
                                     enum lock_kind kind, const char *name,
                                     size_t name_len);
void hf__entry_unref(struct engine *e, struct lock_entry *entry);
struct slot *hf__slot_find(struct lock_entry *entry, uint64_t holder);
struct slot *hf__slot_new(struct engine *e, struct lock_entry *entry,
                          uint64_t holder);
void hf__slot_unlink(struct slot *s);
void hf__slot_free(struct engine *e, struct slot *s);
void hf__ears_free(struct engine *e, struct slot *s);
void hf__ear_remove(struct engine *e, struct slot *s, const hf_hold *hold);
void hf__turn_update(struct engine *e, struct slot *s, enum hold_state before);
void hf__turn_pass_all(struct engine *e);
/* May a holder that wants `permits` contend for the name now? */
int hf__turn_is_open(const struct lock_entry *entry, unsigned hold_flags,
                     int64_t permits);
void hf__turn_leave(struct slot *s);
int hf__turn_is_hushed(const struct engine *e, const struct slot *s);
void hf__watch_want(struct engine *e, struct slot *s);
/* Will the store hand it over?  Of other kinds it only keeps places. */
static inline int hf__is_handed_over(const struct lock_entry *entry,
                                     unsigned hold_flags)
{
    return hold_flags & HOLD_QUEUES && entry->kind == KIND_PLAIN;
}
void hf__watch_answer(struct engine *e, struct lock_entry *entry,
                      const struct request *r, const struct reply *reply);
void hf__watch_follow(struct engine *e, int node);
void hf__watch_wake(struct engine *e, struct lock_entry *entry);
void hf__watch_sweep(struct engine *e);

/* pass.c */
uint64_t hf__pass_owner(struct engine *e, const struct op *op);
void hf__slot_owner(const struct engine *e, const struct slot *s,
                    char out[OWNER_LEN_MAX]);
int hf__pass_try(struct engine *e, struct slot *s, struct op *op);
int hf__pass_is_over(const struct slot *s);

/* nodes.c */
int hf__node_open(struct engine *e, struct node *n, int index,
                  const struct backend *backend, const struct url *url,
                  struct hf_error *err);
void hf__nodes_close(struct engine *e);
enum hf_link hf__node_link(const struct engine *e, const struct node *n);

/* The store behind an entry: what its holds share, what it can do, its nodes
 * by their number there. */
static inline struct hold_conf *hf__conf_of(struct engine *e,
                                            const struct lock_entry *entry)
{
    return entry && entry->is_host ? &e->host->conf : &e->conf;
}
static inline unsigned hf__caps_of(const struct engine *e,
                                   const struct lock_entry *entry)
{
    return entry->is_host ? e->host->caps : e->caps;
}
static inline struct node *hf__node_of(struct engine *e,
                                       const struct lock_entry *entry, int i)
{
    return entry && entry->is_host ? &e->host->node : &e->nodes[i];
}
/* Does the quorum's rule apply to it: may it vote, whose clock...? */
static inline int hf__is_member(const struct node *n)
{
    return !n->is_host && n->engine->conf.nodes > 1;
}
/* All nodes, the host's last: `n` NULL for the first; NULL at the end. */
struct node *hf__node_next(struct engine *e, const struct node *n);

struct request *hf__request_new(struct engine *e);
int hf__request_reserve(struct engine *e); /* 0 or -1 */
void hf__request_free(struct engine *e, struct request *r);
void hf__request_send(struct engine *e, struct node *n, struct request *r);
void hf__engine_flush(struct engine *e);
/* May its holds be asked for: is its store's clock known, may members vote? */
int hf__store_is_ready(const struct engine *e, const struct lock_entry *entry);
enum owed hf__nodes_owe(const struct engine *e);
int64_t hf__engine_nodes_now(const struct engine *e);
uint64_t hf__engine_random(struct engine *e);
void hf__owner_text(const struct engine *e, uint64_t holder,
                    char out[OWNER_LEN_MAX]);
void hf__node_failed(struct node *n, int status, const char *text);
void hf__node_answer(struct engine *e, struct node *n, struct request *r,
                     const struct reply *rep);
void hf__nodes_tick(struct engine *e); /* their timers, and repetitions */
int64_t hf__nodes_next_us(const struct engine *e);
void hf__nodes_shut(struct engine *e); /* give up what was to be repeated */

/* again.c */
void hf__again_add(struct engine *e, struct node *n, struct request *r);
void hf__again_send(struct engine *e, struct node *n);
void hf__again_tick(struct engine *e, struct node *n);
void hf__again_shut(struct engine *e, struct node *n);

/* What is told of a change to `state`: a text of its own, or in `buf`; NULL for
 * HELD. */
const char *hf__slot_cause(struct engine *e, const struct slot *s, int state,
                           char *buf, size_t size);

/* recheck.c */
void hf__recheck_all(struct engine *e);
void hf__recheck_answered(struct engine *e, struct slot *s,
                          const struct request *r, const struct reply *rep);
void hf__slot_why(struct engine *e, struct slot *s, const char *text);

/* Of an answer to it, what explains that it is not kept. */
void hf__slot_heard(struct engine *e, struct slot *s, const struct request *r,
                    const struct reply *rep);

/* host.c: with no host these do nothing. */
/* Where is it to be carried out?  op->entry may be the host's from now on.  1:
 * it is over by that. */
int hf__host_route(struct engine *e, struct op *op);
/* It has come to an end at the store, or at the host.  1: it has not, for it
 * begins again at the other. */
int hf__host_takes(struct engine *e, struct op *op, int status,
                   const char *text);
/* It begins again after a grant that was not to be kept: give that back.  1: it
 * is over by that. */
int hf__host_undo(struct engine *e, struct op *op);
/* It is over: what its caller is told of the host. */
void hf__host_told(struct engine *e, struct op *op);
/* The host's clock, as far as it is known. */
int64_t hf__host_now(const struct engine *e);
/* The hold of this holder, of the host or of the store; or NULL. */
struct slot *hf__holder_slot(struct engine *e, struct lock_entry *entry,
                             uint64_t holder);

/* direct.c */
void hf__direct_start(struct engine *e, struct op *op);
void hf__direct_bound(struct engine *e, const struct op *op, struct request *r);
void hf__direct_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep);

/* member.c; with one node these do nothing. */
void hf__members_begin(struct engine *e);
void hf__members_ask(struct engine *e); /* OP_BOOT, where it is due */
void hf__members_tick(struct engine *e);
int64_t hf__members_next_us(const struct engine *e);
int hf__members_are_decided(const struct engine *e);
void hf__members_want(struct engine *e); /* a lock is asked for */
int hf__member_is_left_blank(const struct engine *e, const struct node *n);
void hf__member_link(struct engine *e, struct node *n, int up);
void hf__member_unsettle(struct engine *e, struct node *n, unsigned boot_flags);
void hf__member_answered(struct engine *e, struct node *n,
                         const struct request *r, const struct reply *rep);
/* How long a node that may have forgotten does not vote. */
int64_t hf__quarantine_us(const struct hold_conf *conf, int64_t lease_us);
int64_t hf__member_settled_us(const struct engine *e, const struct node *n);
const struct hf_error *hf__members_refusal(const struct engine *e);

/* member_text.c */
void hf__members_text(const struct engine *e, int status, char *out,
                      size_t size);
int hf__members_are_short(const struct engine *e);
int hf__members_may_answer(const struct engine *e);
/* Is its clock so far ahead that it refuses every number?  The sentence. */
int hf__member_is_ahead(const struct engine *e, const struct node *n);
void hf__member_clock_text(const struct engine *e, const struct node *n,
                           char *out, size_t size);
void hf__member_compare_clock(struct engine *e, const struct node *n);
void hf__member_compare_version(struct engine *e, const struct node *n);
void hf__member_warn_misplaced(struct engine *e, const struct node *n);

/* clocks.c */
void hf__clock_heard(struct engine *e, struct node *n, const struct request *r,
                     const struct reply *rep);

enum request_user { USER_SLOT, USER_OP, USER_ENTRY, USER_NODE };

#endif
