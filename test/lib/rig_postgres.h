/*
 * rig_postgres.h: a PostgreSQL server for tests.
 */
#ifndef HF_TEST_RIG_POSTGRES_H
#define HF_TEST_RIG_POSTGRES_H

#include <stddef.h>

#include "lab/postgres.h"
#include "lib/fake_env.h"

/* The URL of the program's server, whose tables are empty.  Skips the test if
 * this build is without the store, or the machine without the server. */
void rig_postgres_fresh(char *url, size_t size);

/* That server. */
struct lab_postgres *rig_postgres_shared(void);

/* A server of one's own, ended with the test, with its tables in the search
 * path `path` (NULL: the server's own).  `p` must be static. */
void postgres_begin(struct lab_postgres *p, const char *const *args,
                    const char *path);

/* The store in an engine of the test's own, connected to the URL; closed with
 * the test.  `f` must be static. */
void postgres_connect(struct fake_env *f, const char *url);

/* Make the tables that the URL names. */
void postgres_install(const char *url);

#endif
