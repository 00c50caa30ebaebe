/*
 * server.h: the address of a server and the login, as its URL has them; for the
 * databases and etcd.
 */
#ifndef HF_SQL_SERVER_H
#define HF_SQL_SERVER_H

#include "backend/backend.h"

#define SERVER_ENDPOINT_MAX                                                    \
    160 /* "scheme://host:port/database", cut if longer */
#define SERVER_OPTIONS                                                         \
    "schema socket password_file tls tls_ca tls_cert tls_key "                 \
    "tls_key_password_file tls_name tls_verify"

/* What differs from one kind of server to the next. */
struct server_kind {
    const char *scheme; /* "postgres" */
    int port;
    const char *socket; /* what socket= names: "/directory" */
    const char *create; /* the end of the error text about schema= */
};

enum server_tls {
    SERVER_TLS_UNSAID, /* the URL says nothing about it */
    SERVER_TLS_OFF,
    SERVER_TLS_ANY, /* without a check of the certificate */
    SERVER_TLS_VERIFIED
};

struct server {
    struct backend_env *env;
    char *endpoint;      /* begins every error text */
    char *host;          /* NULL with `socket` */
    char *socket;        /* NULL if none */
    char *user;          /* NULL: the client library's own default */
    char *password;      /* NULL if none */
    char *password_file; /* read at every connect; NULL if none */
    char *database;      /* NULL: none is named */
    int port;
    int creates;       /* schema=create */
    int file_was_told; /* that others may read the password file */
    enum server_tls tls;
    /* NULL if the URL says nothing: */
    char *tls_ca, *tls_cert, *tls_key, *tls_key_password_file, *tls_name;
};

/* Read the URL.  The caller frees `p` also if this fails. */
int hf__sql_server_read(struct server *p, struct backend_env *env,
                        const struct url *url, const struct server_kind *kind,
                        struct hf_error *err);
void hf__sql_server_free(struct server *p);

/* Read the option `key`, "on" or "off"; `otherwise` if the URL does not have
 * it. */
int hf__sql_server_switch(const struct url *url, const char *key, int otherwise,
                          int *out, struct hf_error *err);

/* Read the option session; with session=on no tables are used. */
int hf__sql_server_session(const struct url *url, int *out,
                           struct hf_error *err);

/* Read the password again if it is kept in a file. */
int hf__sql_server_password(struct server *p, struct hf_error *err);

/* The password of the client's key, or NULL; the caller frees it with
 * hf__free_secret(). */
char *hf__sql_server_key_password(const struct server *p);

/* How long to wait before the next try, after this number of tries. */
int64_t hf__sql_server_pause_us(struct backend_env *env, unsigned failures);

#endif
