/*
 * lease.h: leases: one for all holds of a client that have the same length.
 *
 * A lease lasts longer than the holds that it carries, by its slack.  A hold is
 * covered if its request was sent less than half of the slack after a
 * keep-alive that is confirmed; so most renewals need none, and the other half
 * is there for clocks that differ.
 */
#ifndef HF_ETCD_LEASE_H
#define HF_ETCD_LEASE_H

#include "backend/etcd/call.h"

enum lease_state {
    LEASE_NEW,   /* being granted */
    LEASE_ALIVE, /* as far as is known */
    LEASE_GONE,  /* the server has said so, or it was never granted */
    LEASE_REFUSED
};

struct lease {
    struct lease *next;
    enum lease_state state;
    int64_t id;
    int64_t seconds;  /* of the holds; 0: the session's */
    int is_own;       /* of one detached hold, which has no slack, */
    uint64_t attempt; /* and this attempt */
    int64_t ttl_us;
    int64_t slack_us;
    char why[96]; /* REFUSED: in the server's words, and the status */
    int status;
    int64_t least_s;      /* REFUSED: what the server would have granted */
    int is_asked;         /* a keep-alive is on its way */
    size_t refs;          /* stakes */
    int64_t confirmed_us; /* send of the last grant or keep-alive that counts */
    /* The last keep-alive that was answered.  It counts once a later answer
     * proves that the member that gave it had the leader's word: */
    int64_t heard_us;
    uint64_t heard_seq;
    uint64_t heard_term;
    unsigned heard_life; /* of the link */
    unsigned refused_life;
};

struct leases {
    struct lease *first;
    struct lease *session; /* what the client's generation lives by */
};

/* The lease for holds of this length, which may still have to be granted
 * (LEASE_NEW); REFUSED: see the least.  NULL: no memory. */
struct lease *hf__etcd_lease(struct backend_conn *c, int64_t lease_us);
/* The same for a request: a detached hold has a lease of its own. */
struct lease *hf__etcd_lease_for(struct backend_conn *c,
                                 const struct request *req);
/* The session's, or NULL: it is being granted (or no memory). */
struct lease *hf__etcd_lease_session(struct backend_conn *c);

/* Is a request that was sent then carried by it? */
int hf__etcd_lease_covers(const struct lease *x, int64_t sent_us);
/* The same, if what was heard is proved. */
int hf__etcd_lease_may_cover(const struct backend_conn *c,
                             const struct lease *x, int64_t sent_us);
/* See that it does: send a keep-alive, unless one is on its way. */
void hf__etcd_lease_keep(struct backend_conn *c, struct lease *x);
/* The same, before it is needed. */
void hf__etcd_lease_nudge(struct backend_conn *c, struct lease *x);

/* A call that was sent as number `seq` was answered, with the word of a
 * majority, in this term. */
void hf__etcd_leases_proved(struct backend_conn *c, uint64_t seq,
                            const Pb__Header *header);
void hf__etcd_lease_granted(struct backend_conn *c, struct call *call,
                            const Pb__LeaseResponse *said);
void hf__etcd_lease_kept(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *said);
/* It has ended, and all keys with it. */
void hf__etcd_lease_end(struct backend_conn *c, struct lease *x);
/* The connection is lost. */
void hf__etcd_leases_cut(struct backend_conn *c);
void hf__etcd_leases_free(struct backend_conn *c);

#endif
