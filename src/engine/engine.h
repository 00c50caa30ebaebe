/*
 * engine.h: everything that one client knows of its locks, holds and nodes.
 * The engine carries out what the core decides, and completes operations.
 *
 * It reads no clock, starts no thread and never sleeps: the time is given to
 * it, the backends talk to the servers, and the simulator drives it as the real
 * pump does (engine/pump.h).  One thread at a time uses it.
 *
 *   engine.c  the step, time, closing      ops.c     operations
 *   seats.c   holds and their steps        direct.c  operations without a hold
 *   locks.c   names, turns, wake-ups       values.c, guards.c, tallies.c
 *   handover.c    hand-over in the process     nodes.c   requests and replies
 *   recheck.c holds after a failover       again.c   requests to be repeated
 *   host.c    the lock of this host        heap.c    timers
 *   stats.h   what is counted
 *   voter.c, voter_text.c, clocks.c      which members of a quorum may vote
 */
#ifndef HF_ENGINE_H
#define HF_ENGINE_H

#include "backend/backend.h"
#include "core/hold.h"
#include "engine/heap.h"
#include "engine/nodes.h"
#include "holdfast/stats.h"

struct host;
struct lock_entry;
struct op;
struct seat;
struct seat_walk;
struct ticket;

#define FDS_MAX (4 * NODES_MAX + 2 * CLUSTER_NODES_MAX)

struct awaited_fd {
    int fd;
    unsigned events;
    struct node *node;
};

struct engine {
    const struct allocator *alloc;
    struct backend_conf backend_conf;
    struct hold_conf conf;
    unsigned caps;
    char uuid[37];
    char *info;          /* "<pid> <host> <label>" */
    int64_t lease_us;    /* default */
    int lease_given;     /* the default was chosen by the user */
    int64_t now_us;      /* of this step */
    int64_t answered_us; /* when a node last answered a request */
    int64_t sent_us;     /* when a request was last sent */
    int is_kept;         /* a keeper thread can listen for it */
    uint64_t random;
    struct node nodes[NODES_MAX];
    struct host *host; /* NULL: nothing stands in for the store */
    struct awaited_fd fds[FDS_MAX];
    int fds_len;
    unsigned fds_version; /* rises with every change */
    void (*fd_changed)(struct engine *e, int fd, unsigned events);
    void *owner; /* the pump */
    /* The time, which may be later than that of the step; or NULL. */
    int64_t (*clock)(void);

    struct lock_entry **table;
    size_t table_size, table_len;
    struct heap heap;    /* timers of holds */
    struct heap lingers; /* timers of entries */
    size_t seats_len;
    struct seat_walk *walks;            /* under way, the innermost first */
    size_t waiting;                     /* holds that wait to be woken */
    uint64_t chains;                    /* owners made for hand-over */
    struct request *spare;              /* requests to be used again */
    size_t requests_len;                /* requests allocated, spare or not */
    struct op *ready_head, *ready_tail; /* operations to be started */
    struct op *done_head, *done_tail;   /* operations to be completed */
    struct op *all;                     /* operations under way */
    int64_t pending_us; /* earliest end of a nap, of a caller's wait for a
                         * release, or of an operation that waits behind
                         * another one of its holder */
    size_t ops_len;
    size_t ops_async; /* number of them that have callbacks */
    int race_is_won;  /* an operation won its race: the others of that race are
                       * to be ended */
    struct seat *notice_head, *notice_tail;
    size_t inflight; /* requests with a backend */
    size_t pressing; /* number of them whose answer is awaited although no
                      * operation waits for it, as of renewals */
    int closing;

    char group[GROUP_MAX];  /* of a quorum */
    int64_t group_lease_us; /* longest lease of the group, as its markers say;
                             * 0: no marker has been read */
    int64_t group_lease_guess_us; /* assumed until then */
    int votes_wanted;  /* a lock was asked for, and not only looked at */
    int settle_told;   /* the log says that locks wait for a quarantine */
    int refusal_told;  /* the log says that this URL can have no quorum */
    int64_t linger_us; /* all nodes are waited for until then; 0: no majority
                        * has settled so far, -1: that time is over */
    void (*log)(struct engine *e, int level, const char *line);
    struct hf_stats stats; /* engine/stats.h */
};

int hf__engine_open(struct engine *e, int64_t now_us);
void hf__engine_begin(struct engine *e, struct op *op, int64_t now_us);
void hf__engine_fail(struct engine *e, struct op *op, int status,
                     int64_t now_us);
/* What is due at `now_us`. */
void hf__engine_tick(struct engine *e, int64_t now_us);
/* Start the operations that are ready. */
void hf__engine_drain(struct engine *e);
/* Let the backends send what was submitted to them. */
void hf__engine_flush(struct engine *e);
int64_t hf__engine_next_us(const struct engine *e);
int64_t hf__engine_lull_us(const struct engine *e);
struct op *hf__engine_take_done(struct engine *e);
int hf__engine_take_notice(struct engine *e, struct hf_event *out,
                           struct seat **about, int64_t now_us);
int hf__engine_wants_poll(const struct engine *e);
int hf__engine_is_to_listen(const struct engine *e);
int64_t hf__engine_listen_us(const struct engine *e);
/* The time by which a reply was heard.  The time of the engine's step is too
 * early if this thread was held up since. */
static inline int64_t hf__engine_heard_us(const struct engine *e)
{
    int64_t now_us = e->clock ? e->clock() : e->now_us;
    return now_us > e->now_us ? now_us : e->now_us;
}
/* The nodes' clock; 0 while it is not known. */
int64_t hf__engine_nodes_now(const struct engine *e);
uint64_t hf__engine_random(struct engine *e);
int hf__engine_detach(struct engine *e, struct seat *s, struct ticket *out,
                      int64_t now_us);
void hf__engine_shut(struct engine *e, int64_t now_us);
void hf__engine_close(struct engine *e);

#endif
