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
#include "backend/sql/sql.h"

#define POSTGRES_PORT 5432
#define POSTGRES_OPTIONS                                                       \
    "schema search_path session socket password_file tls tls_ca tls_cert "     \
    "tls_key tls_key_password_file tls_name tls_verify"
#define ENDPOINT_MAX 160 /* "postgres://host:port/database", cut if longer */

/* What a URL says about TLS; NULL and 0 if it says nothing. */
struct postgres_tls {
    const char *mode; /* libpq's sslmode, a constant; NULL: libpq's own */
    char *ca, *cert, *key, *key_password_file;
    char *name;
};

/* sql_job.priv */
#define JOB_WRITES 1u /* its statement may change something */
#define JOB_READS 2u  /* a SWAP matched nothing, and the row is read anew */
#define JOB_SKIPS 4u  /* a RENEW that met a locked row: it leaves these out */

struct job_list {
    struct sql_job *first, *last;
};

struct backend_conn {
    struct backend_env *env;
    struct sql_core *core;
    char *endpoint;
    char *host;     /* NULL with `socket` */
    char *socket;   /* the directory of the server's unix socket, or NULL */
    char *user;     /* NULL: libpq's own default */
    char *password; /* NULL if none */
    char *password_file; /* read at every connect; NULL if none */
    char *database;      /* NULL: libpq's own default */
    char *search_path;   /* NULL: the server's */
    struct postgres_tls tls;
    int port;
    int creates;       /* schema=create */
    int is_session;    /* session=on */
    int file_was_told; /* that others may read the password file */

    int busy; /* inside process(): flush() waits for its end */
    int flush_wanted;
    struct link link;
    struct job_list queue;
    struct session *session; /* session=on; NULL: locks are rows */
    int64_t timer_us;        /* what env->timer() was told */
};

void hf__postgres_queue_push(struct backend_conn *c, struct sql_job *job);
/* Forget all jobs that wait for the link; the core has them. */
void hf__postgres_queue_drop(struct backend_conn *c);

/* ---- url.c ---- */
int hf__postgres_url_read(struct backend_conn *c, const struct url *url,
                          struct hf_error *err);
/* The password, once more if it is kept in a file. */
int hf__postgres_password_refresh(struct backend_conn *c, struct hf_error *err);
void hf__postgres_url_free(struct backend_conn *c);

#endif
