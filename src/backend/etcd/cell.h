/*
 * cell.h: cells.  A cell is the key that keeps every kind but plain locks under
 * one name.  The core of src/backend/sql reads it, applies src/rules, and swaps
 * it.
 *
 *   PREFIX//cell/NAME   the record (backend/sql/record.h); its version is the
 *                       revision at which the key was last changed
 *   PREFIX//used/NAME   exists while the cell is in use.  A plain lock is put
 *                       only where this key is not, and this key only where no
 *                       plain lock is
 *
 * A swap compares the generation of the connection, the revision of the cell,
 * and the clock that its times belong to.
 */
#ifndef HF_ETCD_CELL_H
#define HF_ETCD_CELL_H

#include "backend/etcd/call.h"
#include "backend/sql/queue.h"
#include "base/request.h"

struct cells {
    struct sql_core *core;
    struct sql_queue queue;   /* jobs that wait to be sent */
    struct cell_bytes record; /* the record to write */
    struct store *store;      /* for reads outside the core: lists, use.c */
};

/* 0, or -1 without memory. */
int hf__etcd_cells_open(struct backend_conn *c);
void hf__etcd_cells_close(struct backend_conn *c);

/* Is this request for a cell? */
int hf__etcd_cell_is_asked(const struct request *req);
void hf__etcd_cell(struct backend_conn *c, struct request *req);
/* Send what the jobs need, if the link is up. */
void hf__etcd_cells_run(struct backend_conn *c);
/* The link is lost: fail all jobs. */
void hf__etcd_cells_cut(struct backend_conn *c, const struct hf_error *why);
int64_t hf__etcd_cells_due(const struct backend_conn *c);
int hf__etcd_cells_expire(struct backend_conn *c, int64_t now_us);
/* The server has refused a call that every job needs; or PREFIX//clock was not
 * written by holdfast. */
void hf__etcd_cells_refuse(struct backend_conn *c, const struct call *call,
                           const char *what);
void hf__etcd_cells_conflict(struct backend_conn *c, const char *why);

void hf__etcd_cell_read_answer(struct backend_conn *c, struct call *call,
                               const Pb__TxnResponse *txn);
void hf__etcd_cell_swap_answer(struct backend_conn *c, struct call *call,
                               const Pb__TxnResponse *txn);

/* A proposal of a plain lock has found PREFIX//used/NAME: read the cell.
 * Refuses the proposal if the cell is in use, else deletes that key and lets
 * the proposal wait. */
void hf__etcd_use_ask(struct backend_conn *c, struct request *req);
void hf__etcd_use_answer(struct backend_conn *c, struct call *call,
                         const Pb__TxnResponse *txn);
void hf__etcd_unuse_answer(struct backend_conn *c, struct call *call,
                           const Pb__TxnResponse *txn);

/* Fill a list's row from a cell.  Returns 1, or 0 if nothing is held there.
 * The row is valid until the next call; its name is not set. */
int hf__etcd_cell_list(struct backend_conn *c, const Pb__KeyValue *kv,
                       const char *name, size_t name_len, struct list_row *row);

/* The number in a cell that rises with each change that waiters must hear of;
 * -1 if the record cannot be read. */
int64_t hf__etcd_cell_news(const Pb__KeyValue *kv);

#endif
