/*
 * tls_many_test.c: TLS where one URL leads to several servers.  One rule: what
 * the URL says of TLS goes for every one of them, wherever its address is from,
 * and a password only to those whose it is.
 */
#include <string.h>

#include "lib/certs.h"
#include "lib/cluster_rig.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define NODES 2
#define SLOTS_ALL 16384
/* Names in the first and in the second half of the slots. */
#define NAME_LOW "{3}job"
#define NAME_HIGH "{1}job"

/* A server with a port for TLS besides the plain one. */
struct node {
    struct lab_server redis;
    int port;
    char port_text[8], bus[8];
    char crt[256], key[256], ca[256];
    const char *args[24];
};

static struct lab_certs certs;
static struct node nodes[NODES];
static char url[600];

static void begin(void)
{
    certs_begin(&certs);
    certs_make(&certs, "server", "ca", CERTS_HERE, 30);
    rig_begin_at("");
}

/* It shows the certificate `stem`; `more`, up to NULL, goes before the rest of
 * its arguments. */
static void node_begin(struct node *n, const char *stem,
                       const char *const *more)
{
    int len = 0;
    n->port = redis_free_port();
    snprintf(n->port_text, sizeof n->port_text, "%d", n->port);
    snprintf(n->crt, sizeof n->crt, "%s/%s.crt", certs.dir, stem);
    snprintf(n->key, sizeof n->key, "%s/%s.key", certs.dir, stem);
    snprintf(n->ca, sizeof n->ca, "%s/ca.crt", certs.dir);
    const char *const args[] = {"--tls-port",
                                n->port_text,
                                "--tls-cert-file",
                                n->crt,
                                "--tls-key-file",
                                n->key,
                                "--tls-ca-cert-file",
                                n->ca,
                                "--tls-auth-clients",
                                "no",
                                NULL};
    while (more[len]) {
        n->args[len] = more[len];
        len++;
    }
    memcpy(n->args + len, args, sizeof args);
    redis_begin(&n->redis, n->args);
}

/* Has the server a connection of ours, and is it by TLS? */
static int is_secure(void *arg)
{
    struct node *n = arg;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "laddr=127.0.0.1:%d ", n->port);
    const char *line = redis_say(&n->redis, "CLIENT LIST TYPE normal");
    const char *ours = strstr(line, "name=holdfast"), *end;
    while (ours && (end = strchr(line, '\n')) != NULL && end < ours)
        line = end + 1;
    return ours && (end = strstr(line, wanted)) != NULL && end < ours;
}

/* ---- Sentinels ---------------------------------------------------------- */

static struct lab_server sentinel;

static int is_followed(void *arg)
{
    (void)arg;
    return strstr(redis_say(&nodes[0].redis, "INFO replication"),
                  "state=online")
           && strstr(redis_say(&sentinel, "SENTINEL MASTER m"),
                     "num-slaves\n1\n");
}

/* It must have heard from the replica before. */
static int is_begun(void *arg)
{
    (void)arg;
    return !strcmp(redis_say(&sentinel, "SENTINEL FAILOVER m"), "OK");
}

/* Two servers and a Sentinel, which all speak TLS with each other; the servers
 * know joe, and the Sentinel does not.  Returns the Sentinel's port. */
static int sentinel_begin(void)
{
    static const char *const more[] = {"--tls-replication", "yes", NULL};
    char conf[1024];
    int port = redis_free_port();
    for (int i = 0; i < NODES; i++) {
        node_begin(&nodes[i], "server", more);
        CHECK_STR(redis_say(&nodes[i].redis,
                            "ACL SETUSER joe on >geheim ~* &* +@all"),
                  "OK");
    }
    CHECK_STR(
        redis_say(&nodes[1].redis, "REPLICAOF 127.0.0.1 %d", nodes[0].port),
        "OK");
    snprintf(conf, sizeof conf,
             "tls-port %d\ntls-cert-file %s/server.crt\n"
             "tls-key-file %s/server.key\ntls-ca-cert-file %s/ca.crt\n"
             "tls-auth-clients no\ntls-replication yes\n"
             "sentinel monitor m 127.0.0.1 %d 1\n",
             port, certs.dir, certs.dir, certs.dir, nodes[0].port);
    redis_begin_sentinel(&sentinel, conf);
    CHECK(rig_until(is_followed, NULL));
    return port;
}

TEST(tls_sentinel, leads_to_one_primary_after_the_other)
{
    hf_hold *g = NULL;
    begin();
    int port = sentinel_begin();
    certs_write(&certs, "password", "geheim", 0600);
    snprintf(url, sizeof url,
             "redis-sentinel://joe@127.0.0.1:%d/m?tls=on&tls_ca=%s"
             "&password_file=%s&wait=1&patience=20s",
             port, certs_path(&certs, "ca.crt"),
             certs_path(&certs, "password"));
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "job");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK(is_secure(&nodes[0]));
    CHECK(rig_until(is_begun, NULL));
    CHECK(rig_until(is_secure, &nodes[1]));
    CHECK_INT(hf_hold_extend(g, 30000, NULL), HF_OK);
    CHECK_INT(redis_number(&nodes[1].redis, "EXISTS job"), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(tls_sentinel, is_not_believed_without_a_certificate_for_it)
{
    struct hf_error err = {0};
    begin();
    int port = sentinel_begin();
    certs_authority(&certs, "strangers");
    snprintf(url, sizeof url,
             "redis-sentinel://127.0.0.1:%d/m?tls=on&tls_ca=%s", port,
             certs_path(&certs, "strangers.crt"));
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "job");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_DENIED);
    CHECK(strstr(err.text, "tls: ") != NULL);
}

/* ---- clusters ----------------------------------------------------------- */

static void must(struct node *n, const char *command)
{
    CHECK_STR(redis_say(&n->redis, "%s", command), "OK");
}

static int is_well(void *arg)
{
    (void)arg;
    for (int i = 0; i < NODES; i++)
        if (!strstr(redis_say(&nodes[i].redis, "CLUSTER INFO"),
                    "cluster_state:ok"))
            return 0;
    return 1;
}

static void master_begin(int i, const char *stem)
{
    char command[80];
    struct node *n = &nodes[i];
    const char *const more[] = {"--cluster-enabled",
                                "yes",
                                "--tls-cluster",
                                "yes",
                                "--cluster-port",
                                n->bus,
                                NULL};
    snprintf(n->bus, sizeof n->bus, "%d", cluster_rig_bus_port());
    node_begin(n, stem, more);
    snprintf(command, sizeof command, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
    must(n, command);
    snprintf(command, sizeof command, "CLUSTER ADDSLOTSRANGE %d %d",
             SLOTS_ALL * i / NODES, SLOTS_ALL * (i + 1) / NODES - 1);
    must(n, command);
}

/* Two masters; the URL names the first one.  The second one shows the
 * certificate `stem` to everyone but the cluster. */
static void cluster_begin(const char *stem)
{
    char command[400];
    master_begin(0, "server");
    master_begin(1, "server");
    snprintf(command, sizeof command, "CLUSTER MEET 127.0.0.1 %d %s",
             nodes[1].port, nodes[1].bus);
    must(&nodes[0], command);
    CHECK(rig_until(is_well, NULL));
    snprintf(command, sizeof command,
             "CONFIG SET tls-cert-file %s/%s.crt tls-key-file %s/%s.key",
             certs.dir, stem, certs.dir, stem);
    must(&nodes[1], command);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?tls=on&tls_ca=%s",
             nodes[0].port, certs_path(&certs, "ca.crt"));
}

TEST(tls_cluster, every_node_is_spoken_to_by_tls)
{
    begin();
    cluster_begin("server");
    hf_client *c = rig_client_at(url, NULL);
    CHECK_INT(hf_lock_try(rig_lock(c, NAME_LOW), NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(rig_lock(c, NAME_HIGH), NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&nodes[0].redis, "EXISTS " NAME_LOW), 1);
    CHECK_INT(redis_number(&nodes[1].redis, "EXISTS " NAME_HIGH), 1);
    for (int i = 0; i < NODES; i++) CHECK(is_secure(&nodes[i]));
}

TEST(tls_cluster, a_node_that_shows_another_s_certificate_is_not_used)
{
    struct hf_error err = {0};
    begin();
    certs_make(&certs, "other", "ca", "DNS:other.example", 30);
    cluster_begin("other");
    hf_client *c = rig_client_at(url, NULL);
    CHECK_INT(hf_lock_try(rig_lock(c, NAME_LOW), NULL, NULL), HF_OK);
    int status = hf_lock_try(rig_lock(c, NAME_HIGH), NULL, &err);
    CHECK_INT(status, HF_DENIED);
    CHECK(strstr(err.text, "tls: ") != NULL);
    CHECK_INT(redis_number(&nodes[1].redis, "EXISTS " NAME_HIGH), 0);
}

TEST(tls_cluster, a_plain_url_is_told_the_option)
{
    struct hf_error err = {0};
    begin();
    cluster_begin("server");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", nodes[0].port);
    hf_client *c = rig_client_at(url, NULL);
    CHECK_INT(hf_lock_try(rig_lock(c, NAME_LOW), NULL, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "tls=on") != NULL);
}
