/*
 * etcd.h: a connection of the etcd store.
 *
 * A connection (struct backend_conn) has one link to one server of the cluster.
 * A request is in `waiting` until it can be sent or answered, or its deadline
 * has passed; after each event all of them try again (hf__etcd_run()).  What is
 * sent is a call (call.h).
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
#include "backend/sql/server.h"

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
#define REQ_WAS_SENT 1u   /* the server may have carried it out */
#define REQ_IS_ADOPTED 8u /* RENEW: this client has the ticket's hold now */
#define REQ_NEEDS_TIME 4u /* LIST: it has found cells */
#define REQ_IS_BARRED 2u  /* PROPOSE: the name may be in use as another kind */

struct endpoint {
    char *host;
    int port;
    char text[100]; /* "host:port" */
};

/* A lane: the names with one hash.  A release and a proposal in one lane are
 * never under way at the same time, for the server may carry them out in any
 * order. */
struct lane {
    unsigned proposals, releases;
    unsigned blocked; /* c->runs, if a release waits in that run */
};

struct cursor {
    uint64_t id;
    struct key from;
};

/* A transaction that is being built; txn.c. */
struct txn {
    Pb__TxnRequest txn;
    Pb__Compare compare[4], *compares[4];
    Pb__RequestOp op[64], *then[64], *otherwise[8];
    Pb__RangeRequest range[64];
    Pb__PutRequest put[3];
    Pb__DeleteRequest del;
    size_t ops, ranges, puts;
};

/* Memory to build one call in; free again once the call is made.  It is not on
 * the stack, because a program's thread may have a small stack. */
struct scratch {
    struct txn t;
    struct key keys[LOOK_KEYS];
    char value[KEY_VALUE_MAX];
    char in[READ_SIZE];
};

struct backend_conn {
    struct backend_env *env;
    struct scratch *scratch;
    struct server server;
    struct tls_context *tls;
    struct endpoint endpoints[ETCD_ENDPOINTS_MAX];
    int endpoints_len;
    char prefix[KEY_PREFIX_MAX + 1];
    int short_leases; /* accept leases below the server's least */

    int busy; /* inside process(), which flushes at its end */
    int stirred;
    unsigned runs;
    uint64_t seq; /* counts calls and answers */
    struct link link;
    struct request *waiting, **waiting_end;
    struct request *running; /* those that this run has not tried yet */
    struct leases leases;
    struct stakes stakes;
    struct watches watches;
    struct cells cells;
    struct clock clock;
    struct lane lanes[LANES];
    struct request *looks; /* renewals for the next look */
    struct cursor cursors[CURSORS];
    uint64_t cursor_last;
    int64_t wall_us;  /* wall clock minus local clock, when opened */
    uint64_t gen_id;  /* in the name of its generation's key */
    uint64_t cluster; /* its id; 0 if not known */
    int64_t revision; /* the highest that an answer has told */
    int64_t timer_us; /* the time that env->timer() has */
};

int64_t hf__etcd_now(const struct backend_conn *c);
/* The time that answers tell: the cells' clock, if a cell was used; else the
 * wall clock as it was when opened, counted on by the local clock. */
int64_t hf__etcd_wall(const struct backend_conn *c);

/* ---- url.c ---- */
int hf__etcd_url_read(struct backend_conn *c, const struct url *url,
                      struct hf_error *err);
void hf__etcd_url_free(struct backend_conn *c);

/* ---- run.c ---- */
/* Let each request that waits try again. */
void hf__etcd_run(struct backend_conn *c);
/* Put a request back among those that wait. */
void hf__etcd_wait(struct backend_conn *c, struct request *req);
struct lane *hf__etcd_lane(struct backend_conn *c, const struct request *req);
/* Answer a request. */
void hf__etcd_reply(struct backend_conn *c, struct request *req,
                    struct reply *rep);
void hf__etcd_refuse(struct backend_conn *c, struct request *req, int status,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The status that a refused call has as its answer; `text` says why. */
int hf__etcd_refusal(const struct call *call, const char *what, char *text,
                     size_t size);
/* Refuse a request as the server has refused `call`. */
void hf__etcd_refuse_by(struct backend_conn *c, struct request *req,
                        const struct call *call, const char *what);
/* Answer that it is not known whether the request was carried out; `err` says
 * why. */
void hf__etcd_doubt(struct backend_conn *c, struct request *req,
                    const struct hf_error *err);
/* The earliest deadline of the waiting requests; and answer those that are
 * late. */
int64_t hf__etcd_waiting_due(const struct backend_conn *c);
int hf__etcd_waiting_expire(struct backend_conn *c, int64_t now_us);

/* ---- propose.c, renew.c, release.c, look.c ---- */
/* Each takes a request, and sends it, answers it, or lets it wait. */
void hf__etcd_propose(struct backend_conn *c, struct request *req);
/* The proposal's call ended with the link: it may have been carried out. */
void hf__etcd_propose_cut(struct backend_conn *c, const struct request *req);
void hf__etcd_renew(struct backend_conn *c, struct request *req);
/* The lease for a request: 1 if it is alive, 0 if the request must wait for it,
 * -1 if the request was answered. */
int hf__etcd_lease_need(struct backend_conn *c, struct request *req,
                        struct lease **out);
/* Send the looks for the renewals of this run. */
void hf__etcd_renew_send(struct backend_conn *c);
/* The link is not up: let these renewals wait. */
void hf__etcd_renew_hold(struct backend_conn *c);
/* An attach ended with the link: the key may have the old or the new lease. */
void hf__etcd_renew_cut(struct backend_conn *c, const struct request *req);
void hf__etcd_release(struct backend_conn *c, struct request *req);
void hf__etcd_look(struct backend_conn *c, struct request *req);

/* ---- ticket.c ---- */
/* RENEW or RELEASE by ticket, of a hold that this client does not have. */
void hf__etcd_adopt(struct backend_conn *c, struct request *req);
void hf__etcd_adopt_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_adopt_left(struct backend_conn *c, struct call *call,
                         const Pb__LeaseResponse *lease);
void hf__etcd_adopt_end(struct backend_conn *c, struct call *call,
                        const Pb__TxnResponse *txn);

/* Take the server's answer; if it is NULL, call.status says why. */
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
/* A new operation that the server carries out if all compares hold (then), or
 * if one does not (else). */
Pb__RequestOp *hf__etcd_txn_then(struct txn *t);
Pb__RequestOp *hf__etcd_txn_else(struct txn *t);
/* Compare: the key (borrowed) was created at this revision; with 0, no key from
 * `k` to `end` exists. */
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
/* The answer to the i-th operation; NULL if it is of another kind. */
const Pb__RangeResponse *hf__etcd_told_range(const Pb__TxnResponse *t,
                                             size_t i);
const Pb__DeleteResponse *hf__etcd_told_delete(const Pb__TxnResponse *t,
                                               size_t i);
/* The first key of that answer; NULL if there is none. */
const Pb__KeyValue *hf__etcd_told_first(const Pb__TxnResponse *t, size_t i);
int hf__etcd_is_key(const Pb__KeyValue *kv, const struct key *k);

#endif
