/*
 * run/run.h: the parts of `holdfast run`, `holdfast once` and `holdfast elect`.
 *
 *     supervisor ---- guardian ---- command ---- ...
 *     holds and       subreaper:    in its own
 *     renews,         all orphans   process group
 *     decides         come to it
 *
 * The supervisor never touches the command: it tells the guardian, which is
 * its parent and so can neither miss it nor hit a stranger with the same pid.
 * When the supervisor dies, the guardian sees the end of their socket and ends
 * every descendant; when it is stopped and renews nothing, the guardian's own
 * clock does the same.  Until when the lock is valid stands in memory that all
 * three share: a message could be read late, or never.
 */
#ifndef HOLDFAST_RUN_H
#define HOLDFAST_RUN_H

#include "cli.h"

#include <stdatomic.h>
#include <sys/types.h>

/* What supervisor and guardian say to each other. */
enum ctl_kind {
    CTL_SIGNAL = 1,  /* -> signal `value` to the command's group */
    CTL_TERM_TREE,   /* -> TERM to every descendant, stay until all are gone */
    CTL_KILL_TREE,   /* -> KILL to every descendant until all are gone */
    CTL_STARTED,     /* <- the command is pid `value` */
    CTL_CANNOT_FORK, /* <- errno `value` */
    CTL_CANNOT_EXEC, /* <- errno `value`; CTL_ENDED follows */
    CTL_STOPPED,     /* <- by signal `value` */
    CTL_EXPIRED,     /* <- the lock's time is over: all is being killed */
    CTL_LATE,        /* <- it was over before the command was run: it is not;
                      * CTL_ENDED follows */
    CTL_LEFT,        /* <- descendant `value` is left behind */
    CTL_ENDED        /* <- wait status `value`; the guardian is going */
};

struct ctl {
    int32_t kind;
    int32_t value;
};

/* What to do when the lock is lost. */
enum on_lost { ON_LOST_TERM, ON_LOST_KILL, ON_LOST_WARN, ON_LOST_HOOK };

/* How far the end of the command has been brought about. */
enum phase {
    PHASE_GOING, /* it runs */
    PHASE_HOOK,  /* --on-lost CMD runs; TERM comes next */
    PHASE_TERM,  /* TERM was sent; KILL comes at kill_at_ms */
    PHASE_KILL   /* KILL was sent */
};

/* Why the command is being ended by us. */
enum cause { CAUSE_NONE, CAUSE_LOST, CAUSE_MAX_HOLD };

/* KILL is sent 20 ms before the lease ends, and a renewal is due after a third
 * of it: with less than this no command could be kept running. */
#define RUN_LEASE_MS_MIN 100

/* The last rows of the exit statuses of run and once. */
#define EXIT_ROWS_COMMAND                                                      \
    {"80", "the lock was lost while the command ran"},                         \
        {"124", "--max-hold ended the command"},                               \
        {"126", "the command cannot be run"},                                  \
        {"127", "the command was not found"}, EXIT_ROWS_STORE

/* The environment of run and once, for their manuals. */
#define ENV_ROWS_COMMAND                                                       \
    {"HOLDFAST_URL",                                                           \
     "where the locks live, if --url is not given; the command gets the URL "  \
     "that was used, without its password"},                                   \
        {"HOLDFAST_URL_FILE", "a file whose first line is the URL"},           \
        {"HOLDFAST_USER", "the store's user, instead of the URL's"},           \
        {"HOLDFAST_PASSWORD",                                                  \
         "the store's password; the command does not get it"},                 \
        {"HOLDFAST_PASSWORD_FILE",                                             \
         "a file whose first line is the store's password, read at every "     \
         "connect"},                                                           \
        {"HOLDFAST_SENTINEL_PASSWORD",                                         \
         "the password of Redis Sentinels; the command does not get it"},      \
        {"HOLDFAST_LOCK", "for the command: the lock's name"},                 \
        {"HOLDFAST_FENCE",                                                     \
         "for the command: the fencing token, a rising number; not set if "    \
         "the lock has none"},                                                 \
        {"HOLDFAST_LOCKS",                                                     \
         "for the command: the names of all locks that are held for it, one "  \
         "per line; more than one with run --also"},                           \
        {"HOLDFAST_FENCES",                                                    \
         "for the command: their fencing tokens, in the same order, with "     \
         "blanks between; 0 for a lock that has none"},                        \
        {"HOLDFAST_GUARANTEE",                                                 \
         "for the command: store, or local if the store could not be reached " \
         "and --fallback local took a lock of this host"},                     \
        {"HOLDFAST_HOLDER",                                                    \
         "for the command: host, pid and fence of the hold"},                  \
        {"HOLDFAST_TTL_MS",                                                    \
         "for the command: how long the lock is valid from the start unless "  \
         "it is renewed; -1: no limit"},                                       \
    {                                                                          \
        "HOLDFAST_STATUS_FD",                                                  \
            "for the command: a pipe with the lines \"held MS\", "             \
            "\"at-risk\" and \"lost\"; its end means that holdfast is gone"    \
    }

/* How it went. */
struct outcome {
    int code;
    const char *reason; /* of the event "end" */
};

struct run;

/* How the right to run is got and given back: all that run and once differ in
 * while the command runs. */
struct way {
    /* Fill `lock`, `grant` and `detached`: 1; or 0 and how it ends without. */
    int (*get)(struct run *r, struct outcome *end);
    /* The command has ended with `code`, or was never run: give it back. */
    void (*give)(struct run *r, int code);
    /* It is given back, and `end` tells how it went: once more?  NULL: no. */
    int (*again)(struct run *r, struct outcome *end);
    /* Nothing comes any more; NULL: there is nothing to be done. */
    void (*close)(struct run *r);
};
extern const struct way way_lock, way_once, way_elect, way_slots;

/* once --store-output: the command's standard output on its way to ours. */
struct output {
    int fd;       /* to read it from; -1: it is not ours to see */
    int child_fd; /* what the command writes to, until the start */
    size_t at, len;
};

/* What the command is told of the hold.  A child's copy of the handle would
 * tell it nothing. */
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
    hf_semaphore *sem; /* run --slots */
    int64_t pause_ms;  /* elect: before the next restart */
    int rounds;        /* elect: so many runs are over */
    int told;          /* the last signal that was to end the command, or 0 */
    int64_t once_began_ms; /* wall clock of the store; 0: not by once */
    hf_hold *hold;         /* what is held; NULL: nothing */
    struct held held;      /* and what it was when it was acquired */
    const char *url;       /* without its password */
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
    enum phase phase;
    enum cause cause;
    int late;    /* the lock was lost before the command was run */
    int at_risk; /* it was said */
    int lost;    /* it was said; never taken back */
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

/* run/words.c: the command line of run and once, from its words to the event
 * "end".  `check` says what is wrong with the options of this one command. */
int run_words(const struct command *self, const struct way *way,
              int (*check)(const struct run *r), int argc, char **argv);
/* Say what is wrong with the command line; EXIT_USAGE. */
int run_usage(const struct run *r, const char *what);

/* run/run.c: everything from opening the store to closing it. */
struct outcome run_all(struct run *r);
/* The command was run, however it ended. */
int run_was_run(const struct run *r);
/* The exit code of a command that was not run for lack of the right to. */
int run_skipped(const struct run *r);
/* The reason that belongs to a status of the library. */
const char *run_reason(int code, int status);

/* run/process/start.c: make the pipes, the guardian and the command.  0 or
 * errno. */
int run_start(struct run *r);
/* Is the lock's time over, so that the command must not be run? */
int run_is_late(const struct run *r);
/* Set what the command finds in its environment. */
void run_environment(const struct run *r);
/* In the command's process: become the command, or tell why not. */
_Noreturn void run_become(struct run *r, int ctl_fd);
/* The words of -c, or of the command line. */
void run_exec(const struct run *r);

/* run/process/guardian.c */
_Noreturn void guardian_main(struct run *r, int ctl_fd);
int ctl_send(int fd, enum ctl_kind kind, int value);
/* The supervisor's: never waits for a guardian that does not read. */
void ctl_order(const struct run *r, enum ctl_kind kind, int value);
/* 1 got one, 0 the other side is gone, -1 nothing now. */
int ctl_receive(int fd, struct ctl *msg);

/* run/process/tree.c: the descendants of `root`, nearest first; how many. */
size_t tree_list(pid_t root, pid_t *out, size_t out_max);
void tree_signal(pid_t root, int sig);

/* run/process/signal.c */
int signals_setup(void); /* 0 or errno */
int signals_fd(void);
/* The next signal that came, 0 if none; `from_tty`: a key was pressed. */
int signals_next(int *from_tty);
void signals_block(void); /* all of them, before a fork */
void signals_unblock(void);
void signals_restore(void); /* in a child: everything as we found it */

/* run/process/tty.c */
int tty_is_ours(void);
void tty_give(pid_t group);
void tty_take(void);

/* run/hold.c: what is held, the worst of several locks. */
int hold_state(const struct run *r); /* enum hf_state */
int64_t hold_valid_ms(const struct run *r);
void hold_read(struct run *r); /* what it is now, for the command */
/* What the store last said to its renewal; "" if nothing went wrong. */
void hold_why(const struct run *r, char text[HF_ERROR_TEXT_MAX]);

/* run/watch.c: look at the lock and the clock, and do what is due. */
void watch_prepare(struct run *r); /* before the start */
void watch_begin(struct run *r, int64_t now_ms);
/* Before the loop sleeps: it is to be awake after `timeout_ms`; -1: never. */
void watch_sleep(struct run *r, int64_t now_ms, int64_t timeout_ms);
void watch_step(struct run *r, int64_t now_ms);
int watch_timeout_ms(const struct run *r, int64_t now_ms);

/* run/process/hook.c: --on-lost CMD */
void hook_start(struct run *r);
int hook_is_over(struct run *r);
void hook_end(struct run *r);

/* run/keep.c: a hold that may outlive us, for --min-hold. */
int64_t keep_every_ms(const struct run *r);
void keep_step(struct run *r, int64_t now_ms);
void keep_rest(struct run *r, int64_t rest_ms);

/* run/output.c: keep the first bytes of the command's output, and pass all of
 * it on.  Nothing here waits but output_end_all(). */
int output_open(struct run *r);    /* before the start: 0 or errno */
void output_give(struct run *r);   /* in the command: its standard output */
void output_forget(struct run *r); /* behind the start: the command's end */
int output_wants_read(const struct run *r);
int output_wants_write(const struct run *r);
void output_step(struct run *r);    /* what was wanted can be done */
void output_drain(struct run *r);   /* the command has ended: take the rest */
void output_end_all(struct run *r); /* the lock is given back: pass it on */
const char *output_kept(const struct run *r, size_t *len);

/* run/loop.c: until the command has ended. */
void run_loop(struct run *r);

/* run/event.c: lines on HOLDFAST_STATUS_FD, and JSON events. */
void status_line(const struct run *r, const char *line);
void event_simple(const struct run *r, const char *event);
void event_number(const struct run *r, const char *event, const char *key,
                  int64_t value);
void event_acquired(const struct run *r); /* one event per lock */
void event_held(const struct run *r, int64_t valid_ms);
/* What is known of the run that was not ours. */
void event_once(const struct run *r, const struct hf_once_result *result);
/* elect: a run is over, and another one comes. */
void event_end_of_round(const struct run *r, const char *reason, int code);
void event_end(const struct run *r, const char *reason, int code);

#endif
