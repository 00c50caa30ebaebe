/*
 * pooler.c: see pooler.h.  One rule: it runs as the server does, and ends with
 * the process that started it.
 */
#include "lab/pooler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/own.h"
#include "lab/dbuser.h"
#include "lab/port.h"
#include "lab/wait.h"

#define PROGRAM "/usr/sbin/pgbouncer"

static void pooler_stop(void *arg)
{
    lab_pooler_stop(arg);
}

void lab_pooler_stop(struct lab_pooler *pooler)
{
    lab__life_end(pooler_stop, pooler);
    if (pooler->pid > 0) {
        kill(pooler->pid, SIGKILL);
        while (waitpid(pooler->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    pooler->pid = 0;
    if (pooler->port_fd > 0) close(pooler->port_fd);
    pooler->port_fd = 0;
}

static int conf_write(const struct lab_pooler *pooler,
                      const struct lab_postgres *p, const char *path)
{
    FILE *out = fopen(path, "we");
    if (!out) return lab__fail("%s: %s", path, strerror(errno));
    fprintf(out,
            "[databases]\n"
            "postgres = host=127.0.0.1 port=%d dbname=postgres user=postgres\n"
            "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"
            "unix_socket_dir =\nauth_type = any\npool_mode = transaction\n",
            p->port, pooler->port);
    if (fclose(out) == 0) return LAB_OK;
    return lab__fail("%s: %s", path, strerror(errno));
}

/* Does anything answer on its port? */
static int is_there(void *arg)
{
    const struct lab_pooler *pooler = arg;
    int fd = lab_ask_connect(NULL, pooler->port);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static int pooler_launch(struct lab_pooler *pooler, const char *dir,
                         const char *conf)
{
    const char *const argv[] = {PROGRAM, "-q", conf, NULL};
    fflush(NULL);
    pooler->pid = fork();
    if (pooler->pid == 0) lab_dbuser_exec(dir, argv, SIGKILL);
    if (pooler->pid > 0 && lab_until(is_there, pooler)) return LAB_OK;
    return lab__fail("pgbouncer: does not answer on port %d", pooler->port);
}

int lab_pooler_start(struct lab_pooler *pooler, const struct lab_postgres *p)
{
    char conf[200];
    *pooler = (struct lab_pooler){0};
    if (access(PROGRAM, X_OK) != 0)
        return lab__lack(
            "pgbouncer: is not installed: no such program: " PROGRAM);
    int fd = lab_port_reserve(&pooler->port);
    if (fd < 0) return LAB_FAILED;
    pooler->port_fd = fd;
    int status = lab__life_begin(pooler_stop, pooler);
    snprintf(conf, sizeof conf, "%s/pgbouncer.ini", p->dir);
    if (status == LAB_OK) status = conf_write(pooler, p, conf);
    if (status == LAB_OK) status = pooler_launch(pooler, p->dir, conf);
    if (status != LAB_OK) lab_pooler_stop(pooler);
    return status;
}
