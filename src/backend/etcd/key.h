/*
 * key.h: the names of keys, and what is written into ours.
 *
 *   PREFIX/NAME/LEASE           as etcd's Go library and etcdctl write it
 *   PREFIX/NAME/LEASE-ATTEMPT   ours: one lease carries many holds of a client
 *   PREFIX//gen/ID              the generation of a connection; no lock has
 *                               the empty name
 *   PREFIX//cell/NAME           every kind but plain locks (cell.h)
 *   PREFIX//used/NAME           exists while the cell is in use
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
/* The end of the range of all keys that begin with `k`. */
void hf__etcd_key_end(struct key *end, const struct key *k);
/* The key of one attempt of this client. */
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

/* The name whose cell has this key.  Returns its length; 0 if this is not the
 * key of a cell. */
size_t hf__etcd_key_cell_name(const char *prefix, const char *at, size_t len,
                              char name[NAME_LEN_MAX + 1]);

/* The name of the lock that this key belongs to.  Returns its length; 0 if this
 * is not the key of a lock.  `*head` is the length of "PREFIX/NAME/". */
size_t hf__etcd_key_name(const char *prefix, const char *at, size_t len,
                         char name[NAME_LEN_MAX + 1], size_t *head);

/* What a key of holdfast has as its value. */
struct key_value {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t since_us;
    int64_t lease_us;
    int64_t count;   /* written as a negative number if detached */
    int is_detached; /* the hold outlives its client (ticket.c) */
    char info[256];
};

/* Write the value; returns its length. */
size_t hf__etcd_value_write(const struct key_value *v, char out[KEY_VALUE_MAX]);
/* 1, or 0 if another program has written the value. */
int hf__etcd_value_read(const char *at, size_t len, struct key_value *out);

#endif
