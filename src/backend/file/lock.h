/* lock.h: one name, and its files. */
#ifndef HF_FILE_LOCK_H
#define HF_FILE_LOCK_H

#include "backend/file/file.h"
#include "backend/file/name.h"

struct file_hold;

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
    int waiter_fd;             /* has the mark of a waiter while watched */
    int wd, path_wd;           /* inotify, -1 if none */
    int64_t echo_us;           /* look again then; TIME_NEVER */
    char file[FILE_NAME_SIZE]; /* record's name in the directory */
    char *title;               /* as the record shows the name */
    size_t title_len;
    char name[]; /* with a NUL behind it */
};

/* What a call may return besides HF_OK and an error's status. */
#define FILE_ABSENT 1 /* there is no such file, and none was to be made */
#define FILE_BUSY 2   /* another holder has the lock */

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

#endif
