/*
 * pump.c: deadlines, and what goes out.  One rule: before anything is
 * called late or an old link is used again, its socket is looked at.
 */
#include "backend/redis/redis.h"
#include "base/math.h"
#include "base/error.h"

#define IDLE_US (500 * US_PER_MS) /* an older link is looked at before use */

/* ---- time ---- */

/* Answer what waits for a connection beyond its deadline; the earliest
 * deadline of the rest. */
static int64_t queue_expire(struct backend_conn *c, int64_t now)
{
    struct request *list = hf__redis_list_take(&c->unsent);
    struct request_list late = {0};
    int64_t earliest = TIME_NEVER;
    while (list) {
        struct request *req = list;
        list = req->next;
        hf__redis_list_push(req->deadline_us <= now ? &late : &c->unsent, req);
        if (req->deadline_us > now && req->deadline_us < earliest)
            earliest = req->deadline_us;
    }
    struct hf_error err = c->main.err;
    if (err.status == HF_OK)
        hf__error_set(&err, HF_UNAVAILABLE, "%s: %s", c->endpoint,
                      c->main.state == LINK_SECURING
                          ? "tls: handshake: no answer yet: does the server "
                            "speak TLS there?"
                          : "connect: not yet through");
    hf__redis_answer_all(c, late.first, V_UNSENT, err.status, err.text);
    return earliest;
}

/* The earliest deadline of what is on its way. */
static int64_t flights_deadline(struct backend_conn *c)
{
    int64_t earliest = TIME_NEVER;
    struct flight *f;
    for (size_t i = 0; (f = hf__redis_flight_nth(&c->main, i)) != NULL; i++)
        for (const struct request *r = f->reqs; r; r = r->next)
            if (r->deadline_us < earliest) earliest = r->deadline_us;
    return min64(earliest, hf__redis_wait_deadline(c));
}

int hf__redis_expire(struct backend_conn *c, int64_t now)
{
    if (now < c->request_due_us) return 0;
    c->request_due_us = TIME_NEVER;
    int64_t due = queue_expire(c, now);
    int64_t flying = flights_deadline(c);
    /* The answer may be there, with nobody having looked for a while. */
    if (flying <= now && hf__redis_link_ready(&c->main, WATCH_READ))
        flying = flights_deadline(c);
    if (flying <= now) {
        hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0,
                            "%sno answer in time; the connection was given up",
                            c->parked.first ? "wait: " : "");
        flying = TIME_NEVER;
    }
    due = min64(due, min64(flying, hf__redis_watch_expire(c, now)));
    /* Callbacks may have submitted more meanwhile. */
    c->request_due_us = min64(c->request_due_us, due);
    return 1;
}

void hf__redis_timer_set(struct backend_conn *c)
{
    int64_t now = c->env->now(c->env);
    int64_t due = hf__redis_watch_timer(c, now);
    due = min64(due, c->request_due_us);
    due = min64(due, min64(c->main.due_us, c->sub.due_us));
    if (due == c->timer_us) return;
    c->timer_us = due;
    c->env->timer(c->env, due);
}

/* ---- the pump ---- */

/* A server that closes idle connections may have closed this one unseen; what
 * is written to it now would be lost, and in doubt. */
static void main_check(struct backend_conn *c)
{
    struct link *l = &c->main;
    if (l->state != LINK_UP || !c->unsent.first || hf__redis_flight_first(l))
        return;
    if (c->env->now(c->env) - l->active_us < IDLE_US) return;
    hf__redis_link_ready(l, WATCH_READ);
}

void hf__redis_let_out(struct backend_conn *c)
{
    do {
        c->flush_wanted = 0;
        main_check(c);
        if (c->main.state == LINK_UP && c->unsent.first) hf__redis_send_all(c);
        hf__redis_wait_push(c);
        if (c->watching.first) hf__redis_watch_flush(c);
        hf__redis_link_write(&c->main);
        hf__redis_link_write(&c->sub);
        hf__redis_timer_set(c);
        /* A ping of hf__redis_timer_set(). */
        hf__redis_link_write(&c->sub);
    } while (c->flush_wanted);
}
