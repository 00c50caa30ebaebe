/*
 * shedlock_statement.c: the statements of layout=shedlock.  Two rules: the
 * clock is the one that ShedLock compares with, the server's in UTC; and a time
 * is compared by the expression that it was read with.
 */
#include "backend/postgres/shedlock.h"
#include "backend/postgres/statement.h"

#define CLOCK                                                                  \
    "t AS MATERIALIZED (SELECT (extract(epoch FROM clock_timestamp())"         \
    " * 1000000)::bigint AS now)"
/* In microseconds from 1970 to SHED_NEVER_US; null, which ShedLock never takes
 * for over, is the latest, and so is infinity. */
#define MICROSECONDS(column)                                                   \
    "(extract(epoch FROM least(greatest(coalesce(" column                      \
    ", 'infinity'), timestamp '1970-01-01'), timestamp '2200-01-01'))"         \
    " * 1000000)::bigint"
#define UNTIL MICROSECONDS("l.lock_until")
#define AT MICROSECONDS("l.locked_at")
#define BY "coalesce(l.locked_by, '')"
#define ROW "l.name, " UNTIL ", " AT ", " BY
/* Behind a statement `u`, which has a row if it was done. */
#define ANSWER                                                                 \
    " SELECT t.now, EXISTS (SELECT FROM u)::int::bigint, " ROW                 \
    " FROM t LEFT JOIN shedlock l ON l.name = $1::text"
/* From microseconds; these are whole milliseconds. */
#define TIME(number)                                                           \
    "(timestamp '1970-01-01' + (" number                                       \
    "::bigint / 1000) * interval '1 millisecond')"
#define TIME_2 TIME("$2")
#define TIME_3 TIME("$3")
#define TIME_4 TIME("$4")
#define TIME_5 TIME("$5")

const char hf__postgres_shed_read[] =
    "WITH " CLOCK " SELECT t.now, 0::bigint, " ROW
    " FROM t LEFT JOIN shedlock l ON l.name = $1::text";

/* $1 name, $2 lock_until and $3 locked_by as they were read, $4 lock_until, $5
 * locked_at (null: as it is), $6 locked_by. */
const char hf__postgres_shed_swap[] =
    "WITH " CLOCK ", u AS (UPDATE shedlock l SET lock_until = " TIME_4
    ", locked_at = coalesce(" TIME_5 ", l.locked_at), locked_by = $6::text"
    " WHERE l.name = $1::text AND " UNTIL " = $2::bigint"
    " AND " BY "::text = $3::text RETURNING 1)" ANSWER;

/* $1 name, $2 lock_until, $3 locked_at, $4 locked_by. */
const char hf__postgres_shed_insert[] =
    "WITH " CLOCK ", u AS (INSERT INTO shedlock (name, lock_until, locked_at,"
    " locked_by) VALUES ($1::text, " TIME_2 ", " TIME_3 ", $4::text)"
    " ON CONFLICT (name) DO NOTHING RETURNING 1)" ANSWER;

/* $1 rows to skip, $2 rows of a page. */
const char hf__postgres_shed_list[] =
    "WITH " CLOCK " SELECT t.now, 0::bigint, " ROW
    " FROM t LEFT JOIN LATERAL (SELECT * FROM shedlock ORDER BY name"
    " OFFSET $1::bigint LIMIT $2::bigint) l ON true ORDER BY l.name";

/* A varchar's atttypmod is four more than its length, and a timestamp's its
 * digits; -1 is no limit, or six digits. */
#define COLUMNS                                                                \
    " FROM pg_attribute WHERE attrelid = to_regclass('shedlock')"              \
    " AND NOT attisdropped AND attname "
const char hf__postgres_shed_table[] =
    "SELECT (to_regclass('shedlock') IS NOT NULL)::int::bigint,"
    " (SELECT count(*)" COLUMNS "IN ('name', 'lock_until', 'locked_at',"
    " 'locked_by')), (SELECT count(*)" COLUMNS "IN ('lock_until', 'locked_at')"
    " AND atttypid = 'timestamp'::regtype"
    " AND (atttypmod = -1 OR atttypmod >= 3)),"
    " (SELECT count(*) FROM pg_index i JOIN pg_attribute a"
    " ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
    " WHERE i.indrelid = to_regclass('shedlock') AND i.indisunique"
    " AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL"
    " AND a.attname = 'name'),"
    " (SELECT CASE WHEN atttypmod = -1 THEN 65535 ELSE atttypmod - 4"
    " END::bigint" COLUMNS "= 'locked_by')";

const char *const hf__postgres_shed_schema[] = {
    "CREATE TABLE IF NOT EXISTS shedlock ("
    " name varchar(64) NOT NULL PRIMARY KEY,"
    " lock_until timestamp NOT NULL,"
    " locked_at timestamp NOT NULL,"
    " locked_by varchar(255) NOT NULL)",
    NULL,
};
