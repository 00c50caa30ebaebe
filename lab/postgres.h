/*
 * postgres.h: a real PostgreSQL server of one's own, to be killed, paused and
 * asked.  One rule: only processes that were started here are ever signalled,
 * and none outlives the process that started it.
 *
 *     static struct lab_postgres p;
 *     if (lab_postgres_start(&p, NULL) < 0) puts(lab_error());
 *     puts(lab_postgres_say(&p, "select 1"));
 *     lab_postgres_stop(&p);
 */
#ifndef LAB_POSTGRES_H
#define LAB_POSTGRES_H

#include <stddef.h>
#include <sys/types.h>

#define LAB_POSTGRES_REPLY_MAX 65536

/* One server on 127.0.0.1, in a directory of its own, whose superuser
 * `postgres` needs no password.  It must stay until it is stopped. */
struct lab_postgres {
    pid_t pid; /* 0: not running */
    int port;
    int port_fd; /* its reservation (port.h), 0: none */
    char dir[128];
    char url[64];            /* "postgres://postgres@127.0.0.1:port/postgres" */
    const char *const *args; /* further words of its command line */
    char reply[LAB_POSTGRES_REPLY_MAX]; /* of the last lab_postgres_say() */
};

/* Start it, and wait until it takes connections; `args` (NULL-terminated, may
 * be NULL) are added to its command line, and borrowed until it is stopped.
 * LAB_ABSENT if PostgreSQL is not installed.  The data of an empty server are
 * made once, kept in $TMPDIR, and copied. */
int lab_postgres_start(struct lab_postgres *p, const char *const *args);

/* End it, remove its directory, give its port back.  Nothing happens to one
 * that was stopped already. */
void lab_postgres_stop(struct lab_postgres *p);

/* A server that is shut down in order (`in_order` 1) ends its clients' requests
 * first; otherwise it ends at once, as in a crash.  Both keep their data. */
int lab_postgres_shutdown(struct lab_postgres *p, int in_order);
int lab_postgres_restart(struct lab_postgres *p);

/* SIGSTOP and SIGCONT, to the server and all its processes. */
int lab_postgres_pause(struct lab_postgres *p);
int lab_postgres_resume(struct lab_postgres *p);

/* Replace its pg_hba.conf, whose lines say which users may connect, and how;
 * counts for new connections after the next start. */
int lab_postgres_admit(struct lab_postgres *p, const char *lines);

/* Run statements, separated by semicolons, as the superuser in the database
 * `postgres`.  Returns the rows, one line each, fields separated by "|"; an
 * error as "-" and its text; "(no connection)" and "(no answer)" for these.
 * The text stays until the next call. */
const char *lab_postgres_say(struct lab_postgres *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of a text as it is. */
const char *lab_postgres_ask(struct lab_postgres *p, const char *sql);

/* Run statements that must not fail. */
int lab_postgres_do(struct lab_postgres *p, const char *sql);

#endif
