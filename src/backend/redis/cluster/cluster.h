/*
 * cluster.h: what the files of the redis-cluster backend share.
 *
 * A cluster is a set of redis connections, one per node that is used.  Every
 * request goes to the node that serves its slot; one that the server redirects
 * (MOVED, ASK) is submitted to the other node without the engine noticing.
 * Requests that have no node yet wait in `waiting`, until their deadline.
 */
#ifndef HF_CLUSTER_H
#define HF_CLUSTER_H

#include "backend/redis/inner/inner.h"
#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/owner.h"
#include "backend/redis/cluster/hash_slot.h"

#define CLUSTER_SEEDS_MAX 64
#define REDIRECTS_MAX 8                   /* of one request */
#define STAGGER_US (250 * US_PER_MS)      /* before the next seed is tried */
#define ASK_US (500 * US_PER_MS)          /* one node's time to tell the map */
#define REFRESH_US_MIN (100 * US_PER_MS)  /* between two questions */
#define REFRESH_US_DOWN (250 * US_PER_MS) /* while a master is down */
#define SILENT_US (250 * US_PER_MS)  /* owing an answer this long is silence */
#define LEAVE_US (5 * US_PER_S)      /* an idle node without slots is kept */
#define REWATCH_US (250 * US_PER_MS) /* a watch that was lost is tried again */

/* request.priv while it is with us: how often it was redirected, which master
 * of a list it is for, and PRIV_ASKING. */
#define PRIV_COUNT 0xffu
#define PRIV_LIST_SHIFT 8

enum pubsub {
    PUBSUB_AUTO,    /* sharded where the servers can, as Redisson does */
    PUBSUB_CLASSIC, /* PUBLISH: every node hears of it */
    PUBSUB_SHARDED, /* SPUBLISH: those of the slot do */
    PUBSUB_BOTH     /* each message both ways, where the servers can */
};

struct cluster_node {
    struct inner inner; /* first */
    char *host;
    int port;
    int index;        /* in cluster.nodes */
    int is_open;      /* it is in the set */
    int is_up;        /* its link is */
    int has_failed;   /* since it was last up */
    int slots;        /* number that it serves */
    int slots_before; /* by the last map */
    int open;         /* requests it has */
    int64_t asked_us; /* when it was last used because of ASK */
};

/* A watched name, and where it is subscribed. */
struct cluster_watch {
    struct request own; /* first: VERB_WATCH, as often as it takes */
    struct cluster_watch *next;
    struct request *asked;   /* the engine's, unanswered */
    struct cluster_node *at; /* subscribed there */
    int is_flying;           /* `own` is under way, or waits */
    int is_gone;             /* to be ended once `own` is answered */
    int is_lost;             /* to be tried again */
    enum lock_kind kind;
    unsigned flags; /* REQ_QUEUE, if a request had that */
    size_t name_len;
    char name[];
};

struct cluster_seed {
    char *host;
    int port;
};

struct cluster {
    struct inner_set inners;
    struct backend_env *env;
    struct url url;           /* the user's, for its password and options */
    struct backend_conf conf; /* of every node's connection but the first */
    struct backend node;      /* the redis backend, within the bounds */
    struct bounds bounds;     /* which nodes may be named to us */
    unsigned caps;
    enum pubsub pubsub;
    int is_sharded;
    int is_closing;

    struct cluster_seed seeds[CLUSTER_SEEDS_MAX];
    int seeds_len;
    int seed_next;      /* rotates, from a random one */
    int seeds_left;     /* not yet tried in this round */
    int64_t stagger_us; /* when the next of them is */

    struct cluster_node *nodes[CLUSTER_NODES_MAX]; /* with holes */
    int nodes_len;
    uint16_t slots[HASH_SLOTS]; /* index of its node, or HASH_SLOT_NONE */
    int has_map;

    struct cluster_node *asking; /* the node that was asked for the map */
    int64_t ask_due_us;          /* when another node is asked instead */
    int64_t asked_us;            /* when a node was last asked */
    int64_t refresh_us;          /* when to ask again */
    int64_t look_us;             /* when to look for silent masters */
    int ask_from;                /* candidates rotate */
    unsigned failures;           /* rounds of all seeds, without a map */
    struct hf_error err;         /* why there is no map */

    struct request_list waiting; /* no node yet */
    struct request_list answers; /* to be answered outside of submit(); priv is
                                  * the verdict */
    int64_t waiting_us;          /* the earliest deadline of them */

    struct cluster_watch **watches;
    size_t watches_size, watches_len;
    int64_t rewatch_us;
};

static inline struct cluster *cluster_of(const struct inner *n)
{
    return (struct cluster *)n->inners; /* its first member */
}

/* 1 if the request belongs to a watch, and not to the engine. */
static inline int is_own(const struct request *req)
{
    return req->priv_ptr != NULL;
}

static inline int64_t cluster_now(const struct cluster *c)
{
    return c->env->now(c->env);
}

/* ---- cluster.c: the table, the URL ---- */
/* Set the timer to what comes next. */
void hf__redis_cluster_plan(struct cluster *c);

/* ---- cluster/nodes.c: the nodes ---- */
/* The node at this address, made if it is new; NULL: no memory, or too many. */
struct cluster_node *hf__redis_cluster_node(struct cluster *c, const char *host,
                                            int port);
/* The backend of every node. */
void hf__redis_cluster_node_kind(struct backend *node);
/* Open its connection if it has none.  HF_OK, or why not. */
int hf__redis_cluster_connect(struct cluster *c, struct cluster_node *n,
                              struct hf_error *err);
/* Drop a node: it serves nothing any more. */
void hf__redis_cluster_drop(struct cluster *c, struct cluster_node *n);
void hf__redis_cluster_dropped(struct inner *inner);
struct cluster_node *hf__redis_cluster_owner(const struct cluster *c,
                                             uint16_t slot);
void hf__redis_cluster_assign(struct cluster *c, uint16_t slot,
                              struct cluster_node *n);
/* Drop what has nothing to do any more. */
void hf__redis_cluster_tidy(struct cluster *c);
/* The i-th master, by its lowest slot; `count` is how many there are. */
struct cluster_node *hf__redis_cluster_master(const struct cluster *c, int i,
                                              int *count);

/* ---- cluster/silence.c: masters that do not answer ---- */
/* A node was sent a request: check after a while whether it has answered. */
void hf__redis_cluster_silence_begin(struct cluster *c);
void hf__redis_cluster_silence_tick(struct cluster *c);
int hf__redis_cluster_is_silent(const struct cluster_node *n);

/* ---- cluster/map.c: which node serves what ---- */
void hf__redis_cluster_map_begin(struct cluster *c);
/* The map may be out of date. */
void hf__redis_cluster_map_refresh(struct cluster *c);
void hf__redis_cluster_map_link(struct inner *inner, int up, int64_t node_us,
                                const struct hf_error *err);
void hf__redis_cluster_map_told(struct backend_conn *conn,
                                enum flight_kind kind, const struct resp *v);
/* Do what is due. */
void hf__redis_cluster_map_tick(struct cluster *c);

/* ---- cluster/route.c: requests there and back ---- */
void hf__redis_cluster_route(struct cluster *c, struct request *req);
/* Outside of submit(): route all that waits; what no node serves is told. */
void hf__redis_cluster_route_waiting(struct cluster *c);
void hf__redis_cluster_route_reply(struct inner *inner, struct request *req,
                                   const struct reply *reply);
int hf__redis_cluster_route_refused(struct backend_conn *conn,
                                    struct request *req, const struct resp *v);
/* Answer it now, or soon (submit() may be running). */
void hf__redis_cluster_route_answer(struct cluster *c, struct request *req,
                                    enum verdict verdict, int status,
                                    const char *text);
void hf__redis_cluster_route_answer_soon(struct cluster *c, struct request *req,
                                         enum verdict verdict);
void hf__redis_cluster_route_answers(struct cluster *c);
/* Answer what waits: all of it, or what is late. */
void hf__redis_cluster_route_fail(struct cluster *c, int status,
                                  const char *text);
void hf__redis_cluster_route_expire(struct cluster *c);
/* Remove a request from those that wait; 0 if it is not among them. */
int hf__redis_cluster_route_unwait(struct cluster *c, struct request *req);

/* ---- cluster/undo.c: releases of what was never sent ---- */
/* 1 if the proposal of this release had not been sent: both will be answered
 * without sending them. */
int hf__redis_cluster_undo(struct cluster *c, struct request *release);

/* ---- cluster/list.c: one list over all masters, and their facts ---- */
/* The master that has this page; the cursor becomes that master's own.  NULL if
 * there are fewer masters than the cursor names. */
struct cluster_node *hf__redis_cluster_list_node(struct cluster *c,
                                                 struct request *req);
void hf__redis_cluster_list_replied(struct cluster *c, struct request *req,
                                    const struct reply *told);
/* Restore the cursor as it came: the request may be repeated. */
void hf__redis_cluster_list_restore(struct request *req);
/* The master whose facts are asked for: the cursor is its number.  NULL if
 * there are fewer masters. */
struct cluster_node *hf__redis_cluster_facts_node(struct cluster *c,
                                                  const struct request *req);
void hf__redis_cluster_facts_replied(struct cluster *c, struct request *req,
                                     const struct reply *told);

/* ---- cluster/watch.c: watched names ---- */
void hf__redis_cluster_watch_begin(struct cluster *c, struct request *req);
void hf__redis_cluster_watch_end(struct cluster *c, struct request *req);
/* The reply to a watch's own request. */
void hf__redis_cluster_watch_replied(struct cluster *c, struct cluster_node *n,
                                     struct request *own,
                                     const struct reply *reply);
/* The reply to its VERB_UNWATCH. */
void hf__redis_cluster_watch_ended(struct cluster *c, struct request *own);
void hf__redis_cluster_watch_unwatched(struct backend_conn *conn,
                                       enum lock_kind kind, const char *name,
                                       size_t name_len);
/* The node is dropped: its watches move to others. */
void hf__redis_cluster_watch_leave(struct cluster *c,
                                   const struct cluster_node *n);
void hf__redis_cluster_watch_tick(struct cluster *c);
void hf__redis_cluster_watch_free(struct cluster *c);

#endif
