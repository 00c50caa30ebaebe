/* proc.h: the locks that the kernel shows. */
#ifndef HF_FILE_PROC_H
#define HF_FILE_PROC_H

#include "backend/file/file.h"

/* One lock that the kernel knows. */
struct kernel_lock {
    unsigned major, minor;
    uint64_t ino;
    int64_t pid; /* 0 unknown */
    int shared;
    int is_waiter; /* a waiter's mark, not a hold */
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

/* Read the list; it is empty where the kernel shows none. */
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

/* The number of waiters. */
int64_t hf__file_proc_waiters(const struct kernel_locks *k,
                              const struct file_place *p);

#endif
