/*
 * connect.c: the words that libpq gets.  One rule: libpq is given an address
 * and never a name, for it would wait for the resolver.
 */
#include <netdb.h>
#include <stdio.h>

#include "backend/postgres/postgres.h"
#include "sys/secret.h"

#define WORDS_MAX 24
#define SYSTEM_ROOTS "system" /* libpq 16 */

/* Pairs for PQconnectStartParams(). */
struct words {
    const char *keys[WORDS_MAX], *values[WORDS_MAX];
    int len;
};

static void word_add(struct words *w, const char *key, const char *value)
{
    if (!value || w->len == WORDS_MAX - 1) return;
    w->keys[w->len] = key;
    w->values[w->len++] = value;
}

static void tls_add(struct words *w, const struct backend_conn *c,
                    const char *key_password)
{
    const struct postgres_tls *t = &c->tls;
    word_add(w, "sslmode", t->mode);
    if (!t->mode || t->mode[0] == 'd') return;
    word_add(w, "sslrootcert",
             t->ca               ? t->ca
             : t->mode[0] == 'v' ? SYSTEM_ROOTS
                                 : NULL);
    word_add(w, "sslcert", t->cert);
    word_add(w, "sslkey", t->key ? t->key : t->cert);
    word_add(w, "sslpassword", key_password);
}

/* A notice is no error, and libpq would print it. */
static void notice_drop(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

static PGconn *begin(struct backend_conn *c, const char *address,
                     const char *key_password)
{
    struct words w = {.len = 0};
    char port[16];
    snprintf(port, sizeof port, "%d", c->port);
    word_add(&w, "host",
             c->socket     ? c->socket
             : c->tls.name ? c->tls.name
                           : c->host);
    word_add(&w, "hostaddr", address);
    word_add(&w, "port", port);
    word_add(&w, "dbname", c->database);
    word_add(&w, "user", c->user);
    word_add(&w, "password", c->password);
    word_add(&w, "application_name", "holdfast");
    word_add(&w, "client_encoding", "UTF8");
    /* It would look for tickets, which may take a network's time. */
    word_add(&w, "gssencmode", "disable");
    tls_add(&w, c, key_password);
    PGconn *pg = PQconnectStartParams(w.keys, w.values, 0);
    if (!pg) return NULL;
    PQsetErrorVerbosity(pg, PQERRORS_VERBOSE); /* with the SQLSTATE */
    PQsetNoticeReceiver(pg, notice_drop, NULL);
    return pg;
}

PGconn *hf__postgres_connect(struct backend_conn *c,
                             const struct stream_addr *addr)
{
    char address[NI_MAXHOST];
    char *key_password = NULL;
    if (addr
        && getnameinfo((const struct sockaddr *)&addr->sa, addr->len, address,
                       sizeof address, NULL, 0, NI_NUMERICHOST)
               != 0)
        return NULL;
    if (c->tls.key_password_file)
        (void)hf__secret_read("tls_key_password_file", c->tls.key_password_file,
                              c->env->alloc, &key_password, NULL, NULL);
    PGconn *pg = begin(c, addr ? address : NULL, key_password);
    hf__free_secret(c->env->alloc, key_password);
    return pg;
}
