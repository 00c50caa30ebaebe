/*
 * job.c: the core's jobs as statements, and the answers.  One rule: a job is
 * answered once for each statement that it was sent as, whatever the server
 * says.
 */
#include "backend/postgres/job.h"

#include <stdio.h>
#include <string.h>

#include "backend/postgres/error.h"
#include "backend/postgres/fast.h"
#include "backend/postgres/params.h"
#include "backend/postgres/row.h"
#include "backend/postgres/script.h"
#include "backend/postgres/session.h"
#include "backend/postgres/shedlock.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"

#define FACTS_MAX 1280 /* 16 lines: a name and up to 50 bytes */
/* Timeline, system, table; then the start of the server. */
#define IDENTITY_DATA "pg-%lld.%lld.%lld-"
#define ASK_SYSTEM "SELECT system_identifier FROM pg_control_system()"

/* ---- out ---- */

int hf__postgres_job_send(struct backend_conn *c, struct sql_job *job,
                          int statement, const struct params *p)
{
    if (hf__postgres_flight_send(&c->link, statement, p) == 0
        && hf__postgres_flight_add(&c->link, FLIGHT_JOB, &job, 1))
        return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "%s: not sent",
                           hf__postgres_statements[statement].name);
    return -1;
}

static int read_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    hf__postgres_params_bytes(&p, job->req->name, job->req->name_len);
    return hf__postgres_job_send(
        c, job, job->wants_marker ? STATEMENT_READ_MARKED : STATEMENT_READ, &p);
}

static void plain_put(struct params *p, const struct cell_plain *plain)
{
    hf__postgres_params_number(p, plain->counter);
    hf__postgres_params_text(p, plain->owner);
    hf__postgres_params_number(p, (int64_t)plain->attempt);
    hf__postgres_params_number(p, plain->ballot);
    hf__postgres_params_number(p, plain->fence);
    hf__postgres_params_number(p, plain->holds);
    hf__postgres_params_number(p, plain->ends_us);
    hf__postgres_params_number(p, plain->since_us);
    hf__postgres_params_number(p, plain->flags);
    hf__postgres_params_text(p, plain->info);
}

static int swap_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    const struct sql_row *next = &job->next;
    char channel[CHANNEL_MAX], payload[PAYLOAD_MAX];
    hf__postgres_watch_channel(job->req->name, job->req->name_len, channel);
    hf__postgres_watch_payload(job, payload);
    hf__postgres_params_bytes(&p, job->req->name, job->req->name_len);
    hf__postgres_params_number(&p, next->version);
    plain_put(&p, &next->plain);
    if (next->state_len > 0)
        hf__postgres_params_bytes(&p, next->state, next->state_len);
    else
        hf__postgres_params_null(&p);
    hf__postgres_params_number(&p, job->tell != SQL_TELL_NONE);
    hf__postgres_params_text(&p, channel);
    hf__postgres_params_text(&p, payload);
    if (job->marker[0])
        hf__postgres_params_text(&p, job->marker);
    else
        hf__postgres_params_null(&p);
    return hf__postgres_job_send(
        c, job, next->version ? STATEMENT_SWAP : STATEMENT_INSERT, &p);
}

static int list_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    hf__postgres_params_number(&p, (int64_t)job->req->cursor);
    hf__postgres_params_number(&p, SQL_PAGE_ROWS);
    return hf__postgres_job_send(c, job, STATEMENT_LIST, &p);
}

/* Once for each connection; its answer comes before that of the job. */
static int system_ask(struct link *l)
{
    if (l->is_system_asked) return 0;
    l->is_system_asked = 1;
    if (hf__postgres_flight_say(l, ASK_SYSTEM) == 0
        && hf__postgres_flight_add(l, FLIGHT_SYSTEM, NULL, 0))
        return 0;
    hf__postgres_link_fail(l, HF_UNAVAILABLE, "boot: not sent");
    return -1;
}

static int boot_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    if (system_ask(&c->link) != 0) return -1;
    if (job->step == SQL_BOOT_READ) {
        hf__postgres_params_number(&p, job->wants_locks != 0);
        return hf__postgres_job_send(c, job, STATEMENT_BOOT_READ, &p);
    }
    hf__postgres_params_text(&p, job->marker);
    hf__postgres_params_text(&p, job->marker_next);
    return hf__postgres_job_send(c, job, STATEMENT_BOOT_SWAP, &p);
}

static int step_send(struct backend_conn *c, struct sql_job *job)
{
    const struct params none = {.len = 0};
    job->may_have_changed = (job->priv & JOB_WRITES) != 0;
    if (c->is_shed && job->step != SQL_FACTS)
        return hf__postgres_shed_send(c, job);
    switch (job->step) {
    case SQL_IDLE:
        return 0;
    case SQL_READ:
        return read_send(c, job);
    case SQL_SWAP:
        return swap_send(c, job);
    case SQL_FAST:
        return hf__postgres_fast_send(c, job);
    case SQL_LIST:
        return list_send(c, job);
    case SQL_BOOT_READ:
    case SQL_BOOT_SWAP:
        return boot_send(c, job);
    case SQL_WATCH:
    case SQL_UNWATCH:
        return hf__postgres_watch_send(c, job);
    case SQL_FACTS:
        return hf__postgres_job_send(
            c, job,
            job->req->flags & REQ_BRIEF ? STATEMENT_CLOCK : STATEMENT_FACTS,
            &none);
    case SQL_SCRIPT:
        return hf__postgres_script_send(c, job);
    }
    return 0;
}

static int is_renewal(const struct sql_job *job)
{
    return job->step == SQL_FAST && job->req->verb == VERB_RENEW;
}

/* May the job go out by the same statement as these renewals? */
static int is_joining(const struct sql_job *job, struct sql_job *const *batch,
                      size_t len)
{
    if (!job || !is_renewal(job) || len == RENEWALS_MAX) return 0;
    return len == 0 || !((job->priv ^ batch[0]->priv) & JOB_SKIPS);
}

void hf__postgres_jobs_send(struct backend_conn *c)
{
    struct sql_job *batch[RENEWALS_MAX], *job;
    size_t len = 0;
    int rc = 0;
    /* A link that fails drops the queue, and the core has the jobs. */
    while (rc == 0 && ((job = c->queue.first) != NULL || len > 0)) {
        int joins = is_joining(job, batch, len);
        if (len > 0 && !joins) {
            rc = hf__postgres_fast_renew(c, batch, len);
            len = 0;
            continue;
        }
        (void)hf__sql_queue_take(&c->queue);
        if (hf__sql_member_refuses(job)) continue;
        if (joins) {
            job->may_have_changed = 1;
            batch[len++] = job;
        } else {
            rc = step_send(c, job);
        }
    }
}

/* ---- in ---- */

static const char *marker_at(const PGresult *result, int column)
{
    if (column >= PQnfields(result) || PQgetisnull(result, 0, column))
        return NULL;
    return PQgetvalue(result, 0, column);
}

/* Was the row read before the change that made the SWAP fail? */
static int is_outdated(const struct sql_job *job, const struct sql_row *row,
                       const char *marker)
{
    if (job->priv & JOB_READS || row->version != job->next.version) return 0;
    return !job->marker[0] || (marker && !strcmp(marker, job->marker));
}

static void row_answer(struct backend_conn *c, struct sql_job *job,
                       const PGresult *result)
{
    struct sql_row row;
    int64_t clock_us = hf__postgres_row_number(result, 0, COLUMN_CLOCK);
    const char *marker = marker_at(result, COLUMN_MARKER);
    int is_swap = PQnfields(result) > COLUMN_MARKER && job->step == SQL_SWAP;
    if (hf__postgres_row_read(result, 0, &row) != 0) {
        hf__sql_fail(job, HF_INTERNAL, "an answer without a row");
    } else if (is_swap
               && hf__postgres_row_number(result, 0, COLUMN_DONE) != 0) {
        hf__sql_answer_swapped(job);
    } else if (is_swap && is_outdated(job, &row, marker)) {
        job->priv |= JOB_READS;
        job->may_have_changed = 0;
        (void)read_send(c, job);
    } else {
        if (job->req->verb == VERB_PROPOSE
            && hf__postgres_watch_seen(c, job->req, row.waits_us, clock_us)
                   != 0)
            return;
        hf__sql_answer_row(job, &row, clock_us, marker);
    }
}

static void list_answer(struct sql_job *job, const PGresult *result)
{
    struct sql_row row;
    int64_t clock_us = hf__postgres_row_number(result, 0, COLUMN_CLOCK);
    for (int i = 0; i < PQntuples(result); i++)
        if (hf__postgres_row_read(result, i, &row) == 0 && row.is_there)
            hf__sql_list_row(job, &row, clock_us);
    hf__sql_answer_list(job, clock_us);
}

void hf__postgres_system_answer(struct backend_conn *c, const PGresult *result)
{
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        c->link.system = hf__postgres_row_number(result, 0, 0);
}

/* Has the server lost nothing since the marker was written?  One that was a
 * standby then may not have received the last grants before it was promoted,
 * and what was restored from a dump lacks those that came after it. */
static int boot_is_durable(const struct link *l, const char *marker,
                           const char *data)
{
    struct marker m;
    if (!l->is_durable || !marker || hf__marker_parse(marker, &m) != 0)
        return l->is_durable;
    return !strncmp(m.identity, data, strlen(data));
}

/* The server and its data: another timeline after a promotion, another system
 * where a dump was loaded into another server, another table where it was
 * loaded into the same. */
static void data_name(const struct link *l, const PGresult *result,
                      char out[IDENTITY_MAX])
{
    snprintf(out, IDENTITY_MAX, IDENTITY_DATA, (long long)l->timeline,
             (long long)l->system,
             (long long)hf__postgres_row_number(result, 0, COLUMN_ID));
}

/* Columns: clock, done, whether there are locks, marker, table. */
static void boot_answer(struct backend_conn *c, struct sql_job *job,
                        const PGresult *result)
{
    char identity[IDENTITY_MAX], data[IDENTITY_MAX];
    const struct link *l = &c->link;
    const char *marker = marker_at(result, COLUMN_NAME);
    if (job->step == SQL_BOOT_SWAP
        && hf__postgres_row_number(result, 0, COLUMN_DONE) != 0) {
        hf__sql_answer_swapped(job);
        return;
    }
    data_name(l, result, data);
    snprintf(identity, sizeof identity, "%.70s%lld", data,
             (long long)l->started_us);
    struct sql_boot boot = {
        .identity = identity,
        .marker = marker,
        .now_us = hf__postgres_row_number(result, 0, COLUMN_CLOCK),
        .has_locks = hf__postgres_row_number(result, 0, COLUMN_EXTRA) != 0,
        .is_durable = boot_is_durable(l, marker, data),
        .version = PQserverVersion(l->pg),
    };
    hf__sql_answer_boot(job, &boot);
}

/* The columns of STATEMENT_FACTS behind the clock. */
static const char *const fact_names[] = {"server_version",
                                         "fsync",
                                         "full_page_writes",
                                         "synchronous_commit",
                                         "synchronous_commit_default",
                                         "synchronous_standby_names",
                                         "standbys",
                                         "isolation_default",
                                         "max_connections",
                                         "reserved_connections",
                                         "connections",
                                         "database",
                                         "search_path",
                                         "rows_about"};
#define FACT_NAMES_LEN (int)(sizeof fact_names / sizeof *fact_names)

/* A standby is refused when it is met, so this is none. */
static void facts_answer(const struct backend_conn *c, struct sql_job *job,
                         const PGresult *result)
{
    char lines[FACTS_MAX] = "";
    size_t len = 0;
    if (PQnfields(result) == FACT_NAMES_LEN + 1)
        len = (size_t)snprintf(lines, sizeof lines,
                               "engine:postgres\nrole:primary\nsession:%s\n"
                               "layout:%s\n%s",
                               c->session ? "on" : "off",
                               c->is_shed ? "shedlock" : "holdfast",
                               hf__sql_member_fact(c->core));
    for (int i = 0; len > 0 && i < FACT_NAMES_LEN; i++)
        len += (size_t)snprintf(lines + len, sizeof lines - len, "%s:%.50s\n",
                                fact_names[i], PQgetvalue(result, 0, i + 1));
    hf__sql_answer_facts(job, lines,
                         hf__postgres_row_number(result, 0, COLUMN_CLOCK));
}

static void result_answer(struct backend_conn *c, struct sql_job *job,
                          const PGresult *result, int at)
{
    if (c->session && job->step != SQL_FACTS) {
        hf__session_answer(c, job, result);
        return;
    }
    if (c->is_shed && job->step != SQL_FACTS) {
        hf__postgres_shed_answer(c, job, result);
        return;
    }
    switch (job->step) {
    case SQL_IDLE:
        break;
    case SQL_READ:
    case SQL_SWAP:
        row_answer(c, job, result);
        break;
    case SQL_FAST:
        hf__postgres_fast_answer(c, job, result, at);
        break;
    case SQL_LIST:
        list_answer(job, result);
        break;
    case SQL_BOOT_READ:
    case SQL_BOOT_SWAP:
        boot_answer(c, job, result);
        break;
    case SQL_WATCH:
        hf__sql_answer_done(job,
                            hf__postgres_row_number(result, 0, COLUMN_CLOCK));
        break;
    case SQL_UNWATCH:
        hf__sql_answer_done(job, 0);
        break;
    case SQL_FACTS:
        facts_answer(c, job, result);
        break;
    case SQL_SCRIPT:
        hf__postgres_script_answer(job, result);
        break;
    }
}

/* Is it to be tried once more?  One locked row makes all the renewals fail that
 * share its statement: they are tried again without it. */
static int is_tried_again(struct sql_job *job, const struct flight *f)
{
    if (hf__postgres_error_is_passing(f->result)) return 1;
    if (f->jobs_len == 1 || job->priv & JOB_SKIPS) return 0;
    if (!hf__postgres_error_is_locked(f->result)) return 0;
    job->priv |= JOB_SKIPS;
    return 1;
}

static void error_answer(struct backend_conn *c, const struct flight *f,
                         struct sql_job *job)
{
    char text[HF_ERROR_TEXT_MAX];
    int status = hf__postgres_error(f->result, text);
    if (f->kind == FLIGHT_SCRIPT && hf__postgres_script_refuse(job, f->result))
        return;
    if (c->session && hf__session_failed(c, job, status, text))
        return; /* with the link */
    if (!c->session && job->req->deadline_us > c->env->now(c->env)
        && is_tried_again(job, f))
        hf__sql_job_again(job);
    else
        hf__sql_refuse(job, status, text);
}

void hf__postgres_job_answer(struct backend_conn *c, const struct flight *f,
                             int is_error)
{
    unsigned life = c->link.life;
    for (size_t i = 0; i < f->jobs_len && c->link.life == life; i++) {
        if (is_error)
            error_answer(c, f, f->jobs[i]);
        else
            result_answer(c, f->jobs[i], f->result, (int)i);
    }
}
