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

/* libpq's words for enum server_tls; NULL: libpq's own default. */
static const char *const modes[] = {[SERVER_TLS_OFF] = "disable",
                                    [SERVER_TLS_ANY] = "require",
                                    [SERVER_TLS_VERIFIED] = "verify-full"};

static void tls_add(struct words *w, const struct server *p,
                    const char *key_password)
{
    word_add(w, "sslmode", modes[p->tls]);
    if (p->tls < SERVER_TLS_ANY) return;
    word_add(w, "sslrootcert",
             p->tls_ca                       ? p->tls_ca
             : p->tls == SERVER_TLS_VERIFIED ? SYSTEM_ROOTS
                                             : NULL);
    word_add(w, "sslcert", p->tls_cert);
    word_add(w, "sslkey", p->tls_key ? p->tls_key : p->tls_cert);
    word_add(w, "sslpassword", key_password);
}

/* A notice is no error, and libpq would print it. */
static void notice_drop(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

static PGconn *begin(const struct server *p, const char *address,
                     const char *key_password)
{
    struct words w = {.len = 0};
    char port[16];
    snprintf(port, sizeof port, "%d", p->port);
    word_add(&w, "host",
             p->socket     ? p->socket
             : p->tls_name ? p->tls_name
                           : p->host);
    word_add(&w, "hostaddr", address);
    word_add(&w, "port", port);
    word_add(&w, "dbname", p->database);
    word_add(&w, "user", p->user);
    word_add(&w, "password", p->password);
    word_add(&w, "application_name", "holdfast");
    word_add(&w, "client_encoding", "UTF8");
    /* It would look for tickets, which may take a network's time. */
    word_add(&w, "gssencmode", "disable");
    tls_add(&w, p, key_password);
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
    if (addr
        && getnameinfo((const struct sockaddr *)&addr->sa, addr->len, address,
                       sizeof address, NULL, 0, NI_NUMERICHOST)
               != 0)
        return NULL;
    char *key_password = hf__sql_server_key_password(&c->server);
    PGconn *pg = begin(&c->server, addr ? address : NULL, key_password);
    hf__free_secret(c->env->alloc, key_password);
    return pg;
}
