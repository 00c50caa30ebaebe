/* client.h: what the files of the API share. */
#ifndef HF_API_CLIENT_H
#define HF_API_CLIENT_H

#include "api/client/sized.h"
#include "base/error.h"
#include "engine/pump.h"

struct multi_link;
struct hf_election;
struct object;

/* Frees an object that is still open when its client is closed. */
typedef void (*object_free_fn)(hf_client *c, struct object *o);

/* Part of every object that is opened from a client: object.h. */
struct object {
    struct object *next, **at; /* in a list of the client, and what points here;
                                * under the pump's lock */
};

/* An object that has other memory besides its own. */
struct deep_object {
    struct object object; /* first */
    object_free_fn free;
};

struct hf_client {
    struct pump pump; /* first */
    struct allocator alloc;
    char *url; /* without its password */
    char *user;
    char *password;
    char *password_file;
    char *info;
    int64_t timeout_us;
    struct object *objects;        /* open, under the pump's lock */
    struct object *deep_objects;   /* the same, of those with other memory */
    struct hf_election *elections; /* of them; the same */
    int calls;                 /* of several operations, under way; the same */
    struct multi_link *multis; /* of them: on sets of locks; the same */
    pthread_cond_t calls_over;
    hf_log_fn log;
    void *log_user;
    int log_level;
    int grips;        /* of its handles, in hand; under the table's mutex */
    int handles_shut; /* the same */
    struct member *members; /* of a quorum; otherwise NULL */
    int members_len;
    /* Under the pump's lock: ids of the last runs whose begin failed although
     * their record may have been written: the caller did not run them. */
    uint64_t once_doubts[ONCE_DOUBTS_MAX];
    size_t once_doubts_len; /* number of such runs, overwritten ones too */
};

struct hf_lock {
    struct object object; /* first */
    hf_client *client;
    struct lock_entry *entry;
    int32_t parties; /* of a barrier */
    uint8_t order;   /* enum hf_order */
    uint8_t is_ours; /* every tally is sent with REQ_OURS */
};

/* hf_lock_attach(), also of permits: ticket.c. */
int hf__attach_ticket_attach(hf_lock *lock, const char *ticket, int64_t permits,
                             int64_t lease_ms, hf_hold **hold,
                             struct hf_error *err);

/* HF_OK, or HF_FORKED with `err` filled. */
static inline int hf__client_check(const hf_client *c, struct hf_error *err)
{
    if (!c->pump.forked) return HF_OK;
    return hf__error_set(err, HF_FORKED,
                         "client: %s: open a new one after fork()",
                         hf_status_text(HF_FORKED));
}

/* Enter and leave a call that makes several operations, or looks at the client
 * after one: the client is not freed in between.  Call hf__client_check()
 * first. */
void hf__call_enter(hf_client *c);
void hf__call_leave(hf_client *c);

/* 1 while hf_client_close() runs. */
int hf__client_is_closing(hf_client *c);

/* As hf_client_open(), for a client that only asks servers about themselves: a
 * replica is accepted as well. */
int hf__client_open_to_ask(const char *url,
                           const struct hf_client_options *options,
                           hf_client **out, struct hf_error *err);

/* The password that options and URL give, if it is not in a file. */
const char *hf__password_of(const struct hf_client_options *o,
                            const struct url *url);

/* To the client's log, if it wants warnings. */
void hf__client_warn(hf_client *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The one rule for waiting: no limit (0) or milliseconds, or with `is_try` no
 * wait at all.  HF_OK or HF_INVALID. */
int hf__wait_check(int64_t wait_ms, int is_try, struct hf_error *err);

/* Check that each option that names a file, a host or a user has a value.
 * HF_OK or HF_INVALID. */
int hf__options_named(const struct url *url, struct hf_error *err);

/* Check that each option of the URL is known to the client or to the backend
 * `b`, which may be NULL.  HF_OK or HF_INVALID. */
int hf__options_known(const struct url *url, const struct backend *b,
                      struct hf_error *err);

/* The drift that was given, or else the URL's, or else the default; HF_OK or
 * HF_INVALID. */
int hf__option_drift(const struct url *url, int64_t given, int64_t *out,
                     struct hf_error *err);

/* HF_OK for 0, which means a default, and for what is in range. */
int hf__lease_check(int64_t lease_ms, struct hf_error *err);

/* A lock object of any kind that the store has. */
int hf__lock_open(hf_client *client, enum lock_kind kind, int order,
                  const char *name, size_t name_len, hf_lock **out,
                  struct hf_error *err);

/* hf_lock_inspect() as a holder, 0: the calling thread; all of `info` is
 * written. */
int hf__lock_inspect(hf_lock *lock, uint64_t holder, struct hf_info *info,
                     struct hf_error *err);

/* An operation on `lock`, nothing of the result set. */
void hf__call_init(struct op *op, enum op_type type, const hf_lock *lock,
                   uint64_t holder);

/* The same, to acquire it as `given` says: HF_OK, or what is wrong. */
int hf__acquire_prepare(struct op *op, const hf_lock *lock,
                        const struct hf_acquire_options *given,
                        uint64_t default_holder, struct hf_error *err);

/* Before an acquire is started: HF_INVALID if there is no callback, because
 * without one the caller would never learn of the hold. */
int hf__told_check(int is_told, struct hf_error *err);
/* Before a blocking acquire: HF_INVALID if `out` is NULL. */
int hf__out_check(hf_hold **out, struct hf_error *err);

/* Reserve a handle for what it acquires: HF_OK, or HF_NOMEM. */
int hf__call_reserve(const hf_lock *lock, struct op *op, struct hf_error *err);

/* The acquire is over: its reserved handle, if it has one, stands for the hold
 * from now on, or is cancelled if nothing was granted. */
void hf__call_give(hf_client *c, struct op *op);

/* Give back what `holder` has, without waiting for it. */
void hf__lock_undo(hf_lock *lock, uint64_t holder);

/* What the local clock says of the hold of `holder`, 0: the calling thread, on
 * the store or on this host: enum hf_state, and how long it is valid. */
int hf__lock_state(hf_lock *lock, uint64_t holder);
int64_t hf__lock_valid_ms(hf_lock *lock, uint64_t holder);

/* Run `op`, copy its error and return its status.  If a lock of this host
 * stands in for the store, this returns HF_OK and `err` says so. */
int hf__call_wait(hf_client *c, struct op *op, struct hf_error *err);

/* A copy of `op` that answers through `complete`; HF_OK or HF_NOMEM. */
int hf__call_start(hf_client *c, const struct op *op,
                   void (*complete)(struct op *), const hf_lock *lock,
                   void (*fn)(void), void *user, struct hf_error *err);

#endif
