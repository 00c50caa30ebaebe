/*
 * watch.c: the names that are watched on a connection.  One rule: a name has
 * one record, whatever it is watched as, and the driver is asked about it
 * before the first and after the last.
 */
#include <string.h>

#include "backend/sql/core.h"

struct sql_watch *hf__sql_watch_first(const struct sql_core *core)
{
    return core->watches;
}

struct sql_watch *hf__sql_watch_find(const struct sql_core *core,
                                     const char *name, size_t name_len)
{
    struct sql_watch *w = core->watches;
    while (w && (w->name_len != name_len || memcmp(w->name, name, name_len)))
        w = w->next;
    return w;
}

static struct sql_watch *watch_make(struct sql_core *core,
                                    const struct request *req)
{
    struct sql_watch *w =
        hf__alloc_zero(core->env->alloc, sizeof *w + req->name_len + 1);
    if (!w) return NULL;
    w->name_len = req->name_len;
    memcpy(w->name, req->name, req->name_len);
    w->next = core->watches;
    if (w->next) w->next->link = &w->next;
    w->link = &core->watches;
    core->watches = w;
    return w;
}

static void watch_free(struct sql_core *core, struct sql_watch *w)
{
    *w->link = w->next;
    if (w->next) w->next->link = w->link;
    hf__free(core->env->alloc, w);
}

void hf__sql_watch_free_all(struct sql_core *core)
{
    while (core->watches) watch_free(core, core->watches);
}

/* ---- requests ----------------------------------------------------------- */

void hf__sql_watch_begin(struct sql_job *job)
{
    struct sql_core *core = job->core;
    const struct request *req = job->req;
    struct sql_watch *w = hf__sql_watch_find(core, req->name, req->name_len);
    if (!w) w = watch_make(core, req);
    if (!w) {
        hf__sql_refuse(job, HF_NOMEM, "watch: out of memory");
        return;
    }
    w->kinds |= 1u << req->kind;
    if (w->is_on) {
        hf__sql_job_tell(job, V_GRANTED, 0);
        return;
    }
    job->watch = w;
    w->jobs++;
    hf__sql_job_step(job, SQL_WATCH);
}

void hf__sql_watch_end(struct sql_job *job)
{
    const struct request *req = job->req;
    struct sql_watch *w =
        hf__sql_watch_find(job->core, req->name, req->name_len);
    if (w) w->kinds &= ~(1u << req->kind);
    if (!w || w->kinds) {
        hf__sql_job_tell(job, V_GRANTED, 0);
        return;
    }
    job->watch = w;
    w->jobs++;
    w->is_on = 0;
    hf__sql_job_step(job, SQL_UNWATCH);
}

static void watch_leave(struct sql_job *job)
{
    struct sql_watch *w = job->watch;
    job->watch = NULL;
    if (--w->jobs == 0 && !w->kinds) watch_free(job->core, w);
}

void hf__sql_watch_done(struct sql_job *job)
{
    if (job->step == SQL_WATCH && job->watch->kinds) job->watch->is_on = 1;
    watch_leave(job);
}

void hf__sql_watch_failed(struct sql_job *job)
{
    if (job->step == SQL_WATCH) job->watch->kinds &= ~(1u << job->req->kind);
    watch_leave(job);
}

/* ---- telling ------------------------------------------------------------ */

void hf__sql_watch_wake(struct sql_core *core, const struct sql_watch *w)
{
    core->env->wake(core->env, w->name, w->name_len);
}

void hf__sql_watch_news(struct sql_core *core, const struct sql_watch *w,
                        const struct cell_plain *plain, int64_t now_us)
{
    const char *uuid = core->env->conf->uuid;
    size_t len = uuid ? strlen(uuid) : 0;
    int is_given = plain->owner[0] && plain->flags & CELL_MARKED
                   && now_us < plain->ends_us;
    if (!is_given) {
        hf__sql_watch_wake(core, w);
        return;
    }
    if (len == 0 || strncmp(plain->owner, uuid, len) != 0
        || plain->owner[len] != ':')
        return;
    struct handoff h = {.name = w->name,
                        .name_len = w->name_len,
                        .kind = KIND_PLAIN,
                        .owner = plain->owner,
                        .attempt = plain->attempt,
                        .ballot = plain->ballot,
                        .fence = plain->fence,
                        .lease_us =
                            plain->ends_us - US_PER_MS - plain->since_us};
    core->env->handed(core->env, &h);
}

/* Waking may change the list: begin again, without those that were woken. */
void hf__sql_watch_wake_all(struct sql_core *core)
{
    for (struct sql_watch *w = core->watches; w; w = w->next) w->is_due = 1;
    for (struct sql_watch *w = core->watches; w;) {
        struct sql_watch *next = w->next;
        int is_due = w->is_due;
        w->is_due = 0;
        if (is_due) hf__sql_watch_wake(core, w);
        w = is_due ? core->watches : next;
    }
}
