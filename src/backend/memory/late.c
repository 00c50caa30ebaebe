/*
 * late.c: answers that the fault options delay or lose.  One rule: a request
 * that is answered late is carried out when it comes, as on a slow way back,
 * and never after its answer.
 */
#include <stdio.h>

#include "backend/memory/fault.h"
#include "backend/memory/late.h"
#include "backend/memory/request.h"

enum late_kind { LATE_ANSWER, LATE_LOST, LATE_REFUSED };

/* An answer whose time has not come. */
struct late {
    struct late *next;
    struct request *req;
    int64_t due_us;
    enum late_kind kind;
    struct reply reply; /* LATE_ANSWER; with its own copies: */
    struct boot boot;
    struct hf_info info;
    struct tally_told tally;
    char text[HF_ERROR_TEXT_MAX];
};

static int64_t request_deadline(const struct backend_conn *c,
                                const struct request *req, int64_t now_us)
{
    if (req->deadline_us > 0 && req->deadline_us != TIME_NEVER)
        return req->deadline_us;
    return now_us + c->env->conf->timeout_us;
}

/* Is the answer too large to be copied and kept? */
static int is_look(const struct request *req)
{
    return req->verb == VERB_LIST || req->verb == VERB_VALUE_READ
           || (req->verb == VERB_GUARD && req->flags & REQ_GUARD_LOOK);
}

static void late_put(struct backend_conn *c, struct late *late)
{
    struct late **link = &c->late;
    while (*link && (*link)->due_us <= late->due_us) link = &(*link)->next;
    late->next = *link;
    *link = late;
}

static void late_perform(struct backend_conn *c, struct late *late, int expired)
{
    struct reply *rep = &late->reply;
    if (is_look(late->req)) return; /* looked at when it is due */
    hf__memory_request_perform(c, late->req, expired, rep);
    if (rep->info) {
        late->info = *rep->info;
        rep->info = &late->info;
    }
    if (rep->boot) {
        late->boot = *rep->boot;
        rep->boot = &late->boot;
    }
    if (rep->tally) {
        late->tally = *rep->tally;
        rep->tally = &late->tally;
    }
    if (rep->text) {
        snprintf(late->text, sizeof late->text, "%s", rep->text);
        rep->text = late->text;
    }
}

void hf__memory_late_add(struct backend_conn *c, struct request *req,
                         struct fault_fate fate)
{
    int64_t now_us = c->env->now(c->env);
    int64_t deadline_us = request_deadline(c, req, now_us);
    struct late *late = hf__alloc_zero(c->env->alloc, sizeof *late);
    if (!late) {
        struct reply rep;
        hf__memory_request_fail(c, &rep, V_ERROR, HF_NOMEM, "out of memory");
        c->env->reply(c->env, req, &rep);
        return;
    }
    late->req = req;
    late->due_us = now_us + fate.delay_us;
    late->kind = fate.refused ? LATE_REFUSED : LATE_ANSWER;
    if (!fate.refused && (!fate.lost || fate.carried_out))
        late_perform(c, late, fate.expired);
    if (fate.lost || late->due_us > deadline_us) {
        late->kind = LATE_LOST;
        late->due_us = deadline_us;
    }
    late_put(c, late);
}

static void late_answer(struct backend_conn *c, struct late *late)
{
    struct reply rep = late->reply;
    if (late->kind == LATE_LOST)
        hf__memory_request_fail(c, &rep, V_UNKNOWN, HF_UNAVAILABLE,
                                "no answer");
    else if (late->kind == LATE_REFUSED)
        hf__memory_request_refuse(c, &rep);
    else if (is_look(late->req))
        hf__memory_request_perform(c, late->req, 0, &rep);
    c->env->reply(c->env, late->req, &rep);
    hf__free(c->env->alloc, late);
}

int64_t hf__memory_late_due(const struct backend_conn *c)
{
    return c->late ? c->late->due_us : TIME_NEVER;
}

int hf__memory_late_process(struct backend_conn *c)
{
    int64_t now_us = c->env->now(c->env);
    int done = 0;
    while (c->late && c->late->due_us <= now_us) {
        struct late *late = c->late;
        c->late = late->next;
        late_answer(c, late);
        done = 1;
    }
    return done;
}

void hf__memory_late_close(struct backend_conn *c)
{
    while (c->late) {
        struct late *late = c->late;
        c->late = late->next;
        late->kind = LATE_LOST;
        late_answer(c, late);
    }
}
