/*
 * manual/overview.c: what is true of all commands: where locks can live, and
 * what the environment says.  One rule: help and man page print the same
 * tables.
 */
#include "manual/help.h"

const struct term_row overview_urls[] = {
    {"file:", "this host and this user, no server: locks in "
              "/var/lib/holdfast for root, else in /var/tmp/holdfast-UID; a "
              "NAME with a slash is that very file, for all users, locked as "
              "flock(1) does"},
    {"file:/dir", "this host, locks in /dir; users who share it need a umask "
                  "that lets the others write"},
    {"sqlite:/path/file.db",
     "this host, a file of SQLite, made if it is missing; every kind of lock; "
     "?sync=full: each change is on the disk before it is answered"},
    {"redis://[user[:password]@]host[:port][/db]",
     "a Redis or Valkey server, 6.2 or later; ?wait=K (or majority, or "
     "all): a lock counts once K replicas have it, with &wait_renew=on a "
     "renewal, too; &waitaof=1: once it is on the server's disk, 1,K: and "
     "on the disks of K replicas; &password_file=FILE has the password in "
     "its first line; &format=string uses the layout of SET NX PX libraries "
     "instead of Redisson's, and &fence=off with it stores no fencing "
     "token; &member=ok uses the server although it is one of several "
     "members of a quorum"},
    {"rediss://..., or tls=on with any of these",
     "the same over TLS; ?tls_ca=PATH: the authorities to trust instead of "
     "the system's; &tls_cert=FILE&tls_key=FILE: the client's certificate "
     "and key; &tls_key_password_file=FILE: the password of the key, in the "
     "first line of FILE; &tls_name=NAME: the name that the server's "
     "certificate must have instead of the host's; &tls_verify=off: accept "
     "any certificate"},
    {"redis+unix://[user[:password]@]/path/to.sock[?db=N]",
     "a Redis server on this host; otherwise as redis://"},
    {"redis-sentinel://[user[:password]@]host[:port],host,.../name[/db]",
     "the Redis primary that these Sentinels know by this name; the user "
     "and the password are the primary's, ?sentinel_user=USER and "
     "&sentinel_password_file=FILE are for the Sentinels, &tls=on is for "
     "both; &redirect=same-network (default): they may only name a primary "
     "in their own network (this host, private addresses, or all others), "
     "listed: one of the URL's hosts, any: any host; "
     "&redirect_hosts=H1,H2,...: these as well; otherwise as redis://"},
    {"redis-cluster://[user[:password]@]host[:port],host,...",
     "a Redis Cluster; one node that answers is enough to find the others; "
     "?tls=on for TLS; ?pubsub=classic wakes by PUBLISH, sharded by sharded "
     "messages and refuses servers without them, both by both (beside "
     "Redisson 3.22 to 3.27), auto (default) by what the servers and the "
     "subscribers have; ?redirect= and &redirect_hosts= limit which nodes "
     "may be named, as with Sentinels; otherwise as redis://, but it has "
     "one database"},
    {"redlock://[user[:password]@]host[:port],host,...[/db]",
     "a lock over independent servers, held by more than half of them: "
     "holdfast-init(1)"},
    {"quorum:[option=value&...|]URL|URL|URL",
     "the same over any of the URLs above that keep fencing tokens and stay "
     "one server: not Sentinels, not a cluster"},
    {"memory:", "this process only, for trying things out"},
    {NULL, NULL}};

const struct term_row overview_env[] = {
    {"HOLDFAST_URL", "where the locks live, if --url is not given"},
    {"HOLDFAST_URL_FILE", "a file whose first line is the URL"},
    {"HOLDFAST_CONFIG", "the configuration file, instead of "
                        "~/.config/holdfast.conf and /etc/holdfast.conf"},
    {"HOLDFAST_PROFILE", "a profile of it"},
    {"HOLDFAST_REQUIRE", "what a store must promise: see --require"},
    {"HOLDFAST_USER", "the store's user, instead of the URL's"},
    {"HOLDFAST_PASSWORD", "the store's password"},
    {"HOLDFAST_PASSWORD_FILE",
     "a file whose first line is the store's password, read at every connect"},
    {"HOLDFAST_SENTINEL_PASSWORD", "the password of Redis Sentinels"},
    {"HOLDFAST_DIR", "the directory of file:, instead of the default; no "
                     "variable is honoured in a program with more rights "
                     "than its user (set-user-id)"},
    {NULL, NULL}};

const char *const overview_examples[] = {
    "HOLDFAST_URL=redis://10.0.0.5 holdfast run nightly -- ./report",
    "HOLDFAST_URL='rediss://db.example.org?tls_ca=/etc/ssl/db.pem' \\",
    "    HOLDFAST_PASSWORD_FILE=/etc/db.password holdfast status nightly",
    "HOLDFAST_URL='redis-sentinel://s1,s2,s3/main?wait=1' \\",
    "    holdfast acquire --json deploy",
    NULL};

const struct term_row overview_exits[] = {
    {"0", "done"},
    {"75", "not acquired: another client holds the lock"},
    {"80", "the lock was lost"},
    EXIT_ROWS_STORE,
    {NULL, NULL}};
