/*
 * lease.h: the leases of etcd.  One carries all holds of a client that have the
 * same length.
 *
 * A lease lasts longer than the holds that it carries, by its slack.  A hold is
 * covered if its request was sent less than half of the slack after a confirmed
 * keep-alive; so most renewals need no keep-alive of their own.  The other half
 * of the slack is for clocks that differ.
 */
#ifndef HF_ETCD_LEASE_H
#define HF_ETCD_LEASE_H

#include "backend/etcd/call.h"

enum lease_state {
    LEASE_NEW,   /* being granted */
    LEASE_ALIVE, /* as far as this client knows */
    LEASE_GONE,  /* the server has said so, or it was never granted */
    LEASE_REFUSED
};

struct lease {
    struct lease *next;
    enum lease_state state;
    int64_t id;
    int64_t seconds;  /* length of its holds; 0 for the session's lease */
    int is_own;       /* it carries one detached hold, without slack: */
    uint64_t attempt; /* of this attempt */
    int64_t ttl_us;
    int64_t slack_us;
    char why[96]; /* REFUSED: the server's words */
    int status;
    int64_t least_s;      /* REFUSED: the least length that it grants */
    int is_asked;         /* a keep-alive is on its way */
    size_t refs;          /* number of stakes that it carries */
    int64_t confirmed_us; /* send of the last grant or keep-alive that counts */
    /* The last keep-alive that was answered.  It counts once a later answer
     * proves that the leader of that time had given it: */
    int64_t heard_us;
    uint64_t heard_seq;
    uint64_t heard_term;
    unsigned heard_life; /* of the link */
    unsigned refused_life;
};

struct leases {
    struct lease *first;
    struct lease *session; /* carries the client's generation */
};

/* The lease for holds of this length.  It may not be granted yet (LEASE_NEW),
 * or be refused (LEASE_REFUSED, with least_s).  NULL without memory. */
struct lease *hf__etcd_lease(struct backend_conn *c, int64_t lease_us);
/* The same for a request: a detached hold has a lease of its own. */
struct lease *hf__etcd_lease_for(struct backend_conn *c,
                                 const struct request *req);
/* The session's lease; NULL while it is being granted, or without memory. */
struct lease *hf__etcd_lease_session(struct backend_conn *c);

/* Does the lease cover a request that was sent then? */
int hf__etcd_lease_covers(const struct lease *x, int64_t sent_us);
/* Will it, once the last keep-alive that was answered is proved? */
int hf__etcd_lease_may_cover(const struct backend_conn *c,
                             const struct lease *x, int64_t sent_us);
/* Send a keep-alive, unless one is under way. */
void hf__etcd_lease_keep(struct backend_conn *c, struct lease *x);
/* Send a keep-alive before it is needed. */
void hf__etcd_lease_nudge(struct backend_conn *c, struct lease *x);

/* A call that was sent as number `seq` has an answer that a majority has
 * confirmed, in the term of `header`. */
void hf__etcd_leases_proved(struct backend_conn *c, uint64_t seq,
                            const Pb__Header *header);
void hf__etcd_lease_granted(struct backend_conn *c, struct call *call,
                            const Pb__LeaseResponse *said);
void hf__etcd_lease_kept(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *said);
/* The lease has ended, and all its keys with it. */
void hf__etcd_lease_end(struct backend_conn *c, struct lease *x);
/* The connection is lost. */
void hf__etcd_leases_cut(struct backend_conn *c);
void hf__etcd_leases_free(struct backend_conn *c);

#endif
