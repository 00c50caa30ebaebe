/*
 * run/run.h: the parts of `holdfast run`, `holdfast once` and `holdfast elect`.
 *
 *     supervisor ---- guardian ---- command ---- ...
 *     holds and       subreaper:    in its own
 *     renews,         all orphans   process group
 *     decides         come to it
 *
 * The supervisor never signals the command itself: it tells the guardian, which
 * is its parent and so cannot hit another process that got the same pid.
 * When the supervisor dies, the guardian sees the end of their socket and ends
 * every descendant; when it is stopped and renews nothing, the guardian's own
 * clock does the same.  Until when the lock is valid stands in memory that all
 * three share: a message could be read late, or never.
 */
#ifndef HOLDFAST_CLI_RUN_RUN_H
#define HOLDFAST_CLI_RUN_RUN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "command.h"
#include "run/output.h"
#include "run/way/way.h"
#include "session/session.h"

/* What to do when the lock is lost. */
enum on_lost { ON_LOST_TERM, ON_LOST_KILL, ON_LOST_WARN, ON_LOST_HOOK };

/* How far the end of the command has been brought about. */
enum phase {
    PHASE_GOING, /* it runs */
    PHASE_HOOK,  /* --on-lost exec:CMD runs; TERM comes next */
    PHASE_TERM,  /* TERM, or lost_signal, was sent; KILL comes at kill_at_ms */
    PHASE_KILL   /* KILL was sent */
};

/* Why the command is being ended by us. */
enum cause { CAUSE_NONE, CAUSE_LOST, CAUSE_MAX_HOLD };

/* KILL is sent 20 ms before the lease ends, and a renewal is due after a third
 * of it: with less than this no command could be kept running. */
#define RUN_LEASE_MS_MIN 100

/* What the command is told about the hold.  It is a copy, because the handle is
 * of no use in a forked child. */
struct held {
    int is_set;
    uint64_t fence;                /* of the first lock; 0: there is none */
    uint64_t fences[HF_MULTI_MAX]; /* of each */
    int64_t valid_ms;              /* INT64_MAX: a kernel lock */
    int64_t lease_ms;
    int guarantee; /* enum hf_guarantee */
    int replicas;
};

struct run {
    const struct command *self;
    const struct way *way;
    struct options *o;
    const char *name;
    char **argv; /* the command, NULL at the end */
    struct session s;
    hf_once *once;
    hf_election *election;
    hf_semaphore *sem;     /* run --slots */
    int64_t pause_ms;      /* elect: before the next restart */
    int rounds;            /* elect: number of runs that are over */
    int told;              /* the last signal sent to end the command, or 0 */
    int64_t once_began_ms; /* wall clock of the store; 0: not by once */
    hf_hold *hold;         /* what is held; NULL: nothing */
    struct held held;      /* and what it was when it was acquired */
    const char *url;       /* without its password */
    char store[2048];      /* the same for run/outer.c; "": not to be told */
    struct output out;

    int64_t acquired_at_ms; /* all times by clock_ms() */
    int64_t lease_ms;       /* INT64_MAX: a kernel lock, no lease */
    int64_t grace_ms;
    int64_t margin_ms;   /* KILL is sent this long before the lease ends */
    int64_t deadline_ms; /* the lock is valid until then */
    int64_t said_ms;     /* what was last told of that */
    _Atomic int64_t *guarded_ms; /* shared: the guardian kills then; INT64_MAX:
                                  * it does not */
    int64_t max_at_ms;           /* --max-hold; INT64_MAX: none */
    int64_t due_ms;              /* the loop meant to be awake by then */
    int64_t woke_ms; /* it last woke much later than that; 0: never */
    int64_t kill_at_ms;
    int64_t hook_until_ms;
    int64_t extend_at_ms; /* --min-hold: next renewal of ours */
    int extending;
    int detached; /* --min-hold: the hold may outlive us */
    enum on_lost on_lost;
    int lost_signal;          /* sent first when it is lost; 0: TERM */
    const char *lost_command; /* ON_LOST_HOOK: for sh -c */
    enum phase phase;
    enum cause cause;
    int is_left; /* the store did not confirm the release; see hold_give() */
    int late;    /* the lock was lost before the command was run */
    int at_risk; /* at-risk was reported */
    int lost;    /* lost was reported; never taken back */
    char lost_text[HF_ERROR_TEXT_MAX];

    pid_t supervisor, guardian, command, hook;
    int ctl_fd;                 /* supervisor's end */
    int status_fd;              /* HOLDFAST_STATUS_FD, write end; -1 none */
    int child_status_fd;        /* and its read end, until the start */
    int lock_fds[HF_MULTI_MAX]; /* the guardian's share of kernel locks */
    size_t lock_fds_len;
    int has_tty;    /* the terminal is the command's */
    int wants_tty;  /* it is stopped until it gets the terminal */
    int stop_asked; /* TSTP came from the terminal */

    int ended; /* CTL_ENDED, or the guardian died */
    int guardian_died;
    int wait_status;
    int exec_errno;
    int fork_errno;
};

/* run/words.c: the command line of run, once and elect, from its words to the
 * event "end".  `check` says what is wrong with the options of this one
 * command. */
int run_words(const struct command *self, const struct way *way,
              int (*check)(const struct run *r), int argc, char **argv);
/* Say what is wrong with the command line; EXIT_USAGE. */
int run_usage(const struct run *r, const char *what);

/* run/on_lost.c: take what --on-lost says.  0, or EXIT_USAGE after having said
 * what is wrong with it. */
int on_lost_set(struct run *r);

/* run/run.c: everything from opening the store to closing it. */
struct outcome run_all(struct run *r);
/* The command was run, however it ended. */
int run_was_run(const struct run *r);
/* The exit code of a command that was not run because the lock, the slot or the
 * run was not ours. */
int run_skipped(const struct run *r);
/* The reason that belongs to a status of the library. */
const char *run_reason(int code, int status);

/* run/loop.c: until the command has ended. */
void run_loop(struct run *r);

#endif
