/*
 * sim.h: a small world in which the real engine meets everything that can go
 * wrong.
 *
 * One seed is one run: clients (real engines of src/engine), nodes (the pure
 * store of backend/memory), a network and a nemesis, all in virtual time.  The
 * rule: nothing random, and no time, comes from anywhere but `struct sim`, so
 * a seed always tells the same story.
 *
 *   sim_event.c    time, chance, the queue of events
 *   sim_knobs.c    what a seed draws before it begins
 *   sim_world.c    a run from its seed to its verdict
 *   sim_net.c      connections and packets   sim_node.c   the nodes
 *   sim_link.c     the backend: a connection as the engine sees it
 *   sim_watch.c    its subscriptions
 *   sim_client.c   engines: start, crash, pause
 *   sim_actor.c    holders: what they do     sim_errand.c  one operation
 *   sim_plan.c     their renewals, caps, feeding and pauses
 *   sim_rw.c       read/write locks, in worlds that play those
 *   sim_permit.c   semaphores, in others
 *   sim_session.c  stores with sessions instead of leases, in others
 *   sim_host.c     the locks of the machine, in worlds that fall back to those
 *   sim_ask.c      questions about locks, and breaks, by clients
 *   sim_close.c    clients that are closed
 *   sim_ticket.c   detached holds, and tickets that are passed on
 *   sim_nemesis.c  the faults
 *   sim_lose.c     single keys that members lose
 *   sim_way.c      links that are closed in one direction
 *   sim_freeze.c   nodes that stand still
 *   check_*.c      what must always be true
 *   mutants.c      planted bugs, each of which must be found
 */
#ifndef HF_SIM_H
#define HF_SIM_H

#include "rules/store.h"
#include "core/mutation.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/op.h"
#include "sim/sim_ask.h"
#include "sim/sim_ticket.h"
#include "sim/sim_session.h"

#define SIM_NODES_MAX 5
#define SIM_CLIENTS_MAX 4
#define SIM_ACTORS_MAX 3
#define SIM_NAMES_MAX 3
#define SIM_TOPICS_MAX (2 * SIM_NAMES_MAX) /* what may be watched */
#define SIM_EVENTS_MAX 3000000             /* more than this is a loop */
#define SIM_REASON_MAX 240
#define QUIET_HOLDS 3 /* of each actor once the faults are over */

#define MS US_PER_MS

/* What may go wrong, by bit; names in sim_knobs.c. */
enum fault {
    FAULT_BREAK = 1 << 0,     /* connections break with requests in flight */
    FAULT_LATE = 1 << 1,      /* what was sent on them still arrives, later */
    FAULT_DUP = 1 << 2,       /* a request is carried out twice */
    FAULT_SPIKE = 1 << 3,     /* some packets take long */
    FAULT_PARTITION = 1 << 4, /* nothing comes through for a while */
    FAULT_PAUSE = 1 << 5,     /* a client stands still; its clock does not */
    FAULT_CRASH = 1 << 6,     /* a client is gone, and another one comes */
    FAULT_RESTART = 1 << 7,   /* a node is away for a while */
    FAULT_WIPE = 1 << 8,      /* and comes back without its data */
    FAULT_FLUSH = 1 << 9,     /* all locks of a node are gone */
    FAULT_JUMP = 1 << 10,     /* a node's clock is set */
    FAULT_DRIFT = 1 << 11,    /* clocks run at different rates */
    FAULT_TAKE = 1 << 12,     /* a lock is taken away from its holder */
    FAULT_FALL = 1 << 13,     /* no fault: clients fall back to their machine */
    FAULT_LOSE = 1 << 14,     /* a minority of a quorum loses single keys */
    FAULT_EVEN = 1 << 15,     /* no fault: 2 or 4 nodes */
    FAULT_ONEWAY = 1 << 16,   /* nothing comes through in one direction */
    FAULT_OLD = 1 << 17,      /* FAULT_DUP: a copy comes up to 5 s late */
    FAULT_FREEZE = 1 << 18,   /* a node stands still; its clock does not */
    FAULT_ASK = 1 << 19,      /* clients ask about locks, and break them */
    FAULT_CLOSE = 1 << 20,    /* clients are closed, and others come */
    FAULT_TICKET = 1 << 21,   /* no fault: holds are detached and attached */
    FAULT_RW = 1 << 22,       /* no fault: read/write locks, */
    FAULT_PERMIT = 1 << 23,   /* or semaphores */
    FAULT_SESSION = 1 << 24   /* no fault: a store with sessions */
};
#define FAULTS_ALL 0x1ffffffu
#define OLD_US_MAX (5 * US_PER_S)
#define FAULTS_LOSSY (FAULT_WIPE | FAULT_FLUSH | FAULT_JUMP)

/* What did go wrong, and what came of it; names in sim_knobs.c. */
enum deed {
    DEED_BREAK,
    DEED_LATE,
    DEED_COPY,
    DEED_SPIKE,
    DEED_PARTITION,
    DEED_PAUSE,
    DEED_CRASH,
    DEED_RESTART, /* a node's, with its data */
    DEED_WIPE,    /* and without */
    DEED_FLUSH,
    DEED_FORWARD, /* a clock was set */
    DEED_BACK,
    DEED_QUARANTINE, /* a node was told to wait */
    DEED_REFUSAL,    /* and refused a proposal until then */
    DEED_HEAL,       /* a node got a lock again that is held */
    DEED_HANDED,     /* a node gave a lock to a queued waiter */
    DEED_WHOLE,      /* and for its lease, not for a moment */
    DEED_TAKE,       /* an operator broke a lock, or the node evicted it */
    DEED_SHARED,     /* a reader was let in beside another */
    DEED_FALLBACK,   /* a world whose clients fall back to their machine */
    DEED_LOCAL,      /* a holder was given the machine's lock */
    DEED_NO_HOST,    /* the machine's locks could not be opened */
    DEED_LOSE,       /* a quorum's member lost a single key */
    DEED_EVEN,       /* a world of 2 or 4 nodes */
    DEED_ONEWAY,     /* links were closed in one direction */
    DEED_OLD,        /* a copy that came a second late, or more */
    DEED_FREEZE,     /* a node stood still */
    DEED_BACKLOG,    /* what had waited for one arrived */
    DEED_ASK,        /* a client was told about a lock, or that it broke it */
    DEED_FREED,      /* and it did */
    DEED_CLOSE,      /* a client was closed */
    DEED_DETACH,     /* a hold was detached */
    DEED_ATTACH,     /* and attached */
    DEED_PERMITS,    /* a world of semaphores */
    DEED_SESSIONS,   /* a world of sessions */
    DEED_EXPIRED,    /* one of these ended */
    DEED_MOVED,      /* a request of one that has moved on, or is over */
    DEEDS_LEN
};

/* What is lost in a flush that nobody is told of. */
enum flush_kind {
    FLUSH_LOCKS,     /* one node's locks */
    FLUSH_ALL_LOCKS, /* all nodes' locks, at once */
    FLUSH_DATA       /* all that one node has */
};

/* Drawn once per seed. */
struct knobs {
    int nodes, clients, actors, names;
    int64_t faults_us;  /* how long the nemesis rages */
    int64_t nemesis_us; /* mean time between its deeds */
    int64_t delay_min_us, delay_max_us;
    int64_t spike_us;   /* the longest spike */
    int break_permille; /* per packet */
    int spike_permille;
    int dup_permille;
    int64_t lease_min_us, lease_max_us;
    int64_t hold_us;  /* mean time between a holder's deeds */
    int64_t think_us; /* mean time between its holds */
    int64_t timeout_us, patience_us, window_us;
    int64_t node_tick_us; /* a node's clock shows multiples of it */
    int keep_percent;     /* of the holds have a watchdog */
    int cancel_percent, try_percent, forever_percent;
    int renew_percent;             /* of the acquires set renew_ms */
    int cap_percent;               /* of the acquires set max_hold_ms */
    int feed_percent;              /* of the acquires set feed_ms */
    int spin_percent;              /* of the acquires set a backoff */
    int64_t handover, handover_us; /* limits of hand-overs in a process */
    int set_back;                  /* clocks are set back, not only forward */
    enum flush_kind flush;
    int is_new;               /* the nodes were not declared new */
    int durable_percent;      /* of restarts are known to lose nothing */
    int fair_percent;         /* of the acquires queue at the node */
    int64_t queue_live_us;    /* how long a silent waiter keeps its place */
    int64_t queue_handoff_us; /* how long a lock is handed to a waiter for */
    int64_t take_us;          /* mean time until the next lock is taken away */
    int evict_percent;        /* of the locks taken away: by an eviction */
    int write_percent;        /* of the acquires are a writer's */
    int writers_percent;      /* of the queued acquires put writers first */
    int falls;                /* clients fall back to their machine's locks */
    int no_host_percent;      /* of the machine's locks cannot be opened */
    int host_is_kernel;       /* those locks end with their process, as file: */
    int64_t lose_us;          /* mean time until the next key is lost, */
    int lose_first;           /* by one of these members */
    int lose_members;
    int64_t freeze_us; /* mean time until a node stands still */
    int64_t way_us;    /* mean time until links are closed in one direction */
    int64_t ask_us;    /* mean time until a client asks about a lock */
    int ask_break_percent;          /* or breaks it */
    int64_t close_us;               /* mean time until a client is closed */
    int ticket_percent;             /* of the acquires are detached */
    int64_t permits[SIM_NAMES_MAX]; /* of a semaphore */
    int64_t session_us;             /* a session's time-out */
};

struct sim;
struct packet;

/* Something that will happen. */
typedef void (*event_fn)(struct sim *s, void *arg, uint64_t tag);
struct event {
    int64_t at_us;
    uint64_t seq;
    event_fn fn;
    void *arg;
    uint64_t tag;
};

enum channel { CHANNEL_COMMAND, CHANNEL_WATCH };

/* One connection, from connect to its end.  Kept until the run is over, for
 * packets of a dead one may still arrive. */
struct life {
    struct life *all_next;
    struct life *node_next;    /* of the node's watch connections */
    struct backend_conn *conn; /* NULL once the client gave it up */
    int client, node;
    enum channel channel;
    int open;
    uint64_t epoch; /* of the node, when it was made */
    int64_t born_us;
    int64_t last_us[2]; /* latest arrival at client, node: FIFO */
    uint64_t sent;      /* packets to the node so far */
    uint64_t arrived;   /* of them */
    uint64_t cut;       /* dead: those behind it never arrive */
    int64_t late_us;    /* dead: the other packets' delay */
    unsigned names;     /* subscribed, by bit */
    unsigned queues;    /* of them, to hand-overs as well */
};

/* The waiters of a node, as check_queue.c notes them, and a place that its
 * owner does not want. */
#define PLACES_MAX 256
struct place {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot;
    int64_t deadline_us;
    int came_late;
};
struct line {
    struct place places[PLACES_MAX];
    int len;
};
struct squatter {
    uint64_t attempt;
    int64_t since_us;
    int is_seen;
};

/* Locks that were broken there, as check_break.c has them. */
#define BROKEN_MAX 48 /* some breaks of many readers */
struct broken {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot;
};
struct broken_book {
    struct broken last[BROKEN_MAX];
    unsigned len; /* so far */
};

/* The holder at a node, and since when it has it; check_vote.c. */
struct kept {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt; /* 0: nobody has it */
    int64_t since_us; /* true time */
};

/* What a node answered to a renewal; check_vote.c. */
struct vote {
    uint64_t attempt;
    uint32_t round;
    int64_t kept_us;
};

/* A side of a read/write lock, or a place, as check_rw_orphan.c has it. */
struct share_note {
    uint64_t client; /* which start of it */
    uint64_t attempt;
    int came_late;
    int64_t since_us; /* nobody wants it since then; 0: somebody does */
};

struct sim_node {
    struct store *store;
    int index;
    int up;
    uint64_t epoch; /* rises with every restart */
    int64_t frozen_until_us;
    int64_t offset_us;
    int64_t ppm;
    int wiped, was_set_back;
    int64_t clock_max_us; /* the latest that its clock has ever shown */
    int64_t forward_us; /* true time its clock was last set forward; -1 never */
    uint64_t wipes;
    struct life *watchers;
    int64_t free_since_us[SIM_NAMES_MAX]; /* released then; -1: it was not */
    struct released *released;            /* check_node.c: a hash set */
    size_t released_len, released_room;
    int came_late[SIM_NAMES_MAX];           /* the holder's proposal did */
    uint64_t orphan[SIM_NAMES_MAX];         /* an attempt nobody knows of, */
    int64_t orphan_since_us[SIM_NAMES_MAX]; /* and since when */
    struct session_store *sessions;         /* or NULL */
    struct line lines[SIM_NAMES_MAX];
    struct squatter squatters[SIM_NAMES_MAX];
    struct broken_book broken[SIM_NAMES_MAX];
    struct kept kept[SIM_NAMES_MAX];
    int64_t shared_fence[SIM_NAMES_MAX]; /* check_rw.c: the last one given */
    char first_waiter[OWNER_LEN_MAX];    /* check_permit.c */
    struct share_note shares[SIM_CLIENTS_MAX][SIM_ACTORS_MAX][SIM_NAMES_MAX][2]
                            [2]; /* by holder and name; writes; waits */
};

enum phase {
    PHASE_IDLE, /* nothing, or an acquire on its way */
    PHASE_HOLDING,
    PHASE_LEAVING /* the last release is on its way */
};

/* An operation as its user sees it. */
struct errand {
    struct op op;
    struct actor *actor;
    uint64_t serial; /* 0: free */
    int is_enter;
    int cancelled;
    int64_t wait_us;      /* as it was asked for */
    uint32_t spoke;       /* check_host.c: nodes, by bit, that answered it */
    int64_t begun_us;     /* true time */
    int64_t end_us;       /* local time by which it must be over */
    uint64_t fence_floor; /* highest token completed before it began */
};

#define ERRANDS_MAX 2

/* A holder and what it is doing. */
struct actor {
    struct sim_client *client;
    int index;
    uint64_t holder;
    uint64_t serial; /* of its current event; others are void */
    enum phase phase;
    int name;  /* -1: none */
    int reads; /* it asks for the read side of a read/write lock; or permits */
    int64_t permits; /* how many of those */
    struct lock_entry *entry;
    struct errand errands[ERRANDS_MAX];
    int64_t depth; /* holds, as its user counts */
    uint64_t fence;
    int is_local; /* it was told that this is the machine's lock only */
    struct passed_ticket *ticket; /* that it uses; or NULL */
    int is_detached;              /* its hold may be detached */
    int is_spent;                 /* the ticket's hold was over before */
    int64_t left_us; /* true time: it let go of such a one; 0: never */
    int risk_told, lost_told;
    int is_kept;         /* by a watchdog, from the beginning */
    int64_t lease_us;    /* what it asked for; 0: it has changed that */
    int64_t cap_us;      /* local time by which it must be over; 0 none */
    int64_t feed_us;     /* it is renewed only while fed so often; 0 always */
    int64_t fed_us;      /* local time */
    uint64_t let_go;     /* the attempt that was released last */
    int done_since_heal; /* acquisitions in the quiet phase */

    int claims; /* check_exclusion.c: believes to hold */
    uint64_t claim_attempt;
    int64_t claim_valid_us;
    int64_t confirmed_us; /* true time: start of the last round that counted */
    int64_t granted_us;   /* and of the first */
    uint64_t dead_attempt;
    int64_t at_host_us[SIM_NAMES_MAX]; /* check_host.c: was last there; -1 */
    struct vote votes[SIM_NODES_MAX];
    uint64_t refused_attempt; /* check_ask.c: a renewal of it was refused */
    uint32_t refused_round;
    unsigned refused_by; /* nodes, by bit */
};

/* The last answer of a node that told the time; check_clock.c. */
struct heard {
    int64_t sent_us;    /* the client's clock when it asked */
    int64_t node_us;    /* 0: none has come */
    int64_t forward_us; /* as the packet has it */
    int64_t blind_us; /* true time of the last step that it did not show; -1 */
};

struct sim_client {
    struct sim *sim;
    int index;
    int alive;
    uint64_t serial; /* rises with every start */
    struct engine engine;
    struct host host;
    struct allocator alloc;
    int64_t allocations;  /* not yet freed */
    int64_t base_us, ppm; /* its clock */
    int64_t timer_us;     /* true time of its next timer event */
    uint64_t timer_serial;
    int64_t paused_until_us, deaf_until_us;
    struct lock_entry *entries[SIM_NAMES_MAX]; /* read/write: those to write */
    struct lock_entry *read_entries[SIM_NAMES_MAX];
    uint64_t passed_attempt[SIM_NAMES_MAX]; /* check_pass.c: handed over */
    uint64_t passed_fence[SIM_NAMES_MAX];
    struct actor actors[SIM_ACTORS_MAX];
    struct heard heard[SIM_NODES_MAX];
    int64_t partition_until_us[SIM_NODES_MAX];
    int64_t way_until_us[SIM_NODES_MAX][2]; /* to the client; to the node */
    int64_t broke_us[SIM_NODES_MAX]; /* its last short line to that node */
    struct query queries[QUERIES_MAX];
    int closing;                            /* nothing is begun any more */
    struct life *close_life[SIM_NODES_MAX]; /* check_close.c; or NULL */
    unsigned full; /* nodes, by bit, for which it had to drop releases */
};

/* What is known of one name's tokens; check_fence.c, check_guard.c. */
struct fence_book {
    uint64_t done_max; /* highest that was handed out */
    int64_t done_us;   /* when; true time */
    uint64_t *used;    /* a hash set */
    size_t size, len;
    uint64_t guard; /* the resource: highest it has seen */
};

struct sim {
    uint64_t seed;
    uint64_t random;
    uint64_t take_random; /* of FAULT_TAKE alone: without it a seed tells the
                           * story that it told before there was such */
    uint64_t host_random; /* of FAULT_FALL, for the same reason */
    uint64_t lose_random; /* and of FAULT_LOSE, */
    uint64_t even_random; /* and of FAULT_EVEN */
    uint64_t way_random;  /* and of FAULT_ONEWAY */
    uint64_t old_random;  /* and of FAULT_OLD */
    uint64_t freeze_random;
    uint64_t ask_random;
    uint64_t close_random;
    uint64_t ticket_random;
    uint64_t permit_random;
    uint64_t session_random;
    unsigned faults;
    int mutation; /* index into the table of mutants.c; 0 none */
    int trace;
    int nodes_wanted; /* 0: as many as the seed draws */
    int rw_wanted;    /* read/write locks in any case */
    int is_rw;        /* the locks are read/write locks, on one node */
    int is_permit;    /* they are semaphores, on one node */
    int is_session;   /* the one node has sessions */
    int ended;        /* the last look is over */
    int64_t now_us;   /* true time */
    int healed;       /* the faults are over */
    int64_t healed_us;
    int64_t settled_us; /* and the last late packet has arrived */
    int stopping;       /* nobody acquires any more */
    int64_t broke_us;   /* locks may have gone early: the last time */
    int64_t hidden_us;  /* and no reply may show it */
    int fences_excused;
    struct knobs k;
    struct event *queue;
    size_t queue_len, queue_room;
    uint64_t events, event_seq, serials;
    struct sim_node nodes[SIM_NODES_MAX];
    struct sim_client clients[SIM_CLIENTS_MAX];
    struct store *host; /* the locks of the machine that all clients are on */
    struct life *lives;
    struct packet *packets, *spare; /* all; not in use */
    struct fence_book books[SIM_NAMES_MAX];
    struct passed_ticket tickets[TICKETS_MAX];
    int64_t acquired, lost, refused_writes; /* for the summary */
    int64_t passed;
    int64_t deeds[DEEDS_LEN];
    char group[GROUP_MAX];
    char reason[SIM_REASON_MAX]; /* what was violated; "" nothing yet */
};

extern const char *const sim_names[SIM_NAMES_MAX];

/* sim_event.c */
uint64_t sim_random(struct sim *s);
int64_t sim_between(struct sim *s, int64_t least, int64_t most);
int sim_chance(struct sim *s, int permille);
int64_t sim_about(struct sim *s, int64_t mean_us);
uint64_t sim_take_random(struct sim *s, uint64_t below);
uint64_t sim_host_random(struct sim *s, uint64_t below);
uint64_t sim_lose_random(struct sim *s, uint64_t below);
uint64_t sim_even_random(struct sim *s, uint64_t below);
uint64_t sim_dice(uint64_t *dice, uint64_t below);
void sim_at(struct sim *s, int64_t at_us, event_fn fn, void *arg, uint64_t tag);
int sim_step(struct sim *s);
void sim_fail(struct sim *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_trace(const struct sim *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* sim_knobs.c */
void sim_draw(struct sim *s, unsigned allowed);
const char *sim_fault_name(int bit);
const char *sim_deed_name(int deed);
int64_t sim_quarantine_us(const struct sim *s);
int sim_faults_parse(const char *list, unsigned *out);

/* sim_world.c */
struct sim *sim_new(void);
void sim_delete(struct sim *s);
int sim_run(struct sim *s, uint64_t seed, unsigned allowed, int mutation);

/* sim_node.c */
int64_t node_clock(const struct sim *s, const struct sim_node *n);
int64_t node_left_us(const struct sim *s, const struct sim_node *n,
                     int64_t until_us);
int node_open(struct sim *s, int index);
void node_close(struct sim_node *n);
void node_receive(struct sim *s, struct packet *p);
void node_tell(struct sim *s, struct sim_node *n, int name, struct reply *rep);
void node_stop(struct sim *s, struct sim_node *n, int wipe);
void node_start(struct sim *s, struct sim_node *n);
void node_set_clock(struct sim *s, struct sim_node *n, int64_t step_us);
void node_flush(struct sim *s, struct sim_node *n);
void node_break(struct sim *s, struct sim_node *n, int name);
void node_evict(struct sim *s, struct sim_node *n, int name, enum deed deed);

/* sim_client.c */
void client_start(struct sim *s, struct sim_client *c);
void client_crash(struct sim *s, struct sim_client *c);
void client_stop(struct sim *s, struct sim_client *c);
void client_end(struct sim *s, struct sim_client *c);
void client_pause(struct sim *s, struct sim_client *c, int64_t length_us);
int client_is_paused(const struct sim_client *c);
int client_is_working(const struct sim_client *c);
int client_is_deaf(const struct sim_client *c);
int64_t client_clock(const struct sim_client *c);
int64_t client_true_us(const struct sim_client *c, int64_t local_us);
void client_enter(struct sim_client *c);
void client_settle(struct sim_client *c);
struct seat *actor_seat(const struct actor *a);

/* sim_errand.c */
struct errand *errand_make(struct actor *a, enum op_type type);
void errand_begin(struct errand *er);
void errand_maybe_cancel(struct errand *er);

/* sim_actor.c */
void actor_start(struct actor *a);
void actor_done(struct sim_client *c, struct op *op);
void actor_notice(struct sim_client *c, const struct hf_event *ev);
int actor_is_busy(const struct actor *a);

/* sim_plan.c */
void plan_draw(struct sim *s, struct op *op);
void plan_granted(struct actor *a, const struct op *op);
void plan_feed(struct actor *a);
void plan_over(struct actor *a);

/* sim_rw.c */
void rw_draw(struct sim *s, unsigned allowed);
int rw_open(struct sim *s, struct sim_client *c);
void rw_choose(struct actor *a);
void rw_order(struct sim *s, struct op *op);
int node_look(const struct sim *s, const struct sim_node *n,
              const struct request *req, struct store_view *out);
int actor_look(const struct actor *a, struct store_view *out);
int node_is_shared(const struct sim *s, const struct sim_node *n, int name);

/* sim_permit.c */
void shared_draw(struct sim *s, unsigned allowed);
void permit_draw(struct sim *s);
int permit_open(struct sim *s, struct sim_client *c);
void permit_plan(struct actor *a, struct op *op);
/* May several have a name at once? */
static inline int sim_shares(const struct sim *s)
{
    return s->is_rw || s->is_permit;
}
/* Plain locks with leases. */
static inline int sim_is_plain(const struct sim *s)
{
    return !sim_shares(s) && !s->is_session;
}
static inline int request_shares(const struct request *req)
{
    return request_is_rw(req) || req->kind == KIND_PERMIT;
}

/* sim_host.c */
int host_begin(struct sim *s);
void host_end(struct sim *s);
void host_lend(struct sim_client *c);
int64_t host_clock(const struct sim *s);

/* sim_nemesis.c */
void nemesis_start(struct sim *s);
void nemesis_stop(struct sim *s);

/* sim_close.c */
void close_draw(struct sim *s, unsigned allowed);
void close_start(struct sim *s);
void close_settled(struct sim_client *c);

/* sim_lose.c */
void lose_draw(struct sim *s, unsigned allowed);
void lose_start(struct sim *s);

/* sim_way.c */
void way_draw(struct sim *s, unsigned allowed);
void way_start(struct sim *s);
int64_t way_until_us(const struct sim_client *c, int node);

/* sim_freeze.c */
void freeze_draw(struct sim *s, unsigned allowed);
void freeze_start(struct sim *s);

/* mutants.c */
#define MODEL_MUT_SESSION_MOVED 1 /* an older connection is served */
#define MODEL_MUT_SESSION_SHORT 2 /* a session ends at a third of its time */
struct mutant {
    const char *name;
    int in_store; /* 0: in the core or engine */
    int which;
    int model; /* MODEL_MUT_*: in the simulator's own store, or 0 */
    const char *what;
};
extern const struct mutant mutants[];
extern const int mutants_len;
int mutant_find(const char *name);
int mutant_is_rw(int which); /* only worlds of read/write locks meet it */
void mutant_plant(struct sim *s);
int mutants_main(uint64_t seeds_max); /* how many were not found */
int amnesia_main(uint64_t seeds_max); /* 0 if it was found */

#include "sim/sim_check.h"
#include "sim/sim_net.h"

#endif
