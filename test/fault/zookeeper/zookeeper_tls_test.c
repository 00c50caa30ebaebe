/*
 * zookeeper_tls_test.c: TLS to a ZooKeeper server.  One rule: a URL that asks
 * for TLS never gets less, and believes no server but the right one.
 */
#include <stdio.h>
#include <string.h>

#include "lab/certs.h"
#include "lib/lab_check.h"
#include "lib/refused.h"
#include "lib/rig.h"
#include "lib/rig_zookeeper.h"

static struct lab_zookeeper server;
static struct lab_certs certs;
static char conf[1024];

static void certs_end(void *arg)
{
    lab_certs_stop(arg);
    server.conf = NULL;
}

/* The server wants its key and its certificate in one file. */
static void pem_make(void)
{
    char text[16384];
    size_t len = 0;
    static const char *const parts[] = {"server.key", "server.crt"};
    for (int i = 0; i < 2; i++) {
        FILE *in = fopen(lab_certs_path(&certs, parts[i]), "re");
        CHECK(in != NULL);
        len += fread(text + len, 1, sizeof text - 1 - len, in);
        fclose(in);
    }
    text[len] = '\0';
    LAB_CHECK(lab_certs_write(&certs, "server.pem", text, 0600));
}

static void begin(void)
{
    LAB_CHECK(lab_certs_start(&certs));
    test_cleanup(certs_end, &certs);
    LAB_CHECK(lab_certs_authority(&certs, "other"));
    LAB_CHECK(lab_certs_make(&certs, "server", "ca", LAB_CERTS_HERE, 30));
    pem_make();
    snprintf(conf, sizeof conf,
             "serverCnxnFactory=org.apache.zookeeper.server."
             "NettyServerCnxnFactory\nssl.keyStore.location=%s\n"
             "ssl.keyStore.type=PEM\nssl.trustStore.location=%s\n"
             "ssl.trustStore.type=PEM\nssl.clientAuth=none\n",
             lab_certs_path(&certs, "server.pem"),
             lab_certs_path(&certs, "ca.crt"));
    server.conf = conf;
    server.tls = 1;
    zookeeper_begin(&server);
    rig_begin_at(server.url);
}

static const char *url_of(int port, const char *options)
{
    static char url[512];
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:%d/?%s", port, options);
    return url;
}

TEST(zookeeper_tls, locks_over_it_and_believes_no_other_server)
{
    char options[256];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = RIG_PATIENCE_MS; /* Java begins slowly */
    begin();
    snprintf(options, sizeof options, "tls=on&tls_ca=%s",
             lab_certs_path(&certs, "ca.crt"));
    hf_lock *l =
        rig_lock(rig_client_at(url_of(server.tls_port, options), &o), "a");
    hf_lock *clear = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(clear, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    snprintf(options, sizeof options, "tls=on&tls_ca=%s",
             lab_certs_path(&certs, "other.crt"));
    url_is_refused(url_of(server.tls_port, options), HF_DENIED, "tls: ");
    CHECK_INT(rig_probe(clear), HF_OK);
}
