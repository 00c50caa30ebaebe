/* role.h: primary, replica, failover. */
#ifndef HF_REDIS_REPLICA_ROLE_H
#define HF_REDIS_REPLICA_ROLE_H

#include "backend/redis/link/link.h"

/* What the server says of its role; see replica/role.c. */
struct replication {
    char id[41];      /* the replication id, as it was last told; or "" */
    int is_known;     /* this link: it is a primary, and `counted` holds */
    int is_id_known;  /* this link: it told its id */
    int is_changed;   /* it is not the id of the last link */
    int has_changed;  /* that was so at any time */
    int is_moved;     /* it has another address than the last */
    int was_up;       /* not the first link */
    int64_t counted;  /* how many follow it */
    int64_t replicas; /* or did a while ago */
    int64_t most_us;  /* when there were that many */
};

/* Ask on a new link.  0, or -1: no memory. */
int hf__redis_role_greet(struct link *l);
/* Ask for the role alone.  0, or -1: no memory. */
int hf__redis_role_ask(struct link *l);
/* The answers.  0, or -1: the link was failed. */
int hf__redis_role_heard(struct link *l, const struct resp *v);
int hf__redis_replication_heard(struct link *l, const struct resp *v);
/* The link is up: what to tell the engine, LINK_IS_*. */
int hf__redis_role_up(struct backend_conn *c);

#endif
