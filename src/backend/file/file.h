/*
 * file.h: the words that the parts of the file backend share.
 *
 * One rule: a hold *is* a flock(2) lock on an open file description of its own.
 * Everything else here (the record, the caches, the waiting) may be lost or
 * wrong without there ever being two holders.  The one exception is a detached
 * hold: it is the record itself, and the kernel lock guards its change.
 */
#ifndef HF_FILE_H
#define HF_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "base/boot.h"

#define FILE_NAME_KEEP 200 /* longer encoded names are hashed */
#define FILE_NAME_HEAD 120 /* and keep this part of their beginning */
#define FILE_NAME_SIZE 224 /* encoded name, suffix and NUL */
#define FILE_SUFFIX ".lock"
#define TITLE_MAX 3072 /* a name as the record shows it */
#define RECORD_MAX 4096
#define IDLE_LOCKS_MAX 64     /* lock files kept open without a hold */
#define REOPENS_MAX 64        /* a lock file replaced again and again */
#define BELL_OFFSET (1 << 20) /* waiters lock this byte: bell.c */
#define LIST_PAGE_ROWS 64
#define LIST_PAGE_FILES 256
#define TICK_US (200 * US_PER_MS)      /* for releases that ring no bell */
#define TICK_BLIND_US (20 * US_PER_MS) /* the same where nothing rings */
#define ECHO_US (1 * US_PER_MS)        /* a close is told before it unlocks */
#define RETRY_US (1 * US_PER_MS)

/* ---- names ---------------------------------------------------------- */

/* The file name for a lock's name; `out` has FILE_NAME_SIZE bytes. */
void hf__file_name(const char *name, size_t len, char *out);

/* The file name of the record of a locked path. */
void hf__file_name_path(const char *path, size_t len, char *out);

/* One line of text for any bytes: control bytes and '%' become %XX.  Returns
 * the length, or 0 if `size` is too small. */
size_t hf__file_title_encode(const char *name, size_t len, char *out,
                             size_t size);

/* The bytes again, with a NUL behind them.  Returns the length, or 0. */
size_t hf__file_title_decode(const char *title, size_t len, char *out,
                             size_t size);

/* ---- the record ----------------------------------------------------- */

enum record_mode {
    RECORD_EXCLUSIVE, /* written by the holder of the kernel lock */
    RECORD_DETACHED,  /* the record is the hold, until its deadline */
    RECORD_FREE       /* was detached, and given back */
};

struct record {
    const char *title; /* into the buffer that was parsed, or the lock's */
    size_t title_len;
    int64_t counter; /* highest number seen */
    int64_t fence;
    int64_t ballot;
    int64_t count;
    int64_t pid;
    int64_t since_us;    /* wall clock */
    int64_t deadline_us; /* hf__clock_us() of this boot; 0: none */
    uint64_t attempt;
    enum record_mode mode;
    char owner[OWNER_LEN_MAX];
    char host[HF_HOST_MAX];
    char label[HF_LABEL_MAX];
    char boot[40];
};

enum record_state {
    RECORD_OK,
    RECORD_EMPTY, /* nothing was ever written */
    RECORD_TORN,  /* ours, but not all of it reached the file */
    RECORD_ALIEN  /* somebody else's file */
};

/* Write `r` as text; `out` has RECORD_MAX bytes.  The length depends on the
 * title alone, so that a later record covers an earlier one completely. */
size_t hf__file_record_format(const struct record *r, char *out);

/* Read `len` bytes.  `r` is all zero unless this returns RECORD_OK. */
enum record_state hf__file_record_parse(const char *text, size_t len,
                                        struct record *r);

/* Write the line that ends a record whose other lines are `text`; returns its
 * length, at most RECORD_SIGN_SIZE. */
#define RECORD_SIGN_SIZE 24
size_t hf__file_record_sign(const char *text, size_t len, char *out);

/* ---- locks and holds ------------------------------------------------ */

/* Which file an fd is. */
struct file_id {
    dev_t dev;
    ino_t ino;
};

/* One kernel hold. */
struct file_hold {
    struct file_hold *next;
    int fd;            /* its own open file description; -1: of a writer that
                        * also reads, within its other hold */
    struct file_id id; /* of that fd */
    int shared;
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot;
    int64_t fence;
    int64_t counter; /* highest number in the record, as far as we know */
    int64_t count;
    int64_t deadline_us; /* TIME_NEVER: as long as the process lives */
};

/* One name.  Freed when nothing holds or watches it and it is the least
 * recently used. */
struct file_lock {
    struct file_lock *chain;         /* same slot of the table */
    struct file_lock *newer, *older; /* of the idle ones, by last use */
    struct file_lock *next_watched;
    uint64_t hash;
    size_t name_len;
    unsigned pins;     /* holds, and 1 for a watch; idle if 0 */
    int is_path;       /* the name has a slash: that very file */
    int idle_fd;       /* an open description without a lock, or -1 */
    struct file_id id; /* of idle_fd */
    int record_fd;     /* is_path: the sidecar; otherwise -1 */
    int is_look_only;  /* the record's file was opened for reading only */
    struct file_id record_id;
    struct file_hold *holds;
    int64_t detached_until_us; /* what the record said when last read */
    int watched;               /* as which kinds, by bit */
    int is_woken;
    struct file_id watch_id;   /* the file that is watched */
    int bell_fd;               /* holds the waiters' lock while watched */
    int wd, path_wd;           /* inotify, -1 if none */
    int64_t echo_us;           /* look again then; TIME_NEVER */
    char file[FILE_NAME_SIZE]; /* record's name in the directory */
    char *title;               /* as the record shows the name */
    size_t title_len;
    char name[]; /* with a NUL behind it */
};

struct backend_conn {
    struct backend_env *env;
    char *dir;
    int is_default_dir; /* our own choice */
    int dir_fd;
    struct file_id dir_id; /* of that fd */
    mode_t file_mode;
    int write_errno; /* why we may not write there; 0: we may */
    int allow_network;
    int is_slash_plain; /* a name with a slash is a name as any */
    int64_t pid;
    int is_forked;
    int any_woken;                /* one of the watched is */
    int busy;                     /* in flush() or process(): do not nest */
    struct request *first, *last; /* submitted */
    struct request *retries;      /* waiting for RETRY_US */
    struct file_lock **slots;     /* a power of two of them */
    size_t slots_len;
    size_t locks_len;
    struct file_lock *newest, *oldest; /* idle ones: may be evicted */
    size_t idle_len;
    struct file_lock *watched;
    int inotify_fd; /* -1 before the first watch, or if refused */
    int64_t tick_us, echo_us, expiry_us, retry_us; /* TIME_NEVER if none */
    int64_t timer_us; /* what env->timer() was last told */
    char boot[40];
    char host[HF_HOST_MAX];
    struct boot boot_reply; /* lent with OP_BOOT */
    struct hf_error err;    /* why the current request is refused */
    char text[RECORD_MAX];  /* the record last read or written */
};

/* ---- dir.c: the lock directory ---------------------------------- */

/* Open the directory that `url` means. */
int hf__file_dir_open(struct backend_conn *c, const struct url *url,
                      struct hf_error *err);

/* Does its path mean another directory by now?  1 or 0. */
int hf__file_dir_is_replaced(const struct backend_conn *c);

/* Go on with the directory that the path means now, made if it is not there.
 * 0; or -1, and the old one stays. */
int hf__file_dir_reopen(struct backend_conn *c);

/* The same, but only if it is another one. */
void hf__file_dir_follow(struct backend_conn *c);

/* HF_OK, or a status with c->err: nothing can be written there. */
int hf__file_dir_check_write(struct backend_conn *c);

/* 1 if flock(2) on `fd` may not mean the same on every host that sees it. */
int hf__file_dir_is_network(int fd);

/* Fill c->boot and c->host. */
void hf__file_identify(struct backend_conn *c);

/* ---- table.c: the names in use ----------------------------------- */

/* The lock of that name, made if there is none; NULL: no memory. */
struct file_lock *hf__file_table_get(struct backend_conn *c, const char *name,
                                     size_t len);

/* It has one hold or watch more, or less: only without any it is idle. */
void hf__file_table_pin(struct backend_conn *c, struct file_lock *l);
void hf__file_table_unpin(struct backend_conn *c, struct file_lock *l);

/* Close and forget the least recently used beyond IDLE_LOCKS_MAX. */
void hf__file_table_trim(struct backend_conn *c);

/* Close everything; in a forked child that unlocks nothing. */
void hf__file_table_shut(struct backend_conn *c);

/* Free everything, after that. */
void hf__file_table_free(struct backend_conn *c);

/* ---- lock.c: their files ----------------------------------------- */

/* What a call here may say besides HF_OK and an error's status. */
#define FILE_ABSENT 1 /* there is no such file, and none was to be made */
#define FILE_BUSY 2   /* somebody has the lock */

/* Make sure that idle_fd (and record_fd) are open.  HF_OK, FILE_ABSENT, or a
 * status with c->err.  Opened to look, they may be for reading only:
 * hf__file_lock_look_end() closes them then. */
enum file_opening { FILE_FIND, FILE_MAKE, FILE_LOOK };
int hf__file_lock_open(struct backend_conn *c, struct file_lock *l,
                       enum file_opening how);
void hf__file_lock_look_end(struct file_lock *l);

/* Close the idle fd, or all but the holds'. */
void hf__file_lock_shut_idle(struct file_lock *l);
void hf__file_lock_shut(struct file_lock *l);

/* Does the name still mean the file `id`?  1 or 0. */
int hf__file_lock_is_current(struct backend_conn *c, const struct file_lock *l,
                             const struct file_id *id);

/* ---- kernel.c: the kernel lock, and the record under it ---------- */

/* Lock the file that the name means now; idle_fd has it then.  HF_OK,
 * FILE_ABSENT, FILE_BUSY, or a status with c->err. */
int hf__file_kernel_take(struct backend_conn *c, struct file_lock *l,
                         int operation, enum file_opening how);

/* Unlock `fd` and ring for the waiters.  1 if there are any. */
int hf__file_kernel_drop(struct file_lock *l, int fd);

/* Read the record, from `fd` or the sidecar.  HF_OK or a status. */
int hf__file_record_load(struct backend_conn *c, struct file_lock *l, int fd,
                         int is_locked, struct record *r);
int hf__file_record_store(struct backend_conn *c, struct file_lock *l, int fd,
                          struct record *r);

/* 1 if `r` is a detached hold that lasts; `left_us` (may be NULL) how long. */
int hf__file_record_is_live(const struct backend_conn *c,
                            const struct record *r, int64_t now_us,
                            int64_t *left_us);

/* Fill c->err from errno and return the status that it means. */
int hf__file_fail(struct backend_conn *c, const char *what, const char *which,
                  int sys_errno);

/* ---- hold.c: kernel holds ----------------------------------------- */

/* An operation fills `reply` and returns ANSWER_DONE, or wants to be tried again
 * shortly: ANSWER_AGAIN. */
#define ANSWER_DONE 0
#define ANSWER_AGAIN 1

int hf__file_hold_propose(struct backend_conn *c, struct request *req,
                          struct reply *reply);
int hf__file_hold_renew(struct backend_conn *c, struct request *req,
                        struct reply *reply);
int hf__file_hold_release(struct backend_conn *c, struct request *req,
                          struct reply *reply);

/* The lock that `req` is about; NULL: `reply` says why not. */
struct file_lock *hf__file_request_lock(struct backend_conn *c,
                                        const struct request *req,
                                        struct reply *reply);

/* Put c->err into `reply`; returns ANSWER_DONE. */
int hf__file_refuse(struct backend_conn *c, struct reply *reply, int status);

/* Give a kernel hold back.  1 if others wait. */
int hf__file_hold_drop(struct backend_conn *c, struct file_lock *l,
                       struct file_hold *h);

/* Fill it in as granted by `req`, with the record's numbers. */
void hf__file_hold_set(struct backend_conn *c, struct file_hold *h,
                       const struct request *req, const struct record *r);

/* ---- rw.c: the sides of a read/write lock ---- */
/* Answer a new proposal that needs no kernel lock, or can have none; else 0. */
int hf__file_rw_propose(struct backend_conn *c, struct file_lock *l,
                        const struct request *req, struct reply *reply);
/* The hold `h`, unlinked already, is given back: 1 if its kernel lock is not to
 * be dropped, for it has none, or a reader within it keeps it. */
int hf__file_rw_drop(const struct file_lock *l, struct file_hold *h);
/* The open file description that the hold rests on. */
int hf__file_rw_fd(const struct file_lock *l, const struct file_hold *h);

/* End the holds whose fixed lease is over. */
void hf__file_holds_expire(struct backend_conn *c, int64_t now_us);

/* ---- grant.c: the rule, and what is written down ------------------ */

/* The acceptance rule.  1, or 0 with `reply` filled. */
int hf__file_grant_accept(const struct backend_conn *c,
                          const struct request *req, const struct record *r,
                          int64_t wall_us, struct reply *reply);

/* Make `r` what a granted proposal writes. */
void hf__file_grant_record(struct backend_conn *c, const struct request *req,
                           struct record *r, int64_t wall_us);

/* The kernel lock on `fd` is ours: may we have the lock?  HF_OK (and it is
 * written down), FILE_BUSY with `reply` filled, or a status. */
int hf__file_grant_check(struct backend_conn *c, struct file_lock *l, int fd,
                         const struct request *req, struct record *r,
                         struct reply *reply);

/* When the lease that is asked for ends; TIME_NEVER. */
int64_t hf__file_grant_deadline(const struct request *req);

/* ---- detached.c: holds that are a record -------------------------- */

int hf__file_detached_propose(struct backend_conn *c, struct file_lock *l,
                              struct request *req, struct reply *reply);
int hf__file_detached_renew(struct backend_conn *c, struct file_lock *l,
                            struct request *req, struct reply *reply);
int hf__file_detached_release(struct backend_conn *c, struct file_lock *l,
                              struct request *req, struct reply *reply);
int hf__file_detached_break(struct backend_conn *c, struct request *req,
                            struct reply *reply, struct hf_info *info);

/* ---- proc.c: what the kernel tells -------------------------------- */

/* One lock that the kernel knows. */
struct kernel_lock {
    unsigned major, minor;
    uint64_t ino;
    int64_t pid; /* 0 unknown */
    int shared;
    int is_bell; /* a waiter's mark, not a hold */
};

struct kernel_locks {
    struct kernel_lock *rows;
    size_t len;
    int is_complete; /* no: holders in other pid namespaces are not shown */
    int is_paged;    /* and changes while it is read can hide some */
    int reads;
};

/* A file as the kernel's list names it. */
struct file_place {
    unsigned major, minor;
    uint64_t ino;
    int is_layered; /* the device is named differently there */
};

/* Read the list; none where there is none to be had. */
void hf__file_proc_read(struct backend_conn *c, struct kernel_locks *out);
void hf__file_proc_free(struct backend_conn *c, struct kernel_locks *k);

/* 1 if `out` was filled. */
int hf__file_proc_place_of_fd(int fd, struct file_place *out);
int hf__file_proc_place_of_path(const char *path, struct file_place *out);

/* A holder, or NULL. */
const struct kernel_lock *hf__file_proc_find(const struct kernel_locks *k,
                                             const struct file_place *p);

/* The same, of a file with this record: the list is read again, a few times at
 * the most, if by the record there should be one. */
const struct kernel_lock *hf__file_proc_seek(struct backend_conn *c,
                                             struct kernel_locks *k,
                                             const struct file_place *p,
                                             const struct record *r);

/* How many wait. */
int64_t hf__file_proc_waiters(const struct kernel_locks *k,
                              const struct file_place *p);

/* ---- inspect.c, list.c --------------------------------------- */

int hf__file_inspect(struct backend_conn *c, struct request *req,
                     struct reply *reply, struct hf_info *info);

/* Tell of a lock by its record and its holder (NULL: no process). */
void hf__file_inspect_fill(struct backend_conn *c, const struct record *r,
                           const struct kernel_lock *k, int is_path,
                           const char *owner, struct hf_info *info);

/* Is it locked?  Asks by trying; the caller rings afterwards. */
int hf__file_kernel_probe(int fd, struct kernel_lock *out);

/* Is anything locked here?  1 or 0; -1 with c->err. */
int hf__file_list_has_any(struct backend_conn *c);

/* Fills `reply` and answers `req`. */
void hf__file_list(struct backend_conn *c, struct request *req,
                   struct reply *reply);

/* ---- facts.c: what it says of itself -------------------------------- */

int hf__file_facts(struct backend_conn *c, struct reply *reply);

/* ---- boot.c: the marker of a quorum's member ----------------------- */

int hf__file_boot(struct backend_conn *c, struct request *req,
                  struct reply *reply);

/* Is there none of the request's group? */
int hf__file_boot_is_missing(const struct backend_conn *c,
                             const struct request *req, int64_t wall_us);

/* ---- bell.c: how a release is heard ------------------------------- */

/* Ring for the waiters on the record's file (`l` may be NULL).  1 if others
 * than this connection wait. */
int hf__file_bell_ring(const struct file_lock *l, int fd);

/* Show by a byte-range lock that somebody waits: F_RDLCK, or F_UNLCK. */
void hf__file_bell_hang(int fd, short type);

/* Listen to what happens to the bell's file, and the locked path. */
void hf__file_bell_listen(struct backend_conn *c);
void hf__file_bell_add(struct backend_conn *c, struct file_lock *l);
void hf__file_bell_remove(struct backend_conn *c, int *wd);

/* Take what was heard: marks the locks to be woken.  1 if there was any. */
int hf__file_bell_read(struct backend_conn *c);

/* ---- watch.c: waiting, and the timer ---------------------------- */

int hf__file_watch_start(struct backend_conn *c, struct request *req,
                         struct reply *reply);
int hf__file_watch_stop(struct backend_conn *c, struct request *req,
                        struct reply *reply);

/* The name means another file now: watch that one. */
void hf__file_watch_again(struct backend_conn *c, struct file_lock *l);

/* Our own waiters too: hf__file_watch_wake_all() wakes them. */
void hf__file_watch_wake(struct backend_conn *c, struct file_lock *l);
void hf__file_watch_wake_all(struct backend_conn *c);

/* An echo or the tick is due.  1 if anything was done. */
int hf__file_watch_due(struct backend_conn *c, int64_t now_us);

/* Tell the engine when something is due next. */
void hf__file_timer_update(struct backend_conn *c);

#endif
