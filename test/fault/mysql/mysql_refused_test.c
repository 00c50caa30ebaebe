/*
 * mysql_refused_test.c: servers and users that will not do.  One rule: each
 * mistake has a status of its own and a sentence that says what to do.
 */
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/refused.h"
#include "lib/rig.h"
#include "lib/rig_mysql.h"

static struct lab_mariadb server;

static const char *url_of(const char *user, const char *rest)
{
    static char url[256];
    snprintf(url, sizeof url, "mysql://%s@127.0.0.1:%d/%s", user, server.port,
             rest);
    return url;
}

static void refused_begin(void)
{
    mysql_begin(&server, NULL);
    rig_begin_at(server.url);
}

TEST(mysql_refused, a_password_is_asked_for_and_compared)
{
    refused_begin();
    LAB_CHECK(lab_mariadb_do(&server,
                             "CREATE USER u@'127.0.0.1' IDENTIFIED BY 'right';"
                             "GRANT ALL ON holdfast.* TO u@'127.0.0.1'"));
    url_is_refused(url_of("u:wrong", "holdfast"), HF_DENIED,
                   "wrong user or password");
    url_is_refused(url_of("u", "holdfast"), HF_DENIED,
                   "wrong user or password");
    url_is_refused(url_of("v:right", "holdfast"), HF_DENIED,
                   "wrong user or password");
    hf_lock *l =
        rig_lock(rig_client_at(url_of("u:right", "holdfast"), NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(mysql_refused, what_is_not_there_or_not_allowed_is_named)
{
    refused_begin();
    LAB_CHECK(lab_mariadb_do(&server,
                             "CREATE USER u@'127.0.0.1';"
                             "GRANT SELECT ON holdfast.* TO u@'127.0.0.1';"
                             "CREATE DATABASE empty"));
    url_is_refused(url_of("root", "nowhere"), HF_INVALID, "no such database");
    url_is_refused(url_of("root", ""), HF_INVALID, "the URL names no database");
    url_is_refused(url_of("u", "empty"), HF_DENIED, "the user lacks a right");
    url_is_refused(url_of("root", "empty"), HF_INVALID,
                   "run: holdfast install-schema URL");
    url_is_refused(url_of("u", "holdfast"), HF_DENIED,
                   "the user lacks a right");
    LAB_CHECK(lab_mariadb_do(&server, "UPDATE holdfast.holdfast_meta"
                                      " SET value = '77'"
                                      " WHERE `key` = 'schema'"));
    url_is_refused(server.url, HF_CONFLICT, "of version \"77\"");
    CHECK(!strcmp(lab_mariadb_say(&server, "SELECT count(*) FROM"
                                           " holdfast.holdfast_lock"),
                  "0"));
}

TEST(mysql_refused, a_server_that_takes_no_writes_is_unavailable)
{
    refused_begin();
    LAB_CHECK(lab_mariadb_do(&server, "SET GLOBAL read_only = 1"));
    url_is_refused(server.url, HF_UNAVAILABLE, "read_only is on");
    LAB_CHECK(lab_mariadb_do(&server, "SET GLOBAL read_only = 0"));
    CHECK_INT(rig_probe(rig_lock(rig_client(NULL), "a")), HF_OK);
}

TEST(mysql_refused, a_bad_url_opens_nothing)
{
    url_is_bad("mysql:///db", "url: host: missing");
    url_is_bad("mysql://h/a/b", "url: database");
    url_is_bad("mariadb://h/d?schema=mine", "is not create");
    url_is_bad("mysql://h/d?tls=maybe", "neither on nor off");
    url_is_bad("mysql://h/d?tls_ca=/x", "needs tls=on");
    url_is_bad("mysql://h/d?tls=on&tls_key=/k", "needs tls_cert");
    url_is_bad("mysql://h/d?socket=/run/s", "is named already");
    url_is_bad("mysql://u:p@h/d?password_file=/x", "password in the URL");
    url_is_bad("mysql://h/d?search_path=x", "search_path");
}

/* Whatever defaults the server has. */
TEST(mysql_refused, not_a_server_with_other_defaults)
{
    static const char *const args[] = {"--transaction-isolation=SERIALIZABLE",
                                       "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES",
                                       "--autocommit=0",
                                       "--log-bin",
                                       "--server-id=7",
                                       NULL};
    mysql_begin(&server, args);
    rig_begin_at(server.url);
    hf_lock *l = rig_lock(rig_client(NULL), "a'\\\"b");
    for (int i = 0; i < 20; i++) CHECK_INT(rig_probe(l), HF_OK);
}

TEST(mysql_refused, not_a_client_on_the_unix_socket)
{
    char url[256];
    refused_begin();
    snprintf(url, sizeof url,
             "mariadb://root@localhost/holdfast?socket=%s/socket", server.dir);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(rig_lock(rig_client(NULL), "a")), HF_TAKEN);
}

static void statement_count(const char *statement, void *user)
{
    CHECK(!strncmp(statement, "CREATE ", 7)
          || !strncmp(statement, "INSERT ", 7));
    ++*(int *)user;
}

TEST(mysql_refused, tables_are_installed_twice_and_by_hand_alike)
{
    struct hf_client_options patient = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    int count = 0;
    patient.timeout_ms = patient.patience_ms = RIG_PATIENCE_MS;
    refused_begin();
    CHECK_INT(hf_schema_install(server.url, &patient, &err), HF_OK);
    CHECK_INT(hf_schema_text(server.url, statement_count, &count, &err), HF_OK);
    CHECK_INT(count, 3);
    LAB_CHECK(lab_mariadb_do(&server,
                             "CREATE DATABASE other;"
                             "CREATE USER u@'127.0.0.1';"
                             "GRANT SELECT ON other.* TO u@'127.0.0.1'"));
    CHECK_INT(hf_schema_install(url_of("u", "other"), &patient, &err),
              HF_DENIED);
    CHECK(strstr(err.text, "lacks a right") != NULL);
}
