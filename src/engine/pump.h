/*
 * pump.h: threads around the engine.
 *
 * A caller that waits also polls: it puts its operation into the engine and, if
 * no other thread polls, polls for all callers until its own operation is done;
 * then it hands the poll over.  One keeper thread per client sleeps on the next
 * timer and polls only when no caller does and an answer is due.  In own-loop
 * mode there is no thread; the program calls hf__pump_process().
 *
 *   pump.c         callers, and the one that polls
 *   pump_keeper.c  the keeper, the program's own loop, opening and closing
 *   pump_event.c   telling the user, and cancelling
 *   pump_fork.c    after fork()
 */
#ifndef HF_ENGINE_PUMP_H
#define HF_ENGINE_PUMP_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/op.h"
#include "engine/spin.h"
#include "sys/bell.h"

struct pump {
    struct engine engine;
    pthread_mutex_t mutex;
    int has_poller;          /* a caller polls */
    struct op *poller_op;    /* that caller's operation */
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
    int keeper_away; /* it runs callbacks, and does not watch the timers */
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
    int telling;              /* a thread runs on_state */
    struct hf_event **events; /* ring for hf_client_next_event(), or NULL */
    size_t events_head, events_len;
    struct bell event_bell;
    int forked;            /* this is a child of the client's process */
    struct pump *all_next; /* all pumps of the process, for fork */
};

/* Carry `op` out; returns when it is done. */
void hf__pump_call(struct pump *p, struct op *op);

/* Start `op`; its complete() runs later, on the thread that pumps.  HF_OK, or
 * HF_CLOSED: it will not run. */
int hf__pump_start(struct pump *p, struct op *op);

/* Start several at once, in one flush; also while the client closes, because
 * the call is counted in `users`.  The thread that pumps tells them. */
void hf__pump_start_all(struct pump *p, struct op *const *ops, size_t len);
/* The same for a caller that calls hf__pump_wait_all() next; `is_waited_for`:
 * without doing anything else before. */
void hf__pump_enter_all(struct pump *p, struct op *const *ops, size_t len,
                        int is_waited_for);
void hf__pump_wait_all(struct pump *p, struct op *const *ops, size_t len);

/* The time of `s` is over, and its holder has seen it before its timer did:
 * from now on it is lost.  Lock held. */
void hf__pump_end(struct pump *p, struct seat *s, int64_t now_us);

/* The program says that the work behind `s` is alive.  Lock held. */
void hf__pump_feed(struct pump *p, struct seat *s, int64_t now_us);

/* Use the engine while no other thread does, for looks that send nothing. */
void hf__pump_lock(struct pump *p);
void hf__pump_unlock(struct pump *p);

/* For the other files of the pump. */
struct op *hf__pump_take(struct pump *p, struct op *self, int *self_done);
void hf__pump_deliver_all(struct pump *p, struct op *list);
#define POLL_SOCKETS 1u
#define POLL_AS_POLLER 2u
int hf__pump_poll(struct pump *p, int fd, int64_t until_us, unsigned how);
void hf__pump_news(struct pump *p);
int hf__pump_is_quiet(const struct pump *p);

#endif
