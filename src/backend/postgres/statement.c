/*
 * statement.c: see statement.h.  Two rules: the clock is taken once, for it
 * moves within a statement; and what is not changed is answered with the row,
 * as of when the statement began.
 *
 * A row that an UPDATE finds locked is checked again as it is when it is free,
 * but a SELECT beside it still sees the older one.  So a row that is answered
 * may be older than the refusal it comes with.
 */
#include "backend/postgres/statement.h"

#define CLOCK                                                                  \
    "t AS MATERIALIZED (SELECT (extract(epoch FROM clock_timestamp())"         \
    " * 1000000)::bigint AS now)"
#define ROW                                                                    \
    "l.name, l.id, l.version, l.news, l.waits_us, l.counter, l.owner,"         \
    " l.attempt, l.ballot, l.fence, l.holds, l.ends_us, l.since_us, l.flags,"  \
    " l.info, l.state"
#define MARKER "(SELECT value FROM holdfast_meta WHERE key = 'boot')"
/* Another one when the table was made anew, as a dump does. */
#define TABLE "to_regclass('holdfast_lock')::oid::bigint"
#define PLAIN_COLUMNS                                                          \
    "counter, owner, attempt, ballot, fence, holds, ends_us, since_us, flags," \
    " info"
#define IS_WAITED "u.waits_us > t.now - 10000000"
#define ENDS "(t.now / 1000 + $6::bigint + 1) * 1000"
/* $7: the server may raise the fence to its clock. */
#define FENCE                                                                  \
    "CASE WHEN $7::bigint <> 0 THEN greatest($4::bigint, t.now)"               \
    " ELSE $4::bigint END"

/* $1 name, $2 version, $3 to $12 the plain lock, $13 state, $14 one more for
 * news, $15 channel, $16 payload, $17 marker or null. */
static const char swap_sql[] =
    "WITH " CLOCK ", u AS (UPDATE holdfast_lock SET version = version + 1,"
    " counter = $3::bigint, owner = $4::text, attempt = $5::bigint,"
    " ballot = $6::bigint, fence = $7::bigint, holds = $8::bigint,"
    " ends_us = $9::bigint, since_us = $10::bigint, flags = $11::bigint,"
    " info = $12::bytea, state = $13::bytea, news = news + $14::bigint"
    " WHERE name = $1::bytea AND version = $2::bigint"
    " AND ($17::text IS NULL OR $17::text = " MARKER ")"
    " RETURNING waits_us)"
    " SELECT t.now, (u.waits_us IS NOT NULL)::int::bigint,"
    " CASE WHEN $14::bigint > 0 AND " IS_WAITED
    " THEN length(pg_notify($15::text, $16::text)::text)::bigint END, " ROW
    ", " MARKER " FROM t LEFT JOIN u ON true LEFT JOIN holdfast_lock l"
    " ON l.name = $1::bytea AND u.waits_us IS NULL";

/* The same parameters; whether anybody waits cannot be known. */
static const char insert_sql[] =
    "WITH " CLOCK ", i AS (INSERT INTO holdfast_lock (name, version, news,"
    " " PLAIN_COLUMNS ", state) SELECT $1::bytea, $2::bigint + t.now,"
    " $14::bigint, $3::bigint, $4::text, $5::bigint, $6::bigint, $7::bigint,"
    " $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bytea,"
    " $13::bytea FROM t WHERE NOT EXISTS (SELECT 1 FROM holdfast_lock"
    " WHERE name = $1::bytea)"
    " AND ($17::text IS NULL OR $17::text = " MARKER ")"
    " ON CONFLICT (name) DO NOTHING RETURNING version)"
    " SELECT t.now, (i.version IS NOT NULL)::int::bigint,"
    " CASE WHEN $14::bigint > 0 AND i.version IS NOT NULL"
    " THEN length(pg_notify($15::text, $16::text)::text)::bigint END, " ROW
    ", " MARKER " FROM t LEFT JOIN i ON true LEFT JOIN holdfast_lock l"
    " ON l.name = $1::bytea AND i.version IS NULL";

/* $1 name, $2 owner, $3 attempt, $4 T, $5 W, $6 lease in ms, $7 FENCE, $8
 * tokens to reserve, $9 flags, $10 info, $11 holds.  Extra: the fence. */
static const char propose_sql[] =
    "WITH " CLOCK ", u AS (UPDATE holdfast_lock l SET version = version + 1,"
    " counter = " FENCE " + $8::bigint, owner = $2::text,"
    " attempt = $3::bigint, ballot = $4::bigint, fence = " FENCE ","
    " holds = $11::bigint, ends_us = " ENDS ","
    " since_us = t.now, flags = $9::bigint | CASE WHEN l.owner <> ''"
    " AND l.ends_us > t.now THEN l.flags & 2 ELSE 0 END,"
    " info = $10::bytea FROM t WHERE l.name = $1::bytea"
    " AND l.state IS NULL AND (l.owner = '' OR l.ends_us <= t.now"
    " OR (l.owner = $2::text AND l.attempt = $3::bigint"
    " AND l.ballot <> $4::bigint)) AND $4::bigint > l.counter"
    " AND $4::bigint >= t.now - $5::bigint RETURNING l.fence),"
    " i AS (INSERT INTO holdfast_lock (name, version, " PLAIN_COLUMNS ")"
    " SELECT $1::bytea, t.now, " FENCE " + $8::bigint, $2::text, $3::bigint,"
    " $4::bigint, " FENCE ", $11::bigint, " ENDS ","
    " t.now, $9::bigint, $10::bytea FROM t WHERE NOT EXISTS (SELECT 1"
    " FROM holdfast_lock WHERE name = $1::bytea)"
    " AND $4::bigint >= t.now - $5::bigint ON CONFLICT (name) DO NOTHING"
    " RETURNING fence) SELECT t.now,"
    " (coalesce(u.fence, i.fence) IS NOT NULL)::int::bigint,"
    " coalesce(u.fence, i.fence), " ROW " FROM t LEFT JOIN u ON true"
    " LEFT JOIN i ON true LEFT JOIN holdfast_lock l ON l.name = $1::bytea"
    " AND coalesce(u.fence, i.fence) IS NULL";

/* Arrays: $1 names, $2 owners, $3 attempts, $4 fences (0: any), $5 holds, $6
 * leases in ms.  One row for each, in their order; it is the row as it was
 * before.  Extra: the counter.  A row that a transaction of another program
 * keeps locked must not hold up for long what is behind it.
 * `more` is another part of WITH, `from` the renewals that are carried out. */
#define RENEW(more, from)                                                      \
    "WITH t AS MATERIALIZED (SELECT (extract(epoch FROM clock_timestamp())"    \
    " * 1000000)::bigint AS now, set_config('lock_timeout', '100ms', true)),"  \
    " r AS (SELECT * FROM unnest($1::bytea[], $2::text[],"                     \
    " $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])"                 \
    " WITH ORDINALITY AS r(name, owner, attempt, fence, holds, lease_ms,"      \
    " n))," more " u AS (UPDATE holdfast_lock l SET version = version + 1,"    \
    " holds = r.holds, ends_us = (t.now / 1000 + r.lease_ms + 1) * 1000"       \
    " FROM t, " from " r WHERE l.name = r.name AND l.owner = r.owner"          \
    " AND l.attempt = r.attempt AND (r.fence = 0 OR r.fence = l.fence)"        \
    " AND l.ends_us > t.now AND l.state IS NULL RETURNING r.n, l.counter)"     \
    " SELECT t.now, (u.n IS NOT NULL)::int::bigint, u.counter, " ROW           \
    " FROM t CROSS JOIN r LEFT JOIN u ON u.n = r.n LEFT JOIN holdfast_lock l"  \
    " ON l.name = r.name ORDER BY r.n"

static const char renew_sql[] = RENEW("", "r");

/* The same, but rows that are locked are left out: dearer, so only if the one
 * above has failed. */
static const char renew_free_sql[] =
    RENEW(" k AS (SELECT r.* FROM r JOIN holdfast_lock l ON l.name = r.name"
          " FOR NO KEY UPDATE OF l SKIP LOCKED),",
          "k");

/* $1 name, $2 owner, $3 attempt, $4 T, $5 channel (null: hushed), $6 payload.
 * Extra: the counter; null in the name's place, and in that of waits_us the
 * mark, for whether anybody waits. */
static const char release_sql[] =
    "WITH " CLOCK ", u AS (UPDATE holdfast_lock l SET version = version + 1,"
    " news = news + 1, counter = greatest(counter, $4::bigint), owner = '',"
    " attempt = 0, ballot = 0, fence = 0, holds = 0, ends_us = 0,"
    " since_us = 0, flags = 0, info = '' FROM t WHERE l.name = $1::bytea"
    " AND l.owner = $2::text AND l.attempt = $3::bigint"
    " AND l.ends_us > t.now AND l.state IS NULL"
    " RETURNING l.counter, l.waits_us), n AS (SELECT CASE"
    " WHEN $5::text IS NOT NULL AND " IS_WAITED
    " THEN length(pg_notify($5::text, $6::text)::text) END AS told"
    " FROM t, u)"
    " SELECT t.now, (u.counter IS NOT NULL)::int::bigint, u.counter, l.name,"
    " l.id, l.version, coalesce(n.told::bigint, l.news),"
    " coalesce(u.waits_us, l.waits_us), l.counter,"
    " l.owner, l.attempt, l.ballot, l.fence, l.holds, l.ends_us, l.since_us,"
    " l.flags, l.info, l.state FROM t LEFT JOIN u ON true LEFT JOIN n ON true"
    " LEFT JOIN holdfast_lock l ON l.name = $1::bytea AND u.counter IS NULL";

/* session=on.  A lock is the advisory lock of its name; waiters share one with
 * another key. */
#define LOCK_KEY "hashtextextended($1::text, 0)"
#define WAIT_KEY "hashtextextended($1::text, 1)"

/* $1 name, $2 channel (null: hushed), $3 payload.  Extra: does anybody wait?
 * The lock is free before that is asked: a waiter shares its key first, and
 * looks at the lock then. */
static const char session_unlock_sql[] =
    "WITH " CLOCK ", u AS MATERIALIZED (SELECT pg_advisory_unlock(" LOCK_KEY
    ") AS done), w AS MATERIALIZED (SELECT u.done, CASE WHEN u.done THEN"
    " NOT pg_try_advisory_xact_lock(" WAIT_KEY ") ELSE false END AS waits"
    " FROM u) SELECT t.now, w.done::int::bigint, w.waits::int::bigint,"
    " CASE WHEN w.waits AND $2::text IS NOT NULL"
    " THEN length(pg_notify($2::text, $3::text)::text)::bigint END FROM t, w";

/* $1 name.  The server's process that has it, its client, its application. */
static const char session_look_sql[] =
    "WITH " CLOCK ", k AS (SELECT " LOCK_KEY " AS key) SELECT t.now,"
    " l.pid::bigint, coalesce(host(a.client_addr), ''),"
    " coalesce(a.application_name, '') FROM t CROSS JOIN k"
    " LEFT JOIN pg_locks l ON l.locktype = 'advisory' AND l.granted"
    " AND l.objsubid = 1 AND l.database = (SELECT oid FROM pg_database"
    " WHERE datname = current_database())"
    " AND l.classid::bigint = (k.key >> 32) & 4294967295"
    " AND l.objid::bigint = k.key & 4294967295"
    " LEFT JOIN pg_stat_activity a ON a.pid = l.pid LIMIT 1";

/* Named in job.c, in this order.  What the session was given by the greeting
 * hides what the server has: that is in pg_settings. */
#define COMMIT_DEFAULT                                                         \
    "(SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit')"
#define ISOLATION_DEFAULT                                                      \
    "(SELECT reset_val FROM pg_settings"                                       \
    " WHERE name = 'default_transaction_isolation')"
static const char facts_sql[] =
    "WITH " CLOCK " SELECT t.now, current_setting('server_version'),"
    " current_setting('fsync'), current_setting('full_page_writes'),"
    " current_setting('synchronous_commit'), " COMMIT_DEFAULT ","
    " current_setting('synchronous_standby_names'),"
    " (SELECT count(*) FROM pg_stat_replication)::text, " ISOLATION_DEFAULT ","
    " current_setting('max_connections'),"
    " current_setting('superuser_reserved_connections'),"
    " (SELECT sum(numbackends) FROM pg_stat_database)::text,"
    " current_database()::text, current_schema()::text,"
    " (SELECT greatest(reltuples, 0)::bigint FROM pg_class"
    " WHERE oid = to_regclass('holdfast_lock'))::text FROM t";

const struct statement_text hf__postgres_statements[STATEMENTS_LEN] = {
    [STATEMENT_READ] = {"hf_read", "WITH " CLOCK
                                   " SELECT t.now, 0::bigint, 0::bigint, " ROW
                                   " FROM t LEFT JOIN holdfast_lock l"
                                   " ON l.name = $1::bytea"},
    [STATEMENT_READ_MARKED] = {"hf_read_marked",
                               "WITH " CLOCK
                               " SELECT t.now, 0::bigint, 0::bigint, " ROW
                               ", " MARKER " FROM t LEFT JOIN holdfast_lock l"
                               " ON l.name = $1::bytea"},
    [STATEMENT_SWAP] = {"hf_swap", swap_sql},
    [STATEMENT_INSERT] = {"hf_insert", insert_sql},
    /* Without a row, one with the clock is answered all the same. */
    [STATEMENT_LIST] = {"hf_list", "WITH " CLOCK
                                   " SELECT t.now, 0::bigint, 0::bigint, " ROW
                                   " FROM t LEFT JOIN LATERAL (SELECT *"
                                   " FROM holdfast_lock WHERE id > $1::bigint"
                                   " AND (owner <> '' OR state IS NOT NULL)"
                                   " ORDER BY id LIMIT $2::bigint) l ON true"
                                   " ORDER BY l.id"},
    [STATEMENT_PROPOSE] = {"hf_propose", propose_sql},
    [STATEMENT_RENEW] = {"hf_renew", renew_sql},
    [STATEMENT_RENEW_FREE] = {"hf_renew_free", renew_free_sql},
    [STATEMENT_RELEASE] = {"hf_release", release_sql},
    /* $1: are locks looked for? */
    [STATEMENT_BOOT_READ] =
        {"hf_boot_read",
         "WITH " CLOCK " SELECT t.now, 0::bigint,"
         " ($1::bigint <> 0 AND EXISTS (SELECT 1 FROM holdfast_lock"
         " WHERE owner <> '' AND ends_us > t.now))::int::bigint, " MARKER
         ", " TABLE " FROM t"},
    /* $1 the marker that is expected, "" none, $2 the next one. */
    [STATEMENT_BOOT_SWAP] =
        {"hf_boot_swap",
         "WITH " CLOCK ", u AS (UPDATE holdfast_meta"
         " SET value = $2::text WHERE key = 'boot' AND value = $1::text"
         " AND $1::text <> '' RETURNING 1 AS done), i AS (INSERT INTO"
         " holdfast_meta (key, value) SELECT 'boot', $2::text"
         " WHERE $1::text = '' ON CONFLICT (key) DO NOTHING"
         " RETURNING 1 AS done) SELECT t.now,"
         " coalesce(u.done, i.done, 0)::bigint, 0::bigint, " MARKER ", " TABLE
         " FROM t LEFT JOIN u ON true LEFT JOIN i ON true"},
    [STATEMENT_CLOCK] = {"hf_clock", "WITH " CLOCK " SELECT t.now FROM t"},
    [STATEMENT_FACTS] = {"hf_facts", facts_sql},
    /* $1 name: somebody waits there. */
    [STATEMENT_MARK] = {"hf_mark",
                        "WITH " CLOCK
                        ", u AS (UPDATE holdfast_lock SET waits_us = t.now"
                        " FROM t WHERE name = $1::bytea RETURNING 1)"
                        " SELECT t.now, (SELECT count(*) FROM u) FROM t"},
    [STATEMENT_SESSION_TRY] = {"hf_session_try",
                               "WITH " CLOCK " SELECT t.now,"
                               " pg_try_advisory_lock(" LOCK_KEY
                               ")::int::bigint FROM t"},
    [STATEMENT_SESSION_UNLOCK] = {"hf_session_unlock", session_unlock_sql},
    [STATEMENT_SESSION_LOOK] = {"hf_session_look", session_look_sql},
    [STATEMENT_SESSION_WATCH] = {"hf_session_watch",
                                 "WITH " CLOCK " SELECT t.now,"
                                 " pg_try_advisory_lock_shared(" WAIT_KEY
                                 ")::int::bigint FROM t"},
    [STATEMENT_SESSION_UNWATCH] = {"hf_session_unwatch",
                                   "WITH " CLOCK " SELECT t.now,"
                                   " pg_advisory_unlock_shared(" WAIT_KEY
                                   ")::int::bigint FROM t"},
    [STATEMENT_SHED_READ] = {"hf_shed_read", hf__postgres_shed_read},
    [STATEMENT_SHED_SWAP] = {"hf_shed_swap", hf__postgres_shed_swap},
    [STATEMENT_SHED_INSERT] = {"hf_shed_insert", hf__postgres_shed_insert},
    [STATEMENT_SHED_LIST] = {"hf_shed_list", hf__postgres_shed_list},
};

/* Tables are found by their index, whatever the statistics say: a plan that is
 * kept for the session must do when they have grown. */
const char hf__postgres_greeting[] =
    "SELECT pg_backend_pid()::bigint, pg_is_in_recovery()::int::bigint,"
    " (current_setting('default_transaction_read_only') = 'on')::int::bigint,"
    " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,"
    " (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,"
    " (current_setting('fsync') = 'on' AND current_setting('full_page_writes')"
    " = 'on')::int::bigint,"
    " CASE WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || substr(pg_walfile_name("
    "pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,"
    " (coalesce(set_config('search_path', quote_ident($1::text), false), '')"
    " || set_config('default_transaction_isolation', 'read committed', false)"
    " || set_config('plan_cache_mode', 'force_generic_plan', false)"
    " || set_config('enable_seqscan', 'off', false)"
    " || set_config('enable_hashjoin', 'off', false)"
    " || set_config('enable_mergejoin', 'off', false)"
    " || set_config('jit', 'off', false)"
    " || set_config('lock_timeout', '500ms', false)"
    " || CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')"
    " THEN set_config('synchronous_commit', 'on', false) ELSE '' END)";

const char *const hf__postgres_schema[] = {
    /* Two that install at the same time would hinder each other. */
    "SELECT pg_advisory_xact_lock(hashtextextended('holdfast', 0))",
    "CREATE TABLE IF NOT EXISTS holdfast_lock ("
    " id bigint GENERATED ALWAYS AS IDENTITY,"
    " name bytea PRIMARY KEY,"
    " version bigint NOT NULL DEFAULT 1,"
    " news bigint NOT NULL DEFAULT 0,"
    " waits_us bigint NOT NULL DEFAULT 0,"
    " counter bigint NOT NULL DEFAULT 0,"
    " owner text NOT NULL DEFAULT '',"
    " attempt bigint NOT NULL DEFAULT 0,"
    " ballot bigint NOT NULL DEFAULT 0,"
    " fence bigint NOT NULL DEFAULT 0,"
    " holds bigint NOT NULL DEFAULT 0,"
    " ends_us bigint NOT NULL DEFAULT 0,"
    " since_us bigint NOT NULL DEFAULT 0,"
    " flags bigint NOT NULL DEFAULT 0,"
    " info bytea NOT NULL DEFAULT '',"
    " state bytea) WITH (fillfactor = 50)",
    "CREATE UNIQUE INDEX IF NOT EXISTS holdfast_lock_id ON holdfast_lock (id)",
    "CREATE TABLE IF NOT EXISTS holdfast_meta ("
    " key text PRIMARY KEY, value text NOT NULL)",
    "INSERT INTO holdfast_meta (key, value) VALUES ('schema', '1')"
    " ON CONFLICT (key) DO NOTHING",
    NULL,
};
