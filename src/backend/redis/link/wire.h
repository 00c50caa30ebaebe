/* wire.h: what goes over a link: flights, which are commands on their way, and
 * the bytes both ways. */
#ifndef HF_REDIS_LINK_WIRE_H
#define HF_REDIS_LINK_WIRE_H

#include "base/request.h"

struct link;
struct watch;

enum flight_kind {
    FLIGHT_GREET, /* may be refused without harm: SETNAME, SCRIPT LOAD */
    FLIGHT_AUTH,
    FLIGHT_SELECT,
    FLIGHT_TIME,
    FLIGHT_REQUEST, /* reqs, by EVALSHA */
    FLIGHT_CONFIG,  /* BOOT: how often the server syncs; with req or without */
    FLIGHT_SCAN,    /* BOOT: whether locks are stored there */
    FLIGHT_AOF,     /* waitaof=1: whether what was granted is on disk */
    FLIGHT_FACTS,   /* FACTS: INFO, or TIME, which has the request */
    FLIGHT_SETTING, /* FACTS: one setting */
    FLIGHT_EVAL,    /* the same after NOSCRIPT, with the whole script */
    FLIGHT_LOOK,    /* INSPECT, LIST, VALUE_READ by EVAL_RO, after NOPERM */
    FLIGHT_SET,     /* one proposal without a fence, by SET NX PX */
    FLIGHT_SUBSCRIBE,
    FLIGHT_UNSUBSCRIBE,
    FLIGHT_PING,

    FLIGHT_MARKER,      /* whether it is a member of a quorum */
    FLIGHT_ROLE,        /* primary or replica, and its replicas */
    FLIGHT_REPLICATION, /* INFO replication */
    FLIGHT_WAIT,        /* wait=: how many replicas have what was granted */
    FLIGHT_MASTER,      /* to a Sentinel; with req or without */
    FLIGHT_PROMOTED,    /* to a Sentinel: its replicas */

    FLIGHT_ASKING, /* the next one may be served though its slot is not */
    FLIGHT_SLOTS,  /* for the owner: which node serves which slots */
    FLIGHT_SHARDED /* for the owner: whether there is SSUBSCRIBE */
};

/* One command that is not yet answered. */
struct flight {
    enum flight_kind kind;
    uint16_t slot;   /* SSUBSCRIBE: of its channel; HASH_SLOT_NONE: classic */
    uint64_t begins; /* place in the stream of its first byte */
    struct request *reqs; /* chained by `next`; answered in this order */
    struct watch *watch;  /* SUBSCRIBE; NULL: it is not wanted any more */
};

struct flights {
    struct flight *ring;
    size_t size, first, len;
};

struct bytes {
    char *data;
    size_t size, len;
};

/* Put it into the output.  The flight to fill in, or NULL: no memory. */
struct flight *hf__redis_link_push(struct link *l, enum flight_kind kind);
/* Write what is in the output.  Fails the link if that fails. */
void hf__redis_link_write(struct link *l);
struct flight *hf__redis_flight_first(struct link *l);
struct flight *hf__redis_flight_nth(struct link *l, size_t i);
void hf__redis_flight_drop(struct link *l);
/* 1 if the kernel has taken no byte of it. */
int hf__redis_flight_is_unsent(const struct link *l, const struct flight *f);
/* Tell the engine which events of the socket are of interest. */
void hf__redis_link_watch(struct link *l, unsigned events);
/* The socket is ready.  Returns whether anything was done. */
int hf__redis_link_ready(struct link *l, unsigned ready);

#endif
