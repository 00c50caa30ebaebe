/*
 * pguser.h: PostgreSQL's programs, as a user that they accept, and the data
 * of an empty server.  For postgres.c and pooler.c only.
 */
#ifndef LAB_PGUSER_H
#define LAB_PGUSER_H

#include <stddef.h>

/* The path of the newest `name` that is installed; `name` itself if none is
 * found where Debian puts them. */
void lab_pguser_program(char *path, size_t size, const char *name);

/* Become that program, in a new process: as the user `postgres` if we are root,
 * with its output in the log of `dir`; it gets the signal `at_end` when its
 * parent ends. */
_Noreturn void lab_pguser_exec(const char *dir, const char *const *argv,
                               int at_end);

/* Make `dir`/data, and give both to the user. */
int lab_pguser_data(const char *dir);

/* The end of the log. */
void lab_pguser_log(const char *dir, char *text, size_t size);

#endif
