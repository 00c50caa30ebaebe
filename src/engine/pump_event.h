/*
 * pump_event.h: telling the user about changes of state, and being told to
 * cancel.
 */
#ifndef HF_ENGINE_PUMP_EVENT_H
#define HF_ENGINE_PUMP_EVENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/op.h"
#include "engine/pump.h"
#include "holdfast/client.h"

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
static inline int hf__op_stopped(const struct op *op)
{
    if (op->cancel && atomic_load(&op->cancel->fired)) return HF_CANCELLED;
    return op->stop && atomic_load(op->stop) ? HF_CLOSED : HF_OK;
}

/* For the other files of the pump. */
/* Is there a notice that this thread could tell? */
static inline int hf__pump_has_notice(const struct pump *p)
{
    return p->engine.notice_head != NULL && !p->telling;
}
void hf__pump_tell(struct pump *p);
/* End the waits whose token was fired, if one was. */
void hf__pump_cancel_waits(struct pump *p, int64_t now_us);
static inline void hf__pump_cancelled(struct pump *p, int64_t now_us)
{
    if (atomic_load(&p->cancel_fired)) hf__pump_cancel_waits(p, now_us);
}

#endif
