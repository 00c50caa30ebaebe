/*
 * database.c: see database.h.
 */
#include "lib/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_etcd.h"
#include "lib/rig_mysql.h"
#include "lib/rig_postgres.h"
#include "lib/rig_zookeeper.h"

#define COUNTER                                                                \
    "SELECT coalesce(max(counter), 0) FROM holdfast_lock WHERE name = 'a'"
#define LOOKS_MIN 8 /* statements that only a waiter sends */

/* ---- PostgreSQL: a waiter leaves a mark in the row ---- */

static struct lab_postgres postgres;

static int postgres_port(void)
{
    return rig_postgres_shared()->port;
}

static const char *postgres_ask(const char *sql)
{
    return lab_postgres_ask(rig_postgres_shared(), sql);
}

static const char *postgres_say(const char *sql)
{
    return lab_postgres_ask(&postgres, sql);
}

static const char *postgres_own(void)
{
    postgres_begin(&postgres, NULL, NULL);
    return postgres.url;
}

static int postgres_down(int in_order)
{
    return lab_postgres_shutdown(&postgres, in_order);
}

static int postgres_up(void)
{
    return lab_postgres_restart(&postgres);
}

static int postgres_pause(void)
{
    return lab_postgres_pause(&postgres);
}

static int postgres_resume(void)
{
    return lab_postgres_resume(&postgres);
}

static void postgres_waits_begin(const char *(*ask)(const char *sql))
{
    (void)ask("UPDATE holdfast_lock SET waits_us = 0");
}

static int postgres_waits(const char *(*ask)(const char *sql))
{
    return !strcmp(ask("SELECT count(*) FROM holdfast_lock WHERE waits_us > 0"),
                   "1");
}

const struct database database_postgres = {
    .kind = "postgres",
    .format = "postgres://postgres@127.0.0.1:%d/postgres",
    .port = postgres_port,
    .ask = postgres_ask,
    .counter = COUNTER,
    .begin = postgres_own,
    .say = postgres_say,
    .shutdown = postgres_down,
    .restart = postgres_up,
    .pause = postgres_pause,
    .resume = postgres_resume,
    .waits_begin = postgres_waits_begin,
    .waits = postgres_waits,
};

/* ---- MariaDB: a waiter looks again and again ---- */

static struct lab_mariadb mariadb;
static long looks;

static const char *mysql_ask(const char *sql)
{
    return lab_mariadb_say(rig_mysql_shared(), "USE holdfast; %s", sql);
}

static const char *mysql_say(const char *sql)
{
    return lab_mariadb_say(&mariadb, "USE holdfast; %s", sql);
}

static int mysql_port(void)
{
    return rig_mysql_shared()->port;
}

static const char *mysql_own(void)
{
    mysql_begin(&mariadb, NULL);
    return mariadb.url;
}

static int mysql_down(int in_order)
{
    return lab_mariadb_shutdown(&mariadb, in_order);
}

static int mysql_up(void)
{
    return lab_mariadb_restart(&mariadb);
}

static int mysql_pause(void)
{
    return lab_mariadb_pause(&mariadb);
}

static int mysql_resume(void)
{
    return lab_mariadb_resume(&mariadb);
}

static long mysql_looks(const char *(*ask)(const char *sql))
{
    const char *said = ask("SHOW GLOBAL STATUS LIKE 'Com_select'");
    const char *number = strchr(said, '|');
    return number ? strtol(number + 1, NULL, 10) : 0;
}

static void mysql_waits_begin(const char *(*ask)(const char *sql))
{
    looks = mysql_looks(ask);
}

static int mysql_waits(const char *(*ask)(const char *sql))
{
    return mysql_looks(ask) > looks + LOOKS_MIN;
}

const struct database database_mysql = {
    .kind = "mysql",
    .format = "mysql://root@127.0.0.1:%d/holdfast",
    .port = mysql_port,
    .ask = mysql_ask,
    .counter = COUNTER,
    .begin = mysql_own,
    .say = mysql_say,
    .shutdown = mysql_down,
    .restart = mysql_up,
    .pause = mysql_pause,
    .resume = mysql_resume,
    .waits_begin = mysql_waits_begin,
    .waits = mysql_waits,
};

/* ---- beside ShedLock: as above, in another table ---- */

const struct database database_postgres_shedlock = {
    .kind = "postgres-shedlock",
    .format = "postgres://postgres@127.0.0.1:%d/postgres?layout=shedlock",
    .port = postgres_port,
    .ask = postgres_ask,
};

const struct database database_mysql_shedlock = {
    .kind = "mysql-shedlock",
    .format = "mysql://root@127.0.0.1:%d/holdfast?layout=shedlock",
    .port = mysql_port,
    .ask = mysql_ask,
};

/* ---- etcd: a waiter watches; what is asked is not SQL, but means that ---- */

static struct lab_etcd etcd;
static char etcd_format[128];

/* The test's own prefix: what stands behind the port in its URL. */
static const char *etcd_path(void)
{
    const char *host = strstr(rig_url(), "//");
    return host ? strchr(host + 2, '/') : "/";
}

static int etcd_port(void)
{
    snprintf(etcd_format, sizeof etcd_format, "etcd://127.0.0.1:%%d%s",
             etcd_path());
    return rig_etcd_shared()->port;
}

/* How many keys the lock "a" has. */
static const char *etcd_count(const char *question)
{
    const char *path = etcd_path() + 1;
    (void)question;
    const char *said =
        lab_etcd_say(rig_etcd_shared(), "get --prefix --keys-only '%.*s/a/'",
                     (int)strcspn(path, "?"), path);
    return said[0] ? "1" : "0";
}

static const char *etcd_empty(const char *statement)
{
    (void)statement;
    lab_etcd_say(&etcd, "del --prefix holdfast/");
    return "";
}

static const char *etcd_own(void)
{
    etcd_begin(&etcd, NULL);
    return etcd.url;
}

static int etcd_down(int in_order)
{
    (void)in_order;
    return lab_etcd_kill(&etcd);
}

static int etcd_up(void)
{
    return lab_etcd_restart(&etcd);
}

static int etcd_pause(void)
{
    return lab_etcd_pause(&etcd);
}

static int etcd_resume(void)
{
    return lab_etcd_resume(&etcd);
}

static void etcd_waits_begin(const char *(*ask)(const char *sql))
{
    (void)ask;
}

static int etcd_waits(const char *(*ask)(const char *sql))
{
    struct lab_etcd *p = ask == etcd_empty ? &etcd : rig_etcd_shared();
    return lab_etcd_metric(p, "etcd_debugging_mvcc_watcher_total") > 0;
}

const struct database database_etcd = {
    .kind = "etcd",
    .format = etcd_format,
    .port = etcd_port,
    .ask = etcd_count,
    .begin = etcd_own,
    .say = etcd_empty,
    .shutdown = etcd_down,
    .restart = etcd_up,
    .pause = etcd_pause,
    .resume = etcd_resume,
    .waits_begin = etcd_waits_begin,
    .waits = etcd_waits,
};

/* ---- ZooKeeper: a waiter has a node in the queue ---- */

static struct lab_zookeeper zookeeper;
static char zookeeper_url[96];

static const char *nodes_count(struct lab_zookeeper *z)
{
    static char number[16];
    int n = 0;
    const char *at = lab_zookeeper_say(z, "dump");
    while ((at = strstr(at, "-lock-")) != NULL) n++, at++;
    snprintf(number, sizeof number, "%d", n);
    return number;
}

static int zookeeper_port(void)
{
    return rig_zookeeper_shared()->port;
}

static const char *zookeeper_ask(const char *sql)
{
    (void)sql;
    return nodes_count(rig_zookeeper_shared());
}

static const char *zookeeper_say(const char *sql)
{
    (void)sql;
    return nodes_count(&zookeeper);
}

static const char *zookeeper_own(void)
{
    zookeeper_begin(&zookeeper);
    snprintf(zookeeper_url, sizeof zookeeper_url,
             "%s/own?chroot=create&session=48h", zookeeper.url);
    return zookeeper_url;
}

static int zookeeper_down(int in_order)
{
    (void)in_order;
    return lab_zookeeper_kill(&zookeeper);
}

static int zookeeper_up(void)
{
    return lab_zookeeper_restart(&zookeeper, 1);
}

static int zookeeper_pause(void)
{
    return lab_zookeeper_pause(&zookeeper);
}

static int zookeeper_resume(void)
{
    return lab_zookeeper_resume(&zookeeper);
}

static void zookeeper_waits_begin(const char *(*ask)(const char *sql))
{
    (void)ask;
}

/* The holder, and the waiter. */
static int zookeeper_waits(const char *(*ask)(const char *sql))
{
    return !strcmp(ask(""), "2");
}

const struct database database_zookeeper = {
    .kind = "zookeeper-one",
    .format = "zookeeper://127.0.0.1:%d/one?chroot=create&session=48h",
    .port = zookeeper_port,
    .ask = zookeeper_ask,
    .begin = zookeeper_own,
    .say = zookeeper_say,
    .shutdown = zookeeper_down,
    .restart = zookeeper_up,
    .pause = zookeeper_pause,
    .resume = zookeeper_resume,
    .waits_begin = zookeeper_waits_begin,
    .waits = zookeeper_waits,
};

const struct database database_zookeeper_brief = {
    .kind = "zookeeper-one",
    .format = "zookeeper://127.0.0.1:%d/one?chroot=create&session=4s",
    .port = zookeeper_port,
    .ask = zookeeper_ask,
    .waits_begin = zookeeper_waits_begin,
    .waits = zookeeper_waits,
};
