/*
 * file.h: a connection of the file backend.
 *
 * One rule: a hold *is* a flock(2) lock on an open file description of its own.
 * Everything else in this folder (the record, the caches, the waiting) may be
 * lost or wrong without there ever being two holders.  The one exception is a
 * detached hold: it is the record itself, whose change the kernel lock guards.
 */
#ifndef HF_FILE_H
#define HF_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "backend/file/record_text.h"
#include "base/boot.h"

struct file_lock;

/* Which file an fd is. */
struct file_id {
    dev_t dev;
    ino_t ino;
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
    int is_slash_plain; /* a name with a slash is an ordinary name */
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
    struct boot boot_reply; /* lent with VERB_BOOT */
    struct hf_info info;    /* lent with VERB_INSPECT and VERB_BREAK */
    struct hf_error err;    /* why the current request is refused */
    char text[RECORD_MAX];  /* the record last read or written */
};

#endif
