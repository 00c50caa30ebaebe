/*
 * mariadb.c: see mariadb.h.  One rule: the server is there when its own file
 * has the pid of the process that was started, and it answers.
 */
#include "lab/mariadb.h"

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
#include "lab/dbuser.h"
#include "lab/folder.h"
#include "lab/mywire.h"
#include "lab/own.h"
#include "lab/port.h"
#include "lab/wait.h"

#define ARGS_MAX 60
#define PROGRAM "/usr/sbin/mariadbd"

/* ---- life --------------------------------------------------------------- */

static void server_stop(void *arg)
{
    lab_mariadb_stop(arg);
}

void lab_mariadb_stop(struct lab_mariadb *p)
{
    lab__life_end(server_stop, p);
    if (p->pid > 0) kill(p->pid, SIGKILL);
    lab_dbuser_reap(&p->pid);
    lab_folder_remove(p->dir);
    if (p->port_fd > 0) close(p->port_fd);
    p->port_fd = 0;
}

static _Noreturn void server_exec(const struct lab_mariadb *p)
{
    char program[256], data[200], port[32], socket[200], pid_file[200];
    lab_dbuser_program(program, sizeof program, PROGRAM, "mariadbd");
    snprintf(data, sizeof data, "--datadir=%s/data", p->dir);
    snprintf(port, sizeof port, "--port=%d", p->port);
    snprintf(socket, sizeof socket, "--socket=%s/socket", p->dir);
    snprintf(pid_file, sizeof pid_file, "--pid-file=%s/pid", p->dir);
    const char *argv[ARGS_MAX] = {program,
                                  "--no-defaults",
                                  data,
                                  port,
                                  socket,
                                  pid_file,
                                  "--bind-address=127.0.0.1",
                                  "--skip-name-resolve",
                                  "--max-connections=300",
                                  "--innodb-buffer-pool-size=16M",
                                  "--innodb-flush-log-at-trx-commit=2",
                                  "--innodb-log-file-size=8M"};
    int n = 0;
    while (argv[n]) n++;
    for (int i = 0; p->args && p->args[i] && n < ARGS_MAX - 1; i++)
        argv[n++] = p->args[i];
    lab_dbuser_exec(p->dir, argv, SIGKILL);
}

static int is_ready(void *server)
{
    struct lab_mariadb *p = server;
    char path[160], line[32] = "";
    snprintf(path, sizeof path, "%s/pid", p->dir);
    FILE *in = fopen(path, "re");
    if (in && !fgets(line, sizeof line, in)) line[0] = '\0';
    if (in) fclose(in);
    if (strtol(line, NULL, 10) != (long)p->pid) return 0;
    return !strcmp(lab_mariadb_ask(p, "SELECT 1"), "1");
}

int lab_mariadb_restart(struct lab_mariadb *p)
{
    if (p->pid > 0)
        return lab__fail("%s: cannot be started: it runs already", p->url);
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0) server_exec(p);
    if (p->pid > 0)
        return lab_dbuser_await("mariadb", p->port, p->dir, &p->pid, is_ready,
                                p);
    p->pid = 0;
    return lab__fail("mariadb: cannot be forked: %s", strerror(errno));
}

/* By the age of the program, for its path does not tell the version. */
static int data_make(const struct lab_mariadb *p)
{
    char data[LAB_DBUSER_PATH_MAX];
    const char *const argv[] = {"mariadb-install-db",
                                "--no-defaults",
                                data,
                                "--auth-root-authentication-method=normal",
                                "--skip-test-db",
                                "--innodb-log-file-size=8M",
                                NULL};
    struct lab_dbuser_data how = {.engine = "mariadb", .argv = argv};
    struct stat st;
    if (stat(PROGRAM, &st) == 0) how.version = (int)(st.st_mtime % 1000000000);
    snprintf(data, sizeof data, "--datadir=%.200s/new", p->dir);
    return lab_dbuser_data(p->dir, &how);
}

static int server_prepare(struct lab_mariadb *p)
{
    int status = lab_folder_make(p->dir, sizeof p->dir, "mariadb");
    if (status == LAB_OK) status = lab__life_begin(server_stop, p);
    if (status == LAB_OK) status = data_make(p);
    if (status != LAB_OK) return status;
    p->port_fd = lab_port_reserve(&p->port);
    if (p->port_fd < 0) {
        p->port_fd = 0;
        return LAB_FAILED;
    }
    snprintf(p->url, sizeof p->url, "mysql://root@127.0.0.1:%d/holdfast",
             p->port);
    return LAB_OK;
}

int lab_mariadb_start(struct lab_mariadb *p, const char *const *args)
{
    p->pid = 0;
    p->port_fd = 0;
    p->args = args;
    int status = server_prepare(p);
    if (status == LAB_OK) status = lab_mariadb_restart(p);
    if (status == LAB_OK)
        status = lab_mariadb_do(p, "CREATE DATABASE holdfast");
    if (status != LAB_OK) lab_mariadb_stop(p);
    return status;
}

/* ---- faults ------------------------------------------------------------- */

static int server_signal(const struct lab_mariadb *p, int number)
{
    if (p->pid <= 0)
        return lab__fail("%s: does not run: it was stopped or never started",
                         p->url);
    kill(p->pid, number);
    return LAB_OK;
}

int lab_mariadb_shutdown(struct lab_mariadb *p, int in_order)
{
    if (server_signal(p, in_order ? SIGTERM : SIGKILL) != LAB_OK)
        return LAB_FAILED;
    lab_dbuser_reap(&p->pid);
    return LAB_OK;
}

/* All of its threads: the signal reaches those that run a moment later. */
static int is_stopped(void *arg)
{
    const struct lab_mariadb *p = arg;
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WNOWAIT | WNOHANG) == 0
           && info.si_pid == p->pid;
}

int lab_mariadb_pause(struct lab_mariadb *p)
{
    if (server_signal(p, SIGSTOP) != LAB_OK) return LAB_FAILED;
    if (lab_until(is_stopped, p)) return LAB_OK;
    return lab__fail("%s: it does not stop", p->url);
}

int lab_mariadb_resume(struct lab_mariadb *p)
{
    return server_signal(p, SIGCONT);
}

/* ---- asking ------------------------------------------------------------- */

const char *lab_mariadb_ask(struct lab_mariadb *p, const char *sql)
{
    int fd = lab_ask_connect(NULL, p->port);
    if (fd < 0) return "(no connection)";
    lab_mywire_say(fd, sql, p->reply, sizeof p->reply);
    close(fd);
    return p->reply;
}

const char *lab_mariadb_say(struct lab_mariadb *p, const char *format, ...)
{
    char sql[8192];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sql, sizeof sql, format, ap);
    va_end(ap);
    return lab_mariadb_ask(p, sql);
}

int lab_mariadb_do(struct lab_mariadb *p, const char *sql)
{
    const char *reply = lab_mariadb_ask(p, sql);
    if (reply[0] != '-' && reply[0] != '(') return LAB_OK;
    return lab__fail("%s: %.200s: %.200s", p->url, sql, reply);
}
