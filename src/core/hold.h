/*
 * hold.h: the machine that gets, keeps and gives back one lock for one holder.
 *
 * Pure: an event and the time go in, effects come out.  It knows N nodes and a
 * quorum; one server is a quorum of one.  The caller (engine.c, the simulator)
 * carries the effects out in the order of struct hold_out and calls again.
 */
#ifndef HF_CORE_HOLD_H
#define HF_CORE_HOLD_H

#include "base/request.h"
#include "base/ticket.h"
#include "core/backoff.h"
#include "core/ballot.h"

enum hold_state {
    HOLD_IDLE,      /* made, nothing asked yet */
    HOLD_IN_LINE,   /* waits for its turn in this process, or for the clocks */
    HOLD_TRYING,    /* a number is proposed, or a ticket is being checked */
    HOLD_WAITING,   /* for another holder, or a pause before the next try */
    HOLD_HELD,      /* until valid_us */
    HOLD_LOST,      /* it was held; the holder is told, and must release */
    HOLD_RELEASING, /* released; the nodes are being told */
    HOLD_DONE,      /* over; the hold may be freed */
    HOLD_NSTATES
};

/* What the user waits for.  One at a time. */
enum wish {
    WISH_NONE,
    WISH_ACQUIRE,
    WISH_ATTACH,
    WISH_ENTER, /* the holder acquires once more */
    WISH_LEAVE, /* the holder releases once, and still holds it */
    WISH_EXTEND,
    WISH_RELEASE
};

enum hold_event_type {
    EV_ACQUIRE, /* flags, wait_us, lease_us */
    EV_ATTACH,  /* attempt, fence, lease_us: a detached hold, to be checked */
    EV_ENTER,   /* flags, lease_us: the holder acquires once more */
    EV_EXTEND,  /* lease_us, 0 as it was */
    EV_RELEASE,
    EV_FORGET,  /* detached: over, without a release */
    EV_READY,   /* the clocks are known; it still waits for its turn.  With
                 * HOLD_BLIND: settle_us is known, and not yet come */
    EV_TURN,    /* it may contend now */
    EV_BACK,    /* WAITING: another hold of this process waits for the lock
                 * already; this one queues again */
    EV_REPLY,   /* op, round, node, reply */
    EV_WATCHED, /* wake-ups will come (HF_OK) or not (status) */
    EV_WAKE,    /* the lock was released, or may have been */
    EV_RENEW,   /* renew now, somewhat early, with others of the batch */
    EV_CHECK,   /* after a failover: renew now, if the watchdog keeps it */
    EV_FOUND,   /* an inspection sent at `since_us` found it, with `lease_us`
                 * left */
    EV_GONE,    /* an inspection did not find it: lost, with `status` */
    EV_HANDED,  /* the store gave it to this hold, which queued there: attempt
                 * and number by which it did, fence; lease_us: how long
                 * it is given, which may be less than its lease */
    EV_FEED,    /* the program says that its work is alive */
    EV_YIELD,   /* released, and handed to another holder of this process:
                 * over, without a request */
    EV_INHERIT, /* handed over by `from`: held, with token `fence` */
    EV_STEP,    /* the clock of `node` was set forward: locks may have gone
                 * there; what it said to a round begun after `since_us`
                 * still counts */
    EV_FAIL,    /* end what the user waits for with `status` */
    EV_TIMER    /* hf__hold_due() has come */
};

#define HOLD_KEEP 1u   /* the watchdog renews it */
#define HOLD_SHARED 2u /* several holders may have it at once */
#define HOLD_DETACHED 4u
#define HOLD_ETERNAL 8u  /* the store ends it with the process, never before */
#define HOLD_MAY_TRY 16u /* EV_ACQUIRE: no need to wait for a turn */
#define HOLD_BLIND 32u   /* EV_ACQUIRE: queued because no clock is known yet */
/* The lease is a default: it may be shortened to what the nodes allow. */
#define HOLD_LEASE_ANY 128u
#define HOLD_QUEUES 256u  /* the store keeps a place in its queue for it */
#define HOLD_WRITERS 512u /* readers queue behind writers */
#define HOLD_UPGRADE 1024u
#define HOLD_ONCE 2048u /* a latch, a barrier: over when it is granted */
#define HOLD_MANY                                                              \
    4096u                /* one process may have several holds of the name, and
                         * gets them one after the other */
#define HOLD_LOOKS 8192u /* asking changes nothing: there is no release */
#define HOLD_ONE_TRY                                                           \
    64u /* EV_ACQUIRE: over when another holder has it; wait_us is only for a
         * store that does not answer */

/* What an acquire may ask for beyond lease and wait; 0: not asked for.  Whole
 * milliseconds, as the user gives them. */
struct hold_plan {
    int64_t renew_us;    /* period; 0: a third of the lease */
    int64_t max_hold_us; /* from the grant's round to the end */
    int64_t feed_us;     /* renewed only if fed within this time */
    struct hold_backoff backoff;
};

struct hold_event {
    enum hold_event_type type;
    int64_t now_us;       /* local clock */
    int64_t nodes_now_us; /* estimate of the nodes' clock */
    uint64_t random;      /* for jitter */
    unsigned flags;       /* HOLD_* */
    int64_t wait_us;      /* < 0 for ever, 0 one try; TURN, WAKE: how long
                           * to let other processes go first */
    int64_t lease_us;
    uint64_t attempt;
    int64_t number;
    int64_t fence;
    int status;
    enum verb verb;
    uint32_t round;
    int node;
    const struct reply *reply;
    int repeated; /* REPLY: an earlier copy may have been carried out */
    const struct hold_plan *plan; /* ACQUIRE: borrowed until it is finished;
                                   * ENTER: for the call; NULL: nothing */
    const struct hold *from;      /* INHERIT */
    int64_t since_us;             /* STEP, FOUND */
};

/* What all holds of a client share. */
struct hold_conf {
    int nodes;
    int quorum;
    unsigned request_flags; /* REQ_SERVER_FENCE with one node */
    int64_t drift_ppm;
    int64_t window_us;
    int64_t timeout_us;  /* for one answer */
    int64_t patience_us; /* without any answer */
    int is_patient;      /* an acquire waits for a silent store for ever */
    int64_t rtt_us;      /* the slowest of recent round trips */
    uint64_t attempts;   /* the last attempt of this client */
    unsigned char ticket_seed[TICKET_SEED_LEN]; /* for secrets of tickets */
    int64_t handover;    /* hand-overs in a row within the process */
    int64_t handover_us; /* for how long hand-overs may go on */

    /* Several nodes; the engine keeps these up to date. */
    uint32_t unsettled;   /* may not vote, by bit */
    uint32_t down;        /* cannot be reached, by bit */
    int64_t settle_us;    /* by then a quorum will be settled; 0 unknown */
    int64_t lease_max_us; /* no lease may be longer; 0 unknown */
};

/* Ordered for size: a process may have 100,000 of them. */
struct hold {
    struct hold_conf *conf; /* borrowed */
    struct ballot *ballot;  /* borrowed; of this lock */
    uint16_t flags;         /* HOLD_*, of those that last */
    uint8_t state;          /* enum hold_state */
    uint8_t wish;           /* enum wish */
    uint32_t round;         /* of proposals and renewals */
    uint32_t grant_round;   /* HELD: the one that got it */
    uint32_t max_hold_ms;   /* HELD: as planned; 0: no cap */
    uint64_t attempt;       /* fresh for every attempt; a waiter in the store's
                           * queue keeps it, because it names its place there */
    uint64_t secret; /* DETACHED: for its ticket; `attempt` is its hash */
    int64_t number;  /* T of this attempt */
    int64_t fence;
    int64_t lease_us;
    int64_t doubt_lease_us; /* the shortest of renewals that may yet arrive */
    int64_t longest_us;     /* the longest lease that was ever asked for */

    int64_t round_start_us;
    int64_t round_lease_us; /* what this round asks for */
    uint16_t granted;       /* nodes, by bit, in this round */
    uint16_t refused;       /* surely not granted */
    uint16_t heard;         /* answered at all */
    uint16_t doubtful;      /* may have been granted */
    uint16_t confirmed;     /* nodes that are known to have this hold */
    uint16_t backing;       /* confirmed nodes that valid_us rests on */
    uint16_t joining;       /* granted while a round was open: confirmed when
                             * the next one begins */
    uint16_t earlier;       /* may have granted this attempt under a lower T */
    uint16_t gone;          /* renewal: no lock there */
    uint16_t taken;         /* renewal: another owner there */
    uint16_t healed;        /* renewal: has this hold, was not yet confirmed */
    uint16_t barred;        /* proposal: refused, and would be again */
    unsigned round_open : 1;
    unsigned round_renews : 1;
    unsigned round_won : 1;
    unsigned busy : 1;    /* this round: another holder has it */
    unsigned silent : 1;  /* this round: its release will wake no waiter */
    unsigned stale : 1;   /* this round: the proposed number was too low */
    unsigned woken : 1;   /* a wake-up came during a try */
    unsigned watched : 1; /* wake-ups come */
    unsigned watch_asked : 1;
    unsigned answered : 1;  /* a quorum answered during this op */
    unsigned outwaited : 1; /* it was in line for nearly all of its
                             * wait, and no node has failed since */
    unsigned at_risk : 1;
    unsigned one_try : 1;   /* the user does not wait for the holder */
    unsigned hasty : 1;     /* the user waits for the store no longer than for
                             * one patience */
    unsigned starved : 1;   /* not renewed until it is fed */
    unsigned shaken : 1;    /* clocks were set: too few are sure to have it */
    unsigned timed_out : 1; /* lost because its time was over */
    unsigned nomem : 1;     /* this round: without memory to ask every node */
    unsigned late : 1;      /* it was granted, and nearly over by then */
    unsigned crowded : 1;   /* others of this process are in line, or were */
    unsigned placed : 1;    /* it may have a place in the store's queue, or have
                             * been granted too late */
    unsigned unsure : 1;    /* an unanswered proposal may yet arrive */
    unsigned reballots : 2; /* of this attempt: at most REBALLOTS_MAX */
    uint16_t block;         /* tokens asked for beyond the first */
    uint16_t reserve;       /* tokens that are left for hand-overs */
    uint16_t pauses;        /* tries in vain, for the back-off */
    int8_t fail_status;     /* the last refusal, for UNAVAILABLE and the like */
    int8_t lost_status;     /* HF_EXPIRED or HF_LOST */
    int32_t count;          /* as the nodes know it once the round is over */

    int64_t op_deadline_us; /* end of the user's wait */
    int64_t valid_us;
    union {
        struct {                  /* IN_LINE, TRYING, WAITING */
            int64_t answer_by_us; /* patience ends; TIME_NEVER: nothing is
                                     * asked */
            union {
                int64_t in_line_us;     /* IN_LINE: since then */
                int64_t pause_until_us; /* WAITING: try again then */
            };
            int64_t busy_ttl_us;  /* left of the holder's lease; -1 unknown */
            int64_t busy_poll_us; /* in the store's queue: when to ask; 0 */
            const struct hold_plan *plan; /* borrowed from the acquire */
        };
        struct {                 /* HELD and after; hf__keep_begin() */
            int64_t renew_at_us; /* TIME_NEVER: no watchdog */
            int64_t cap_us;      /* longest valid_us; TIME_NEVER: no cap */
            int64_t fed_us;      /* when it was last fed */
            int64_t chain_us;    /* when the first holder was granted it */
            uint32_t renew_ms;   /* 0: every third of the lease */
            uint32_t feed_ms;    /* 0: it needs no feeding */
        };
    };
};

struct hold_send {
    enum verb verb;
    uint32_t nodes; /* to these, by bit */
    uint32_t round;
    uint64_t attempt;
    int64_t ballot;
    int64_t block; /* PROPOSE: tokens beyond the first */
    int64_t fence; /* RENEW: the token that is renewed; 0: not compared */
    int64_t count;
    int64_t lease_us;
    int64_t deadline_us;
    int64_t wanted_us; /* PROPOSE: end of the user's wait */
    int64_t until_us;
};

#define HOLD_SENDS_MAX 3

/* Effects, in this order: send, watch, then tell the user. */
struct hold_out {
    struct hold_send send[HOLD_SENDS_MAX];
    int sends;
    int watch;    /* 1: wake-ups are wanted */
    int finished; /* the user's operation is over: `status` */
    int status;
    int notice;      /* enum hf_state: tell the holder; 0: nothing */
    int risk_untold; /* tell AT_RISK first: it was not told in time */
};

void hf__hold_init(struct hold *h, struct hold_conf *conf,
                   struct ballot *ballot);

/* One step.  `out` is cleared first. */
void hf__hold_step(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out);

/* When EV_TIMER is wanted; TIME_NEVER if not. */
int64_t hf__hold_due(const struct hold *h);

/* The user's view at `now_us`: enum hf_state. */
int hf__hold_view(const struct hold *h, int64_t now_us);

/* Why the holder is told `state`: a status. */
int hf__hold_why(const struct hold *h, int state);

/* The sentence for it, if the hold knows more than the status says; or NULL. */
const char *hf__hold_cause(const struct hold *h, int state);

/* When it turns AT_RISK unless it is renewed. */
int64_t hf__hold_risk_us(const struct hold *h);

/* HELD: from one renewal to the next. */
int64_t hf__hold_period_us(const struct hold *h);

/* Is it held and renewed by the watchdog, with no operation or round under
 * way? */
int hf__hold_is_renewable(const struct hold *h);

/* How often this hold has been handed over. */
int64_t hf__hold_passes(const struct hold *h);

/* May `from`, on being released, be handed to `to`?  Then EV_INHERIT for `to`
 * and EV_YIELD for `from`, with no time between them. */
int hf__hold_may_pass(const struct hold *from, const struct hold *to,
                      int64_t now_us);

/* Is a release that got `reply` to be repeated? */
int hf__release_is_open(const struct reply *reply);

#endif
