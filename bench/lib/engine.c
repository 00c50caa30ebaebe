/*
 * engine.c: see engine.h.  What is counted is the server's own word.
 */
#define _POSIX_C_SOURCE 200809L
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lab/etcd.h"
#include "lab/lab.h"
#include "lab/mariadb.h"
#include "lab/postgres.h"
#include "lab/zookeeper.h"
#include "tool.h"

static struct lab_postgres postgres;
static struct lab_mariadb mariadb;
static struct lab_etcd etcd;
static struct lab_zookeeper zookeeper;

static struct hf_error refusal; /* of the tables */

static const char *tables_make(const char *url)
{
    if (hf_schema_install(url, NULL, &refusal) == HF_OK) return NULL;
    return refusal.text;
}

static double number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    if (!at) fail("%s: not told, but: %.200s", word, text);
    return strtod(at + strlen(word), NULL);
}

/* ---- PostgreSQL ---- */

/* Each of our statements is a transaction. */
static double postgres_requests(void)
{
    return strtod(lab_postgres_ask(&postgres,
                                   "SELECT xact_commit + xact_rollback FROM"
                                   " pg_stat_database WHERE datname ="
                                   " current_database()"),
                  NULL);
}

static double postgres_rows(void)
{
    return strtod(lab_postgres_ask(&postgres,
                                   "SELECT count(*) FROM holdfast_lock WHERE"
                                   " owner <> '' AND ends_us > extract(epoch"
                                   " FROM clock_timestamp()) * 1000000"),
                  NULL);
}

static double postgres_keys(void)
{
    return strtod(lab_postgres_ask(&postgres,
                                   "SELECT count(*) FROM pg_locks WHERE"
                                   " locktype = 'advisory' AND granted"),
                  NULL);
}

static void postgres_stop(void)
{
    lab_postgres_stop(&postgres);
}

static const char *postgres_start(struct engine *e, int is_session)
{
    /* Room for 10,000 locks of a session. */
    static const char *const args[] = {"-c", "max_locks_per_transaction=128",
                                       NULL};

    if (lab_postgres_start(&postgres, args) != 0) return lab_error();
    snprintf(e->url, sizeof(e->url), "%s%s", postgres.url,
             is_session ? "?session=on" : "");
    snprintf(e->raw, sizeof(e->raw),
             "host=127.0.0.1 port=%d user=postgres dbname=postgres",
             postgres.port);
    e->requests = postgres_requests;
    e->held = is_session ? postgres_keys : postgres_rows;
    e->stop = postgres_stop;
    return is_session ? NULL : tables_make(e->url);
}

/* ---- MariaDB ---- */

static double mariadb_requests(void)
{
    return number_behind(
        lab_mariadb_ask(&mariadb, "SHOW GLOBAL STATUS LIKE 'Questions'"),
        "Questions|");
}

static double mariadb_rows(void)
{
    return strtod(lab_mariadb_ask(&mariadb,
                                  "SELECT COUNT(*) FROM holdfast.holdfast_lock"
                                  " WHERE owner <> '' AND ends_us >"
                                  " UNIX_TIMESTAMP(NOW(6)) * 1000000"),
                  NULL);
}

static void mariadb_stop(void)
{
    lab_mariadb_stop(&mariadb);
}

static const char *mariadb_start(struct engine *e, int is_session)
{
    /* Room for 10,000 rows, and no waiting for the disk. */
    static const char *const args[] = {
        "--innodb-buffer-pool-size=128M",     "--innodb-log-file-size=64M",
        "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
        "--skip-innodb-doublewrite",          NULL};

    if (lab_mariadb_start(&mariadb, args) != 0) return lab_error();
    snprintf(e->url, sizeof(e->url), "%s%s", mariadb.url,
             is_session ? "?session=on" : "");
    snprintf(e->raw, sizeof(e->raw), "%d", mariadb.port);
    e->requests = mariadb_requests;
    e->held = is_session ? NULL : mariadb_rows;
    e->stop = mariadb_stop;
    return is_session ? NULL : tables_make(e->url);
}

/* ---- SQLite ---- */

static const char *sqlite_start(struct engine *e, const char *dir)
{
    snprintf(e->url, sizeof(e->url), "sqlite:%s/locks.db", dir);
    snprintf(e->raw, sizeof(e->raw), "%s/plain.db", dir);
    return NULL;
}

/* ---- etcd ---- */

static double etcd_requests(void)
{
    return lab_etcd_sum(&etcd, "grpc_server_msg_received_total");
}

static double etcd_keys(void)
{
    return strtod(lab_etcd_say(&etcd, "get --prefix holdfast/hold --keys-only"
                                      " | grep -c hold"),
                  NULL);
}

static void etcd_stop(void)
{
    lab_etcd_stop(&etcd);
}

static const char *etcd_start(struct engine *e)
{
    if (lab_etcd_start(&etcd, NULL) != 0) return lab_error();
    snprintf(e->url, sizeof(e->url), "%s", etcd.url);
    snprintf(e->raw, sizeof(e->raw), "%d", etcd.port);
    e->requests = etcd_requests;
    e->held = etcd_keys;
    e->stop = etcd_stop;
    return NULL;
}

/* ---- ZooKeeper ---- */

static double zookeeper_requests(void)
{
    return number_behind(lab_zookeeper_say(&zookeeper, "mntr"),
                         "zk_packets_received\t");
}

/* With one node for the session's heartbeat. */
static double zookeeper_nodes(void)
{
    return number_behind(lab_zookeeper_say(&zookeeper, "mntr"),
                         "zk_ephemerals_count\t");
}

static void zookeeper_stop(void)
{
    lab_zookeeper_stop(&zookeeper);
}

static const char *zookeeper_start(struct engine *e)
{
    zookeeper.tick_ms = 500;
    if (lab_zookeeper_start(&zookeeper) != 0) return lab_error();
    snprintf(e->url, sizeof(e->url), "%s", zookeeper.url);
    snprintf(e->raw, sizeof(e->raw), "%d", zookeeper.port);
    e->requests = zookeeper_requests;
    e->held = zookeeper_nodes;
    e->stop = zookeeper_stop;
    return NULL;
}

const char *engine_start(struct engine *e, const char *name, const char *dir)
{
    int is_session = strstr(name, "-session") != NULL;

    memset(e, 0, sizeof(*e));
    if (strncmp(name, "postgres", 8) == 0) return postgres_start(e, is_session);
    if (strncmp(name, "mysql", 5) == 0) return mariadb_start(e, is_session);
    if (strcmp(name, "sqlite") == 0) return sqlite_start(e, dir);
    if (strcmp(name, "etcd") == 0) return etcd_start(e);
    if (strcmp(name, "zookeeper") == 0) return zookeeper_start(e);
    fail("%s: no such engine", name);
}
