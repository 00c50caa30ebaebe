/*
 * bell.h: something to poll(2) on that any thread, or a signal handler, can
 * ring.  An eventfd on Linux, a pipe elsewhere.
 */
#ifndef HF_SYS_BELL_H
#define HF_SYS_BELL_H

struct bell {
    int read_fd;
    int write_fd; /* the same on Linux */
};

/* 0, or -1 with errno. */
int hf__bell_open(struct bell *b);
void hf__bell_close(struct bell *b);

/* Async-signal-safe; keeps errno. */
void hf__bell_ring(struct bell *b);

/* Make it silent again. */
void hf__bell_hush(struct bell *b);

#endif
