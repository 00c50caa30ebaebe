/*
 * cell.h: everything that is kept under a name besides plain locks: the rules
 * of src/rules over one key, by the core of src/backend/sql.
 *
 *   PREFIX//cell/NAME   the record (backend/sql/record.h); its version is the
 *                       revision at which the key was last changed
 *   PREFIX//used/NAME   there while it is in use as another kind than a plain
 *                       lock.  A plain lock is only put where it is not, and it
 *                       only where no plain lock is
 *
 * A swap compares the generation of the connection, the revision of the cell,
 * and the clock by which its times are.
 */
#ifndef HF_ETCD_CELL_H
#define HF_ETCD_CELL_H

#include "backend/etcd/call.h"
#include "backend/sql/queue.h"
#include "base/request.h"

struct cells {
    struct sql_core *core;
    struct sql_queue queue;   /* jobs whose transaction is to be sent */
    struct cell_bytes record; /* that is being written */
    struct store *store;      /* for looks at cells beside the core's */
};

/* 0, or -1: no memory. */
int hf__etcd_cells_open(struct backend_conn *c);
void hf__etcd_cells_close(struct backend_conn *c);

/* Is it a request for them? */
int hf__etcd_cell_is_asked(const struct request *req);
void hf__etcd_cell(struct backend_conn *c, struct request *req);
/* Send what the jobs need, if the link is up. */
void hf__etcd_cells_run(struct backend_conn *c);
/* The link is lost: fail them. */
void hf__etcd_cells_cut(struct backend_conn *c, const struct hf_error *why);
int64_t hf__etcd_cells_due(const struct backend_conn *c);
int hf__etcd_cells_expire(struct backend_conn *c, int64_t now_us);
/* The server has refused what all of them need; or what is there is not ours.
 */
void hf__etcd_cells_refuse(struct backend_conn *c, const struct call *call,
                           const char *what);
void hf__etcd_cells_conflict(struct backend_conn *c, const char *why);

void hf__etcd_cell_read_answer(struct backend_conn *c, struct call *call,
                               const Pb__TxnResponse *txn);
void hf__etcd_cell_swap_answer(struct backend_conn *c, struct call *call,
                               const Pb__TxnResponse *txn);

/* A proposal of a plain lock has found the name in use: is it still?  Refuses
 * the request, or lets it wait until it may be sent again. */
void hf__etcd_use_ask(struct backend_conn *c, struct request *req);
void hf__etcd_use_answer(struct backend_conn *c, struct call *call,
                         const Pb__TxnResponse *txn);
void hf__etcd_unuse_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);

/* What a list says of a cell: 1, or 0: nothing is held there.  `row` is good
 * until the next call; its name is not set. */
int hf__etcd_cell_list(struct backend_conn *c, const Pb__KeyValue *kv,
                       const char *name, size_t name_len, struct list_row *row);

/* The number in the cell that rises with what waiters must hear of; -1: it
 * cannot be told. */
int64_t hf__etcd_cell_news(const Pb__KeyValue *kv);

#endif
