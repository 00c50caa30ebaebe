/*
 * row.c: a request about one name: read, apply, swap.  One rule: the engine
 * gets the answer that belongs to the row that was stored.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/core.h"
#include "backend/sql/fast.h"
#include "rules/use.h"

static int is_look(const struct request *req)
{
    switch (req->verb) {
    case VERB_INSPECT:
    case VERB_VALUE_READ:
        return 1;
    case VERB_GUARD:
        return (req->flags & REQ_GUARD_LOOK) != 0;
    case VERB_TALLY:
        return req->tally == TALLY_READ;
    default:
        return 0;
    }
}

/* Can one statement decide the request, unless the row says otherwise?  What
 * the rules refuse is left to them. */
static int is_fast(const struct sql_core *core, const struct request *req)
{
    int takes = req->verb == VERB_PROPOSE || req->verb == VERB_RENEW;
    if (!(core->driver->flags & SQL_HAS_FAST)) return 0;
    if (req->kind != KIND_PLAIN || (!takes && req->verb != VERB_RELEASE))
        return 0;
    if (req->flags & (REQ_QUEUE | REQ_QUORUM)) return 0;
    if (takes && req->lease_us < 1) return 0;
    return req->ballot >= (req->verb == VERB_PROPOSE)
           && req->ballot <= BALLOT_MAX;
}

void hf__sql_row_begin(struct sql_job *job)
{
    const struct request *req = job->req;
    if (req->name_len == 0 || req->name_len > NAME_LEN_MAX) {
        hf__sql_refuse(job, HF_INVALID, "a name has 1 to 512 bytes");
        return;
    }
    job->is_look = is_look(req);
    job->wants_marker =
        req->verb == VERB_PROPOSE && (req->flags & REQ_QUORUM) != 0;
    hf__sql_job_step(job, is_fast(job->core, req) ? SQL_FAST : SQL_READ);
}

/* ---- what is told after the swap ---------------------------------------- */

/* The store is loaded for other jobs before this one is answered: copy what the
 * reply points to. */
static void reply_keep(struct sql_job *job, struct reply *rep)
{
    if (rep->text) {
        snprintf(job->text, sizeof job->text, "%.100s: %.150s",
                 job->core->where, rep->text);
        rep->text = job->text;
    }
    if (rep->info) {
        job->info = *rep->info;
        rep->info = &job->info;
    }
    if (rep->tally) {
        job->tally = *rep->tally;
        rep->tally = &job->tally;
    }
}

static void tell_keep(struct sql_job *job, const struct reply *rep)
{
    const struct store *store = job->core->store;
    struct handoff h;
    job->tell = SQL_TELL_NONE;
    if (hf__rules_store_handed(store, &h)) {
        snprintf(job->owner, sizeof job->owner, "%s", h.owner);
        job->handoff = h;
        job->handoff.name = job->req->name;
        job->handoff.name_len = job->req->name_len;
        job->handoff.owner = job->owner;
        job->tell = SQL_TELL_HANDOFF;
    } else if (hf__rules_store_is_news(store, job->req, rep)) {
        job->tell = SQL_TELL_NEWS;
    }
}

/* ---- answers ------------------------------------------------------------ */

static int row_load(struct sql_job *job, const struct sql_row *row,
                    const char *marker)
{
    struct store *store = job->core->store;
    int status = hf__rules_cell_load(store, job->req->name, job->req->name_len,
                                     &row->plain, row->state, row->state_len);
    if (status == HF_NOMEM) hf__sql_refuse(job, HF_NOMEM, "out of memory");
    if (status == HF_CONFLICT)
        hf__sql_refuse(job, HF_CONFLICT,
                       "what is stored under the name is damaged, or of a "
                       "newer holdfast");
    if (status != HF_OK) return -1;
    job->marker[0] = '\0';
    if (job->wants_marker && marker)
        snprintf(job->marker, sizeof job->marker, "%s", marker);
    hf__rules_cell_mark(store, job->marker[0] ? job->marker : NULL);
    return 0;
}

static int is_changed(const struct sql_job *job, const struct sql_row *row)
{
    const struct cell_bytes *state = &job->state;
    return !hf__rules_cell_is_same(&row->plain, &job->next.plain)
           || row->state_len != state->len
           || (state->len > 0 && memcmp(row->state, state->at, state->len));
}

/* As what is stored now, to a driver that keeps plain locks elsewhere. */
static int is_used(const struct sql_job *job, int64_t now_us)
{
    const struct request like = {.verb = VERB_PROPOSE,
                                 .kind = KIND_PLAIN,
                                 .name = job->req->name,
                                 .name_len = job->req->name_len};
    return hf__rules_use_conflict(job->core->store, now_us, &like) != NULL;
}

static void row_swap(struct sql_job *job, const struct sql_row *row,
                     int64_t now_us)
{
    job->is_used = is_used(job, now_us);
    job->next.is_there = row->is_there;
    job->next.version = row->is_there ? row->version : 0;
    job->next.news = row->news;
    job->next.waits_us = row->waits_us;
    job->next.name = job->req->name;
    job->next.name_len = job->req->name_len;
    job->next.state = job->state.len > 0 ? job->state.at : NULL;
    job->next.state_len = job->state.len;
    hf__sql_job_step(job, SQL_SWAP);
}

/* What is told of an end is not later than what the caller has asked for. */
static void ttl_shorten(const struct sql_job *job, struct reply *rep)
{
    int is_look =
        job->req->verb == VERB_VALUE_READ || job->req->verb == VERB_GUARD;
    if (is_look && rep->ttl_us > 0)
        rep->ttl_us =
            rep->ttl_us > job->slow_us ? rep->ttl_us - job->slow_us : 0;
    if (rep->info && rep->info->ttl_ms > 0) {
        int64_t by_ms = (job->slow_us + US_PER_MS - 1) / US_PER_MS;
        int64_t ttl_ms = rep->info->ttl_ms - by_ms;
        rep->info->ttl_ms = ttl_ms > 0 ? ttl_ms : 0;
    }
}

static void apply(struct sql_job *job, int64_t now_us, struct reply *rep)
{
    struct request later = *job->req;
    if (job->slow_us > 0 && later.lease_us > 0 && later.verb != VERB_BOOT)
        later.lease_us += job->slow_us;
    hf__rules_store_apply(job->core->store, now_us, &later, rep);
    if (job->slow_us > 0) ttl_shorten(job, rep);
}

void hf__sql_row_tell(const struct sql_row *row, struct hf_info *info)
{
    if (!info || !info->locked) return;
    if (row->layout)
        snprintf(info->layout, sizeof info->layout, "%s", row->layout);
    if (!row->foreign) return;
    info->foreign = 1;
    snprintf(info->owner, sizeof info->owner, "%s", row->foreign);
    snprintf(info->host, sizeof info->host, "%s", row->foreign);
}

void hf__sql_answer_row(struct sql_job *job, const struct sql_row *row,
                        int64_t now_us, const char *marker)
{
    const struct request *req = job->req;
    struct store *store = job->core->store;
    struct reply rep;
    if (job->step == SQL_SWAP) job->tries++;
    job->may_have_changed = 0;
    if (job->tries > 0 && hf__sql_job_is_late(job)) {
        hf__sql_fail(job, HF_UNAVAILABLE, "others kept changing the row");
        return;
    }
    if (row_load(job, row, marker) != 0) return;
    apply(job, now_us, &rep);
    tell_keep(job, &rep);
    reply_keep(job, &rep);
    hf__sql_row_tell(row, rep.info);
    if (req->verb == VERB_RELEASE && rep.waiters < 0)
        rep.waiters = hf__sql_fast_waiters(row->waits_us, now_us);
    if (job->is_look || rep.verdict == V_ERROR) {
        hf__sql_job_finish(job, &rep);
        return;
    }
    if (hf__rules_cell_save(store, now_us, req->name, req->name_len,
                            &job->next.plain, &job->state)
        != HF_OK) {
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
        return;
    }
    if (!is_changed(job, row)) {
        hf__sql_job_finish(job, &rep);
        return;
    }
    job->reply = rep;
    row_swap(job, row, now_us);
}

void hf__sql_answer_swapped(struct sql_job *job)
{
    struct reply rep = job->reply;
    hf__sql_job_finish(job, &rep);
}

void hf__sql_answer_reply(struct sql_job *job, const struct reply *reply)
{
    hf__sql_job_finish(job, reply);
}

void hf__sql_answer_done(struct sql_job *job, int64_t now_us)
{
    if (job->watch) hf__sql_watch_done(job);
    hf__sql_job_tell(job, V_GRANTED, now_us);
}

void hf__sql_answer_facts(struct sql_job *job, const char *lines,
                          int64_t now_us)
{
    struct reply rep = {
        .verdict = V_GRANTED, .node_us = now_us, .ttl_us = -1, .waiters = -1};
    rep.data = lines;
    rep.data_len = strlen(lines);
    hf__sql_job_finish(job, &rep);
}
