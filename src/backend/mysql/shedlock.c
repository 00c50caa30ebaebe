/*
 * shedlock.c: see shedlock.h.  Two rules: a time is compared by the expression
 * that it was read with; and it is written and read as ShedLock does, as the
 * server's time of day in UTC, whatever the column and the session make of it.
 */
#include "backend/mysql/shedlock.h"

#include <strings.h>

#include "backend/mysql/statement.h"

#define CLOCK "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))"
/* From 1970 to SHED_NEVER_US; null, which ShedLock never takes for over, is the
 * latest. */
#define MICROSECONDS(column)                                                   \
    "COALESCE(LEAST(GREATEST(TIMESTAMPDIFF(MICROSECOND,'1970-01-01',l." column \
    "),0),7258118400000000),7258118400000000)"
#define UNTIL MICROSECONDS("lock_until")
#define AT MICROSECONDS("locked_at")
#define BY "COALESCE(CAST(l.locked_by AS BINARY),'')"
/* Of the one row that there may be: a sum has a row in any case, and needs no
 * table of its own. */
#define ANSWER                                                                 \
    "SELECT " CLOCK ",ROW_COUNT(),MAX(l.name),MAX(" UNTIL "),MAX(" AT          \
    "),MAX(" BY ") FROM shedlock l WHERE l.name="

/* Columns of an answer. */
enum {
    SHED_CLOCK,
    SHED_DONE, /* rows that the statement before has changed */
    SHED_NAME, /* null: there is no row */
    SHED_UNTIL,
    SHED_AT,
    SHED_BY,
    SHED_COLUMNS
};

/* ---- out ---- */

static void add(struct text *t, const char *words)
{
    hf__mysql_text_add(t, words);
}

static void add_number(struct text *t, const char *before, int64_t number)
{
    add(t, before);
    hf__mysql_text_number(t, number);
}

static void add_time(struct text *t, const char *before, int64_t us)
{
    add_number(t, before, us);
    add(t, ",'1970-01-01')");
}

#define TIME "TIMESTAMPADD(MICROSECOND,"

/* As text, so that the column's own collation compares it, and its index is
 * used. */
static void add_name(struct text *t, const char *before,
                     const struct request *req)
{
    add(t, before);
    add(t, "_utf8mb4 ");
    hf__mysql_text_bytes(t, req->name, req->name_len);
}

static void add_by(struct text *t, const char *before, const char *by)
{
    add(t, before);
    hf__mysql_text_string(t, by);
}

static unsigned read_write(struct text *t, const struct request *req)
{
    add_name(t, ANSWER, req);
    return 1;
}

static unsigned insert_write(struct text *t, const struct request *req,
                             const struct shed_next *next)
{
    add_name(t,
             "INSERT INTO shedlock (name,lock_until,locked_at,locked_by)"
             " VALUES (",
             req);
    add_time(t, "," TIME, next->until_us);
    add_time(t, "," TIME, next->at_us);
    add_by(t, ",_utf8mb4 ", next->by);
    add(t, ") ON DUPLICATE KEY UPDATE shedlock.name=shedlock.name;");
    return 1 + read_write(t, req);
}

/* lock_until is set in any case: a column of that type may otherwise be set to
 * the time of the change. */
static unsigned update_write(struct text *t, const struct request *req,
                             const struct shed_next *next)
{
    add_time(t, "UPDATE shedlock l SET l.lock_until=" TIME, next->until_us);
    if (next->at_us >= 0) add_time(t, ",l.locked_at=" TIME, next->at_us);
    add_by(t, ",l.locked_by=_utf8mb4 ", next->by);
    add_name(t, " WHERE l.name=", req);
    add_number(t, " AND " UNTIL "=", next->seen_us);
    add_by(t, " AND " BY "=", next->seen);
    add(t, ";");
    return 1 + read_write(t, req);
}

static unsigned list_write(struct text *t, const struct request *req)
{
    add_number(t,
               "SELECT " CLOCK ",0,l.name," UNTIL "," AT "," BY
               " FROM shedlock l ORDER BY l.name LIMIT ",
               (int64_t)req->cursor);
    add_number(t, ",", SQL_PAGE_ROWS);
    return 1;
}

static unsigned job_write(struct text *t, const struct sql_job *job,
                          const struct shed_next *next)
{
    if (job->step == SQL_FACTS) return hf__mysql_write_facts(t, "shedlock");
    if (job->step == SQL_LIST) return list_write(t, job->req);
    if (job->step != SQL_SWAP) return read_write(t, job->req);
    return (next->is_new ? insert_write : update_write)(t, job->req, next);
}

void hf__mysql_shed_pack(struct backend_conn *c, struct sql_job *job)
{
    struct link *l = &c->link;
    struct shed_next next = {.is_nothing = 0};
    if (job->step == SQL_SWAP) hf__sql_shed_next(job, &next);
    if (next.is_nothing) {
        hf__sql_answer_swapped(job);
        return;
    }
    hf__mysql_packet_add(l, ITEM_JOB, 0, job);
    l->packet.items[l->packet.len - 1].statements =
        job_write(&l->packet.text, job, &next);
}

/* ---- in ---- */

static void row_take(const struct fields *f, struct shed_row *row)
{
    const char *by = hf__mysql_row_text(f, SHED_BY);
    *row = (struct shed_row){.is_there = f->at[SHED_NAME] != NULL};
    row->name = f->at[SHED_NAME];
    row->name_len = f->lengths[SHED_NAME];
    row->until_us = hf__mysql_row_number(f, SHED_UNTIL);
    row->at_us = hf__mysql_row_number(f, SHED_AT);
    row->by = by ? by : "";
}

static void list_answer(struct sql_job *job, MYSQL_RES *result)
{
    struct fields f;
    struct shed_row row;
    int64_t clock_us = 0, id = (int64_t)job->req->cursor;
    while (hf__mysql_row_next(result, &f)) {
        clock_us = hf__mysql_row_number(&f, SHED_CLOCK);
        row_take(&f, &row);
        row.id = ++id;
        if (row.is_there) hf__sql_shed_list(job, &row, clock_us);
    }
    hf__sql_answer_list(job, clock_us);
}

void hf__mysql_shed_answer(struct sql_job *job, MYSQL_RES *result)
{
    struct fields f;
    struct shed_row row;
    if (job->step == SQL_LIST) {
        list_answer(job, result);
    } else if (!hf__mysql_row_next(result, &f) || f.len < SHED_COLUMNS) {
        hf__sql_fail(job, HF_INTERNAL, "an answer without a row");
    } else if (job->step == SQL_SWAP
               && hf__mysql_row_number(&f, SHED_DONE) == 1) {
        hf__sql_answer_swapped(job);
    } else {
        row_take(&f, &row);
        hf__sql_shed_answer(job, &row, hf__mysql_row_number(&f, SHED_CLOCK));
    }
}

/* ---- the table ---- */

const char hf__mysql_shed_table[] = "SELECT * FROM shedlock LIMIT 0";

#define BINARY_CHARSET 63
#define CHARACTER_BYTES_MAX 4 /* of the connection's, utf8mb4 */

static int is_time(const MYSQL_FIELD *f)
{
    return (f->type == MYSQL_TYPE_TIMESTAMP || f->type == MYSQL_TYPE_DATETIME)
           && f->decimals >= 3;
}

static int64_t length_of(const MYSQL_FIELD *f)
{
    return (int64_t)f->length
           / (f->charsetnr == BINARY_CHARSET ? 1 : CHARACTER_BYTES_MAX);
}

/* A column is of a unique key of its own, or of the primary key, which may have
 * others. */
static void column_see(const MYSQL_FIELD *f, struct shed_table *table,
                       int *primary)
{
    int is_name = !strcasecmp(f->name, "name");
    int is_moment =
        !strcasecmp(f->name, "lock_until") || !strcasecmp(f->name, "locked_at");
    int is_by = !strcasecmp(f->name, "locked_by");
    table->columns += is_name || is_moment || is_by;
    table->times += is_moment && is_time(f);
    if (is_by) table->by_length = length_of(f);
    if (f->flags & PRI_KEY_FLAG) *primary += is_name ? 1 : 2;
    if (is_name && f->flags & UNIQUE_KEY_FLAG) table->keys++;
}

const char *hf__mysql_shed_fault(MYSQL_RES *result, int *status)
{
    struct shed_table table = {.is_there = result != NULL};
    unsigned len = result ? mysql_num_fields(result) : 0;
    const MYSQL_FIELD *fields = result ? mysql_fetch_fields(result) : NULL;
    int primary = 0;
    for (unsigned i = 0; i < len; i++) column_see(&fields[i], &table, &primary);
    table.keys += primary == 1;
    return hf__sql_shed_table_fault(&table, status);
}

const char *const hf__mysql_shed_schema[] = {
    "CREATE TABLE IF NOT EXISTS shedlock ("
    "name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,"
    " locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),"
    " locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)) ENGINE=InnoDB",
    NULL,
};
