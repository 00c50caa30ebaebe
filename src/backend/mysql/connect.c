/*
 * connect.c: what libmariadb is told before it connects.  One rule: it is given
 * an address and never a name, for it would wait for the resolver.
 */
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "backend/mysql/wire.h"
#include "base/limits.h"
#include "sys/secret.h"

#define CHARSET "utf8mb4"
/* A password is never sent as it is, whatever the server asks: one that has no
 * TLS is only found out afterwards. */
#define SECRET_METHODS                                                         \
    "mysql_native_password,client_ed25519,parsec,caching_sha2_password,"       \
    "sha256_password"

/* libmariadb makes the process ignore SIGPIPE; that is not ours to decide, and
 * it sends without that signal. */
static void library_begin(void)
{
    struct sigaction was;
    int rc = sigaction(SIGPIPE, NULL, &was);
    mysql_server_init(0, NULL, NULL);
    if (rc == 0) sigaction(SIGPIPE, &was, NULL);
}

static void switch_set(MYSQL *my, enum mysql_option option, int is_on)
{
    my_bool value = (my_bool)(is_on != 0);
    mysql_optionsv(my, option, &value);
}

static void tls_set(MYSQL *my, const struct server *p, const char *key_password)
{
    if (p->tls < SERVER_TLS_ANY) return;
    unsigned seconds =
        (unsigned)((p->env->conf->timeout_us + US_PER_S - 1) / US_PER_S);
    /* The handshake is the one thing in which libmariadb waits. */
    mysql_optionsv(my, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    switch_set(my, MYSQL_OPT_SSL_ENFORCE, 1);
    switch_set(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT,
               p->tls == SERVER_TLS_VERIFIED);
    if (p->tls_ca) mysql_optionsv(my, MYSQL_OPT_SSL_CA, p->tls_ca);
    if (p->tls_cert) mysql_optionsv(my, MYSQL_OPT_SSL_CERT, p->tls_cert);
    if (p->tls_cert)
        mysql_optionsv(my, MYSQL_OPT_SSL_KEY,
                       p->tls_key ? p->tls_key : p->tls_cert);
    if (key_password)
        mysql_optionsv(my, MARIADB_OPT_TLS_PASSPHRASE, key_password);
}

static void options_set(MYSQL *my, const struct server *p)
{
    char *key_password = hf__sql_server_key_password(p);
    mysql_optionsv(my, MYSQL_OPT_NONBLOCK, 0);
    mysql_optionsv(my, MYSQL_SET_CHARSET_NAME, CHARSET);
    mysql_optionsv(my, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "holdfast");
    /* A server could ask for any file of this host. */
    mysql_optionsv(my, MYSQL_OPT_LOCAL_INFILE, &(unsigned){0});
    if (!p->socket)
        mysql_optionsv(my, MARIADB_OPT_RESTRICTED_AUTH, SECRET_METHODS);
    tls_set(my, p, key_password);
    hf__free_secret(p->env->alloc, key_password);
}

int hf__mysql_wire_open(struct wire *w, const struct server *p,
                        const struct stream_addr *addr)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, library_begin);
    *w = (struct wire){.fd = -1, .my = mysql_init(NULL)};
    if (!w->my) return -1;
    if (addr
        && getnameinfo((const struct sockaddr *)&addr->sa, addr->len,
                       w->address, sizeof w->address, NULL, 0, NI_NUMERICHOST)
               != 0)
        return -1;
    if (p->tls == SERVER_TLS_VERIFIED)
        w->name = p->tls_name ? p->tls_name : p->host;
    w->is_tls = p->tls >= SERVER_TLS_ANY;
    options_set(w->my, p);
    int protocol = p->socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    mysql_optionsv(w->my, MYSQL_OPT_PROTOCOL, &protocol);
    hf__mysql_wire_name(w);
    int waits = mysql_real_connect_start(
        &w->connected, w->my, addr ? w->address : NULL, p->user, p->password,
        p->database, (unsigned)p->port, p->socket, CLIENT_MULTI_STATEMENTS);
    hf__mysql_wire_name(NULL);
    hf__mysql_wire_connect(w, waits);
    return 0;
}
