/*
 * fallback.h: a lock of this host where the store cannot be reached.
 *
 *   fallback.c       the client of this host: options, opening, closing, events
 *   fallback_hold.c  who has a hold there, and who of the store
 *   fallback_ops.c   which operations go to it
 *
 * Only a client with HF_FALLBACK_LOCAL has a `struct fallback`.
 */
#ifndef HF_API_FALLBACK_H
#define HF_API_FALLBACK_H

#include "api/client.h"
#include "base/url.h"

/* Read what is to be done; HF_OK, HF_INVALID or HF_NOMEM.  `given` is the
 * option's field, which wins over the URL's. */
int hf__fallback_read(hf_client *c, const struct url *url, int32_t given,
                      struct hf_error *err);

/* Before the client's own pump is closed, and after. */
void hf__fallback_close(hf_client *c);
void hf__fallback_free(hf_client *c);

/* Own-loop mode: the other half of hf_client_process(), and of the timeout. */
void hf__fallback_process(hf_client *c);
int64_t hf__fallback_timeout_ms(hf_client *c, int64_t timeout_ms);

/* Use the client of this host, until hf__host_leave().  `hf__host_enter`: if
 * there is one already; `hf__host_open`: HF_OK, or what hf_client_open() says,
 * or HF_CLOSED. */
hf_client *hf__host_enter(hf_client *c);
int hf__host_open(hf_client *c, hf_client **out, struct hf_error *err);
void hf__host_leave(hf_client *c);

/* A hold of this host was given, because of `why`: the store does not answer
 * (`is_down`), or something else. */
void hf__host_granted(hf_client *c, const char *name, const char *why,
                      int is_down);

/* An operation on the store is over: does it answer again? */
void hf__store_heard(hf_client *c);

/* Whose hold to look for: his own; his own, but to acquire anew is to forget
 * one that is lost; or that, or that of any other holder. */
enum host_pin { PIN_OWN, PIN_ANEW, PIN_ANY };

/* The entry of the name in the client of this host if there is such a hold, or
 * one on its way; NULL if not.  `is_joined`: it is another holder's. */
struct lock_entry *hf__host_pin(hf_client *host, const struct lock_entry *name,
                                uint64_t holder, enum host_pin how,
                                int *is_joined);
/* The entry, whoever has a hold; NULL: no memory. */
struct lock_entry *hf__host_pin_new(hf_client *host,
                                    const struct lock_entry *name);
void hf__host_unpin(hf_client *host, struct lock_entry *entry);

/* Does this holder (0: any) have the store's lock? */
int hf__store_is_held(hf_client *c, const struct lock_entry *name,
                      uint64_t holder);

/* An operation on its way. */
struct errand {
    hf_client *client;
    hf_client *host;         /* NULL: it is the store's */
    struct lock_entry *name; /* the store's entry */
    int64_t deadline_us;     /* of the caller's wait */
    int is_one_try;
    int is_fallen;       /* it left the store for this host */
    int is_joined;       /* it went where another holder of this client is */
    struct hf_error why; /* either: because of this */
    void (*complete)(struct op *op); /* started */
    void *data;                      /* op->complete_data for that */
};

/* Start `op` on the store, and on this host if it comes to that.  complete()
 * runs once, also if the client is being closed.  Both are borrowed until
 * then. */
void hf__errand_start(struct errand *t, hf_client *c, struct op *op,
                      void (*complete)(struct op *));

/* As hf__op_run() and hf__op_start(), for the operations that may go to this
 * host. */
int hf__fallback_is_for(const hf_client *c, const struct op *op);
int hf__fallback_run(hf_client *c, struct op *op, struct hf_error *err);
int hf__fallback_start(hf_client *c, const struct op *op,
                       void (*complete)(struct op *), const hf_lock *lock,
                       void (*fn)(void), void *user, struct hf_error *err);

/* The lock object to ask about the hold of this holder (0: the calling thread),
 * until hf__fallback_leave(): `shadow`, which is this host's, if he has one
 * there; else `lock` itself. */
hf_lock *hf__fallback_enter(hf_lock *lock, uint64_t holder, hf_lock *shadow);
void hf__fallback_leave(hf_lock *lock, hf_lock *entered);

#endif
