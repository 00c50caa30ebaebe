/*
 * pgwire.h: statements to a PostgreSQL server that asks for no password.
 */
#ifndef LAB_PGWIRE_H
#define LAB_PGWIRE_H

#include <stddef.h>

/* Run `sql` as `postgres` in the database `postgres` over the connected socket
 * `fd`, and write what came back into `reply`, as lab_postgres_say() says. */
void lab_pgwire_say(int fd, const char *sql, char *reply, size_t size);

#endif
