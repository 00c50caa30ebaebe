/*
 * mariadb.h: a real MariaDB server of one's own, to be killed, paused and
 * asked.  One rule: only processes that were started here are ever signalled,
 * and none outlives the process that started it.
 *
 *     static struct lab_mariadb p;
 *     if (lab_mariadb_start(&p, NULL) < 0) puts(lab_error());
 *     puts(lab_mariadb_say(&p, "select 1"));
 *     lab_mariadb_stop(&p);
 */
#ifndef LAB_MARIADB_H
#define LAB_MARIADB_H

#include <stddef.h>
#include <sys/types.h>

#define LAB_MARIADB_REPLY_MAX 65536

/* One server on 127.0.0.1, in a directory of its own, whose user `root` needs
 * no password, with an empty database `holdfast`.  It must stay until it is
 * stopped. */
struct lab_mariadb {
    pid_t pid; /* 0: not running */
    int port;
    int port_fd; /* its reservation (port.h), 0: none */
    char dir[128];
    char url[64];            /* "mysql://root@127.0.0.1:port/holdfast" */
    const char *const *args; /* further words of its command line */
    char reply[LAB_MARIADB_REPLY_MAX]; /* of the last lab_mariadb_say() */
};

/* Start it, and wait until it takes connections; `args` (NULL-terminated, may
 * be NULL) are added to its command line, and borrowed until it is stopped.
 * LAB_ABSENT if MariaDB is not installed.  The data of an empty server are
 * made once, kept in $TMPDIR, and copied. */
int lab_mariadb_start(struct lab_mariadb *p, const char *const *args);

/* End it, remove its directory, give its port back.  Nothing happens to one
 * that was stopped already. */
void lab_mariadb_stop(struct lab_mariadb *p);

/* A server that is shut down in order (`in_order` 1) ends its clients' requests
 * first; otherwise it is killed.  Both keep their data. */
int lab_mariadb_shutdown(struct lab_mariadb *p, int in_order);
int lab_mariadb_restart(struct lab_mariadb *p);

/* SIGSTOP and SIGCONT. */
int lab_mariadb_pause(struct lab_mariadb *p);
int lab_mariadb_resume(struct lab_mariadb *p);

/* Run statements, separated by semicolons, as root; name tables with
 * their database.  Returns the rows, one line each, fields separated by "|"; an
 * error as "-" and its text; "(no connection)" and "(no answer)" for these.
 * The text stays until the next call. */
const char *lab_mariadb_say(struct lab_mariadb *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of a text as it is. */
const char *lab_mariadb_ask(struct lab_mariadb *p, const char *sql);

/* Run statements that must not fail. */
int lab_mariadb_do(struct lab_mariadb *p, const char *sql);

#endif
