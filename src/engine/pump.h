/*
 * pump.h: threads around the engine.
 *
 * Whoever waits, polls: a blocking caller puts its operation into the engine
 * and, if nobody polls, polls for everybody until its own is done; then it
 * hands the poll over.  One keeper thread per client sleeps on the next timer
 * and polls only when no caller does and an answer is due.  In own-loop mode
 * there is no thread; the program calls hf__pump_process().
 */
#ifndef HF_ENGINE_PUMP_H
#define HF_ENGINE_PUMP_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/spin.h"
#include "sys/bell.h"

/* Another pump with waits that a token ends. */
struct cancel_ear {
    struct pump *pump;
    struct cancel_ear *_Atomic next;
};

struct hf_cancel {
    struct pump *pump;
    atomic_int fired;
    atomic_int firing;               /* so many go through the ears now */
    struct cancel_ear *_Atomic ears; /* of pumps that are not its own */
    pthread_mutex_t ears_mutex;      /* for those who change the list */
};

struct pump {
    struct engine engine;
    pthread_mutex_t mutex;
    int has_poller;          /* a caller polls */
    struct op *poller_op;    /* for this operation of its own */
    atomic_int asleep;       /* it is in poll(2), and must be told of news */
    int64_t poller_until_us; /* until then at the latest */
    unsigned poller_fds;     /* engine.fds_version it polls */
    size_t sleepers_len;
    int unflushed;            /* operations begun since the last flush */
    struct op *sleepers_last; /* the one that has slept longest */
    struct op *sleepers;      /* callers parked, newest first */
    struct bell wake;         /* rung to fetch the poller out of poll(2) */
    struct spin spin;

    pthread_t keeper;
    int has_keeper;
    struct bell keeper_wake;
    int keeper_polls; /* it is in poll(2) with the sockets */
    unsigned keeper_fds;
    int64_t keeper_until_us;
    int keeper_away; /* it runs callbacks, and minds no clock */
    int stop;

    int own_loop;
    int loop_fd; /* epoll, own-loop mode */
    int timer_fd;
    int64_t timer_armed_us;

    atomic_int cancel_fired;
    size_t users; /* calls inside, for close */

    void (*told)(struct pump *p, const struct hf_event *ev); /* first */
    hf_state_fn on_state;
    void *state_user;
    int telling;              /* somebody runs on_state */
    struct hf_event **events; /* ring for hf_client_next_event(), or NULL */
    size_t events_head, events_len;
    struct bell event_bell;
    int forked;            /* we are in a child of the client's process */
    struct pump *all_next; /* all pumps of the process, for fork */
};

int hf__pump_open(struct pump *p, struct hf_error *err);
int hf__pump_begin(struct pump *p, struct hf_error *err);
/* The first half of closing: what is under way ends with HF_CLOSED, and so does
 * whatever comes later. */
void hf__pump_shut(struct pump *p);
void hf__pump_close(struct pump *p, int64_t limit_us);

/* Carry `op` out; returns when it is done. */
void hf__pump_run(struct pump *p, struct op *op);

/* Start `op`; its complete() runs later, on whoever pumps.  HF_OK, or
 * HF_CLOSED: it will not run. */
int hf__pump_start(struct pump *p, struct op *op);

/* Several at once, in one flush: started (also while it closes: its user is
 * counted in, and whoever pumps tells them); or for a caller that waits, who
 * calls hf__pump_wait_all() next, if `is_waited_for` without delay. */
void hf__pump_start_all(struct pump *p, struct op *const *ops, size_t len);
void hf__pump_enter_all(struct pump *p, struct op *const *ops, size_t len,
                        int is_waited_for);
void hf__pump_wait_all(struct pump *p, struct op *const *ops, size_t len);

/* The time of `s` is over, and its holder has seen it before its timer did:
 * from now on it is lost.  Lock held. */
void hf__pump_end(struct pump *p, struct slot *s, int64_t now_us);

/* The program says that the work behind `s` is alive.  Lock held. */
void hf__pump_feed(struct pump *p, struct slot *s, int64_t now_us);

/* Own-loop mode: what is due, without blocking. */
void hf__pump_process(struct pump *p);

/* With the engine in hand, for looks that send nothing. */
void hf__pump_lock(struct pump *p);
void hf__pump_unlock(struct pump *p);

int hf__pump_event_fd(struct pump *p);
void hf__pump_event_add(struct pump *p, const struct hf_event *ev);
int hf__pump_next_event(struct pump *p, struct hf_event *out);

void hf__cancel_fire(struct hf_cancel *c);

/* Let the token end waits of `p`, which is not its own pump: until the other
 * call, `ear` is lent to it.  A token that has fired before is only noticed by
 * operations that begin. */
void hf__cancel_listen(struct hf_cancel *c, struct cancel_ear *ear,
                       struct pump *p);
void hf__cancel_unlisten(struct hf_cancel *c, struct cancel_ear *ear);

/* Look at what was cancelled or stopped, soon. */
void hf__pump_look(struct pump *p);

/* HF_CANCELLED or HF_CLOSED if it is to end; or HF_OK. */
int hf__op_stopped(const struct op *op);

/* What the files of the pump share. */
struct op *hf__pump_take(struct pump *p, struct op *self, int *self_done);
void hf__pump_deliver_all(struct pump *p, struct op *list);
#define POLL_SOCKETS 1u
#define POLL_AS_POLLER 2u
int hf__pump_poll(struct pump *p, int fd, int64_t until_us, unsigned how);
void hf__pump_news(struct pump *p);
int hf__pump_is_quiet(const struct pump *p);
int hf__pump_has_notice(const struct pump *p);
void hf__pump_tell(struct pump *p);
void hf__pump_cancelled(struct pump *p, int64_t now_us);
void *hf__keeper_main(void *arg);
void hf__loop_arm(struct pump *p);

/* pump_fork.c: child copies are disabled. */
void hf__pump_enlist(struct pump *p);
void hf__pump_delist(struct pump *p);

#endif
