/*
 * play/resource.c: see play/resource.h.  A file is guarded by the library; a
 * table by the statement CHECK, which any client of the database can send.
 */
#include "play/resource.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/environment.h"
#include "holdfast/guard.h"
#include "holdfast/status.h"
#include "lab/ask.h"
#include "lab/lab.h"
#include "lab/pgwire.h"
#include "lab/postgres.h"

#define SQL_MAX 2048

extern char **environ;

/* ---- SQL --------------------------------------------------------------- */

static int dialect_of(enum resource on)
{
    return on == IN_POSTGRES ? HF_GUARD_POSTGRES : HF_GUARD_SQLITE;
}

/* All that the program sqlite3 prints, errors too; it stops at the first.  0,
 * or why it cannot be started. */
static int sqlite_say(const char *path, char *sql, char *out, size_t size)
{
    char *argv[] = {"sqlite3",        "-batch",     "-bail", "-cmd",
                    ".timeout 20000", (char *)path, sql,     NULL};
    posix_spawn_file_actions_t to;
    int ends[2];
    pid_t pid;
    snprintf(out, size, "sqlite3: cannot be started");
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    posix_spawn_file_actions_init(&to);
    posix_spawn_file_actions_adddup2(&to, ends[1], 1);
    posix_spawn_file_actions_adddup2(&to, ends[1], 2);
    int status = posix_spawnp(&pid, argv[0], &to, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&to);
    close(ends[1]);
    if (status == 0) {
        size_t len = 0;
        ssize_t n;
        while ((n = read(ends[0], out + len, size - 1 - len)) > 0)
            len += (size_t)n;
        out[len] = 0;
        while (waitpid(pid, NULL, 0) < 0) continue;
    }
    close(ends[0]);
    return status;
}

static void postgres_say(const char *port, const char *sql, char *out,
                         size_t size)
{
    int fd = lab_ask_connect(NULL, (int)strtol(port, NULL, 10));
    snprintf(out, size, "(no connection)");
    if (fd < 0) return;
    lab_pgwire_say(fd, sql, out, size);
    close(fd);
}

/* Statements that return no rows: what is said is trouble. */
static enum written sql_do(enum resource on, const char *where, char *sql)
{
    char said[1024];
    if (on == IN_POSTGRES)
        postgres_say(where, sql, said, sizeof(said));
    else
        (void)sqlite_say(where, sql, said, sizeof(said));
    if (strstr(said, "holdfast_stale_token")) return WRITE_STALE;
    return said[0] ? WRITE_FAILED : WRITE_TAKEN;
}

/* The statement CHECK, with its parameters ($1 or ?1, and so on) written in. */
static void check_write(enum resource on, uint64_t fence, char *out,
                        size_t size)
{
    const char *from = hf_guard_sql(dialect_of(on), HF_GUARD_CHECK);
    size_t len = 0;
    for (; *from && len + 32 < size; from++) {
        if (*from != '$' && *from != '?') {
            out[len++] = *from;
        } else if (*++from == '1') {
            len += (size_t)snprintf(out + len, size - len, "'account'");
        } else {
            len += (size_t)snprintf(out + len, size - len, "%llu",
                                    (unsigned long long)fence);
        }
    }
    out[len] = 0;
}

static enum written table_set(enum resource on, const char *where, char me)
{
    char sql[SQL_MAX];
    snprintf(sql, sizeof(sql), "UPDATE account SET writer = '%c';", me);
    return sql_do(on, where, sql);
}

/* Without a writer: only the fence. */
static enum written table_guarded(enum resource on, const char *where,
                                  uint64_t fence, char me)
{
    char check[SQL_MAX / 2], sql[SQL_MAX], update[80] = "";
    check_write(on, fence, check, sizeof(check));
    if (me)
        snprintf(update, sizeof(update), "UPDATE account SET writer = '%c'; ",
                 me);
    snprintf(sql, sizeof(sql), "BEGIN; %s; %sCOMMIT;", check, update);
    return sql_do(on, where, sql);
}

/* ---- a file -------------------------------------------------------------- */

static enum written file_set(const char *path, char me)
{
    FILE *out = fopen(path, "we");
    int is_written = out && fputc(me, out) != EOF;
    if (out && fclose(out) != 0) is_written = 0;
    return is_written ? WRITE_TAKEN : WRITE_FAILED;
}

static enum written status_read(int status)
{
    return status == HF_OK      ? WRITE_TAKEN
           : status == HF_STALE ? WRITE_STALE
                                : WRITE_FAILED;
}

/* ---- all ----------------------------------------------------------------- */

enum written resource_set(enum resource on, const char *where, char me)
{
    return on == IN_FILE ? file_set(where, me) : table_set(on, where, me);
}

enum written resource_touch(enum resource on, const char *where, uint64_t fence)
{
    if (on == IN_FILE)
        return status_read(hf_guard_file_touch(where, fence, NULL));
    return table_guarded(on, where, fence, 0);
}

enum written resource_guarded(enum resource on, const char *where,
                              uint64_t fence, char me)
{
    if (on == IN_FILE)
        return status_read(hf_guard_file_replace(where, fence, &me, 1, NULL));
    return table_guarded(on, where, fence, me);
}

const char *resource_name(enum resource on)
{
    switch (on) {
    case IN_FILE:
        return "the file that is written";
    case IN_SQLITE:
        return "the row that is written, in SQLite";
    case IN_POSTGRES:
        return "the row that is written, in PostgreSQL";
    default:
        return "the account that is written";
    }
}

static int table_make(enum resource on, const char *where)
{
    char sql[SQL_MAX];
    snprintf(sql, sizeof(sql),
             "CREATE TABLE account (writer TEXT); "
             "INSERT INTO account VALUES ('nobody'); %s",
             hf_guard_sql(dialect_of(on), HF_GUARD_CREATE));
    return sql_do(on, where, sql) == WRITE_TAKEN ? LAB_OK : LAB_FAILED;
}

/* In the command's own directory, without what an earlier run has left. */
static void path_make(char where[WHERE_MAX])
{
    char guard[WHERE_MAX + 8];
    const char *folder = environment_get("TMPDIR"); /* watch_begin() */
    snprintf(where, WHERE_MAX, "%s/account", folder ? folder : "/tmp");
    snprintf(guard, sizeof(guard), "%s.guard", where);
    (void)remove(where);
    (void)remove(guard);
}

/* LAB_OK if all is there that is needed. */
static int resource_start(enum resource on, char where[WHERE_MAX])
{
    static struct lab_postgres postgres;
    char said[64], nothing[] = "";
    if (on == IN_SQLITE
        && sqlite_say(where, nothing, said, sizeof(said)) == ENOENT)
        return LAB_ABSENT;
    if (on != IN_POSTGRES) return LAB_OK;
    int status = lab_postgres_start(&postgres, NULL);
    snprintf(where, WHERE_MAX, "%d", postgres.port);
    return status;
}

int resource_make(enum resource on, char where[WHERE_MAX])
{
    path_make(where);
    if (on == IN_FILE)
        return file_set(where, '-') == WRITE_TAKEN ? LAB_OK : LAB_FAILED;
    int status = resource_start(on, where);
    return status == LAB_OK ? table_make(on, where) : status;
}
