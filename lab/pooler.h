/*
 * pooler.h: PgBouncer in front of a PostgreSQL server, in transaction mode.
 */
#ifndef LAB_POOLER_H
#define LAB_POOLER_H

#include <sys/types.h>

#include "lab/postgres.h"

struct lab_pooler {
    pid_t pid; /* 0: not running */
    int port;
    int port_fd; /* its reservation (port.h), 0: none */
};

/* Start it, with its files in the server's directory, and wait until it takes
 * connections.  LAB_ABSENT if it is not installed.  `pooler` must stay until it
 * is stopped, and be stopped before the server. */
int lab_pooler_start(struct lab_pooler *pooler, const struct lab_postgres *p);

/* End it.  Nothing happens to one that was stopped already. */
void lab_pooler_stop(struct lab_pooler *pooler);

#endif
