/* stake.h: stakes: the keys of this client, held or in a queue. */
#ifndef HF_ETCD_STAKE_H
#define HF_ETCD_STAKE_H

#include "backend/etcd/key.h"

struct backend_conn;
struct lease;

#define STAKE_BUCKETS 4096

struct stake {
    struct stake *next;
    struct lease *lease; /* that carries it */
    int64_t key_lease;   /* the one in its key's name */
    int is_detached;
    int moving;    /* its lease is being changed */
    int is_unsure; /* a proposal of it had no answer: its key may be there */
    int64_t fence; /* its create revision; 0: not known yet */
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
/* A new one, of this lease.  NULL: no memory. */
struct stake *hf__etcd_stake_make(struct backend_conn *c,
                                  const struct request *req, struct lease *x);
void hf__etcd_stake_drop(struct backend_conn *c, struct stake *s);
/* Drop all that a lease carried; NULL: all. */
void hf__etcd_stakes_drop(struct backend_conn *c, const struct lease *x);
/* It is carried by another lease now. */
void hf__etcd_stake_move(struct stake *s, struct lease *x);

/* Its key, and what is to be written there. */
void hf__etcd_stake_key(const struct backend_conn *c, const struct stake *s,
                        struct key *k);
size_t hf__etcd_stake_value(const struct stake *s, char out[KEY_VALUE_MAX]);

#endif
