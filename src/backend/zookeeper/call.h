/*
 * call.h: what the server is asked, and its answers, in the same order.
 */
#ifndef HF_ZOOKEEPER_CALL_H
#define HF_ZOOKEEPER_CALL_H

#include "backend/zookeeper/jute.h"

struct backend_conn;
struct cell_watch;
struct job;
struct place;
struct sql_job;

enum zk_op {
    ZK_CREATE = 1,
    ZK_DELETE = 2,
    ZK_EXISTS = 3,
    ZK_GET_DATA = 4,
    ZK_SET_DATA = 5,
    ZK_SYNC = 9,
    ZK_PING = 11,
    ZK_GET_CHILDREN = 12, /* with what is told of the node */
    ZK_MULTI = 14,
    ZK_CREATE_2 = 15,
    ZK_CREATE_CONTAINER = 19,
    ZK_AUTH = 100,
    ZK_CLOSE = -11
};

/* Numbers that are no call's. */
#define ZK_XID_WATCH (-1)
#define ZK_XID_PING (-2)
#define ZK_XID_AUTH (-4)

/* How a node is made. */
#define ZK_PERSISTENT 0
#define ZK_EPHEMERAL 1
#define ZK_EPHEMERAL_SEQUENTIAL 3
#define ZK_CONTAINER 4

enum zk_error {
    ZK_OK = 0,
    ZK_INCONSISTENT = -2, /* of a multi: another part of it has failed */
    ZK_UNIMPLEMENTED = -6,
    ZK_NO_NODE = -101,
    ZK_NO_AUTH = -102,
    ZK_BAD_VERSION = -103,
    ZK_NO_CHILDREN = -108, /* the parent is ephemeral */
    ZK_NODE_EXISTS = -110,
    ZK_NOT_EMPTY = -111,
    ZK_SESSION_EXPIRED = -112,
    ZK_INVALID_ACL = -114,
    ZK_AUTH_FAILED = -115,
    ZK_SESSION_MOVED = -118,
    ZK_QUOTA = -125,
    ZK_THROTTLED = -127
};

enum zk_event { ZK_NODE_CREATED = 1, ZK_NODE_DELETED = 2, ZK_DATA_CHANGED = 3 };

struct answer {
    int32_t err;
    struct jute_in body; /* if err is 0 */
};

struct call;
typedef void (*answer_fn)(struct backend_conn *c, const struct call *call,
                          struct answer *a);

/* Told when it is answered; never, if the link is lost before. */
struct call {
    struct call *next;
    int32_t xid;
    int64_t sent_us;
    answer_fn done;
    struct job *job;     /* may be NULL, as may this: */
    struct place *place; /* which stays until then */
    struct sql_job *cell;
    struct cell_watch *watch;
};

struct calls {
    struct call *first, **last;
    struct call *spare;
    int32_t xid; /* of the last one */
};

/* Begin a call; what follows its head is put into the result, and `end` sends
 * it.  Without memory the link is given up, and the call with it. */
struct jute_out *hf__zookeeper_call_begin(struct backend_conn *c,
                                          enum zk_op op);
void hf__zookeeper_call_end(struct backend_conn *c, answer_fn done,
                            struct job *job, struct place *place);
/* The same for the job of a cell, or for a watch; either may be NULL. */
void hf__zookeeper_call_end_for(struct backend_conn *c, answer_fn done,
                                struct sql_job *cell, struct cell_watch *watch);
/* The rights to a node that is made. */
void hf__zookeeper_acl_put(const struct backend_conn *c, struct jute_out *o);

/* The calls themselves.  Paths are whole. */
void hf__zookeeper_create(struct backend_conn *c, enum zk_op op,
                          const char *path, const char *data, int flags,
                          answer_fn done, struct job *job, struct place *place);
void hf__zookeeper_delete(struct backend_conn *c, const char *path,
                          answer_fn done, struct job *job, struct place *place);
/* EXISTS, GET_DATA, GET_CHILDREN. */
void hf__zookeeper_read(struct backend_conn *c, enum zk_op op, const char *path,
                        int watches, answer_fn done, struct job *job,
                        struct place *place);
void hf__zookeeper_set(struct backend_conn *c, const char *path,
                       const char *data, answer_fn done, struct job *job,
                       struct place *place);
void hf__zookeeper_sync(struct backend_conn *c, const char *path,
                        answer_fn done, struct job *job);
void hf__zookeeper_auth(struct backend_conn *c, answer_fn done);
void hf__zookeeper_ping(struct backend_conn *c);
void hf__zookeeper_close(struct backend_conn *c);

/* A frame from the server, without its length.  0, or -1: it is nonsense. */
int hf__zookeeper_frame_take(struct backend_conn *c, struct jute_in in);

/* Forget what is under way, or free everything. */
void hf__zookeeper_calls_drop(struct backend_conn *c);
void hf__zookeeper_calls_free(struct backend_conn *c);

/* What an error means, as a sentence, and the status for it. */
int hf__zookeeper_error(int32_t err, const char **text);

#endif
