/*
 * job.c: the engine's requests.  One rule: each is answered once, and never
 * from inside submit().
 */
#include "backend/zookeeper/job.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/zookeeper.h"
#include "base/math.h"

/* ---- answers ------------------------------------------------------------ */

void hf__zookeeper_reply(struct backend_conn *c, struct job *job,
                         const struct reply *reply)
{
    if (!job) return;
    struct request *req = job->req;
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    else
        c->jobs_end = job->link;
    c->env->reply(c->env, req, reply);
    hf__zookeeper_look_free(c, job->look);
    hf__zookeeper_page_free(c, job->page);
    hf__free(c->env->alloc, job);
}

static int64_t deadline_of(const struct job *job)
{
    return job->req->deadline_us > 0 ? job->req->deadline_us : TIME_NEVER;
}

void hf__zookeeper_tell(struct backend_conn *c, struct job *job,
                        enum verdict verdict)
{
    struct reply rep = {.verdict = verdict,
                        .node_us = hf__zookeeper_clock_us(c),
                        .ttl_us = -1,
                        .waiters = -1};
    if (verdict >= V_ERROR) {
        rep.status = HF_UNAVAILABLE;
        rep.text = c->link.err.text;
    }
    hf__zookeeper_reply(c, job, &rep);
}

static void explain(struct backend_conn *c, struct job *job,
                    enum verdict verdict, int status, const char *text)
{
    struct reply rep = {.verdict = verdict,
                        .status = status,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = text};
    hf__zookeeper_reply(c, job, &rep);
}

void hf__zookeeper_refuse(struct backend_conn *c, struct job *job, int status,
                          const char *format, ...)
{
    char why[HF_ERROR_TEXT_MAX];
    va_list ap;
    if (!job) return;
    va_start(ap, format);
    vsnprintf(why, sizeof why, format, ap);
    va_end(ap);
    snprintf(c->text, sizeof c->text, "%.90s: %.160s", c->endpoint, why);
    job->req->flags |= REQ_SPOKEN;
    explain(c, job, V_ERROR, status, c->text);
}

void hf__zookeeper_refuse_error(struct backend_conn *c, struct job *job,
                                int32_t err)
{
    const char *why;
    int status = hf__zookeeper_error(err, &why);
    hf__zookeeper_refuse(c, job, status, "%s (error %d)", why, err);
}

/* ---- beginning ---------------------------------------------------------- */

static void facts_tell(struct backend_conn *c, struct job *job)
{
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__zookeeper_clock_us(c),
                        .ttl_us = -1,
                        .waiters = -1,
                        .data = c->facts};
    rep.data_len = (size_t)snprintf(
        c->facts, sizeof c->facts,
        "engine:zookeeper\nserver:%.100s:%d\nsession_ms:%lld\n"
        "longest_lease_ms:%lld\n",
        c->host, c->port, (long long)(c->session.us / US_PER_MS),
        (long long)(hf__zookeeper_session_lease_us(c) / US_PER_MS));
    hf__zookeeper_reply(c, job, &rep);
}

static int is_served(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
    case VERB_RENEW:
    case VERB_RELEASE:
        return req->kind == KIND_PLAIN && !(req->flags & REQ_QUORUM);
    case VERB_INSPECT:
    case VERB_BREAK:
        return req->kind == KIND_PLAIN;
    case VERB_WATCH:
    case VERB_UNWATCH:
    case VERB_LIST:
    case VERB_FACTS:
        return 1;
    default:
        return 0;
    }
}

static void job_begin(struct backend_conn *c, struct job *job)
{
    job->is_begun = 1;
    switch (job->req->verb) {
    case VERB_PROPOSE:
        hf__zookeeper_place_propose(c, job);
        break;
    case VERB_RENEW:
        hf__zookeeper_place_renew(c, job);
        break;
    case VERB_RELEASE:
        hf__zookeeper_place_release(c, job);
        break;
    case VERB_INSPECT:
    case VERB_BREAK:
        hf__zookeeper_look_begin(c, job);
        break;
    case VERB_LIST:
        hf__zookeeper_list_begin(c, job);
        break;
    default:
        facts_tell(c, job);
        break;
    }
}

static void nothing_tell(struct backend_conn *c, struct job *job)
{
    struct hf_info info = {.ttl_ms = -2, .waiters = -1, .queued = -1};
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__zookeeper_clock_us(c),
                        .ttl_us = -1,
                        .waiters = -1,
                        .info = &info};
    info.now_ms = rep.node_us / US_PER_MS;
    hf__zookeeper_reply(c, job, &rep);
}

/* What is known without asking the server.  A hold or a wait of this connection
 * without a place is over: its owner is told so also while there is no link.
 * 1: it was answered. */
/* A proposal that waits for a link is given up with its attempt: nobody would
 * give back what it gets. */
static void proposals_drop(struct backend_conn *c, const struct request *req)
{
    static const struct reply rep = {.verdict = V_UNSENT,
                                     .status = HF_UNAVAILABLE,
                                     .ttl_us = -1,
                                     .waiters = -1};
    struct job **at = &c->waiting, *before = NULL, *job;
    while ((job = *at) != NULL) {
        if (job->req->verb != VERB_PROPOSE || job->req->attempt != req->attempt
            || strcmp(job->req->owner, req->owner) != 0) {
            before = job;
            at = &job->next_waiting;
            continue;
        }
        *at = job->next_waiting;
        if (!*at) c->waiting_end = before ? &before->next_waiting : &c->waiting;
        hf__zookeeper_reply(c, job, &rep);
    }
}

static int is_answered(struct backend_conn *c, struct job *job)
{
    const struct request *req = job->req;
    if (req->verb == VERB_RELEASE && c->link.state != LINK_UP)
        proposals_drop(c, req);
    int is_about_us = req->verb == VERB_RENEW || req->verb == VERB_RELEASE
                      || (req->verb == VERB_INSPECT && req->attempt != 0);
    if (!is_served(req)) {
        hf__zookeeper_refuse(c, job, HF_UNSUPPORTED,
                             "zookeeper has no such kind of lock");
    } else if (req->name_len > NAME_LEN_MAX) {
        hf__zookeeper_refuse(c, job, HF_INVALID, "a name has 1 to 512 bytes");
    } else if (req->verb == VERB_WATCH || req->verb == VERB_UNWATCH) {
        hf__zookeeper_tell(c, job, V_GRANTED); /* every place is watched */
    } else if (c->link.state == LINK_UP || !is_about_us
               || hf__zookeeper_place_find(c, req)) {
        return 0;
    } else if (req->verb == VERB_INSPECT) {
        nothing_tell(c, job);
    } else {
        hf__zookeeper_tell(c, job, V_ABSENT);
    }
    return 1;
}

static void wait_for_link(struct backend_conn *c, struct job *job)
{
    const struct request *req = job->req;
    struct place *p =
        req->verb == VERB_RELEASE ? hf__zookeeper_place_find(c, req) : NULL;
    /* It is given back when there is a link, whether this is repeated or not.
     */
    if (p) p->leaves = job->may_have_changed = 1;
    if (!c->waiting) c->waiting_end = &c->waiting;
    job->next_waiting = NULL;
    *c->waiting_end = job;
    c->waiting_end = &job->next_waiting;
}

static struct job *job_make(struct backend_conn *c, struct request *req)
{
    struct job *job = hf__alloc_zero(c->env->alloc, sizeof *job);
    if (!job) return NULL;
    job->req = req;
    if (!c->jobs) c->jobs_end = &c->jobs;
    job->link = c->jobs_end;
    *c->jobs_end = job;
    c->jobs_end = &job->next;
    return job;
}

void hf__zookeeper_jobs_submit(struct backend_conn *c, struct request *req)
{
    if (!c->submitted) c->submitted_end = &c->submitted;
    req->next = NULL;
    *c->submitted_end = req;
    c->submitted_end = &req->next;
}

void hf__zookeeper_jobs_flush(struct backend_conn *c)
{
    struct request *req;
    while ((req = c->submitted) != NULL) {
        c->submitted = req->next;
        if (hf__zookeeper_cell_is_asked(req)) {
            hf__sql_core_submit(c->cells.core, req);
            continue;
        }
        struct job *job = job_make(c, req);
        if (!job) {
            const struct reply rep = {.verdict = V_ERROR,
                                      .status = HF_NOMEM,
                                      .ttl_us = -1,
                                      .waiters = -1,
                                      .text = "zookeeper: out of memory"};
            c->env->reply(c->env, req, &rep);
        } else if (is_answered(c, job)) {
            continue;
        } else if (c->link.state == LINK_UP) {
            job_begin(c, job);
        } else {
            wait_for_link(c, job);
        }
    }
}

void hf__zookeeper_jobs_begin(struct backend_conn *c)
{
    struct job *job;
    while (c->link.state == LINK_UP && (job = c->waiting) != NULL) {
        c->waiting = job->next_waiting;
        job_begin(c, job);
    }
}

/* ---- what the session carries ------------------------------------------- */

void hf__zookeeper_jobs_prove(struct backend_conn *c)
{
    struct job *job, *list = c->proving;
    c->proving = NULL;
    while ((job = list) != NULL) {
        list = job->next_waiting;
        if (hf__zookeeper_session_carries(c, job))
            hf__zookeeper_place_proved(c, job);
        else
            hf__zookeeper_session_prove(c, job);
    }
}

/* ---- failing ------------------------------------------------------------ */

static void job_fail(struct backend_conn *c, struct job *job, int status,
                     const char *text)
{
    explain(c, job, job->may_have_changed ? V_UNKNOWN : V_UNSENT, status, text);
}

void hf__zookeeper_jobs_fail(struct backend_conn *c, int status,
                             const char *text)
{
    char why[HF_ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", text);
    c->waiting = c->proving = NULL;
    for (struct job *job = c->jobs; job; job = job->next) job->is_lost = 1;
    while (c->jobs && c->jobs->is_lost) job_fail(c, c->jobs, status, why);
}

int64_t hf__zookeeper_jobs_due_us(const struct backend_conn *c)
{
    int64_t us = TIME_NEVER;
    for (const struct job *job = c->jobs; job; job = job->next)
        us = min64(us, deadline_of(job));
    return us;
}

static struct job *late_take(struct backend_conn *c, int64_t now)
{
    struct job **at = &c->waiting, *before = NULL;
    for (; *at; before = *at, at = &(*at)->next_waiting) {
        struct job *job = *at;
        if (deadline_of(job) > now) continue;
        *at = job->next_waiting;
        if (!*at) c->waiting_end = before ? &before->next_waiting : &c->waiting;
        return job;
    }
    return NULL;
}

int hf__zookeeper_jobs_expire(struct backend_conn *c, int64_t now)
{
    struct job *job;
    while ((job = late_take(c, now)) != NULL) {
        struct hf_error why = c->link.err;
        if (why.status == HF_OK) {
            why.status = HF_UNAVAILABLE;
            snprintf(why.text, sizeof why.text,
                     "%.120s: connect: not connected yet", c->endpoint);
        }
        job_fail(c, job, why.status, why.text);
    }
    return c->link.state == LINK_UP && hf__zookeeper_jobs_due_us(c) <= now;
}
