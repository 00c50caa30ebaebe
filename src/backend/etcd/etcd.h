/*
 * etcd.h: a connection of the etcd store.
 *
 * A connection (struct backend_conn) has one link to one server of the cluster.
 * A request waits in `waiting` until it can be sent, answered, or is late; each
 * thing that happens lets all of them try again (hf__etcd_run()).  What is sent
 * is a call (call.h).
 */
#ifndef HF_ETCD_H
#define HF_ETCD_H

#include "backend/backend.h"
#include "backend/etcd/call.h"
#include "backend/etcd/cell.h"
#include "backend/etcd/clock.h"
#include "backend/etcd/key.h"
#include "backend/etcd/lease.h"
#include "backend/etcd/link.h"
#include "backend/etcd/stake.h"
#include "backend/etcd/watch.h"
#include "backend/sql/place.h"

#define ETCD_PORT 2379
#define ETCD_OPTIONS                                                           \
    "password_file tls tls_ca tls_cert tls_key tls_key_password_file "         \
    "tls_name tls_verify short_leases"
#define ETCD_ENDPOINTS_MAX 16
#define LANES 1024
#define CURSORS 8
#define LOOK_KEYS 48
#define READ_SIZE 32768

/* request.priv */
#define REQ_WAS_SENT 1u   /* it may have been carried out */
#define REQ_IS_ADOPTED 8u /* RENEW: the hold of the ticket is ours */
#define REQ_NEEDS_TIME 4u /* LIST: there are cells */
#define REQ_IS_BARRED 2u  /* PROPOSE: the name seems to be of another kind */

struct endpoint {
    char *host;
    int port;
    char text[100]; /* "host:port" */
};

/* Names of one lane: a release and a proposal of one name are never on their
 * way at the same time, for a server carries them out in any order. */
struct lane {
    unsigned proposals, releases;
    unsigned blocked; /* in this run a release waits */
};

struct cursor {
    uint64_t id;
    struct key from;
};

/* A transaction while it is put together; txn.c. */
struct txn {
    Pb__TxnRequest txn;
    Pb__Compare compare[4], *compares[4];
    Pb__RequestOp op[64], *then[64], *otherwise[8];
    Pb__RangeRequest range[64];
    Pb__PutRequest put[3];
    Pb__DeleteRequest del;
    size_t ops, ranges, puts;
};

/* What a call is made from; it is empty again when the call is made.  Not on
 * the stack: programs call us from threads that have a small one. */
struct scratch {
    struct txn t;
    struct key keys[LOOK_KEYS];
    char value[KEY_VALUE_MAX];
    char in[READ_SIZE];
};

struct backend_conn {
    struct backend_env *env;
    struct scratch *scratch;
    struct place place;
    struct tls_context *tls;
    struct endpoint endpoints[ETCD_ENDPOINTS_MAX];
    int endpoints_len;
    char prefix[KEY_PREFIX_MAX + 1];
    int short_leases; /* take leases that are shorter than etcd's least */

    int busy; /* inside process(): flush() waits for its end */
    int stirred;
    unsigned runs;
    uint64_t seq; /* counts calls and answers */
    struct link link;
    struct request *waiting, **waiting_end;
    struct request *running; /* that are yet to be tried, in a run */
    struct leases leases;
    struct stakes stakes;
    struct watches watches;
    struct cells cells;
    struct clock clock;
    struct lane lanes[LANES];
    struct request *looks; /* renewals that are to be looked at together */
    struct cursor cursors[CURSORS];
    uint64_t cursor_last;
    int64_t wall_us;  /* the wall clock less the local one, at the open */
    uint64_t gen_id;  /* of its generation's key; a client may have several
                         * connections */
    uint64_t cluster; /* its id; 0 not known */
    int64_t revision; /* the highest that was told */
    int64_t timer_us; /* what env->timer() was told */
};

int64_t hf__etcd_now(const struct backend_conn *c);
/* The clock that is told: that of the cells, if they were asked for; else the
 * wall clock at the open, and never set after. */
int64_t hf__etcd_wall(const struct backend_conn *c);

/* ---- url.c ---- */
int hf__etcd_url_read(struct backend_conn *c, const struct url *url,
                      struct hf_error *err);
void hf__etcd_url_free(struct backend_conn *c);

/* ---- run.c ---- */
/* Let each request that waits try again. */
void hf__etcd_run(struct backend_conn *c);
/* Put it back among them. */
void hf__etcd_wait(struct backend_conn *c, struct request *req);
struct lane *hf__etcd_lane(struct backend_conn *c, const struct request *req);
/* Answer it. */
void hf__etcd_reply(struct backend_conn *c, struct request *req,
                    struct reply *rep);
void hf__etcd_refuse(struct backend_conn *c, struct request *req, int status,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What the refusal of a call means: a status, and in `text` why. */
int hf__etcd_refusal(const struct call *call, const char *what, char *text,
                     size_t size);
/* The server has refused it: in `call` it says why. */
void hf__etcd_refuse_by(struct backend_conn *c, struct request *req,
                        const struct call *call, const char *what);
/* Neither done nor refused: `err` says why. */
void hf__etcd_doubt(struct backend_conn *c, struct request *req,
                    const struct hf_error *err);
/* The earliest deadline of what waits; answer what is late. */
int64_t hf__etcd_waiting_due(const struct backend_conn *c);
int hf__etcd_waiting_expire(struct backend_conn *c, int64_t now_us);

/* ---- propose.c, renew.c, release.c, look.c ---- */
/* Each takes a request: sends it, answers it, or lets it wait. */
void hf__etcd_propose(struct backend_conn *c, struct request *req);
/* Its call ended with the link: whether it was carried out is not known. */
void hf__etcd_propose_cut(struct backend_conn *c, const struct request *req);
void hf__etcd_renew(struct backend_conn *c, struct request *req);
/* The lease for a request: 1 it is alive, 0 wait for it, -1: the request was
 * answered. */
int hf__etcd_lease_need(struct backend_conn *c, struct request *req,
                        struct lease **out);
/* Send the looks that the renewals of this run need. */
void hf__etcd_renew_send(struct backend_conn *c);
/* They wait. */
void hf__etcd_renew_hold(struct backend_conn *c);
/* Whether a hold was moved to another lease cannot be known. */
void hf__etcd_renew_cut(struct backend_conn *c, const struct request *req);
void hf__etcd_release(struct backend_conn *c, struct request *req);
void hf__etcd_look(struct backend_conn *c, struct request *req);

/* ---- ticket.c ---- */
/* A ticket's RENEW or RELEASE, of a hold that this client has not. */
void hf__etcd_adopt(struct backend_conn *c, struct request *req);
void hf__etcd_adopt_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_adopt_left(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *lease);
void hf__etcd_adopt_end(struct backend_conn *c, struct call *call,
                        const Pb__TxnResponse *txn);

/* What the server says; NULL: see call.status. */
void hf__etcd_propose_answer(struct backend_conn *c, struct call *call,
                             const Pb__TxnResponse *txn);
void hf__etcd_renew_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_attach_answer(struct backend_conn *c, struct call *call,
                            const Pb__TxnResponse *txn);
void hf__etcd_taken_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_release_answer(struct backend_conn *c, struct call *call,
                             const Pb__TxnResponse *txn);
void hf__etcd_inspect_answer(struct backend_conn *c, struct call *call,
                             const Pb__TxnResponse *txn);
void hf__etcd_ttl_answer(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *lease);
void hf__etcd_break_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_facts_answer(struct backend_conn *c, struct call *call,
                           const Pb__RangeResponse *range);
void hf__etcd_list_answer(struct backend_conn *c, struct call *call,
                          const Pb__RangeResponse *range);

/* ---- txn.c ---- */
void hf__etcd_txn_begin(struct txn *t);
/* Where the operations are put that are carried out if all compares hold, or
 * if one does not. */
Pb__RequestOp *hf__etcd_txn_then(struct txn *t);
Pb__RequestOp *hf__etcd_txn_else(struct txn *t);
/* The key (borrowed), or its whole range, was created at this revision; 0:
 * there is none. */
void hf__etcd_txn_created(struct txn *t, const struct key *k,
                          const struct key *end, int64_t revision);
void hf__etcd_txn_changed(struct txn *t, const struct key *k, int64_t revision);
void hf__etcd_op_get(struct txn *t, Pb__RequestOp *op, const struct key *k);
/* The keys from `k` to `end` in the order of their creation. */
void hf__etcd_op_first(struct txn *t, Pb__RequestOp *op, const struct key *k,
                       const struct key *end, int64_t limit);
void hf__etcd_op_put(struct txn *t, Pb__RequestOp *op, const struct key *k,
                     const char *value, size_t len, int64_t lease);
void hf__etcd_op_delete(struct txn *t, Pb__RequestOp *op, const struct key *k);
/* The answer to the i-th operation; NULL: it is none of that kind. */
const Pb__RangeResponse *hf__etcd_told_range(const Pb__TxnResponse *t,
                                             size_t i);
const Pb__DeleteResponse *hf__etcd_told_delete(const Pb__TxnResponse *t,
                                               size_t i);
/* The first key that was told; NULL: none. */
const Pb__KeyValue *hf__etcd_told_first(const Pb__TxnResponse *t, size_t i);
int hf__etcd_is_key(const Pb__KeyValue *kv, const struct key *k);

#endif
