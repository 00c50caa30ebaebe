/*
 * mysql.h: a connection of the mysql store.
 *
 * A connection (struct backend_conn) has one link to the server.  A job of the
 * core is in `queue` until the link is up and free; then it is an item of the
 * packet that is on its way.  libmariadb has one packet under way at a time, so
 * all jobs that wait go into the next one.
 */
#ifndef HF_MYSQL_H
#define HF_MYSQL_H

#include "backend/backend.h"
#include "backend/mysql/link.h"
#include "backend/sql/server.h"
#include "backend/sql/queue.h"

#define MYSQL_STORE_PORT 3306

/* sql_job.priv */
#define JOB_WRITES 1u /* its statement may change something */

struct session;

struct backend_conn {
    struct backend_env *env;
    struct sql_core *core;
    struct server server;
    int busy; /* inside process(): flush() waits for its end */
    int flush_wanted;
    struct link link;
    struct sql_queue queue;  /* until the link is up and free */
    int64_t look_us;         /* when watched names are looked at; TIME_NEVER */
    int64_t look_pause_us;   /* until the next look */
    int64_t timer_us;        /* what env->timer() was told */
    int is_session;          /* session=on */
    int is_shed;             /* layout=shedlock */
    struct session *session; /* session=on; NULL: locks are rows */
};

#endif
