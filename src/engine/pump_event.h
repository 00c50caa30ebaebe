/*
 * pump_event.h: telling the user about changes of state, and being told to
 * cancel.
 */
#ifndef HF_ENGINE_PUMP_EVENT_H
#define HF_ENGINE_PUMP_EVENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/client.h"

struct op;
struct pump;

/* Another pump with waits that a token ends. */
struct cancel_listener {
    struct pump *pump;
    struct cancel_listener *_Atomic next;
};

struct hf_cancel {
    struct pump *pump;
    atomic_int fired;
    atomic_int firing; /* threads that go through `listeners` now */
    struct cancel_listener
        *_Atomic listeners;          /* of pumps that are not its own */
    pthread_mutex_t listeners_mutex; /* for threads that change the list */
};

int hf__pump_event_fd(struct pump *p);
void hf__pump_event_add(struct pump *p, const struct hf_event *ev);
int hf__pump_next_event(struct pump *p, struct hf_event *out);

void hf__cancel_fire(struct hf_cancel *c);

/* Let the token end waits of `p`, which is not its own pump: until the other
 * call, `listener` is lent to it.  A token that has fired before is only
 * noticed by operations that begin. */
void hf__cancel_listen(struct hf_cancel *c, struct cancel_listener *listener,
                       struct pump *p);
void hf__cancel_unlisten(struct hf_cancel *c, struct cancel_listener *listener);

/* Make the pump look soon for operations that were cancelled or stopped. */
void hf__pump_look(struct pump *p);

/* HF_CANCELLED or HF_CLOSED if it is to end; or HF_OK. */
int hf__op_stopped(const struct op *op);

/* For the other files of the pump. */
int hf__pump_has_notice(const struct pump *p);
void hf__pump_tell(struct pump *p);
void hf__pump_cancelled(struct pump *p, int64_t now_us);

#endif
