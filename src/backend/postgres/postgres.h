/*
 * postgres.h: a connection of the postgres store.
 *
 * A connection (struct backend_conn) has one link to the server, which carries
 * the statements, pipelined, and the notifications.  A job of the core is in
 * `queue` until the link is up and its statement is given to libpq; then it is
 * a flight until the server has answered.
 */
#ifndef HF_POSTGRES_H
#define HF_POSTGRES_H

#include <libpq-fe.h>

#include "backend/backend.h"
#include "backend/postgres/link.h"
#include "backend/sql/server.h"
#include "backend/sql/queue.h"

#define POSTGRES_PORT 5432
#define POSTGRES_OPTIONS                                                       \
    SERVER_OPTIONS " search_path session layout " SQL_MEMBER_OPTION

/* sql_job.priv */
#define JOB_WRITES 1u /* its statement may change something */
#define JOB_READS 2u  /* a SWAP matched nothing, and the row is read anew */
#define JOB_SKIPS 4u  /* a RENEW that met a locked row: it leaves these out */

struct backend_conn {
    struct backend_env *env;
    struct sql_core *core;
    struct server server;
    char *search_path; /* NULL: the server's */
    int is_session;    /* session=on */
    int is_shed;       /* layout=shedlock */

    int busy; /* inside process(): flush() waits for its end */
    int flush_wanted;
    struct link link;
    struct sql_queue queue;  /* until the link is up */
    struct session *session; /* session=on; NULL: locks are rows */
    int64_t timer_us;        /* what env->timer() was told */
};

/* ---- url.c ---- */
int hf__postgres_url_read(struct backend_conn *c, const struct url *url,
                          struct hf_error *err);
void hf__postgres_url_free(struct backend_conn *c);

#endif
