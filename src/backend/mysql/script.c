/*
 * script.c: statements that are one transaction.  One rule: a transaction that
 * an error has left open is rolled back before anything else is sent, for to
 * begin another one would commit it.
 */
#include "backend/mysql/script.h"

#include <mysqld_error.h>

#include "backend/mysql/row.h"
#include "backend/sql/script.h"

#define ROW_MAX 16

/* Of MySQL and of MariaDB: a CHECK. */
#define ER_CHECK_OF_MYSQL 3819
#define ER_CHECK_OF_MARIADB 4025

unsigned hf__mysql_script_write(struct text *t, const struct sql_job *job)
{
    const struct sql_script *s = job->script;
    const char *at = s->text;
    if (s->is_write) hf__mysql_text_add(t, "START TRANSACTION;");
    for (unsigned i = 0; i < s->statements; i++) {
        if (i > 0) hf__mysql_text_add(t, ";");
        hf__mysql_text_add(t, at);
        at = hf__sql_script_next(at);
    }
    if (s->is_write) hf__mysql_text_add(t, ";COMMIT");
    return s->statements + (s->is_write ? 2 : 0);
}

void hf__mysql_script_answer(struct sql_job *job, MYSQL_RES *result)
{
    const char *values[ROW_MAX];
    struct fields f;
    while (hf__mysql_row_next(result, &f)) {
        int len = f.len < ROW_MAX ? (int)f.len : ROW_MAX;
        for (int i = 0; i < len; i++)
            values[i] = hf__mysql_row_text(&f, (unsigned)i);
        hf__sql_script_row(job, len, values);
    }
    hf__sql_script_done(job);
}

int hf__mysql_script_refuse(struct link *l, struct sql_job *job, unsigned code)
{
    l->must_roll_back = job->script->is_write;
    switch (code) {
    case ER_CHECK_OF_MYSQL:
    case ER_CHECK_OF_MARIADB:
    case ER_BAD_NULL_ERROR:
    case ER_DUP_ENTRY:
        hf__sql_script_refused(job, SQL_REFUSED_CHECK);
        return 1;
    case ER_NO_SUCH_TABLE:
        hf__sql_script_refused(job, SQL_REFUSED_TABLE);
        return 1;
    default:
        return 0;
    }
}

void hf__mysql_script_clear(struct link *l)
{
    if (!l->must_roll_back) return;
    l->must_roll_back = 0;
    /* If it is refused, the connection ends, and the transaction with it. */
    hf__mysql_packet_add(l, ITEM_GREET, 1, NULL);
    hf__mysql_text_add(&l->packet.text, "ROLLBACK");
}
