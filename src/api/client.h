/* client.h: what the files of the API share. */
#ifndef HF_API_CLIENT_H
#define HF_API_CLIENT_H

#include "engine/pump.h"

struct fallback;

struct hf_client {
    struct pump pump; /* first */
    struct allocator alloc;
    char *url; /* without its password */
    char *user;
    char *password;
    char *info;
    int64_t timeout_us;
    struct hf_lock *locks; /* open, under the pump's lock */
    hf_log_fn log;
    void *log_user;
    int log_level;
    struct fallback *fallback; /* HF_FALLBACK_LOCAL; otherwise NULL */
};

struct hf_lock {
    hf_client *client;
    struct lock_entry *entry;
    struct hf_lock *next, *prev; /* of the client's */
};

/* HF_OK, or HF_FORKED with `err` filled. */
int hf__client_check(const hf_client *c, struct hf_error *err);

/* Copy an option struct of this or an earlier version; what it does not have
 * yet is zero, the default.  HF_OK or HF_INVALID. */
int hf__options_copy(void *to, uint32_t to_size, const void *from,
                     uint32_t from_size, const char *where,
                     struct hf_error *err);

/* HF_OK for 0, which means a default, and for what is in range. */
int hf__lease_check(const hf_lock *lock, int64_t lease_ms,
                    struct hf_error *err);

/* An operation on `lock`, nothing of the result set. */
void hf__op_init(struct op *op, enum op_type type, const hf_lock *lock,
                 uint64_t holder);

/* Run it; copy the error; return the status. */
int hf__op_run(hf_client *c, struct op *op, struct hf_error *err);

/* A copy of `op` that answers through `complete`; HF_OK or HF_NOMEM. */
int hf__op_start(hf_client *c, const struct op *op,
                 void (*complete)(struct op *), const hf_lock *lock,
                 void (*fn)(void), void *user, struct hf_error *err);

#endif
