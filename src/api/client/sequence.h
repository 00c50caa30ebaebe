/*
 * sequence.h: calls that take several operations, for callers that wait and
 * for callbacks alike.
 *
 * hf_value_update(), for one, reads, computes, writes, and begins again if
 * another client was faster.  Straight code for that could only wait.  Here
 * such a call is a run of steps: a step looks at what the operations before it
 * have come to, prepares the next ones, and asks for them with
 * hf__sequence_ask(); it never waits.  A step that asks for nothing ends the
 * run, with the result in `status` and `err`.
 *
 *     step, which asks ---> they are carried out ---> step ---> ... ---> over
 *
 * The same steps are driven in one of two ways:
 *
 *     hf__sequence_run()    the caller's thread waits for the operations,
 *                           inside the pump
 *     hf__sequence_start()  the thread that pumps takes the next step, behind
 *                           the last operation of the step before
 *
 * What a step can rely on, and what it must do:
 *
 *   - One thread at a time is in a step, with no lock held, and sees all that
 *     the steps before have written.
 *   - A deadline and a cancel token are the operations' own: `wait_us` and
 *     `cancel`.  A pause is an operation, too: hf__sequence_nap().
 *   - Once a client is being closed, operations under way on a hold and pauses
 *     end, others end with their answers, which may be HF_OK, and each that is
 *     asked for later ends with HF_CLOSED.  Therefore a step must not
 *     ask again for what has ended with HF_CLOSED.
 *   - A started run is either in the hands of the pump, as an operation, or in
 *     a callback of the pump: the pump waits for both before it is freed, so
 *     the client of a run needs no other pin.  A run that uses several clients
 *     pins them itself (multi/call.c).
 *   - A function of the user's may be called in a step.  It may have forked:
 *     hf__client_check() comes next.
 */
#ifndef HF_API_SEQUENCE_H
#define HF_API_SEQUENCE_H

#include "api/client/client.h"

/* First in the memory of the call. */
struct sequence {
    void (*step)(struct sequence *s);
    /* Started: tell the user, and free it.  Runs exactly once, on the thread
     * that pumps, if and only if hf__sequence_start() returned HF_OK. */
    void (*over)(struct sequence *s);
    int status; /* the result; HF_OK at first */
    struct hf_error err;

    struct op *asked, *asked_last; /* by this step, in the order of asking */
    atomic_size_t left;            /* started: of them, not yet over */
};

/* Carry this out, on `c`, when the step is over.  `op` is prepared, and is the
 * run's until the next step. */
void hf__sequence_ask(struct sequence *s, hf_client *c, struct op *op);

/* The same; a lock of this host may stand in for the store of `c`. */
void hf__sequence_ask_any(struct sequence *s, hf_client *c, struct op *op);

/* The same, of a pause: at its end `op` has HF_TIMEOUT, and HF_CANCELLED or
 * HF_CLOSED if something came between. */
void hf__sequence_nap(struct sequence *s, hf_client *c, struct op *op,
                      int64_t us, hf_cancel *cancel);

/* The result is this failure; returns `status`. */
int hf__sequence_fail(struct sequence *s, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, as the operation told it. */
int hf__sequence_fail_as(struct sequence *s, const struct op *op);

/* Step until it is over; between hf__call_enter() and hf__call_leave().
 * Returns its status, with `err` filled unless that is HF_OK. */
int hf__sequence_run(struct sequence *s, struct hf_error *err);

/* Take the first step, and let callbacks take the others.  HF_OK: the run is
 * on its way, and must not be touched.  Otherwise it is the caller's to free,
 * and `err` is filled: HF_CLOSED, because `c` is being closed and no step was
 * taken; or what the first step said, which asked for nothing. */
int hf__sequence_start(struct sequence *s, hf_client *c, struct hf_error *err);

#endif
