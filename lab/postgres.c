/*
 * postgres.c: see postgres.h.  One rule: the server is there when its own file
 * says so, with the pid of the process that was started.
 */
#include "lab/postgres.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/folder.h"
#include "lab/own.h"
#include "lab/pgwire.h"
#include "lab/dbuser.h"
#include "lab/port.h"
#include "lab/wait.h"

#define ARGS_MAX 60
#define PROGRAMS "/usr/lib/postgresql/*/bin/"
#define STATUS_LINE 8 /* of postmaster.pid */
#define CHILDREN_MAX 4096

/* ---- life --------------------------------------------------------------- */

/* "Immediate": as in a crash, but it takes its processes and its shared memory
 * with it. */
static void server_kill(struct lab_postgres *p)
{
    if (p->pid <= 0) return;
    lab_postgres_resume(p);
    kill(p->pid, SIGQUIT);
    lab_dbuser_reap(&p->pid);
}

static void server_stop(void *arg)
{
    lab_postgres_stop(arg);
}

void lab_postgres_stop(struct lab_postgres *p)
{
    lab__life_end(server_stop, p);
    server_kill(p);
    lab_folder_remove(p->dir);
    if (p->port_fd > 0) close(p->port_fd);
    p->port_fd = 0;
}

static _Noreturn void server_exec(const struct lab_postgres *p)
{
    char program[256], data[160], socket_dir[200], port[16];
    snprintf(data, sizeof data, "%s/data", p->dir);
    snprintf(port, sizeof port, "%d", p->port);
    snprintf(socket_dir, sizeof socket_dir, "unix_socket_directories=%s",
             p->dir);
    lab_dbuser_program(program, sizeof program, PROGRAMS "postgres",
                       "postgres");
    const char *argv[ARGS_MAX] = {program,
                                  "-D",
                                  data,
                                  "-p",
                                  port,
                                  "-c",
                                  "listen_addresses=127.0.0.1",
                                  "-c",
                                  socket_dir,
                                  "-c",
                                  "fsync=off",
                                  "-c",
                                  "full_page_writes=off",
                                  "-c",
                                  "shared_buffers=16MB",
                                  "-c",
                                  "max_connections=200",
                                  "-c",
                                  "dynamic_shared_memory_type=mmap"};
    int n = 0;
    while (argv[n]) n++;
    for (int i = 0; p->args && p->args[i] && n < ARGS_MAX - 1; i++)
        argv[n++] = p->args[i];
    lab_dbuser_exec(p->dir, argv, SIGQUIT);
}

/* Does the server's own file say that this process takes connections? */
static int is_ready(void *server)
{
    const struct lab_postgres *p = server;
    char path[160], line[256];
    int number = 0, is_it = 0, ready = 0;
    snprintf(path, sizeof path, "%s/data/postmaster.pid", p->dir);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in)) {
        number++;
        if (number == 1) is_it = strtol(line, NULL, 10) == (long)p->pid;
        if (number == STATUS_LINE)
            ready = !strncmp(line, "ready", 5) || !strncmp(line, "standby", 7);
    }
    if (in) fclose(in);
    return is_it && ready;
}

int lab_postgres_restart(struct lab_postgres *p)
{
    if (p->pid > 0)
        return lab__fail("%s: cannot be started: it runs already", p->url);
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0) server_exec(p);
    if (p->pid > 0)
        return lab_dbuser_await("postgres", p->port, p->dir, &p->pid, is_ready,
                                p);
    p->pid = 0;
    return lab__fail("postgres: cannot be forked: %s", strerror(errno));
}

/* By the version of initdb, which is a part of its path. */
static int data_make(const struct lab_postgres *p)
{
    char initdb[LAB_DBUSER_PATH_MAX], data[LAB_DBUSER_PATH_MAX];
    const char *const argv[] = {
        initdb, "-D", data,   "-U",          "postgres",      "-A", "trust",
        "-N",   "-E", "UTF8", "--no-locale", "--wal-segsize", "1",  NULL};
    lab_dbuser_program(initdb, sizeof initdb, PROGRAMS "initdb", "initdb");
    const char *version = strstr(initdb, "postgresql/");
    struct lab_dbuser_data how = {.engine = "postgres", .argv = argv};
    if (version)
        how.version = (int)strtol(version + strlen("postgresql/"), NULL, 10);
    snprintf(data, sizeof data, "%.200s/new", p->dir);
    return lab_dbuser_data(p->dir, &how);
}

static int server_prepare(struct lab_postgres *p)
{
    int status = lab_folder_make(p->dir, sizeof p->dir, "postgres");
    if (status == LAB_OK) status = lab__life_begin(server_stop, p);
    if (status == LAB_OK) status = data_make(p);
    if (status != LAB_OK) return status;
    p->port_fd = lab_port_reserve(&p->port);
    if (p->port_fd < 0) {
        p->port_fd = 0;
        return LAB_FAILED;
    }
    snprintf(p->url, sizeof p->url, "postgres://postgres@127.0.0.1:%d/postgres",
             p->port);
    return LAB_OK;
}

int lab_postgres_start(struct lab_postgres *p, const char *const *args)
{
    p->pid = 0;
    p->port_fd = 0;
    p->args = args;
    int status = server_prepare(p);
    if (status == LAB_OK) status = lab_postgres_restart(p);
    if (status != LAB_OK) lab_postgres_stop(p);
    return status;
}

/* ---- faults ------------------------------------------------------------- */

static int is_running(const struct lab_postgres *p)
{
    if (p->pid > 0) return LAB_OK;
    return lab__fail("%s: does not run: it was stopped or never started",
                     p->url);
}

int lab_postgres_shutdown(struct lab_postgres *p, int in_order)
{
    if (is_running(p) != LAB_OK) return LAB_FAILED;
    kill(p->pid, in_order ? SIGINT : SIGQUIT);
    lab_dbuser_reap(&p->pid);
    return LAB_OK;
}

/* To the server first when it is stopped, so that it starts no more processes;
 * each of these has a group of its own. */
static int server_signal(const struct lab_postgres *p, int number)
{
    char path[64], line[CHILDREN_MAX] = "";
    if (is_running(p) != LAB_OK) return LAB_FAILED;
    kill(p->pid, number);
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)p->pid,
             (long)p->pid);
    FILE *in = fopen(path, "re");
    if (!in) return lab__fail("%s: %s", path, strerror(errno));
    if (!fgets(line, sizeof line, in)) line[0] = '\0';
    fclose(in);
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word;
         word = strtok_r(NULL, " \n", &rest))
        kill((pid_t)strtol(word, NULL, 10), number);
    return LAB_OK;
}

int lab_postgres_pause(struct lab_postgres *p)
{
    return server_signal(p, SIGSTOP);
}

int lab_postgres_resume(struct lab_postgres *p)
{
    return server_signal(p, SIGCONT);
}

int lab_postgres_admit(struct lab_postgres *p, const char *lines)
{
    char path[160];
    snprintf(path, sizeof path, "%s/data/pg_hba.conf", p->dir);
    FILE *out = fopen(path, "we");
    if (!out) return lab__fail("%s: %s", path, strerror(errno));
    fputs(lines, out);
    if (fclose(out) == 0) return LAB_OK;
    return lab__fail("%s: %s", path, strerror(errno));
}

/* ---- asking ------------------------------------------------------------- */

const char *lab_postgres_ask(struct lab_postgres *p, const char *sql)
{
    int fd = lab_ask_connect(NULL, p->port);
    if (fd < 0) return "(no connection)";
    lab_pgwire_say(fd, sql, p->reply, sizeof p->reply);
    close(fd);
    return p->reply;
}

const char *lab_postgres_say(struct lab_postgres *p, const char *format, ...)
{
    char sql[8192];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sql, sizeof sql, format, ap);
    va_end(ap);
    return lab_postgres_ask(p, sql);
}

int lab_postgres_do(struct lab_postgres *p, const char *sql)
{
    const char *reply = lab_postgres_ask(p, sql);
    if (reply[0] != '-' && reply[0] != '(') return LAB_OK;
    return lab__fail("%s: %.200s: %.200s", p->url, sql, reply);
}
