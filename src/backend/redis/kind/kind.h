/*
 * kind.h: what can be asked about a name, by the kind it is used as.
 *
 * A call is one script: how its command is built, and how its answer is read.
 * kind.c has the table of them, by kind and operation; each call is at the end
 * of the file that knows its keys.
 */
#ifndef HF_REDIS_KIND_H
#define HF_REDIS_KIND_H

#include "backend/redis/redis.h"

struct redis_call {
    const struct redis_script *script;
    /* Put the command into c->cmd; RENEW: of a whole chain. */
    void (*build)(struct backend_conn *c, const struct request *req);
    /* Fill in `reply`, which is V_ERROR before; 0, or -1 if `v` does not have
     * the shape that the script gives it. */
    int (*read)(struct backend_conn *c, const struct request *req,
                const struct resp *v, struct reply *reply);
    int batch; /* RENEW: at most as many requests in one command */
};

#define REDIS_CALL(name, build, read, batch)                                   \
    const struct redis_call hf__redis_call_##name = {&hf__redis_script_##name, \
                                                     build, read, batch}

/* The call that carries out `req`; NULL: there is none. */
const struct redis_call *hf__redis_call(const struct backend_conn *c,
                                        const struct request *req);

/* Put all waiting requests into main's output. */
void hf__redis_send_all(struct backend_conn *c);
/* Put one chain into it: FLIGHT_REQUEST, or FLIGHT_EVAL or FLIGHT_LOOK with the
 * script. */
void hf__redis_send(struct backend_conn *c, enum flight_kind kind,
                    struct request *reqs);

/* One per script, and of its name. */
extern const struct redis_call hf__redis_call_acquire, hf__redis_call_renew,
    hf__redis_call_release, hf__redis_call_break;
extern const struct redis_call hf__redis_call_string_acquire,
    hf__redis_call_string_renew, hf__redis_call_string_release;
extern const struct redis_call hf__redis_call_queue_acquire,
    hf__redis_call_queue_release;
extern const struct redis_call hf__redis_call_rw_acquire,
    hf__redis_call_rw_renew, hf__redis_call_rw_release;
extern const struct redis_call hf__redis_call_permit_acquire,
    hf__redis_call_permit_renew, hf__redis_call_permit_release,
    hf__redis_call_permit_inspect, hf__redis_call_permit_tally,
    hf__redis_call_count_acquire, hf__redis_call_count_release;
extern const struct redis_call hf__redis_call_latch_wait,
    hf__redis_call_latch_tally;
extern const struct redis_call hf__redis_call_barrier_wait,
    hf__redis_call_barrier_leave, hf__redis_call_barrier_look;
extern const struct redis_call hf__redis_call_inspect, hf__redis_call_list;
extern const struct redis_call hf__redis_call_value_read,
    hf__redis_call_value_write, hf__redis_call_guard, hf__redis_call_boot;
extern const struct redis_call hf__redis_call_stock_make,
    hf__redis_call_stock_reserve, hf__redis_call_stock_settle,
    hf__redis_call_stock_move, hf__redis_call_stock_events;

#endif
