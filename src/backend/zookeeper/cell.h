/*
 * cell.h: cells: counters, latches, barriers, values and guarded values.  The
 * core of src/backend/sql reads one node, applies src/rules, and swaps it.
 *
 *   ROOT/.cells/NAME   the record (backend/sql/record.h); its version is the
 *                      node's version and one
 *
 * A swap is a multi: the node's data is set if its version is still the same,
 * and where it brings the name into use, only if no lock has the name.
 */
#ifndef HF_ZOOKEEPER_CELL_H
#define HF_ZOOKEEPER_CELL_H

#include "backend/sql/queue.h"
#include "backend/zookeeper/call.h"
#include "base/request.h"

#define CELLS_NODE "/.cells"
/* The server's version numbers wrap around at INT32_MAX.  Before that the node
 * is made anew, in the same multi as the swap. */
#define CELL_VERSION_END (INT32_MAX - 1000)

/* sql_job.priv */
#define CELL_READS 1u      /* a SWAP: read the row again first */
#define CELL_IS_LOCKED 2u  /* a lock has the name */
#define CELL_IS_ALONE 4u   /* the name has no lock's node */
#define CELL_IS_USED 8u    /* the cell has the name already */
#define CELL_IS_BARRED 16u /* the lock's node has another program's data */

/* Bytes of a record: a server drops a connection that sends it 1 MiB. */
#define CELL_LEN_MAX 1000000

struct place;

/* A name that is waited for. */
struct cell_watch {
    struct cell_watch *next;
    struct sql_watch *w; /* NULL once no client waits for it */
    struct sql_job *job; /* the WATCH that awaits its answer, or NULL */
    unsigned calls;      /* under way */
    int is_arming;       /* a read is under way, which sets the watch */
    int is_missed;       /* changes may have been missed */
    int64_t news;        /* of the cell, as last seen; -1 without a cell */
    char path[];
};

struct cells {
    struct sql_core *core;
    struct sql_queue queue;   /* jobs that wait to be sent */
    struct cell_bytes record; /* the record to write */
    struct store *store;      /* for reads outside the core */
    struct cell_watch *watches;
};

/* 0, or -1 without memory. */
int hf__zookeeper_cells_open(struct backend_conn *c);
void hf__zookeeper_cells_close(struct backend_conn *c);

/* Is this request for a cell? */
int hf__zookeeper_cell_is_asked(const struct request *req);
/* Send what the jobs need, if the link is up. */
void hf__zookeeper_cells_run(struct backend_conn *c);
/* The link is lost, or none will come: fail all jobs. */
void hf__zookeeper_cells_fail(struct backend_conn *c, int status,
                              const char *text);
int64_t hf__zookeeper_cells_due_us(const struct backend_conn *c);
/* Answer the jobs whose deadline has passed; 1 if the link must be given up. */
int hf__zookeeper_cells_expire(struct backend_conn *c, int64_t now_us);

/* The path of a cell; valid until the next call. */
const char *hf__zookeeper_cell_path(struct backend_conn *c, const char *name,
                                    size_t len);
/* Read the cell of a place's name.  If the name is in use as another kind,
 * refuse the proposal and leave the place. */
void hf__zookeeper_cell_bars(struct backend_conn *c, struct place *p);

/* ---- swap.c ---- */
/* Send the job's SWAP. */
void hf__zookeeper_swap_send(struct backend_conn *c, struct sql_job *job);
/* Read the answer to a multi: the error of the part that has failed, and its
 * index; 0 if all were carried out. */
int32_t hf__zookeeper_multi_read(struct jute_in *in, int *which);
/* Read the job's row again. */
void hf__zookeeper_cell_again(struct backend_conn *c, struct sql_job *job);
void hf__zookeeper_cell_refuse(struct sql_job *job, const char *what,
                               int32_t err);

/* ---- watch.c ---- */
/* Begin a job that is a WATCH or an UNWATCH. */
void hf__zookeeper_watch_begin(struct backend_conn *c, struct sql_job *job);
void hf__zookeeper_watch_end(struct backend_conn *c, struct sql_job *job);
void hf__zookeeper_watch_unref(struct backend_conn *c, struct cell_watch *cw);
/* A watch has fired: 1 if it is of a cell. */
int hf__zookeeper_cells_event(struct backend_conn *c, const char *path,
                              size_t len);
/* The link is lost; it is up again. */
void hf__zookeeper_watches_cut(struct backend_conn *c);
void hf__zookeeper_watches_up(struct backend_conn *c);
void hf__zookeeper_watches_free(struct backend_conn *c);

#endif
