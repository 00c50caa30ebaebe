/*
 * stress/stress.h: what the parts of `holdfast stress` share: one block of
 * memory that all its processes see, the guarded register in it, and the
 * judge.
 *
 * The block is mapped before the processes are forked, and no client exists
 * then.  Everything that is judged is looked at under a lock's own mutex, so
 * that what is called a violation is one, however the processes are scheduled.
 */
#ifndef HOLDFAST_STRESS_H
#define HOLDFAST_STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/text.h"
#include "option/option.h"

#define STRESS_LINES_MAX 16    /* violations that are told; all are counted */
#define STRESS_LINE_MAX 512    /* bytes in one of them */
#define STRESS_RECENT_MAX 1024 /* tokens remembered to find equal ones */
#define STRESS_CLIENTS_MAX 256
#define STRESS_THREADS_MAX 64
#define STRESS_LOCKS_MAX 64

/* What is counted. */
enum figure {
    FIGURE_ACQUIRED,
    FIGURE_REENTERED,
    FIGURE_TAKEN,
    FIGURE_TIMEOUT,
    FIGURE_CANCELLED,
    FIGURE_UNAVAILABLE,
    FIGURE_RELEASED,
    FIGURE_ENDED, /* the hold was over when it was released */
    FIGURE_WRITTEN,
    FIGURE_REFUSED,
    FIGURE_PAUSES,
    FIGURES
};

/* One lock, and the resource it protects. */
struct stress_lock {
    pthread_mutex_t mutex; /* of all processes: for everything below */
    char name[HF_NAME_MAX + 16];
    char shown[TEXT_ESCAPED_MAX];
    /* The guarded register. */
    uint64_t highest;  /* token that has written */
    uint64_t value;    /* a counter: each hold reads it, and writes one more */
    uint64_t accepted; /* holds that did */
    /* The judge. */
    uint64_t top;            /* highest token that was granted */
    uint64_t entries;        /* grants that were valid when they were noted */
    unsigned entered_client; /* client of the latest entry */
    uint64_t entered_token;
    int64_t entered_ns;
    unsigned recent_len;
    uint64_t recent[STRESS_RECENT_MAX]; /* tokens granted, in order */
};

/* The block. */
struct stress {
    unsigned clients, threads, locks_len;
    int64_t lease_ms;
    int64_t pause_percent;
    int fenced; /* the store gives tokens */
    atomic_int stop;
    _Atomic uint64_t figures[FIGURES];
    pthread_mutex_t mutex; /* of all processes: for what is told below */
    unsigned violations;
    char lines[STRESS_LINES_MAX][STRESS_LINE_MAX];
    int fatal_status; /* of the library; HF_OK if there was none */
    char fatal[HF_ERROR_TEXT_MAX];
    struct stress_lock locks[];
};

/* One acquire, from the call to its release. */
struct stress_hold {
    unsigned client;
    struct stress_lock *lock;
    hf_lock *handle;
    hf_hold *hold;   /* of it, while it is held */
    uint64_t low;    /* every token granted before the call is at most this */
    uint64_t token;  /* 0 where there is none */
    uint64_t entry;  /* its number among the lock's entries; 0: not valid */
    uint64_t value;  /* what the register said when it was claimed */
    int may_be_gone; /* a re-entry failed: a lost hold is forgotten by it */
};

/* ---- stress/stress.c ---- */

/* Map the block for `locks_len` locks, named `prefix`-0 and so on; NULL if
 * there is no memory. */
struct stress *stress_map(unsigned locks_len, const char *prefix);
void stress_unmap(struct stress *s);
void stress_count(struct stress *s, enum figure figure);
/* Stop the run: the library failed in a way that no retry mends. */
void stress_fail(struct stress *s, int status, const char *text);
/* CLOCK_MONOTONIC, in nanoseconds. */
int64_t stress_now_ns(void);
/* Lock a mutex of the block, also if a process died with it. */
void stress_mutex_lock(pthread_mutex_t *mutex);

/* ---- stress/judge.c ---- */

/* Before an acquire is called: note what its token must be above. */
void judge_called(struct stress *s, struct stress_hold *h);
/* It was granted: judge its token. */
void judge_granted(struct stress *s, struct stress_hold *h);
/* The first guarded write of a hold: it writes its token and reads the value.
 * 1, or 0 if a higher token has written: refused. */
int register_claim(struct stress *s, struct stress_hold *h);
/* The second one: it writes the value it read and one more.  As above. */
int register_write(struct stress *s, struct stress_hold *h);
/* Before the release: judge whether the hold was alone. */
void judge_leaving(struct stress *s, struct stress_hold *h);
/* When all workers have ended: judge whether every counter is exact. */
void judge_counters(struct stress *s);

/* ---- stress/history.c: one line per operation, from all processes ---- */

struct history {
    int fd; /* -1: none is wanted */
    pthread_mutex_t mutex;
    size_t len;
    char buf[65536];
};

struct history_op {
    unsigned client;
    int64_t call_ns, ret_ns;
    const char *lock;
    const char *op; /* "acquire", "release" or "write" */
    uint64_t token;
    int ok;
    int unknown; /* the answer was lost */
};

/* Open `path` anew for appending; the fd, or -1 after having said why. */
int history_open(const char *path);
/* Begin to write to `fd`, in one process. */
void history_begin(struct history *h, int fd);
/* 0, or -1 if it cannot be written. */
int history_add(struct history *h, const struct history_op *op);
int history_flush(struct history *h);

/* ---- stress/worker.c ---- */

/* The life of one process: `first` is the number of its first client.  Returns
 * its exit code. */
int stress_worker(struct stress *s, const struct options *o, unsigned first,
                  int history_fd);

/* ---- stress/crew.c ---- */

/* Fork the processes, let them run for `time_ms`, continue those that stopped
 * themselves, end and reap them.  0, or an exit code after having said why. */
int crew_run(struct stress *s, const struct options *o, int history_fd,
             int64_t time_ms);

/* ---- stress/report.c ---- */

/* Print verdict and figures; `took_ms` is how long it ran. */
void report_print(const struct stress *s, const char *url, int64_t took_ms,
                  int as_json);

#endif
