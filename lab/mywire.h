/*
 * mywire.h: statements to a MariaDB server that asks for no password.
 */
#ifndef LAB_MYWIRE_H
#define LAB_MYWIRE_H

#include <stddef.h>

/* Run `sql`, statements separated by semicolons, as `root` over the connected
 * socket `fd`, and write what came back into `reply`, as lab_mariadb_say()
 * says. */
void lab_mywire_say(int fd, const char *sql, char *reply, size_t size);

#endif
