/*
 * dbuser.h: the programs of a database, as a user that they accept, and the
 * data of an empty server.  For postgres.c, mariadb.c and pooler.c only.
 */
#ifndef LAB_DBUSER_H
#define LAB_DBUSER_H

#include <stddef.h>
#include <sys/types.h>

#define LAB_DBUSER_PATH_MAX 256

/* The last path that the pattern finds, by name; `otherwise` if there is none.
 */
void lab_dbuser_program(char *path, size_t size, const char *pattern,
                        const char *otherwise);

/* Become that program, in a new process: if we are root, as a user that is not
 * root, with its output in the log of `dir`; it gets the signal `at_end` when
 * its parent ends. */
_Noreturn void lab_dbuser_exec(const char *dir, const char *const *argv,
                               int at_end);

/* How the data of an empty server are made: once on a machine, and kept. */
struct lab_dbuser_data {
    const char *engine; /* "postgres": in names and in error texts */
    int version;        /* a part of the name: data of another are others */
    const char *const *argv; /* makes the data in the directory "new" */
};

/* Make `dir`/data as a copy of them, and give both to the user. */
int lab_dbuser_data(const char *dir, const struct lab_dbuser_data *how);

/* The end of the log. */
void lab_dbuser_log(const char *dir, char *text, size_t size);

/* Wait for its end; `*pid` is 0 then. */
void lab_dbuser_reap(pid_t *pid);

/* A call has failed: the engine, its port, and what its log ends with. */
int lab_dbuser_fail(const char *engine, int port, const char *dir,
                    const char *what);

/* Wait until is_ready(server), which is the process `*pid`. */
int lab_dbuser_await(const char *engine, int port, const char *dir, pid_t *pid,
                     int (*is_ready)(void *server), void *server);

#endif
