/*
 * etcd_secure_test.c: TLS, and users.  One rule: a URL that asks for TLS never
 * gets less, and a wrong password is named.
 */
#include <stdio.h>
#include <string.h>

#include "lib/certs.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_etcd.h"

static struct lab_etcd server;
static struct lab_certs certs;

static void certs_end(void *arg)
{
    lab_certs_stop(arg);
}

static void tls_begin(void)
{
    static char cert[300], key[300];
    static const char *args[] = {cert, key, NULL};
    LAB_CHECK(lab_certs_start(&certs));
    test_cleanup(certs_end, &certs);
    certs_make(&certs, "server", "ca", CERTS_HERE, 30);
    snprintf(cert, sizeof cert, "--cert-file=%s",
             certs_path(&certs, "server.crt"));
    snprintf(key, sizeof key, "--key-file=%s",
             certs_path(&certs, "server.key"));
    etcd_begin(&server, args);
}

TEST(etcd_secure, takes_locks_over_tls)
{
    char url[400];
    hf_hold *g;
    tls_begin();
    snprintf(url, sizeof url, "%s?tls_ca=%s", server.url,
             certs_path(&certs, "ca.crt"));
    rig_begin_at(url);
    CHECK(!strncmp(url, "etcds://", 8));
    CHECK_INT(rig_acquire(rig_lock(rig_client(NULL), "a"), 0, RIG_WAIT_MS, &g),
              HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(etcd_secure, trusts_no_other_authority)
{
    char url[400];
    struct hf_error err = {0};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    tls_begin();
    lab_certs_authority(&certs, "other");
    snprintf(url, sizeof url, "%s?tls_ca=%s", server.url,
             certs_path(&certs, "other.crt"));
    rig_begin_at(url);
    o.timeout_ms = o.patience_ms = 2000;
    CHECK(hf_lock_try(rig_lock(rig_client(&o), "a"), NULL, &err) != HF_OK);
    CHECK(strstr(err.text, "tls") != NULL);
}

static void users_begin(void)
{
    etcd_begin(&server, NULL);
    lab_etcd_say(&server, "user add root:secret");
    lab_etcd_say(&server, "user grant-role root root");
    lab_etcd_say(&server, "user add app:word");
    lab_etcd_say(&server, "role add locks");
    lab_etcd_say(&server, "role grant-permission locks --prefix=true readwrite "
                          "holdfast/");
    lab_etcd_say(&server, "user grant-role app locks");
    CHECK(strstr(lab_etcd_say(&server, "auth enable"), "Enabled") != NULL);
}

static int try_as(const char *user, const char *prefix, struct hf_error *err)
{
    char url[160];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = RIG_WAIT_MS;
    snprintf(url, sizeof url, "etcd://%s127.0.0.1:%d/%s", user, server.port,
             prefix);
    return hf_lock_try(rig_lock(rig_client_at(url, &o), "a"), NULL, err);
}

TEST(etcd_secure, takes_locks_as_a_user_of_its_prefix_only)
{
    struct hf_error err = {0};
    users_begin();
    rig_begin_at(server.url);
    CHECK_INT(try_as("app:word@", "", &err), HF_OK);
    CHECK_INT(try_as("app:wrong@", "", &err), HF_DENIED);
    CHECK(strstr(err.text, "user or password") != NULL);
    CHECK_INT(try_as("", "", &err), HF_DENIED);
    CHECK_INT(try_as("app:word@", "elsewhere", &err), HF_DENIED);
}
