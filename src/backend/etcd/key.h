/*
 * key.h: the names of keys, and what is written into ours.
 *
 *   PREFIX/NAME/LEASE           the shape of etcd's own library, of etcdctl
 *   PREFIX/NAME/LEASE-ATTEMPT   ours: a client has many holds of one lease
 *   PREFIX//gen/ID              the generation of a connection; no lock has
 *                               the empty name
 *   PREFIX//cell/NAME           what is kept under a name besides plain locks
 *   PREFIX//used/NAME           there while that is in use
 *   PREFIX//clock, //time       clock.h
 *
 * A '/' in a name is written %2F, and a '%' %25, so that no name is the
 * beginning of another one.
 */
#ifndef HF_ETCD_KEY_H
#define HF_ETCD_KEY_H

#include "base/request.h"

#define KEY_PREFIX_MAX 256
#define KEY_TAIL_MAX 48
#define KEY_MAX (KEY_PREFIX_MAX + 3 * NAME_LEN_MAX + KEY_TAIL_MAX + 64)
#define KEY_VALUE_MAX (OWNER_LEN_MAX + 512)

/* Bytes of a key. */
struct key {
    size_t len;
    char at[KEY_MAX];
};

/* "PREFIX/NAME/": what all keys of a lock begin with. */
void hf__etcd_key_lock(struct key *k, const char *prefix, const char *name,
                       size_t name_len);
/* The end of the range of keys that begin with `k`. */
void hf__etcd_key_end(struct key *end, const struct key *k);
/* Our own key of an attempt. */
void hf__etcd_key_own(struct key *k, const char *prefix, const char *name,
                      size_t name_len, int64_t lease, uint64_t attempt);
/* "PREFIX//gen/ID". */
void hf__etcd_key_gen(struct key *k, const char *prefix, uint64_t id);

void hf__etcd_key_cell(struct key *k, const char *prefix, const char *name,
                       size_t name_len);
void hf__etcd_key_used(struct key *k, const char *prefix, const char *name,
                       size_t name_len);
void hf__etcd_key_clock(struct key *k, const char *prefix);
void hf__etcd_key_time(struct key *k, const char *prefix);

/* The name of the cell that has this key: its length, 0: it is no cell's. */
size_t hf__etcd_key_cell_name(const char *prefix, const char *at, size_t len,
                              char name[NAME_LEN_MAX + 1]);

/* The name of the lock that has this key: its length, 0: it is no lock's.
 * `*head` is how many bytes of the key are the lock's. */
size_t hf__etcd_key_name(const char *prefix, const char *at, size_t len,
                         char name[NAME_LEN_MAX + 1], size_t *head);

/* What is in a key of ours. */
struct key_value {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t since_us;
    int64_t lease_us;
    int64_t count;   /* below 0 where it is written: detached */
    int is_detached; /* it does not end with its client */
    char info[256];
};

/* Bytes written. */
size_t hf__etcd_value_write(const struct key_value *v, char out[KEY_VALUE_MAX]);
/* 1, or 0: another program's. */
int hf__etcd_value_read(const char *at, size_t len, struct key_value *out);

#endif
