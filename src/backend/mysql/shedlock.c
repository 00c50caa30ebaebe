/*
 * shedlock.c: see shedlock.h.  Two rules: a time is compared by the expression
 * that it was read with; and it is written and read as ShedLock does, as the
 * server's time of day in UTC, whatever the column and the session make of it.
 */
#include "backend/mysql/shedlock.h"

#include "backend/mysql/statement.h"

#define CLOCK "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))"
/* From 1970 to SHED_NEVER_US; null, which ShedLock never takes for over, is the
 * latest. */
#define MICROSECONDS(column)                                                   \
    "COALESCE(LEAST(GREATEST(TIMESTAMPDIFF(MICROSECOND,'1970-01-01',l." column \
    "),0),7258118400000000),7258118400000000)"
#define BY "COALESCE(CAST(l.locked_by AS BINARY),'')"
#define ANSWER                                                                 \
    "SELECT " CLOCK                                                            \
    ",ROW_COUNT(),l.name," MICROSECONDS("lock_until") "," MICROSECONDS(        \
        "locked_at") "," BY " FROM (SELECT 1 AS one) d LEFT JOIN "

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
    add_name(t, ANSWER "shedlock l ON l.name=", req);
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
    add_number(t, " AND " MICROSECONDS("lock_until") "=", next->seen_us);
    add_by(t, " AND " BY "=", next->seen);
    add(t, ";");
    return 1 + read_write(t, req);
}

static unsigned list_write(struct text *t, const struct request *req)
{
    add_number(t, ANSWER "(SELECT * FROM shedlock ORDER BY name LIMIT ",
               (int64_t)req->cursor);
    add_number(t, ",", SQL_PAGE_ROWS);
    add(t, ") l ON TRUE ORDER BY l.name");
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

const char hf__mysql_shed_probe[] = "SELECT name FROM shedlock LIMIT 0";

#define HERE " WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='shedlock'"
#define COLUMNS " FROM information_schema.COLUMNS" HERE " AND COLUMN_NAME "
const char hf__mysql_shed_table[] =
    "SELECT (SELECT COUNT(*) FROM information_schema.TABLES" HERE "),"
    "(SELECT COUNT(*)" COLUMNS "IN ('name','lock_until','locked_at',"
    "'locked_by')),(SELECT COUNT(*)" COLUMNS "IN ('lock_until','locked_at')"
    " AND DATA_TYPE IN ('timestamp','datetime') AND DATETIME_PRECISION>=3),"
    "(SELECT COUNT(*) FROM (SELECT INDEX_NAME"
    " FROM information_schema.STATISTICS" HERE " GROUP BY INDEX_NAME"
    " HAVING COUNT(*)=1 AND MAX(NON_UNIQUE)=0 AND MAX(COLUMN_NAME)='name'"
    " AND COUNT(SUB_PART)=0) k),"
    "(SELECT CHARACTER_MAXIMUM_LENGTH" COLUMNS "='locked_by')";

const char *hf__mysql_shed_fault(const struct fields *f, int *status)
{
    struct shed_table table = {.is_there = hf__mysql_row_number(f, 0) != 0,
                               .columns = hf__mysql_row_number(f, 1),
                               .times = hf__mysql_row_number(f, 2),
                               .keys = hf__mysql_row_number(f, 3),
                               .by_length = hf__mysql_row_number(f, 4)};
    return hf__sql_shed_table_fault(&table, status);
}

const char *const hf__mysql_shed_schema[] = {
    "CREATE TABLE IF NOT EXISTS shedlock ("
    "name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,"
    " locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),"
    " locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)) ENGINE=InnoDB",
    NULL,
};
