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
    CALL_TAKEN, /* does another holder have the lock? */
    CALL_RELEASE,
    CALL_INSPECT,
    CALL_TTL,
    CALL_BREAK,
    CALL_LIST,
    CALL_FACTS, /* a read that shows whether the server answers */
    CALL_WATCH,
    CALL_ADOPT,       /* find the key of a ticket */
    CALL_ADOPT_LEFT,  /* ask what is left of its lease */
    CALL_ADOPT_END,   /* delete it */
    CALL_CLOCK_LOOK,  /* read PREFIX//clock */
    CALL_CLOCK_LEFT,  /* ask what is left of its lease */
    CALL_CLOCK_GRANT, /* get a lease for a new clock */
    CALL_CLOCK_MAKE,  /* write PREFIX//clock */
    CALL_CELL_READ,
    CALL_CELL_SWAP,
    CALL_CELL_USE,   /* read whether the cell is in use */
    CALL_CELL_UNUSE, /* delete PREFIX//used/NAME */
    CALL_CLOCK_END,  /* end the lease of a clock that came too late */
    CALL_KINDS
};

/* Values of call.status that gRPC does not have. */
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
    int stays;   /* WATCH: further messages may follow */
    int is_over; /* the stream is closed */
    struct frames in;
    int status;
    char message[160];
    int64_t sent_us;
    int64_t due_us;
    uint64_t seq;        /* c->seq when it was sent */
    struct request *req; /* RENEW: the first of a list */
    struct lease *lease;
    struct hf_info *info;    /* TTL, BREAK: what earlier calls have found */
    struct sql_job *job;     /* CELL_READ, CELL_SWAP */
    struct adopted *adopted; /* ADOPT_LEFT */
    int64_t fence;           /* TTL: the holder's; ADOPT_END: 0 if it is held */
    int64_t lease_ms;        /* TTL: the holder's; 0 if not known */
};

/* ---- call.c ---- */
/* Begin an HTTP/2 session on a connected link.  0, or -1 without memory. */
int hf__etcd_session_begin(struct link *l);
/* Free the session and all its calls; none is answered. */
void hf__etcd_session_end(struct link *l);

/* Send a message as a new call.  NULL without memory: the caller must fail the
 * link. */
struct call *hf__etcd_call(struct link *l, enum call_kind kind,
                           const ProtobufCMessage *message, struct request *req,
                           int64_t due_us);
/* Send one more message on a call with `stays`.  0, or -1 without memory. */
int hf__etcd_call_more(struct link *l, struct call *call,
                       const ProtobufCMessage *message);

/* Take bytes that were received.  0, or -1 if they are not HTTP/2. */
int hf__etcd_session_feed(struct link *l, const char *data, size_t len);
/* Set `out` to the next bytes to send and return their number: 0 if there are
 * none, -1 without memory. */
ssize_t hf__etcd_session_take(struct link *l, const unsigned char **out);
/* Take a call that is over from the list, or NULL if there is none. */
struct call *hf__etcd_call_over(struct link *l);
void hf__etcd_call_free(struct link *l, struct call *call);

/* ---- answer.c ---- */
/* Read all answers that have come.  Returns whether there were any. */
int hf__etcd_answers(struct link *l);

/* The message that these bytes are, or NULL if they are none; the caller frees
 * it with hf__etcd_message_free(). */
ProtobufCMessage *hf__etcd_message(const struct allocator *a,
                                   enum call_kind kind, const unsigned char *at,
                                   size_t len);
void hf__etcd_message_free(const struct allocator *a, ProtobufCMessage *m);

#endif
