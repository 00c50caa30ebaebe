/*
 * mysql_tls_test.c: TLS to a MariaDB server.  One rule: a URL that asks for it
 * never gets less.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/certs.h"
#include "lib/refused.h"
#include "lib/rig.h"
#include "lib/rig_mysql.h"

static struct lab_mariadb server;
static struct lab_certs certs;

/* A server with a certificate for `names`; as another user it must be allowed
 * to read the files. */
static void tls_begin(const char *names)
{
    static char ca[256], cert[256], key[256];
    static const char *const args[] = {ca, cert, key, NULL};
    certs_begin(&certs);
    certs_make(&certs, "server", "ca", names, 30);
    snprintf(ca, sizeof ca, "--ssl-ca=%s", certs_path(&certs, "ca.crt"));
    snprintf(cert, sizeof cert, "--ssl-cert=%s",
             certs_path(&certs, "server.crt"));
    snprintf(key, sizeof key, "--ssl-key=%s", certs_path(&certs, "server.key"));
    CHECK(chmod(certs.dir, 0755) == 0);
    CHECK(chmod(certs_path(&certs, "server.key"), 0644) == 0);
    mysql_begin(&server, args);
    rig_begin_at(server.url);
    LAB_CHECK(lab_mariadb_do(&server,
                             "CREATE USER s@'127.0.0.1' REQUIRE SSL;"
                             "GRANT ALL ON holdfast.* TO s@'127.0.0.1'"));
}

static const char *url_of(const char *host, const char *options)
{
    static char url[512];
    snprintf(url, sizeof url, "mysql://s@%s:%d/holdfast%s", host, server.port,
             options);
    return url;
}

static const char *trusting(const char *more)
{
    static char options[320];
    snprintf(options, sizeof options, "?tls=on&tls_ca=%s%s",
             certs_path(&certs, "ca.crt"), more);
    return options;
}

/* A lock can be taken at this URL. */
static void url_is_good(const char *url)
{
    struct hf_error err = {0};
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    if (hf_lock_try(l, NULL, &err) != HF_OK) TEST_FAIL("%s", err.text);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

TEST(mysql_tls, a_server_is_known_by_its_host_or_another_name)
{
    tls_begin("DNS:db.example,DNS:localhost,IP:127.0.0.1");
    url_is_good(url_of("localhost", trusting("")));
    url_is_good(url_of("127.0.0.1", trusting("&tls_name=db.example")));
    url_is_refused(url_of("127.0.0.1", ""), HF_DENIED,
                   "wrong user or password");
}

TEST(mysql_tls, a_server_with_another_name_or_authority_is_refused)
{
    tls_begin("DNS:db.example");
    certs_authority(&certs, "other");
    url_is_refused(url_of("127.0.0.1", trusting("")), HF_DENIED,
                   "no TLS that can be trusted");
    url_is_refused(url_of("127.0.0.1", trusting("&tls_name=db2.example")),
                   HF_DENIED, "no TLS that can be trusted");
    char options[320];
    snprintf(options, sizeof options, "?tls=on&tls_ca=%s&tls_name=db.example",
             certs_path(&certs, "other.crt"));
    url_is_refused(url_of("127.0.0.1", options), HF_DENIED,
                   "no TLS that can be trusted");
    url_is_refused(url_of("127.0.0.1", "?tls=on&tls_name=db.example"),
                   HF_DENIED, "no TLS that can be trusted");
    url_is_good(url_of("127.0.0.1", "?tls=on&tls_verify=off"));
}

/* The server itself has no certificate. */
TEST(mysql_tls, a_server_without_tls_is_refused)
{
    mysql_begin(&server, NULL);
    rig_begin_at(server.url);
    char url[256];
    snprintf(url, sizeof url, "%s?tls=on&tls_verify=off", server.url);
    url_is_refused(url, HF_DENIED, "no TLS that can be trusted");
    snprintf(url, sizeof url, "%s?tls=on&tls_name=db.example", server.url);
    url_is_refused(url, HF_DENIED, "no TLS that can be trusted");
}
