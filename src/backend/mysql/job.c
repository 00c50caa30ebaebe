/*
 * job.c: the core's jobs as statements, and the answers.  One rule: a job is
 * answered once for each item of a packet that it was, whatever the server
 * says.
 */
#include "backend/mysql/job.h"

#include <stdio.h>
#include <string.h>

#include "backend/mysql/error.h"
#include "backend/mysql/fast.h"
#include "backend/mysql/row.h"
#include "backend/mysql/script.h"
#include "backend/mysql/session.h"
#include "backend/mysql/shedlock.h"
#include "backend/mysql/statement.h"
#include "backend/mysql/watch.h"

#define FACTS_MAX 640

/* ---- out ---- */

/* The number of its statements; 0: it needs none. */
static unsigned job_write(struct text *t, const struct sql_job *job)
{
    switch (job->step) {
    case SQL_READ:
        return hf__mysql_write_read(t, job);
    case SQL_WATCH:
        return hf__mysql_write_watch(t, job);
    case SQL_SWAP:
        return hf__mysql_write_swap(t, job);
    case SQL_FAST:
        return hf__mysql_fast_write(t, job);
    case SQL_LIST:
        return hf__mysql_write_list(t, job);
    case SQL_BOOT_READ:
    case SQL_BOOT_SWAP:
        return hf__mysql_write_boot(t, job);
    case SQL_FACTS:
        return hf__mysql_write_facts(t, "holdfast_lock");
    case SQL_SCRIPT:
        return hf__mysql_script_write(t, job);
    case SQL_IDLE:
    case SQL_UNWATCH:
        break;
    }
    return 0;
}

static void job_pack(struct backend_conn *c, struct sql_job *job)
{
    struct link *l = &c->link;
    if (job->step == SQL_UNWATCH) {
        hf__sql_answer_done(job, 0);
        return;
    }
    if (hf__sql_member_refuses(job)) return;
    job->may_have_changed = (job->priv & JOB_WRITES) != 0;
    if (c->is_shed) {
        hf__mysql_shed_pack(c, job);
        return;
    }
    hf__mysql_packet_add(l, ITEM_JOB, 0, job);
    l->packet.items[l->packet.len - 1].statements =
        job_write(&l->packet.text, job);
}

void hf__mysql_jobs_pack(struct backend_conn *c)
{
    while (c->queue.first && hf__mysql_packet_has_room(&c->link))
        job_pack(c, hf__sql_queue_take(&c->queue));
}

/* ---- in ---- */

static void row_answer(struct sql_job *job, const struct fields *f)
{
    struct sql_row row;
    if (hf__mysql_row_read(f, &row) != 0)
        hf__sql_fail(job, HF_INTERNAL, "an answer without a row");
    else if (job->step == SQL_SWAP && hf__mysql_row_number(f, COLUMN_DONE) == 1)
        hf__sql_answer_swapped(job);
    else
        hf__sql_answer_row(job, &row, hf__mysql_row_number(f, COLUMN_CLOCK),
                           hf__mysql_row_text(f, COLUMN_MARKER));
}

static void list_answer(struct sql_job *job, MYSQL_RES *result)
{
    struct fields f;
    struct sql_row row;
    int64_t clock_us = 0;
    while (hf__mysql_row_next(result, &f)) {
        clock_us = hf__mysql_row_number(&f, COLUMN_CLOCK);
        if (hf__mysql_row_read(&f, &row) == 0 && row.is_there)
            hf__sql_list_row(job, &row, clock_us);
    }
    hf__sql_answer_list(job, clock_us);
}

/* Does a restart lose nothing?  It does not say so of another server, nor of
 * a table that came back from a dump: `data` ends the identity. */
static int is_durable(const struct server_facts *s, const char *marker,
                      const char *data)
{
    struct marker m;
    int is_on_disk = s->flushes && (!s->has_binlog || s->syncs_binlog);
    if (!is_on_disk || !marker || hf__marker_parse(marker, &m) != 0)
        return is_on_disk;
    size_t len = strlen(m.identity), data_len = strlen(data);
    return len >= data_len && !strcmp(m.identity + len - data_len, data);
}

static void boot_answer(struct backend_conn *c, struct sql_job *job,
                        const struct fields *f)
{
    char identity[IDENTITY_MAX], data[IDENTITY_MAX];
    const struct server_facts *s = &c->link.facts;
    const char *marker = hf__mysql_row_text(f, COLUMN_NAME);
    if (job->step == SQL_BOOT_SWAP
        && hf__mysql_row_number(f, COLUMN_DONE) == 1) {
        hf__sql_answer_swapped(job);
        return;
    }
    snprintf(data, sizeof data, "-%lld-%.45s",
             (long long)hf__mysql_row_number(f, COLUMN_ID), s->host);
    snprintf(identity, sizeof identity, "my-%lld%.70s", (long long)s->started_s,
             data);
    struct sql_boot boot = {
        .identity = identity,
        .marker = marker,
        .now_us = hf__mysql_row_number(f, COLUMN_CLOCK),
        .has_locks = hf__mysql_row_number(f, COLUMN_EXTRA) != 0,
        .is_durable = is_durable(s, marker, data),
        .version = (int64_t)mysql_get_server_version(c->link.wire.my),
    };
    hf__sql_answer_boot(job, &boot);
}

static const char *on_off(int is_on)
{
    return is_on ? "on" : "off";
}

static void facts_answer(struct backend_conn *c, struct sql_job *job,
                         const struct fields *f)
{
    const struct server_facts *s = &c->link.facts;
    const char *version = hf__mysql_row_text(f, 1);
    const char *database = hf__mysql_row_text(f, 2);
    char lines[FACTS_MAX];
    snprintf(lines, sizeof lines,
             "engine:mysql\nserver_version:%.60s\ndatabase:%.60s\nrows:%lld\n"
             "flush_at_commit:%s\nlog_bin:%s\nsync_binlog:%s\ngalera:%s\n"
             "session:off\nlayout:%s\n%s",
             version ? version : "", database ? database : "",
             (long long)hf__mysql_row_number(f, 3), on_off(s->flushes),
             on_off(s->has_binlog), on_off(s->syncs_binlog),
             on_off(s->is_galera), c->is_shed ? "shedlock" : "holdfast",
             hf__sql_member_fact(c->core));
    hf__sql_answer_facts(job, lines, hf__mysql_row_number(f, COLUMN_CLOCK));
}

/* An answer of one row. */
static void fields_answer(struct backend_conn *c, struct sql_job *job,
                          const struct fields *f)
{
    switch (job->step) {
    case SQL_READ:
    case SQL_SWAP:
        row_answer(job, f);
        break;
    case SQL_FAST:
        hf__mysql_fast_answer(job, f);
        break;
    case SQL_BOOT_READ:
    case SQL_BOOT_SWAP:
        boot_answer(c, job, f);
        break;
    case SQL_WATCH:
        hf__mysql_watch_begun(c, job, f);
        break;
    case SQL_FACTS:
        facts_answer(c, job, f);
        break;
    case SQL_IDLE:
    case SQL_LIST:
    case SQL_SCRIPT:
    case SQL_UNWATCH:
        break;
    }
}

void hf__mysql_job_answer(struct backend_conn *c, struct sql_job *job,
                          MYSQL_RES *result)
{
    struct fields f;
    if (c->session)
        hf__mysql_session_answer(c, job, result);
    else if (c->is_shed && job->step != SQL_FACTS)
        hf__mysql_shed_answer(job, result);
    else if (job->step == SQL_LIST)
        list_answer(job, result);
    else if (job->step == SQL_SCRIPT)
        hf__mysql_script_answer(job, result);
    else if (hf__mysql_row_next(result, &f))
        fields_answer(c, job, &f);
    else
        hf__sql_fail(job, HF_CONFLICT,
                     "the row 'schema' of holdfast_meta is missing: run: "
                     "holdfast install-schema URL");
}

void hf__mysql_job_refuse(struct backend_conn *c,
                          const struct packet_item *item, unsigned code,
                          int status, const char *text)
{
    struct sql_job *job = item->job;
    int is_changed = item->answered > 0 && job->priv & JOB_WRITES;
    int has_time = job->req->deadline_us > c->env->now(c->env);
    if (job->step == SQL_SCRIPT) {
        if (hf__mysql_script_refuse(&c->link, job, code)) return;
        is_changed = 0; /* not committed */
    }
    if (is_changed)
        hf__sql_fail(job, status, text); /* it was done, and only not told */
    else if (hf__mysql_error_is_passing(code) && has_time)
        hf__sql_job_again(job);
    else
        hf__sql_refuse(job, status, text);
}
