/*
 * postgres_refused_test.c: servers and users that will not do.  One rule: each
 * mistake has a status of its own and a sentence that says what to do.
 */
#include <stdio.h>
#include <string.h>

#include "lab/pooler.h"
#include "lib/lab_check.h"
#include "lib/refused.h"
#include "lib/rig.h"
#include "lib/rig_postgres.h"

static struct lab_postgres server;

static const char *url_of(const char *user, const char *rest)
{
    static char url[256];
    snprintf(url, sizeof url, "postgres://%s@127.0.0.1:%d/%s", user,
             server.port, rest);
    return url;
}

TEST(postgres_refused, a_password_is_asked_for_and_compared)
{
    postgres_begin(&server, NULL, NULL);
    rig_begin_at(server.url);
    LAB_CHECK(lab_postgres_do(
        &server, "CREATE ROLE u LOGIN PASSWORD 'right';"
                 "GRANT ALL ON holdfast_lock, holdfast_meta TO u"));
    LAB_CHECK(lab_postgres_shutdown(&server, 1));
    LAB_CHECK(lab_postgres_admit(&server,
                                 "host all u 127.0.0.1/32 scram-sha-256\n"
                                 "host all postgres 127.0.0.1/32 trust\n"));
    LAB_CHECK(lab_postgres_restart(&server));
    url_is_refused(url_of("u:wrong", "postgres"), HF_DENIED,
                   "wrong user or password");
    url_is_refused(url_of("u", "postgres"), HF_DENIED, "a password is needed");
    url_is_refused(url_of("v:right", "postgres"), HF_DENIED,
                   "does not let this user in");
    hf_lock *l =
        rig_lock(rig_client_at(url_of("u:right", "postgres"), NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(postgres_refused, what_is_not_there_or_not_allowed_is_named)
{
    postgres_begin(&server, NULL, NULL);
    rig_begin_at(server.url);
    LAB_CHECK(lab_postgres_do(&server,
                              "CREATE ROLE u LOGIN;"
                              "GRANT SELECT ON holdfast_lock, holdfast_meta"
                              " TO u"));
    LAB_CHECK(lab_postgres_do(&server, "CREATE DATABASE empty"));
    url_is_refused(url_of("postgres", "nowhere"), HF_INVALID,
                   "no such database");
    url_is_refused(url_of("nobody", "postgres"), HF_DENIED,
                   "does not let this user in");
    url_is_refused(url_of("postgres", "empty"), HF_INVALID,
                   "run: holdfast install-schema URL");
    url_is_refused(url_of("postgres", "postgres?search_path=other"), HF_INVALID,
                   "run: holdfast install-schema URL");
    url_is_refused(url_of("u", "postgres"), HF_DENIED,
                   "the user lacks a right");
    LAB_CHECK(lab_postgres_do(&server, "UPDATE holdfast_meta SET value = '77'"
                                       " WHERE key = 'schema'"));
    url_is_refused(server.url, HF_CONFLICT, "of version \"77\"");
    CHECK(!strcmp(lab_postgres_say(&server, "SELECT count(*) FROM holdfast_lock"
                                            " WHERE name = 'a'"),
                  "0"));
}

TEST(postgres_refused, a_server_that_takes_no_writes_is_unavailable)
{
    char path[200];
    postgres_begin(&server, NULL, NULL);
    rig_begin_at(server.url);
    LAB_CHECK(lab_postgres_do(&server, "ALTER ROLE postgres SET"
                                       " default_transaction_read_only = on"));
    url_is_refused(server.url, HF_UNAVAILABLE, "default_transaction_read_only");
    LAB_CHECK(lab_postgres_shutdown(&server, 1));
    snprintf(path, sizeof path, "%s/data/standby.signal", server.dir);
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    fclose(out);
    LAB_CHECK(lab_postgres_restart(&server));
    url_is_refused(server.url, HF_UNAVAILABLE, "a standby");
}

TEST(postgres_refused, schemas_of_one_database_are_stores_of_their_own)
{
    char one[256], two[256];
    postgres_begin(&server, NULL, "one");
    rig_begin_at(server.url);
    snprintf(one, sizeof one, "%s?search_path=one", server.url);
    snprintf(two, sizeof two, "%s?search_path=Two%%20%%22x", server.url);
    postgres_install(two);
    hf_lock *l = rig_lock(rig_client_at(one, NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(one, NULL), "a")), HF_TAKEN);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(two, NULL), "a")), HF_OK);
}

TEST(postgres_refused, a_bad_url_opens_nothing)
{
    url_is_bad("postgres:///db", "url: host: missing");
    url_is_bad("postgres://h/a/b", "url: database");
    url_is_bad("postgres://h/d?schema=mine", "is not create");
    url_is_bad("postgres://h/d?tls=maybe", "neither on nor off");
    url_is_bad("postgres://h/d?tls_ca=/x", "needs tls=on");
    url_is_bad("postgres://h/d?tls=on&tls_verify=off&tls_key=/k",
               "needs tls_cert");
    url_is_bad("postgres://h/d?socket=/run", "is named already");
    url_is_bad("postgres://u:p@h/d?password_file=/x", "password in the URL");
    url_is_bad("postgres://h/d?nix=1", "nix");
}

/* Whatever default the server has. */
TEST(postgres_refused, not_a_server_whose_default_is_serializable)
{
    static const char *const args[] = {
        "-c", "default_transaction_isolation=serializable", NULL};
    postgres_begin(&server, args, NULL);
    rig_begin_at(server.url);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 20; i++) CHECK_INT(rig_probe(l), HF_OK);
}

static void statement_count(const char *statement, void *user)
{
    CHECK(!strncmp(statement, "CREATE ", 7) || !strncmp(statement, "SELECT ", 7)
          || !strncmp(statement, "INSERT ", 7));
    ++*(int *)user;
}

TEST(postgres_refused, tables_are_installed_twice_and_by_hand_alike)
{
    struct hf_client_options patient = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    int count = 0;
    patient.timeout_ms = patient.patience_ms = RIG_PATIENCE_MS;
    postgres_begin(&server, NULL, NULL);
    rig_begin_at(server.url);
    CHECK_INT(hf_schema_install(server.url, &patient, &err), HF_OK);
    CHECK_INT(hf_schema_text(server.url, statement_count, &count, &err), HF_OK);
    CHECK(count > 3);
    LAB_CHECK(lab_postgres_do(&server, "CREATE ROLE u LOGIN"));
    CHECK_INT(hf_schema_install(url_of("u", "postgres?search_path=s"), &patient,
                                &err),
              HF_DENIED);
    CHECK(strstr(err.text, "lacks a right") != NULL);
    CHECK_INT(hf_schema_install("memory:", NULL, &err), HF_INVALID);
    CHECK_INT(hf_schema_text("memory:", statement_count, &count, &err),
              HF_UNSUPPORTED);
    CHECK_INT(hf_schema_text(server.url, NULL, NULL, &err), HF_INVALID);
    CHECK_INT(hf_schema_install(NULL, NULL, &err), HF_INVALID);
}

static void pooler_end(void *arg)
{
    lab_pooler_stop(arg);
}

/* LISTEN would be heard by nobody, and a statement be unknown. */
TEST(postgres_refused, a_pooler_in_transaction_mode_is_named)
{
    static struct lab_pooler pooler;
    char url[96];
    postgres_begin(&server, NULL, NULL);
    rig_begin_at(server.url);
    LAB_CHECK(lab_pooler_start(&pooler, &server));
    test_cleanup(pooler_end, &pooler);
    snprintf(url, sizeof url, "postgres://postgres@127.0.0.1:%d/postgres",
             pooler.port);
    url_is_refused(url, HF_UNSUPPORTED, "a pooler answers there");
}
