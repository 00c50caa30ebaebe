/*
 * error.c: what the server's errors mean.  One rule: every error that an
 * operator can do something about has a status and a sentence of its own, and
 * the server's own words stand behind it.
 */
#include "backend/mysql/error.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stdio.h>

#include "backend/sql/said.h"

#define INSTALL "run: holdfast install-schema URL"

/* Of MySQL, which libmariadb's list lacks. */
#define ER_SERVER_IN_OFFLINE_MODE 3032
#define ER_CLIENT_INTERACTION_TIMEOUT 4031

static const struct meaning {
    unsigned code;
    int status;
    const char *words;
} meanings[] = {
    {ER_ACCESS_DENIED_ERROR, HF_DENIED, "wrong user or password"},
    {ER_ACCESS_DENIED_NO_PASSWORD_ERROR, HF_DENIED, "wrong user or password"},
    {ER_HOST_NOT_PRIVILEGED, HF_DENIED,
     "the server lets no user of this host "
     "in"},
    {ER_HOST_IS_BLOCKED, HF_DENIED, "the server lets no user of this host in"},
    {ER_MUST_CHANGE_PASSWORD, HF_DENIED, "the password has expired"},
    {ER_DBACCESS_DENIED_ERROR, HF_DENIED, "the user lacks a right"},
    {ER_TABLEACCESS_DENIED_ERROR, HF_DENIED, "the user lacks a right"},
    {ER_COLUMNACCESS_DENIED_ERROR, HF_DENIED, "the user lacks a right"},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, HF_DENIED, "the user lacks a right"},
    {ER_BAD_DB_ERROR, HF_INVALID, "no such database"},
    {ER_NO_DB_ERROR, HF_INVALID, "the URL names no database"},
    {ER_NO_SUCH_TABLE, HF_INVALID, "the tables are missing: " INSTALL},
    {ER_BAD_FIELD_ERROR, HF_CONFLICT,
     "the tables are of another version: " INSTALL},
    {ER_DATA_TOO_LONG, HF_CONFLICT, "the tables are not what they should be"},
    {ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, HF_UNSUPPORTED,
     "set the server's binlog_format to ROW or MIXED"},
    {ER_OPTION_PREVENTS_STATEMENT, HF_UNAVAILABLE,
     "the server takes no writes"},
    {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, HF_UNAVAILABLE,
     "the server takes no writes"},
    {ER_READ_ONLY_MODE, HF_UNAVAILABLE, "the server takes no writes"},
    {ER_CON_COUNT_ERROR, HF_UNAVAILABLE, "the server has too many clients"},
    {ER_TOO_MANY_USER_CONNECTIONS, HF_UNAVAILABLE,
     "the server has too many clients"},
    {ER_USER_LIMIT_REACHED, HF_UNAVAILABLE, "the server has too many clients"},
    {ER_LOCK_WAIT_TIMEOUT, HF_UNAVAILABLE, "another transaction holds the row"},
    {ER_LOCK_DEADLOCK, HF_UNAVAILABLE,
     "the server could not finish the transaction"},
    {ER_UNKNOWN_COM_ERROR, HF_UNAVAILABLE,
     "the node of the cluster is not ready"},
    {ER_RECORD_FILE_FULL, HF_UNAVAILABLE,
     "the server lacks memory or disk space"},
    {ER_DISK_FULL, HF_UNAVAILABLE, "the server lacks memory or disk space"},
    {ER_OUTOFMEMORY, HF_UNAVAILABLE, "the server lacks memory or disk space"},
    {ER_OUT_OF_RESOURCES, HF_UNAVAILABLE,
     "the server lacks memory or disk space"},
    {ER_QUERY_INTERRUPTED, HF_UNAVAILABLE, "the statement was cancelled"},
    {ER_SERVER_SHUTDOWN, HF_UNAVAILABLE, "the server is shutting down"},
    {ER_NORMAL_SHUTDOWN, HF_UNAVAILABLE, "the server is shutting down"},
    {ER_SERVER_IN_OFFLINE_MODE, HF_UNAVAILABLE, "the server is shutting down"},
    {ER_CONNECTION_KILLED, HF_UNAVAILABLE, "the server ended the connection"},
    {ER_CLIENT_INTERACTION_TIMEOUT, HF_UNAVAILABLE,
     "the server ended the connection"},
    {ER_UNKNOWN_SYSTEM_VARIABLE, HF_UNSUPPORTED,
     "the server does not know that"},
    {ER_PARSE_ERROR, HF_UNSUPPORTED, "the server does not understand"},
    {ER_NOT_SUPPORTED_AUTH_MODE, HF_DENIED,
     "the client cannot prove itself as the server asks"},
    {CR_AUTH_PLUGIN_CANNOT_LOAD, HF_DENIED,
     "the client cannot prove itself as the server asks"},
    {CR_SSL_CONNECTION_ERROR, HF_DENIED, "no TLS that can be trusted"},
    {0, HF_UNAVAILABLE, NULL},
};

static const struct meaning *meaning_of(unsigned code)
{
    const struct meaning *m = meanings;
    while (m->code && m->code != code) m++;
    return m;
}

int hf__mysql_error(unsigned code, const char *said,
                    char text[HF_ERROR_TEXT_MAX])
{
    char words[SAID_MAX];
    const struct meaning *m = meaning_of(code);
    hf__sql_said_copy(said, words);
    if (m->words)
        snprintf(text, HF_ERROR_TEXT_MAX, "%s: %s", m->words, words);
    else
        snprintf(text, HF_ERROR_TEXT_MAX, "%s", words);
    return m->status;
}

int hf__mysql_error_is_fatal(unsigned code)
{
    return code == ER_SERVER_SHUTDOWN || code == ER_NORMAL_SHUTDOWN
           || code == ER_CONNECTION_KILLED || code == ER_SERVER_IN_OFFLINE_MODE
           || code == ER_CLIENT_INTERACTION_TIMEOUT;
}

int hf__mysql_error_is_passing(unsigned code)
{
    return code == ER_LOCK_DEADLOCK || code == ER_LOCK_WAIT_TIMEOUT;
}
