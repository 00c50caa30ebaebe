/*
 * call.h: calls of etcd's methods: each is one stream of HTTP/2.
 */
#ifndef HF_ETCD_CALL_H
#define HF_ETCD_CALL_H

#include <nghttp2/nghttp2.h>

#include "backend/etcd/frame.h"
#include "base/request.h"
#include "etcd.pb-c.h"

struct backend_conn;
struct lease;
struct link;
struct sql_job;
struct adopted;

enum call_kind {
    CALL_AUTH,
    CALL_GRANT,
    CALL_ALIVE, /* a keep-alive */
    CALL_GEN,   /* the put of the client's generation */
    CALL_PROPOSE,
    CALL_RENEW, /* a look at the keys of many holds */
    CALL_ATTACH,
    CALL_TAKEN, /* has another holder got it? */
    CALL_RELEASE,
    CALL_INSPECT,
    CALL_TTL,
    CALL_BREAK,
    CALL_LIST,
    CALL_FACTS, /* any read: does it answer? */
    CALL_WATCH,
    CALL_ADOPT,       /* finds the key of a ticket, */
    CALL_ADOPT_LEFT,  /* what is left of its lease, */
    CALL_ADOPT_END,   /* and deletes it */
    CALL_CLOCK_LOOK,  /* reads its key */
    CALL_CLOCK_LEFT,  /* what is left of its lease */
    CALL_CLOCK_GRANT, /* a new one, */
    CALL_CLOCK_MAKE,  /* and its key */
    CALL_CELL_READ,
    CALL_CELL_SWAP,
    CALL_CELL_USE,   /* is it in use? */
    CALL_CELL_UNUSE, /* it is not */
    CALL_KINDS
};

/* call.status beyond those of gRPC */
#define CALL_OPEN (-1)  /* no answer yet */
#define CALL_BROKEN 100 /* the stream ended without a status */

#define GRPC_OK 0
#define GRPC_INVALID 3
#define GRPC_NOT_FOUND 5
#define GRPC_DENIED 7
#define GRPC_EXHAUSTED 8
#define GRPC_UNSUPPORTED 12
#define GRPC_OUT_OF_RANGE 11
#define GRPC_UNKNOWN_TOKEN 16

struct call {
    struct call *next;
    enum call_kind kind;
    int32_t stream;
    struct bytes out;
    size_t out_done;
    int stays;   /* WATCH: more may be said */
    int is_over; /* the stream is closed */
    struct frames in;
    int status;
    char message[160];
    int64_t sent_us;
    int64_t due_us;
    uint64_t seq;        /* when it was sent */
    struct request *req; /* RENEW: the first of a list */
    struct lease *lease;
    struct hf_info *info;    /* TTL, BREAK: what is known already */
    struct sql_job *job;     /* CELL_READ, CELL_SWAP */
    struct adopted *adopted; /* ADOPT_LEFT */
    int64_t fence;           /* TTL: the holder's; ADOPT_END: it was over */
    int64_t lease_ms;        /* TTL: of its hold; 0: not known */
};

/* ---- call.c ---- */
/* Begin the session on a link that is connected.  0, or -1: no memory. */
int hf__etcd_session_begin(struct link *l);
/* Forget it, and all calls, without an answer. */
void hf__etcd_session_end(struct link *l);

/* Send it.  NULL: no memory, and the link is to be failed. */
struct call *hf__etcd_call(struct link *l, enum call_kind kind,
                           const ProtobufCMessage *message, struct request *req,
                           int64_t due_us);
/* One more message of a call that stays.  0, or -1: no memory. */
int hf__etcd_call_more(struct link *l, struct call *call,
                       const ProtobufCMessage *message);

/* Bytes that came.  0, or -1: it is no HTTP/2. */
int hf__etcd_session_feed(struct link *l, const char *data, size_t len);
/* The next bytes to be sent, 0: none, -1: no memory. */
ssize_t hf__etcd_session_take(struct link *l, const unsigned char **out);
/* A call that is over is taken from the list; NULL: none is. */
struct call *hf__etcd_call_over(struct link *l);
void hf__etcd_call_free(struct link *l, struct call *call);

/* ---- answer.c ---- */
/* Deal with all that has come.  Returns whether anything had. */
int hf__etcd_answers(struct link *l);

/* A message from bytes; NULL: it is none.  To be freed by
 * hf__etcd_message_free(). */
ProtobufCMessage *hf__etcd_message(const struct allocator *a,
                                   enum call_kind kind, const unsigned char *at,
                                   size_t len);
void hf__etcd_message_free(const struct allocator *a, ProtobufCMessage *m);

#endif
