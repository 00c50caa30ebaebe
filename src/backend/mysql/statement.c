/*
 * statement.c: see statement.h.  Two rules: a statement that changes something
 * decides from the row alone, and the row is read behind it, so that what is
 * answered is never older than the decision; and no assignment reads a column
 * that another one of the same statement has written.
 *
 * The clock stands still within a statement.  It is taken when the statement
 * begins, before it waits for a row that another transaction has locked.
 */
#include "backend/mysql/statement.h"

#include "backend/sql/fast.h"

#define CLOCK "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))"
#define ROW                                                                    \
    "l.name,l.id,l.version,l.news,l.waits_us,l.counter,l.owner,l.attempt,"     \
    "l.ballot,l.fence,l.holds,l.ends_us,l.since_us,l.flags,l.info,l.state"
#define MARKER "(SELECT value FROM holdfast_meta WHERE `key`='boot')"
/* Another time when the table was made anew, as a dump does, or its file was
 * copied. */
#define TABLE_MADE                                                             \
    "(SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES"       \
    " WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='holdfast_lock')"
#define ANSWER "SELECT " CLOCK ",ROW_COUNT(),LAST_INSERT_ID()," ROW ","
/* One row in any case. */
#define FROM_META " FROM holdfast_meta m LEFT JOIN holdfast_lock l ON l.name="
#define WHERE_META " WHERE m.`key`='schema'"

static void add(struct text *t, const char *words)
{
    hf__mysql_text_add(t, words);
}

static void add_number(struct text *t, const char *before, int64_t number)
{
    hf__mysql_text_add(t, before);
    hf__mysql_text_number(t, number);
}

static void add_bytes(struct text *t, const char *before, const void *bytes,
                      size_t len)
{
    hf__mysql_text_add(t, before);
    hf__mysql_text_bytes(t, bytes, len);
}

static void add_string(struct text *t, const char *before, const char *string)
{
    hf__mysql_text_add(t, before);
    hf__mysql_text_string(t, string);
}

static void add_name(struct text *t, const char *before,
                     const struct request *req)
{
    add_bytes(t, before, req->name, req->name_len);
}

/* ---- reading ---- */

static void add_answer(struct text *t, const struct request *req,
                       int wants_marker)
{
    add(t, wants_marker ? ANSWER MARKER : ANSWER "NULL");
    add_name(t, FROM_META, req);
    add(t, WHERE_META);
}

unsigned hf__mysql_write_read(struct text *t, const struct sql_job *job)
{
    add_answer(t, job->req, job->wants_marker);
    return 1;
}

unsigned hf__mysql_write_list(struct text *t, const struct sql_job *job)
{
    add(t, "SELECT " CLOCK ",0,0," ROW ",NULL FROM holdfast_lock l WHERE ");
    add_number(t, "l.id>", (int64_t)job->req->cursor);
    add(t, " AND (l.owner<>'' OR l.state IS NOT NULL) ORDER BY l.id");
    add_number(t, " LIMIT ", SQL_PAGE_ROWS);
    return 1;
}

/* Unless another waiter has set it just now. */
static void add_mark(struct text *t)
{
    add(t, "UPDATE holdfast_lock SET waits_us=" CLOCK " WHERE waits_us<");
    add_number(t, CLOCK "-", SQL_WAITS_RENEW_US / 2);
}

unsigned hf__mysql_write_watch(struct text *t, const struct sql_job *job)
{
    add_mark(t);
    add_name(t, " AND name=", job->req);
    add(t, ";");
    add_answer(t, job->req, 0);
    return 2;
}

unsigned hf__mysql_write_mark(struct text *t, const struct sql_watch *w)
{
    add_mark(t);
    add_bytes(t, " AND name=", w->name, w->name_len);
    return 1;
}

unsigned hf__mysql_write_look(struct text *t, const struct sql_core *core)
{
    const char *before = "SELECT " CLOCK ",0,0," ROW
                         ",NULL FROM holdfast_lock l WHERE l.name IN (";
    unsigned names = 0;
    const struct sql_watch *w = hf__sql_watch_first(core);
    for (; w; w = w->next) {
        if (!w->is_on || !w->kinds) continue;
        add_bytes(t, before, w->name, w->name_len);
        before = ",";
        names++;
    }
    if (names > 0) add(t, ")");
    return names > 0 ? 1 : 0;
}

/* ---- compare and set ---- */

/* `=` or nothing stands before each value of the plain lock. */
static void add_plain(struct text *t, const struct cell_plain *p, int is_set)
{
    static const char *const names[] = {
        ",counter=", ",owner=",   ",attempt=",  ",ballot=", ",fence=",
        ",holds=",   ",ends_us=", ",since_us=", ",flags=",  ",info="};
    int i = 0;
#define NEXT (is_set ? names[i++] : ",")
    add_number(t, NEXT, p->counter);
    add_string(t, NEXT, p->owner);
    add_number(t, NEXT, (int64_t)p->attempt);
    add_number(t, NEXT, p->ballot);
    add_number(t, NEXT, p->fence);
    add_number(t, NEXT, p->holds);
    add_number(t, NEXT, p->ends_us);
    add_number(t, NEXT, p->since_us);
    add_number(t, NEXT, p->flags);
    add_string(t, NEXT, p->info);
#undef NEXT
}

static void add_state(struct text *t, const char *before,
                      const struct sql_row *next)
{
    if (next->state_len > 0) {
        add_bytes(t, before, next->state, next->state_len);
    } else {
        add(t, before);
        add(t, "NULL");
    }
}

static void add_marked(struct text *t, const struct sql_job *job)
{
    if (!job->marker[0]) return;
    add_string(t, " AND ", job->marker);
    add(t, "=" MARKER);
}

static void add_update(struct text *t, const struct sql_job *job)
{
    const struct sql_row *next = &job->next;
    add(t, "UPDATE holdfast_lock SET version=version+1");
    if (job->tell != SQL_TELL_NONE) add(t, ",news=news+1");
    add_plain(t, &next->plain, 1);
    add_state(t, ",state=", next);
    add_name(t, " WHERE name=", job->req);
    add_number(t, " AND version=", next->version);
    add_marked(t, job);
}

/* From the table of one row, for a condition needs a table. */
static void add_insert(struct text *t, const struct sql_job *job)
{
    const struct sql_row *next = &job->next;
    add(t, "INSERT INTO holdfast_lock (name,version,news,counter,owner,"
           "attempt,ballot,fence,holds,ends_us,since_us,flags,info,state)"
           " SELECT ");
    add_name(t, "", job->req);
    add_number(t, "," CLOCK ",", job->tell != SQL_TELL_NONE);
    add_plain(t, &next->plain, 0);
    add_state(t, ",", next);
    add(t, " FROM holdfast_meta m" WHERE_META);
    add_marked(t, job);
    add(t, " ON DUPLICATE KEY UPDATE holdfast_lock.id=holdfast_lock.id");
}

unsigned hf__mysql_write_swap(struct text *t, const struct sql_job *job)
{
    if (job->next.version)
        add_update(t, job);
    else
        add_insert(t, job);
    add(t, ";");
    add_answer(t, job->req, job->wants_marker);
    return 2;
}

/* ---- a plain lock by one statement ---- */

static void add_hold(struct text *t, const struct request *req)
{
    add_name(t, " WHERE name=", req);
    add_string(t, " AND owner=", req->owner);
    add_number(t, " AND attempt=", (int64_t)req->attempt);
    add(t, " AND ends_us>" CLOCK " AND state IS NULL;");
    add_answer(t, req, 0);
}

static void add_ends(struct text *t, const struct request *req)
{
    add_number(t, ",ends_us=(" CLOCK " DIV 1000+1+",
               hf__sql_fast_lease_ms(req));
    add(t, ")*1000");
}

/* max(T, clock), or T if the server may not raise it. */
static void add_fence(struct text *t, const char *before,
                      const struct request *req, const char *behind)
{
    int raises = (req->flags & REQ_SERVER_FENCE) != 0;
    add(t, before);
    add_number(t, raises ? "GREATEST(" : "(", req->ballot);
    add(t, raises ? "," CLOCK ")" : ")");
    add(t, behind);
}

static void add_proposal(struct text *t, const struct request *req)
{
    unsigned flags = req->flags & REQ_DETACHED ? CELL_DETACHED : 0;
    add_number(t, "UPDATE holdfast_lock SET flags=", flags);
    add(t, "|IF(owner<>'' AND ends_us>" CLOCK ",flags&2,0),version=version+1");
    add_fence(t, ",fence=LAST_INSERT_ID(", req, ")");
    add_fence(t, ",counter=", req, "");
    add_number(t, "+", req->block);
    add_string(t, ",owner=", req->owner);
    add_number(t, ",attempt=", (int64_t)req->attempt);
    add_number(t, ",ballot=", req->ballot);
    add_number(t, ",holds=", req->count);
    add_ends(t, req);
    add_bytes(t, ",since_us=" CLOCK ",info=", req->info,
              hf__sql_fast_info_len(req));
}

unsigned hf__mysql_write_propose(struct text *t, const struct request *req)
{
    add_proposal(t, req);
    add_name(t, " WHERE name=", req);
    add(t, " AND state IS NULL AND (owner='' OR ends_us<=" CLOCK);
    add_string(t, " OR (owner=", req->owner);
    add_number(t, " AND attempt=", (int64_t)req->attempt);
    add_number(t, " AND ballot<>", req->ballot);
    add_number(t, ")) AND counter<", req->ballot);
    add_number(t, " AND " CLOCK "<=", req->ballot + req->window_us);
    add(t, ";");
    add_answer(t, req, 0);
    return 2;
}

unsigned hf__mysql_write_renew(struct text *t, const struct request *req)
{
    add(t, "UPDATE holdfast_lock SET"
           " version=version+1+0*LAST_INSERT_ID(ends_us)");
    add_number(t, ",holds=", req->count);
    add_ends(t, req);
    add_name(t, " WHERE name=", req);
    add_string(t, " AND owner=", req->owner);
    add_number(t, " AND attempt=", (int64_t)req->attempt);
    if (req->fence) add_number(t, " AND fence=", req->fence);
    add(t, " AND ends_us>" CLOCK " AND state IS NULL;");
    add_answer(t, req, 0);
    return 2;
}

unsigned hf__mysql_write_release(struct text *t, const struct request *req)
{
    add_number(t, "UPDATE holdfast_lock SET counter=GREATEST(counter,",
               req->ballot);
    add(t, "),version=version+1,news=news+1,owner='',attempt=0,ballot=0,"
           "fence=0,holds=0,ends_us=0,since_us=0,flags=0,info=''");
    add_hold(t, req);
    return 2;
}

/* ---- a member of a quorum, and facts ---- */

static void add_boot_answer(struct text *t, int wants_locks)
{
    add(t, "SELECT " CLOCK ",ROW_COUNT(),");
    add(t, wants_locks ? "EXISTS(SELECT 1 FROM holdfast_lock"
                         " WHERE owner<>'' AND ends_us>" CLOCK ")"
                       : "0");
    add(t, "," MARKER "," TABLE_MADE);
}

unsigned hf__mysql_write_boot(struct text *t, const struct sql_job *job)
{
    if (job->step == SQL_BOOT_READ) {
        add_boot_answer(t, job->wants_locks);
        return 1;
    }
    if (job->marker[0]) {
        add_string(t, "UPDATE holdfast_meta SET value=", job->marker_next);
        add_string(t, " WHERE `key`='boot' AND value=", job->marker);
    } else {
        add_string(t, "INSERT INTO holdfast_meta (`key`,value) VALUES ('boot',",
                   job->marker_next);
        add(t, ") ON DUPLICATE KEY UPDATE `key`='boot'");
    }
    add(t, ";");
    add_boot_answer(t, 0);
    return 2;
}

unsigned hf__mysql_write_facts(struct text *t, const char *table)
{
    add(t, "SELECT " CLOCK ",VERSION(),DATABASE(),(SELECT COUNT(*) FROM ");
    add(t, table);
    add(t, ")");
    return 1;
}

/* ---- the session and the tables ---- */

/* Each statement is a transaction of its own.  A row that another transaction
 * has locked is waited for as short as the server knows: a second.  MariaDB can
 * be told to ignore CHECK, which the tables of sales need; MySQL cannot, and
 * takes that part for a comment. */
const char hf__mysql_session[] =
    "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
    "autocommit=1,innodb_lock_wait_timeout=1"
    "/*M!100201 ,check_constraint_checks=1*/;"
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

/* A node of a cluster may be behind the others: look at nothing older than the
 * statement. */
const char hf__mysql_galera_session[] = "SET SESSION wsrep_sync_wait=7";

const char hf__mysql_variables[] =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only','hostname',"
    "'wsrep_on','innodb_flush_log_at_trx_commit','sync_binlog','log_bin')";

const char hf__mysql_status[] = "SHOW GLOBAL STATUS WHERE Variable_name IN "
                                "('Uptime','wsrep_ready')";

const char hf__mysql_clock[] = "SELECT " CLOCK ",UNIX_TIMESTAMP()";

const char hf__mysql_ask_schema[] =
    "SELECT value," MARKER " FROM holdfast_meta WHERE `key`='schema'";

const char *const hf__mysql_schema[] = {
    "CREATE TABLE IF NOT EXISTS holdfast_lock ("
    " id BIGINT NOT NULL AUTO_INCREMENT,"
    " name VARBINARY(512) NOT NULL,"
    " version BIGINT NOT NULL DEFAULT 1,"
    " news BIGINT NOT NULL DEFAULT 0,"
    " waits_us BIGINT NOT NULL DEFAULT 0,"
    " counter BIGINT NOT NULL DEFAULT 0,"
    " owner VARBINARY(64) NOT NULL DEFAULT '',"
    " attempt BIGINT NOT NULL DEFAULT 0,"
    " ballot BIGINT NOT NULL DEFAULT 0,"
    " fence BIGINT NOT NULL DEFAULT 0,"
    " holds BIGINT NOT NULL DEFAULT 0,"
    " ends_us BIGINT NOT NULL DEFAULT 0,"
    " since_us BIGINT NOT NULL DEFAULT 0,"
    " flags BIGINT NOT NULL DEFAULT 0,"
    " info VARBINARY(512) NOT NULL DEFAULT '',"
    " state LONGBLOB,"
    " PRIMARY KEY (name), UNIQUE KEY holdfast_lock_id (id)) ENGINE=InnoDB",
    "CREATE TABLE IF NOT EXISTS holdfast_meta ("
    " `key` VARBINARY(64) NOT NULL PRIMARY KEY,"
    " value VARBINARY(1024) NOT NULL) ENGINE=InnoDB",
    "INSERT INTO holdfast_meta (`key`, value) VALUES ('schema', '1')"
    " ON DUPLICATE KEY UPDATE `key`='schema'",
    NULL,
};
