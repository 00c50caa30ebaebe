/*
 * again.c: requests that are to be repeated: releases above all.
 *
 * The rule: to a single server everything is repeated until it is done or
 * pointless.  For a member of a quorum that cannot be reached, the newest
 * releases are kept until it can be, and no more than RELEASES_MAX of them, so
 * that a dead member costs a fixed amount of memory.
 */
#include "engine/again.h"

#include <stdio.h>

#include "base/math.h"
#include "engine/engine.h"
#include "engine/voter.h"
#include "engine/nodes.h"

static int is_kept(const struct node *n)
{
    return hf__is_member(n) && !n->up;
}

static struct request *oldest_take(struct node *n)
{
    struct request *r = n->again;
    n->again = r->next;
    if (!n->again) n->again_last = NULL;
    n->again_len--;
    return r;
}

static void oldest_drop(struct engine *e, struct node *n)
{
    struct reply rep = {.verdict = V_UNSENT, .status = HF_UNAVAILABLE};
    hf__node_answer(e, n, oldest_take(n), &rep);
}

/* Once per outage: what is not released from now on ends with its lease. */
static void drop_log(struct engine *e, struct node *n)
{
    char line[HF_ERROR_TEXT_MAX];
    if (n->drop_told || !e->log) return;
    n->drop_told = 1;
    snprintf(line, sizeof line,
             "%.100s: it cannot be reached, and only the last %d releases are "
             "kept for it: what else is locked there ends with its lease",
             n->url ? n->url : "node", RELEASES_MAX);
    e->log(e, HF_LOG_INFO, line);
}

void hf__again_add(struct engine *e, struct node *n, struct request *r)
{
    if (is_kept(n) && n->again_len >= RELEASES_MAX) {
        drop_log(e, n);
        oldest_drop(e, n);
    }
    r->flags &= ~REQ_HUSHED;
    r->next = NULL;
    if (n->again)
        n->again_last->next = r;
    else
        n->again = r;
    n->again_last = r;
    n->again_len++;
    if (is_kept(n))
        n->again_us = min64(n->again_us, r->until_us);
    else if (n->again_us == TIME_NEVER)
        n->again_us = e->now_us + AGAIN_US_MIN;
}

/* An operation ends at its own time, not with the time-out of its last
 * repetition.  But a link that is given up is given up for all requests, so the
 * node gets a quarter of the time-out at least. */
static int64_t deadline_us(const struct engine *e, const struct request *r)
{
    int64_t limit = e->conf.timeout_us;
    if (r->user_kind != USER_OP) return e->now_us + limit;
    return min64(e->now_us + limit, max64(r->until_us, e->now_us + limit / 4));
}

void hf__again_send(struct engine *e, struct node *n)
{
    struct request *list = n->again;
    n->again = n->again_last = NULL;
    n->again_len = 0;
    n->again_us = TIME_NEVER;
    n->drop_told = 0;
    while (list) {
        struct request *r = list;
        list = r->next;
        r->deadline_us = deadline_us(e, r);
        hf__request_send(e, n, r);
    }
}

/* A release whose lease must have ended is not repeated any more. */
void hf__again_tick(struct engine *e, struct node *n)
{
    if (!is_kept(n)) {
        hf__again_send(e, n);
        return;
    }
    while (n->again && n->again->until_us <= e->now_us) oldest_drop(e, n);
    n->again_us = n->again ? n->again->until_us : TIME_NEVER;
}

/* Give up what was to be repeated. */
void hf__again_shut(struct engine *e, struct node *n)
{
    struct reply rep = {.verdict = V_UNSENT, .status = HF_CLOSED};
    while (n->again) hf__node_answer(e, n, oldest_take(n), &rep);
    n->again_us = TIME_NEVER;
}
