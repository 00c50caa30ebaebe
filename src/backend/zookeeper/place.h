/*
 * place.h: a place: one attempt at a lock, its node in the queue, and the node
 * that it waits for.
 */
#ifndef HF_ZOOKEEPER_PLACE_H
#define HF_ZOOKEEPER_PLACE_H

#include "backend/zookeeper/call.h"
#include "backend/zookeeper/name.h"
#include "base/request.h"

struct backend_conn;
struct job;

enum place_state {
    PLACE_NEW,     /* no node yet: the queue is read first */
    PLACE_MAKING,  /* the node is being made */
    PLACE_DOUBT,   /* the link was lost meanwhile: there may be a node */
    PLACE_MADE,    /* there is a node; the queue is being read */
    PLACE_WAITING, /* behind `before`, which is watched */
    PLACE_FIRST,   /* it has the lock, even if its owner was not told yet */
    PLACE_LEAVING  /* the node is being deleted */
};

#define PLACE_INFO_MAX 160 /* bytes of what is told of the holder */
#define PLACE_NODE_MAX (NODE_PREFIX_MAX + 12)

struct place {
    struct place *next;
    enum place_state state;
    unsigned calls; /* number of calls under way for it */
    int is_dropped; /* freed when these are answered */
    int queues;     /* it stays in the queue if it is not the first */
    int leaves;     /* its node must be deleted once it is known */
    int is_looking; /* the queue is being read */
    int look_again;
    int tries;          /* number of tries to make the node */
    int32_t err;        /* why the lock's node could not be made; 0 */
    int is_watched;     /* the node itself is watched */
    struct job *job;    /* the waiting PROPOSE, or NULL */
    struct job *leaver; /* the waiting RELEASE, or NULL */
    uint64_t attempt;
    int64_t ballot; /* of the last proposal */
    int64_t czxid;  /* of the node: the fence */
    int64_t seq;
    int64_t ends_us; /* end of its lease, by the local clock; 0: not granted */
    int64_t since_ms;
    int32_t count;
    uint32_t hash; /* of `parent` */
    char owner[OWNER_LEN_MAX];
    char prefix[NODE_PREFIX_MAX];
    char node[PLACE_NODE_MAX]; /* "": not known */
    char *before;              /* the node that it waits for, or NULL */
    size_t name_len;
    char *name;    /* of the lock */
    char *info;    /* of the holder, as the proposal has it */
    char parent[]; /* path of the lock's node; name and info follow */
};

struct places {
    struct place **buckets;
    size_t size, len;
    int held;        /* number of places that hold a lock */
    int64_t ends_us; /* the earliest end of a lease, or earlier */
    int is_lost;     /* a held one was lost: the engine must be told */
};

struct place *hf__zookeeper_place_find(struct backend_conn *c,
                                       const struct request *req);
void hf__zookeeper_place_unref(struct backend_conn *c, struct place *p);

/* The requests.  The link is up. */
void hf__zookeeper_place_propose(struct backend_conn *c, struct job *job);
void hf__zookeeper_place_renew(struct backend_conn *c, struct job *job);
void hf__zookeeper_place_release(struct backend_conn *c, struct job *job);
/* The session covers the lease: grant the PROPOSE or the RENEW. */
void hf__zookeeper_place_proved(struct backend_conn *c, struct job *job);

/* Delete the node of a place. */
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
/* Give back the locks whose lease has ended. */
int hf__zookeeper_places_expire(struct backend_conn *c, int64_t now_us);
/* Tell the engine which holds were lost. */
void hf__zookeeper_places_tell(struct backend_conn *c);

/* ---- table.c ---- */
/* A new place for the request; NULL without memory. */
struct place *hf__zookeeper_place_make(struct backend_conn *c,
                                       const struct request *req);
void hf__zookeeper_place_drop(struct backend_conn *c, struct place *p);
/* The first place of a chain that has all places under this parent. */
struct place *hf__zookeeper_places_of(const struct backend_conn *c,
                                      const char *parent, size_t len);
/* The next place, in any order; `after` is NULL for the first.  It may be
 * dropped. */
struct place *hf__zookeeper_places_next(const struct backend_conn *c,
                                        size_t *bucket, struct place *after);
/* The path of the lock's node; valid until the next call. */
const char *hf__zookeeper_path(struct backend_conn *c, const char *name,
                               size_t len);
/* The path of the place's node. */
const char *hf__zookeeper_place_path(struct backend_conn *c,
                                     const struct place *p);

#endif
