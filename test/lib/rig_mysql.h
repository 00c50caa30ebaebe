/*
 * rig_mysql.h: a MariaDB server for tests.
 */
#ifndef HF_TEST_RIG_MYSQL_H
#define HF_TEST_RIG_MYSQL_H

#include <stddef.h>

#include "lab/mariadb.h"

/* The URL of the program's server, whose tables are empty.  Skips the test if
 * this build is without the store, or the machine without the server. */
void rig_mysql_fresh(char *url, size_t size);

/* That server. */
struct lab_mariadb *rig_mysql_shared(void);

/* A server of one's own, ended with the test, with its tables.  `p` must be
 * static. */
void mysql_begin(struct lab_mariadb *p, const char *const *args);

#endif
