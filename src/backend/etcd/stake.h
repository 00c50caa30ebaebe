/* stake.h: a stake is this client's record of one key of its own, which holds a
 * lock or waits in its queue. */
#ifndef HF_ETCD_STAKE_H
#define HF_ETCD_STAKE_H

#include "backend/etcd/key.h"

struct backend_conn;
struct lease;

#define STAKE_BUCKETS 4096

struct stake {
    struct stake *next;
    struct lease *lease; /* the lease that carries it */
    int64_t key_lease;   /* the lease in the name of its key */
    int is_detached;
    int moving;    /* an attach is under way */
    int is_unsure; /* its proposal had no answer: the key may exist */
    int64_t fence; /* its key's create revision; 0 if not known */
    int64_t count;
    int64_t lease_us;
    int64_t since_us;
    uint64_t attempt;
    char owner[OWNER_LEN_MAX];
    char info[256];
    size_t name_len;
    char name[];
};

struct stakes {
    struct stake *buckets[STAKE_BUCKETS];
};

/* The stake that a request is about, or NULL. */
struct stake *hf__etcd_stake(struct backend_conn *c, const struct request *req);
/* A new stake, carried by this lease.  NULL without memory. */
struct stake *hf__etcd_stake_make(struct backend_conn *c,
                                  const struct request *req, struct lease *x);
void hf__etcd_stake_drop(struct backend_conn *c, struct stake *s);
/* Drop all stakes that this lease carried; with NULL all of the client. */
void hf__etcd_stakes_drop(struct backend_conn *c, const struct lease *x);
/* Let another lease carry the stake. */
void hf__etcd_stake_move(struct stake *s, struct lease *x);

/* The name of its key, and the value for it. */
void hf__etcd_stake_key(const struct backend_conn *c, const struct stake *s,
                        struct key *k);
size_t hf__etcd_stake_value(const struct stake *s, char out[KEY_VALUE_MAX]);

#endif
