/*
 * boot.c: a database as a member of a quorum.  One rule: the marker is replaced
 * only if it is still the one that was read.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/core.h"

void hf__sql_boot_begin(struct sql_job *job)
{
    job->wants_locks = hf__boot_wants_locks(job->req);
    hf__sql_job_step(job, SQL_BOOT_READ);
}

/* Refuse a text that is not a marker, and leave it as it is. */
static int marker_take(struct sql_job *job, const char *text, struct marker *m)
{
    *m = (struct marker){0};
    job->marker[0] = '\0';
    if (!text || !text[0]) return 0;
    snprintf(job->marker, sizeof job->marker, "%s", text);
    if (!strcmp(job->marker, text) && hf__marker_parse(text, m) == 0) return 0;
    hf__sql_refuse(job, HF_CONFLICT,
                   "boot: what is stored as 'boot' in holdfast_meta is not a "
                   "marker: delete it to begin anew");
    return -1;
}

void hf__sql_answer_boot(struct sql_job *job, const struct sql_boot *boot)
{
    struct boot_facts facts = {.identity = boot->identity,
                               .now_us = boot->now_us,
                               .is_durable = boot->is_durable,
                               .has_locks = boot->has_locks};
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = boot->now_us,
                        .ttl_us = -1,
                        .waiters = -1,
                        .boot = &job->boot};
    const char *why = NULL;
    struct marker m;
    job->may_have_changed = 0;
    if (marker_take(job, boot->marker, &m) != 0) return;
    int status = hf__boot_decide(&m, job->req, &facts, &job->boot, &why);
    if (status != HF_OK) {
        hf__sql_refuse(job, status, why);
        return;
    }
    job->boot.version = boot->version;
    job->marker_next[0] = '\0';
    if (m.group[0]) hf__marker_format(&m, job->marker_next);
    if (!strcmp(job->marker, job->marker_next)) {
        hf__sql_job_finish(job, &rep);
        return;
    }
    job->reply = rep;
    hf__sql_job_step(job, SQL_BOOT_SWAP);
}
