/*
 * guard/sql.c: the guard as SQL.  One rule: a stale token makes the statement
 * fail, by a constraint, in every dialect; a program may forget to look at a
 * row count.
 *
 * `stale` is 0 in every row that can exist: an upsert that would go backwards
 * sets it to 1 and breaks the constraint.  The upsert keeps the row locked
 * until the end of the transaction, so no other token gets between the check
 * and the holder's own writes.  Rows of kind 0 hold the highest token, those of
 * kind 1 the claim, so that neither can undo the other.
 */
#include "holdfast/guard.h"

#include <stddef.h>

#define DIALECTS 3
#define STATEMENTS 6

/* SQLite keeps the text, which VERIFY compares; there are no quotes in it. */
#define SQLITE_COLUMNS                                                         \
    "(resource TEXT NOT NULL, kind INTEGER NOT NULL, token INTEGER NOT NULL, " \
    "stale INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (resource, kind), "         \
    "CONSTRAINT holdfast_token_range "                                         \
    "CHECK (token > 0 AND token = CAST(token AS INTEGER)), "                   \
    "CONSTRAINT holdfast_stale_token CHECK (stale = 0))"

/* In the order of enum hf_guard_statement. */
static const char *const postgres[STATEMENTS] = {
    "CREATE TABLE IF NOT EXISTS holdfast_guard ("
    "resource text NOT NULL, kind smallint NOT NULL, token bigint NOT NULL, "
    "stale smallint NOT NULL DEFAULT 0, PRIMARY KEY (resource, kind), "
    "CONSTRAINT holdfast_token_range CHECK (token > 0), "
    "CONSTRAINT holdfast_stale_token CHECK (stale = 0))",

    "INSERT INTO holdfast_guard AS g (resource, kind, token) "
    "VALUES ($1, 0, $2) "
    "ON CONFLICT (resource, kind) DO UPDATE SET token = EXCLUDED.token, "
    "stale = CASE WHEN g.token <= EXCLUDED.token THEN 0 ELSE 1 END",

    "SELECT token FROM holdfast_guard WHERE resource = $1 AND kind = 0",

    "INSERT INTO holdfast_guard (resource, kind, token) "
    "VALUES ($1, 1, $2) "
    "ON CONFLICT (resource, kind) DO UPDATE SET token = EXCLUDED.token",

    /* It must fail without a row as well: the proposed row is stale unless the
     * claim exists; an existing row is judged by the ON CONFLICT part. */
    "INSERT INTO holdfast_guard AS g (resource, kind, token, stale) "
    "SELECT $1::text, 1, $2::bigint, CASE WHEN EXISTS (SELECT 1 "
    "FROM holdfast_guard WHERE resource = $1::text AND kind = 1 "
    "AND token = $2::bigint) THEN 0 ELSE 1 END "
    "ON CONFLICT (resource, kind) DO UPDATE SET "
    "stale = CASE WHEN g.token = EXCLUDED.token THEN 0 ELSE 1 END",

    "SELECT 1 AS good FROM pg_class t "
    "WHERE t.oid = 'holdfast_guard'::regclass "
    "AND t.relkind = 'r' AND t.relpersistence = 'p' AND NOT t.relhasrules "
    "AND NOT t.relhastriggers "
    "AND (SELECT string_agg(a.attname || ' ' "
    "|| format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull, ', ' "
    "ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = t.oid "
    "AND a.attnum > 0 AND NOT a.attisdropped) = 'resource text true, "
    "kind smallint true, token bigint true, stale smallint true' "
    "AND (SELECT string_agg(pg_get_constraintdef(c.oid), ', ' "
    "ORDER BY c.contype, c.conname) FROM pg_constraint c "
    "WHERE c.conrelid = t.oid AND c.contype IN ('c', 'p')) "
    "= 'CHECK ((stale = 0)), CHECK ((token > 0)), "
    "PRIMARY KEY (resource, kind)' "
    "AND EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conrelid = t.oid "
    "AND c.conname = 'holdfast_stale_token')",
};

static const char *const mariadb[STATEMENTS] = {
    "CREATE TABLE IF NOT EXISTS holdfast_guard ("
    "resource varbinary(512) NOT NULL, kind tinyint NOT NULL, "
    "token bigint NOT NULL, stale tinyint NOT NULL DEFAULT 0, "
    "PRIMARY KEY (resource, kind), "
    "CONSTRAINT holdfast_token_range CHECK (token > 0), "
    "CONSTRAINT holdfast_stale_token CHECK (stale = 0)) ENGINE=InnoDB",

    /* Assignments run from the left: `stale` sees the old token. */
    "INSERT INTO holdfast_guard (resource, kind, token) VALUES (?, 0, ?) "
    "ON DUPLICATE KEY UPDATE "
    "stale = IF(token <= VALUES(token), 0, 1), token = VALUES(token)",

    "SELECT token FROM holdfast_guard WHERE resource = ? AND kind = 0",

    "INSERT INTO holdfast_guard (resource, kind, token) VALUES (?, 1, ?) "
    "ON DUPLICATE KEY UPDATE token = VALUES(token)",

    "INSERT INTO holdfast_guard (resource, kind, token, stale) "
    "SELECT a.r, 1, a.t, IF(EXISTS(SELECT 1 FROM holdfast_guard g "
    "WHERE g.resource = a.r AND g.kind = 1 AND g.token = a.t), 0, 1) "
    "FROM (SELECT CAST(? AS BINARY) AS r, CAST(? AS SIGNED) AS t) a "
    "ON DUPLICATE KEY UPDATE "
    "stale = IF(holdfast_guard.token = VALUES(token), 0, 1)",

    /* Constraints can be switched off, and without a strict mode a token out of
     * range would be cut instead of refused. */
    "SELECT 1 AS good FROM information_schema.TABLES t "
    "WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = 'holdfast_guard' "
    "AND t.ENGINE = 'InnoDB' AND @@check_constraint_checks = 1 "
    "AND @@sql_mode LIKE '%STRICT_%' "
    "AND (SELECT GROUP_CONCAT(COLUMN_NAME, ' ', "
    "REGEXP_REPLACE(COLUMN_TYPE, 'int[(][0-9]+[)]', 'int'), ' ', IS_NULLABLE, "
    "' ', COLUMN_KEY ORDER BY ORDINAL_POSITION SEPARATOR ', ') "
    "FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() "
    "AND TABLE_NAME = 'holdfast_guard') = 'resource varbinary(512) NO PRI, "
    "kind tinyint NO PRI, token bigint NO , stale tinyint NO ' "
    "AND (SELECT GROUP_CONCAT(CONSTRAINT_NAME, ' ', CHECK_CLAUSE "
    "ORDER BY CONSTRAINT_NAME SEPARATOR ', ') "
    "FROM information_schema.CHECK_CONSTRAINTS "
    "WHERE CONSTRAINT_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_guard') "
    "= 'holdfast_stale_token `stale` = 0, holdfast_token_range `token` > 0' "
    "AND NOT EXISTS (SELECT 1 FROM information_schema.TRIGGERS "
    "WHERE EVENT_OBJECT_SCHEMA = DATABASE() "
    "AND EVENT_OBJECT_TABLE = 'holdfast_guard')",
};

static const char *const sqlite[STATEMENTS] = {
    "CREATE TABLE IF NOT EXISTS holdfast_guard " SQLITE_COLUMNS,

    "INSERT INTO holdfast_guard (resource, kind, token) VALUES (?1, 0, ?2) "
    "ON CONFLICT (resource, kind) DO UPDATE SET token = excluded.token, "
    "stale = CASE WHEN token <= excluded.token THEN 0 ELSE 1 END",

    "SELECT token FROM holdfast_guard WHERE resource = ?1 AND kind = 0",

    "INSERT INTO holdfast_guard (resource, kind, token) VALUES (?1, 1, ?2) "
    "ON CONFLICT (resource, kind) DO UPDATE SET token = excluded.token",

    "INSERT INTO holdfast_guard (resource, kind, token, stale) "
    "SELECT ?1, 1, ?2, CASE WHEN EXISTS (SELECT 1 FROM holdfast_guard "
    "WHERE resource = ?1 AND kind = 1 AND token = ?2) THEN 0 ELSE 1 END "
    "WHERE true "
    "ON CONFLICT (resource, kind) DO UPDATE SET "
    "stale = CASE WHEN token = excluded.token THEN 0 ELSE 1 END",

    "SELECT 1 AS good FROM sqlite_master t, pragma_ignore_check_constraints p "
    "WHERE t.type = 'table' AND t.name = 'holdfast_guard' "
    "AND p.ignore_check_constraints = 0 "
    "AND t.sql = 'CREATE TABLE holdfast_guard " SQLITE_COLUMNS "' "
    "AND NOT EXISTS (SELECT 1 FROM sqlite_master "
    "WHERE type = 'trigger' AND tbl_name = 'holdfast_guard')",
};

const char *hf_guard_sql(int dialect, int statement)
{
    static const char *const *const texts[DIALECTS] = {postgres, mariadb,
                                                       sqlite};
    if (dialect < 1 || dialect > DIALECTS) return NULL;
    if (statement < 1 || statement > STATEMENTS) return NULL;
    return texts[dialect - 1][statement - 1];
}
