/*
 * sql.h: what the stores in a database share.
 *
 * A name is one row of `holdfast_lock`.  The rules run here, in the client: a
 * request becomes a job, which reads the row with the server's clock, loads it
 * into a store of src/rules that has this name only, applies the request, and
 * replaces the row if its version is still the one that was read:
 *
 *     submit -> READ -> apply -> (nothing changed) -----------> reply
 *       |         ^       |                                       ^
 *       |         |       +-> SWAP -> the version was the same ---+
 *       |         |             |                                 |
 *       |         +-------------+ it was another: its row         |
 *       +-> FAST -> done in one statement ------------------------+
 *             +---> not a case for it: its row, as from READ
 *
 * One rule: a row is only changed by a SWAP that names the version it was read
 * with, or by a FAST statement that decides as src/rules does.
 *
 * A driver is a module with its own struct backend.  It runs statements, waits
 * for notifications and keeps the connection; the core decides.  Calls go both
 * ways: the core calls the driver through struct sql_driver, and the driver
 * calls the functions below.  The core keeps no fd and no timer.
 */
#ifndef HF_SQL_H
#define HF_SQL_H

#include "backend/backend.h"
#include "base/boot.h"
#include "base/ledger.h"
#include "rules/cell.h"

/* ---- rows ----------------------------------------------------------------
 *
 * holdfast_lock: id       bigint, rises with each new row, unique: for LIST
 *                name     bytes up to NAME_LEN_MAX, primary key, binary order
 *                version  bigint, one more with every SWAP and FAST; from the
 *                         clock in microseconds
 *                news     bigint, one more with every change that waiters must
 *                         hear of (`tell` below)
 *                counter, owner, attempt, ballot, fence, holds, ends_us,
 *                since_us, flags, info
 *                         struct cell_plain; attempt and flags as bigint
 *                waits_us bigint: a waiter asked to be told at this time by the
 *                         server's clock; 0: none has.  Not part of `version`.
 *                         Drivers set it; a release tells by it whether other
 *                         clients may wait
 *                state    bytes; NULL: nothing but the plain lock
 * holdfast_meta: key      text, primary key
 *                value    text
 *   'schema' = SQL_SCHEMA, 'boot' = the marker of a quorum's member (absent:
 *   none), others are the driver's.
 *
 * No row is ever deleted here, for `counter` must be remembered.  No DDL at
 * lock time: the tables are made by opening the URL with schema=create, which
 * is what `holdfast install-schema URL` does. */

#define SQL_SCHEMA 1
#define SQL_SCHEMA_TEXT "1"
#define SQL_META_SCHEMA "schema"
#define SQL_META_BOOT "boot"

/* A waiter sets waits_us again before it is this old; an older one means that
 * no client waits. */
#define SQL_WAITS_RENEW_US (3 * US_PER_S)
#define SQL_WAITS_LAPSE_US (10 * US_PER_S)
#define SQL_PAGE_ROWS STORE_PAGE_ROWS /* rows of one LIST statement */

/* A row as it was read, or as it is to be written.  What it points to is
 * borrowed for the call. */
struct sql_row {
    int is_there;    /* 0: there is no such row; then all is 0 */
    int64_t id;      /* LIST only */
    int64_t version; /* in a SWAP: of the row that is to be replaced, 0: none */
    int64_t news;
    int64_t waits_us;
    const char *name; /* LIST only; a NUL need not be behind it */
    size_t name_len;
    struct cell_plain plain;
    const void *state;
    size_t state_len;    /* 0: NULL is stored */
    const char *layout;  /* of the table; NULL: "holdfast" */
    const char *foreign; /* the holder is another program's, and this is its
                          * name; `plain` stands for it.  NULL: it is ours */
};

/* ---- jobs ----------------------------------------------------------------
 *
 * One job for each request.  The driver starts the statement that `step` names
 * and later answers it with exactly one hf__sql_answer_*() or hf__sql_fail().
 * Many jobs may be under way at the same time, also two of one name. */

enum sql_step {
    SQL_IDLE, /* queued, or answered */

    /* The row of req->name, and the clock, by one statement:
     * hf__sql_answer_row(). */
    SQL_READ,

    /* Replace the row by `next`: if next.version is 0, insert it unless there
     * is one; else update the one that has this name and this version.  The
     * version becomes next.version + 1, that of a new row the clock in
     * microseconds, so that a row which was deleted and made again never has a
     * version that was read before; `news` one more if `tell` is not
     * SQL_TELL_NONE; waits_us stays as it is.  If marker[0], also only if the
     * stored marker is still that text.
     * Done: hf__sql_answer_swapped().  Matched nothing: hf__sql_answer_row()
     * with the row as it is now, and a fresh clock.
     * The same statement, or the same transaction, notifies the waiters if
     * `tell` says so; that may be left out if waits_us is 0. */
    SQL_SWAP,

    /* A plain PROPOSE, RENEW or RELEASE, without REQ_QUEUE and REQ_QUORUM, by
     * one statement; only if the driver has SQL_HAS_FAST.  It must decide as
     * src/rules/store.c does, change the row only while `state` is NULL, and
     * raise `version` (and for a RELEASE that freed it `news`).
     * Decided: hf__sql_answer_reply().  Else hf__sql_answer_row(): the job goes
     * on as from READ. */
    SQL_FAST,

    /* Up to SQL_PAGE_ROWS rows with an id above req->cursor, which are held or
     * have a state, in the order of their ids: hf__sql_list_row() for each,
     * then hf__sql_answer_list(). */
    SQL_LIST,

    /* The marker, and what the server is: hf__sql_answer_boot().  If
     * `wants_locks`, also whether any row has an owner whose hold has not
     * ended. */
    SQL_BOOT_READ,

    /* Set the marker to `marker_next` if it is still `marker` ("": absent):
     * hf__sql_answer_swapped(), or hf__sql_answer_boot() with what it is now.
     */
    SQL_BOOT_SWAP,

    /* Be told about req->name from the answer on; `watch` is its record, in
     * which the driver may keep something.  The driver asks to be told first
     * and answers then, so that nothing is lost between: hf__sql_answer_done()
     */
    SQL_WATCH,

    /* No longer, for the last kind is unwatched: hf__sql_answer_done(); the
     * record is freed then. */
    SQL_UNWATCH,

    /* "name:value\n" lines about the server: hf__sql_answer_facts(). */
    SQL_FACTS,

    /* The statements of job->script (script.h), in order, as one transaction;
     * only if the driver has a dialect.  hf__sql_script_row() for each row of
     * the last one, then hf__sql_script_done(); or hf__sql_script_refused(). */
    SQL_SCRIPT
};

/* How a database is talked to, where they differ. */
enum sql_dialect { SQL_DIALECT_NONE, SQL_SQLITE, SQL_POSTGRES, SQL_MYSQL };

/* Why a script was refused, other than for what hf__sql_refuse() tells. */
enum sql_refusal {
    SQL_REFUSED_CHECK, /* a check, a key, or a value that must be there */
    SQL_REFUSED_TABLE  /* a table is missing */
};

enum sql_tell {
    SQL_TELL_NONE,
    SQL_TELL_NEWS,   /* waiters of the name must ask again */
    SQL_TELL_HANDOFF /* given to one waiter: `handoff` says which */
};

/* A name that is watched on this connection. */
struct sql_watch {
    struct sql_watch *next, **link;
    unsigned kinds; /* by bit of enum lock_kind; 0: being removed */
    int is_on;      /* SQL_WATCH was answered */
    int jobs;       /* the core's: jobs that are about it */
    int is_due;     /* the core's: to be woken */
    int64_t news;   /* the driver's: what it last saw, or anything else */
    int64_t due_us; /* the driver's */
    void *priv;     /* the driver's */
    size_t name_len;
    char name[]; /* with a NUL behind it */
};

struct sql_core;
struct sql_script;

struct sql_job {
    /* For the driver, read only. */
    struct sql_core *core;
    struct request *req;
    enum sql_step step;
    int is_look;          /* READ: no SWAP will follow */
    int may_have_changed; /* a statement that writes was started, and has not
                           * been answered; a driver that knows better sets it
                           * to 0 */
    unsigned tries;       /* SWAPs that matched nothing */
    struct sql_row next;  /* SWAP */
    enum sql_tell tell;   /* SWAP */
    int is_used; /* SWAP: `next` is in use, as another kind than a plain lock */
    struct handoff handoff;
    char marker[MARKER_TEXT_MAX]; /* SWAP, BOOT_SWAP */
    char marker_next[MARKER_TEXT_MAX];
    int wants_marker; /* READ: tell the marker with the row */
    int wants_locks;
    struct sql_watch *watch;
    struct sql_script *script; /* SCRIPT */

    /* The driver's. */
    struct sql_job *next_queued;
    /* READ, SWAP: the clock that is told may be slow by this; what ends counts
     * from as much later.  Set before the row is answered. */
    int64_t slow_us;
    int64_t due_us;
    unsigned priv;
    void *priv_ptr;
    struct cell_bytes seen; /* of a READ, for the SWAP behind it */

    /* The core's. */
    struct sql_job *next_job, **link;
    int is_starting; /* inside start(): what follows is done behind it */
    int is_due;      /* `step` is to be started */
    int is_over;     /* `reply` is to be given */
    int is_lost;     /* the connection that it was started on is */
    struct cell_bytes state;
    struct reply reply; /* what will be answered after the SWAP, with: */
    struct hf_info info;
    struct tally_told tally;
    struct boot boot;
    char text[HF_ERROR_TEXT_MAX];
    char owner[OWNER_LEN_MAX]; /* handoff.owner */
};

/* ---- the driver --------------------------------------------------------- */

#define SQL_HAS_FAST 1u
#define SQL_NO_FENCE 2u /* numbers are not kept: no token is told */
/* Numbers are kept, but other programs take the lock without one: no token is
 * told. */
#define SQL_HIDES_FENCE 4u

struct sql_driver {
    const char *engine;       /* "sqlite": in FACTS */
    unsigned flags;           /* SQL_HAS_* */
    enum sql_dialect dialect; /* NONE: it runs no scripts */

    /* Start the statement of job->step.  The answer may come inside this call
     * (SQLite) or later from process() (servers); the job and what it points
     * to stay until then.  This is not called again, for whatever job, before
     * it has returned.  While there is no connection yet, keep the job and
     * start it when there is one, or fail it at its deadline
     * (job->req->deadline_us). */
    void (*start)(struct backend_conn *c, struct sql_job *job);
};

/* ---- what the driver calls: requests ------------------------------------ */

/* A core for the connection `c`.  `where` (copied) begins every error text.
 * NULL: no memory. */
struct sql_core *hf__sql_core_open(struct backend_env *env,
                                   struct backend_conn *c,
                                   const struct sql_driver *driver,
                                   const char *where);

/* backend->submit() and flush().  flush() may be called again from inside a
 * reply: the outer call goes on until nothing is left. */
void hf__sql_core_submit(struct sql_core *core, struct request *req);
void hf__sql_core_flush(struct sql_core *core);

/* Answer all jobs (as hf__sql_fail() does) and all that is queued: V_UNSENT;
 * then free the core.  The driver has dropped its own lists of jobs before. */
void hf__sql_core_close(struct sql_core *core);

/* Fail all jobs whose statements were started: the connection is lost.  The
 * driver has dropped its own lists of jobs before. */
void hf__sql_core_lost(struct sql_core *core, int status, const char *why);

/* Start the statement of job->step again, which could not be carried out; not
 * from inside start(). */
void hf__sql_job_again(struct sql_job *job);

/* Read the option member: no, or ok. */
#define SQL_MEMBER_OPTION "member"
int hf__sql_member_read(struct sql_core *core, const struct url *url,
                        struct hf_error *err);

/* The greeting has read the marker of a quorum's member; NULL or "": none. */
void hf__sql_member_met(struct sql_core *core, const char *marker);

/* The connection is up, and the statement of the job is about to be sent.  1:
 * it was refused, for the quorum of this member decides; 0: send it. */
int hf__sql_member_refuses(struct sql_job *job);

/* For FACTS: a line about it, or "". */
const char *hf__sql_member_fact(struct sql_core *core);

/* The earliest deadline of all jobs, TIME_NEVER: there is none. */
int64_t hf__sql_core_deadline_us(const struct sql_core *core);

/* ---- what the driver calls: answers ------------------------------------- */

/* READ, FAST, SWAP: the row (not is_there: none), the clock, and if
 * job->wants_marker the marker (NULL: none).  `row` is borrowed for the call.
 */
void hf__sql_answer_row(struct sql_job *job, const struct sql_row *row,
                        int64_t now_us, const char *marker);

/* SWAP, BOOT_SWAP: it was replaced. */
void hf__sql_answer_swapped(struct sql_job *job);

/* FAST: this is the reply; node_us, and what the verdict needs, are set. */
void hf__sql_answer_reply(struct sql_job *job, const struct reply *reply);

/* LIST: the next row; then all have come. */
void hf__sql_list_row(struct sql_job *job, const struct sql_row *row,
                      int64_t now_us);
void hf__sql_answer_list(struct sql_job *job, int64_t now_us);

/* What a server says of itself, for BOOT_READ and BOOT_SWAP. */
struct sql_boot {
    const char *identity; /* another one after every restart that may have lost
                           * something; "": it cannot be told */
    const char *marker;   /* NULL: none */
    int64_t now_us;
    int is_durable; /* a restart loses nothing that was answered */
    int has_locks;
    int64_t version; /* of the server, 15 * 10000 + 0 * 100 + 20; 0 unknown */
};
void hf__sql_answer_boot(struct sql_job *job, const struct sql_boot *boot);

void hf__sql_answer_done(struct sql_job *job, int64_t now_us);

/* `lines` stays as it is until the reply was given, which is behind start() if
 * this is called inside it: keep it with the connection. */
void hf__sql_answer_facts(struct sql_job *job, const char *lines,
                          int64_t now_us);

/* SCRIPT: a row of the last statement, borrowed for the call; it is done; it
 * was refused, and nothing was changed. */
void hf__sql_script_row(struct sql_job *job, int len,
                        const char *const *values);
void hf__sql_script_done(struct sql_job *job);
void hf__sql_script_refused(struct sql_job *job, enum sql_refusal why);

/* It could not be carried out.  V_UNKNOWN if a statement that writes was
 * started for it, V_UNSENT if not; `why` is "what: why", without `where`. */
void hf__sql_fail(struct sql_job *job, int status, const char *why);

/* The server has refused it, and nothing was changed: V_ERROR. */
void hf__sql_refuse(struct sql_job *job, int status, const char *why);

/* ---- what the driver calls: notifications ------------------------------- */

struct sql_watch *hf__sql_watch_first(const struct sql_core *core);
struct sql_watch *hf__sql_watch_find(const struct sql_core *core,
                                     const char *name, size_t name_len);

/* Waiters of `w` must ask again. */
void hf__sql_watch_wake(struct sql_core *core, const struct sql_watch *w);

/* The row of a watched name has other `news` than before: tell the waiter that
 * it was handed to if that is one of ours, else wake all, unless it was handed
 * to a waiter of another client. */
void hf__sql_watch_news(struct sql_core *core, const struct sql_watch *w,
                        const struct cell_plain *plain, int64_t now_us);

/* All watched names: messages may have been missed. */
void hf__sql_watch_wake_all(struct sql_core *core);

#endif
