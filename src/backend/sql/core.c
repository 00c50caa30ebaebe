/*
 * core.c: the requests of one connection to a database, and its jobs.  One
 * rule: a request is answered once, and never from inside the driver's start().
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/core.h"
#include "backend/sql/script.h"
#include "sys/clock.h"

/* ---- jobs --------------------------------------------------------------- */

static struct sql_job *job_make(struct sql_core *core, struct request *req)
{
    struct sql_job *job = core->spare;
    struct cell_bytes state = {.alloc = core->env->alloc}, seen = state;
    if (job) {
        core->spare = job->next_job;
        state = job->state;
        seen = job->seen;
    } else {
        job = hf__alloc(core->env->alloc, sizeof *job);
    }
    if (!job) return NULL;
    memset(job, 0, sizeof *job);
    state.len = seen.len = 0;
    job->state = state;
    job->seen = seen;
    job->core = core;
    job->req = req;
    job->link = core->jobs_end;
    *core->jobs_end = job;
    core->jobs_end = &job->next_job;
    return job;
}

static void job_free(struct sql_job *job)
{
    struct sql_core *core = job->core;
    *job->link = job->next_job;
    if (job->next_job)
        job->next_job->link = job->link;
    else
        core->jobs_end = job->link;
    hf__sql_script_free(job->script);
    job->script = NULL;
    job->next_job = core->spare;
    core->spare = job;
}

static void fence_hide(struct reply *rep, int keeps_numbers)
{
    rep->fence = 0;
    if (!keeps_numbers) rep->counter = 0;
    if (rep->info) rep->info->fence = 0;
    for (size_t i = 0; i < rep->rows_len; i++) rep->rows[i].info.fence = 0;
}

/* The engine may use the job's memory for its next request, so the job stays
 * until the answer was taken. */
static void job_end(struct sql_job *job)
{
    struct sql_core *core = job->core;
    if (core->driver->flags & (SQL_NO_FENCE | SQL_HIDES_FENCE))
        fence_hide(&job->reply, core->driver->flags & SQL_HIDES_FENCE);
    core->env->reply(core->env, job->req, &job->reply);
    job_free(job);
}

static void job_go(struct sql_job *job)
{
    struct sql_core *core = job->core;
    while (job->is_due) {
        job->is_due = 0;
        job->is_starting = 1;
        core->driver->start(core->conn, job);
        job->is_starting = 0;
    }
    if (job->is_over) job_end(job);
}

void hf__sql_job_step(struct sql_job *job, enum sql_step step)
{
    job->step = step;
    job->is_due = 1;
    if (step == SQL_LIST) hf__sql_page_begin(job->core);
    job->may_have_changed = step == SQL_SWAP || step == SQL_FAST
                            || step == SQL_BOOT_SWAP
                            || (step == SQL_SCRIPT && job->script->is_write);
    if (!job->is_starting) job_go(job);
}

void hf__sql_job_again(struct sql_job *job)
{
    hf__sql_job_step(job, job->step);
}

void hf__sql_job_finish(struct sql_job *job, const struct reply *reply)
{
    job->reply = *reply;
    job->step = SQL_IDLE;
    job->is_over = 1;
    if (!job->is_starting) job_end(job);
}

void hf__sql_job_tell(struct sql_job *job, enum verdict verdict, int64_t now_us)
{
    struct reply rep = {
        .verdict = verdict, .node_us = now_us, .ttl_us = -1, .waiters = -1};
    hf__sql_job_finish(job, &rep);
}

static int64_t deadline_of(const struct sql_job *job)
{
    int64_t us = job->req->deadline_us;
    return us > 0 ? us : TIME_NEVER;
}

int hf__sql_job_is_late(const struct sql_job *job)
{
    return hf__clock_us() >= deadline_of(job);
}

/* ---- refusals ----------------------------------------------------------- */

static void job_refuse(struct sql_job *job, enum verdict verdict, int status,
                       const char *why)
{
    struct reply rep = {
        .verdict = verdict, .status = status, .ttl_us = -1, .waiters = -1};
    snprintf(job->text, sizeof job->text, "%.100s: %.150s", job->core->where,
             why);
    rep.text = job->text;
    if (job->watch) hf__sql_watch_failed(job);
    hf__sql_job_finish(job, &rep);
}

void hf__sql_fail(struct sql_job *job, int status, const char *why)
{
    job_refuse(job, job->may_have_changed ? V_UNKNOWN : V_UNSENT, status, why);
}

void hf__sql_refuse(struct sql_job *job, int status, const char *why)
{
    job->req->flags |= REQ_SPOKEN;
    job_refuse(job, V_ERROR, status, why);
}

/* ---- the way in --------------------------------------------------------- */

static void job_begin(struct sql_job *job)
{
    switch (job->req->verb) {
    case VERB_LIST:
        hf__sql_job_step(job, SQL_LIST);
        break;
    case VERB_BOOT:
        hf__sql_boot_begin(job);
        break;
    case VERB_WATCH:
        hf__sql_watch_begin(job);
        break;
    case VERB_UNWATCH:
        hf__sql_watch_end(job);
        break;
    case VERB_LEDGER:
        hf__sql_ledger_begin(job);
        break;
    case VERB_FACTS:
        hf__sql_job_step(job, SQL_FACTS);
        break;
    case VERB_PRIMARY:
        hf__sql_refuse(job, HF_UNSUPPORTED, "not asked of a store");
        break;
    default:
        hf__sql_row_begin(job);
        break;
    }
}

void hf__sql_core_submit(struct sql_core *core, struct request *req)
{
    req->next = NULL;
    *core->last = req;
    core->last = &req->next;
}

static struct request *request_take(struct sql_core *core)
{
    struct request *req = core->first;
    if (!req) return NULL;
    core->first = req->next;
    if (!core->first) core->last = &core->first;
    return req;
}

static void request_refuse(struct sql_core *core, struct request *req,
                           enum verdict verdict, int status, const char *why)
{
    char text[SQL_WHERE_MAX + 64];
    struct reply rep = {
        .verdict = verdict, .status = status, .ttl_us = -1, .waiters = -1};
    snprintf(text, sizeof text, "%s: %s", core->where, why);
    rep.text = text;
    core->env->reply(core->env, req, &rep);
}

void hf__sql_core_flush(struct sql_core *core)
{
    struct request *req;
    if (core->is_busy) return; /* the outer call goes on */
    core->is_busy = 1;
    while ((req = request_take(core))) {
        struct sql_job *job = job_make(core, req);
        if (job)
            job_begin(job);
        else
            request_refuse(core, req, V_ERROR, HF_NOMEM, "out of memory");
    }
    core->is_busy = 0;
}

/* ---- the core's life ---------------------------------------------------- */

struct sql_core *hf__sql_core_open(struct backend_env *env,
                                   struct backend_conn *c,
                                   const struct sql_driver *driver,
                                   const char *where)
{
    struct sql_core *core = hf__alloc_zero(env->alloc, sizeof *core);
    if (!core) return NULL;
    core->env = env;
    core->conn = c;
    core->driver = driver;
    core->last = &core->first;
    core->jobs_end = &core->jobs;
    snprintf(core->where, sizeof core->where, "%s", where);
    core->store = hf__rules_store_open(env->alloc);
    if (core->store) return core;
    hf__free(env->alloc, core);
    return NULL;
}

/* Answers may bring new jobs, which come behind those that are lost. */
void hf__sql_core_lost(struct sql_core *core, int status, const char *why)
{
    for (struct sql_job *job = core->jobs; job; job = job->next_job)
        job->is_lost = 1;
    while (core->jobs && core->jobs->is_lost)
        hf__sql_fail(core->jobs, status, why);
}

static void spares_free(struct sql_core *core)
{
    while (core->spare) {
        struct sql_job *job = core->spare;
        core->spare = job->next_job;
        hf__rules_cell_free(&job->state);
        hf__rules_cell_free(&job->seen);
        hf__free(core->env->alloc, job);
    }
}

void hf__sql_core_close(struct sql_core *core)
{
    struct request *req;
    core->is_busy = 1;
    hf__sql_core_lost(core, HF_CLOSED, "closed");
    while ((req = request_take(core)))
        request_refuse(core, req, V_UNSENT, HF_CLOSED, "closed");
    hf__sql_watch_free_all(core);
    hf__sql_page_free(core);
    spares_free(core);
    hf__rules_store_close(core->store);
    hf__free(core->env->alloc, core);
}

int64_t hf__sql_core_deadline_us(const struct sql_core *core)
{
    int64_t us = TIME_NEVER;
    for (const struct sql_job *job = core->jobs; job; job = job->next_job)
        if (deadline_of(job) < us) us = deadline_of(job);
    return us;
}
