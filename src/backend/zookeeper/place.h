/*
 * place.h: an attempt at a lock: its node in the queue, and what it waits for.
 */
#ifndef HF_ZOOKEEPER_PLACE_H
#define HF_ZOOKEEPER_PLACE_H

#include "backend/zookeeper/call.h"
#include "backend/zookeeper/name.h"
#include "base/request.h"

struct backend_conn;
struct job;

enum place_state {
    PLACE_NEW,     /* nothing was written: the queue is looked at first */
    PLACE_MAKING,  /* the node is being made */
    PLACE_DOUBT,   /* the link was lost meanwhile: is there a node? */
    PLACE_MADE,    /* there is; the queue is being looked at */
    PLACE_WAITING, /* behind `before`, which is watched */
    PLACE_FIRST,   /* it has the lock, whether its owner knows that or not */
    PLACE_LEAVING  /* the node is being deleted */
};

#define PLACE_INFO_MAX 160 /* bytes of what is told of the holder */
#define PLACE_NODE_MAX (NODE_PREFIX_MAX + 12)

struct place {
    struct place *next;
    enum place_state state;
    unsigned calls; /* under way */
    int is_dropped; /* and freed when these are answered */
    int queues;     /* keeps its place, if it is not the first */
    int leaves;     /* to be deleted, as soon as its node is known */
    int is_looking; /* at the queue */
    int look_again;
    int tries;          /* to make the node */
    int32_t err;        /* why the lock's node could not be made; 0 */
    int is_watched;     /* the node itself */
    struct job *job;    /* the PROPOSE that waits; or NULL */
    struct job *leaver; /* the RELEASE that waits; or NULL */
    uint64_t attempt;
    int64_t ballot; /* of the last proposal */
    int64_t czxid;  /* of the node: the fence */
    int64_t seq;
    int64_t ends_us; /* of its lease, by the local clock; 0: not granted yet */
    int64_t since_ms;
    int32_t count;
    uint32_t hash; /* of `parent` */
    char owner[OWNER_LEN_MAX];
    char prefix[NODE_PREFIX_MAX];
    char node[PLACE_NODE_MAX]; /* "": not known */
    char *before;              /* the node that it waits for; or NULL */
    size_t name_len;
    char *name;    /* of the lock */
    char *info;    /* of the holder, as the proposal has it */
    char parent[]; /* the lock's node, a whole path; these are behind it */
};

struct places {
    struct place **buckets;
    size_t size, len;
    int held;        /* that were granted, and are not given back */
    int64_t ends_us; /* the earliest end of a lease, or earlier */
    int is_lost;     /* one that was held: the engine is to be told */
};

struct place *hf__zookeeper_place_find(struct backend_conn *c,
                                       const struct request *req);
void hf__zookeeper_place_unref(struct backend_conn *c, struct place *p);

/* The requests.  The link is up. */
void hf__zookeeper_place_propose(struct backend_conn *c, struct job *job);
void hf__zookeeper_place_renew(struct backend_conn *c, struct job *job);
void hf__zookeeper_place_release(struct backend_conn *c, struct job *job);
/* The session carries it: PROPOSE and RENEW are granted. */
void hf__zookeeper_place_proved(struct backend_conn *c, struct job *job);

/* Its node is to be deleted. */
void hf__zookeeper_place_leave(struct backend_conn *c, struct place *p);

/* A watch has fired. */
void hf__zookeeper_place_event(struct backend_conn *c, int32_t type,
                               const char *path, size_t len);

/* The link is lost; it is up again; the session is over. */
void hf__zookeeper_places_doubt(struct backend_conn *c);
void hf__zookeeper_places_look(struct backend_conn *c);
void hf__zookeeper_places_end(struct backend_conn *c);
void hf__zookeeper_places_free(struct backend_conn *c);

int64_t hf__zookeeper_places_due_us(const struct backend_conn *c);
/* Give back what has ended. */
int hf__zookeeper_places_expire(struct backend_conn *c, int64_t now_us);
/* Tell the engine what was lost. */
void hf__zookeeper_places_tell(struct backend_conn *c);

/* ---- table.c ---- */
/* A new one for the request.  NULL: no memory. */
struct place *hf__zookeeper_place_make(struct backend_conn *c,
                                       const struct request *req);
void hf__zookeeper_place_drop(struct backend_conn *c, struct place *p);
/* The first of a chain in which all of this parent are. */
struct place *hf__zookeeper_places_of(const struct backend_conn *c,
                                      const char *parent, size_t len);
/* The next one in any order, from NULL on; it may be dropped. */
struct place *hf__zookeeper_places_next(const struct backend_conn *c,
                                        size_t *bucket, struct place *after);
/* The lock's node, whole: lent until the next call. */
const char *hf__zookeeper_path(struct backend_conn *c, const char *name,
                               size_t len);
/* The place's own node, whole. */
const char *hf__zookeeper_place_path(struct backend_conn *c,
                                     const struct place *p);

#endif
