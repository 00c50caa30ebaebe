/*
 * tls_cert_test.c: certificates that are no good, the server's and ours.  One
 * rule: each has its own error text, is denied at once however long the caller
 * would wait, and no password is sent to a server without a good one.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/rig.h"
#include "lib/tls_server.h"

#define SOON_MS 20000
#define SECRET "open sesame"

static struct lab_tls s;

struct heard {
    atomic_int warnings;
    atomic_int secrets;
};
static struct heard heard;

static void on_log(int level, const char *line, void *user)
{
    (void)level;
    (void)user;
    if (strstr(line, "tls_verify")) atomic_fetch_add(&heard.warnings, 1);
    if (strstr(line, SECRET)) atomic_fetch_add(&heard.secrets, 1);
}

static hf_client *client_at(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.log = on_log;
    o.log_level = HF_LOG_DEBUG;
    return rig_client_at(url, &o);
}

static void begin(const char *auth)
{
    memset(&heard, 0, sizeof heard);
    tls_server_begin(&s, auth);
    rig_begin_at("");
}

/* A call with a wait of a minute is denied soon; 1 if its text has `word`. */
static int is_denied(const char *url, const char *word, struct hf_error *out)
{
    struct hf_error err = {0};
    int64_t began_ms = rig_now_ms();
    hf_client *c = client_at(url);
    struct hf_acquire_options a = rig_options(60000, 0, 0);
    int status = hf_lock_acquire(rig_lock(c, "a"), &a, NULL, &err);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    CHECK_INT(status, HF_DENIED);
    CHECK_INT(err.status, HF_DENIED);
    CHECK_INT(redis_number(&s.redis, "EXISTS a"), 0);
    rig_close(c);
    *out = err;
    return strstr(err.text, word) != NULL;
}

static void denied(const char *url, const char *word)
{
    struct hf_error err;
    if (!is_denied(url, word, &err))
        TEST_FAIL("%s (not \"%s\")", err.text, word);
}

/* The same, where the word is in the server's alert, which is lost at times:
 * that it is about our certificate is told in any case. */
static void denied_by_alert(const char *url, const char *word)
{
    struct hf_error err;
    for (int i = 0; i < 10; i++) {
        if (is_denied(url, word, &err)) return;
        CHECK(strstr(err.text, "our certificate") != NULL);
    }
    TEST_FAIL("%s (not \"%s\")", err.text, word);
}

static void works(const char *url)
{
    struct hf_error err = {0};
    hf_client *c = client_at(url);
    hf_lock *l = rig_lock(c, "a");
    struct hf_acquire_options a = rig_options(RIG_WAIT_MS, 0, 0);
    if (hf_lock_acquire(l, &a, NULL, &err) != HF_OK)
        TEST_FAIL("%s: %s", url, err.text);
    CHECK_INT(redis_number(&s.redis, "EXISTS a"), 1);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_close(c);
}

/* ---- the server's ------------------------------------------------------- */

TEST(tls_cert, a_good_one_is_believed)
{
    begin("no");
    works(tls_server_url(&s, ""));
}

TEST(tls_cert, an_expired_one_is_denied)
{
    begin("no");
    certs_make(&s.certs, "old", "ca", CERTS_HERE, -1);
    tls_server_show(&s, "old");
    denied(tls_server_url(&s, ""), "has expired on 20");
}

TEST(tls_cert, one_for_another_name_is_denied_and_the_names_are_told)
{
    begin("no");
    certs_make(&s.certs, "alien", "ca", "DNS:elsewhere.example,IP:10.9.8.7",
               30);
    tls_server_show(&s, "alien");
    denied(tls_server_url(&s, ""),
           "not for 127.0.0.1, but for elsewhere.example, 10.9.8.7");
    works(tls_server_url(&s, "&tls_name=elsewhere.example"));
    works(tls_server_url(&s, "&tls_name=10.9.8.7"));
    denied(tls_server_url(&s, "&tls_name=else.example"),
           "not for else.example");
}

TEST(tls_cert, one_without_an_alternative_name_is_denied)
{
    begin("no");
    certs_make(&s.certs, "localhost", "ca", NULL, 30); /* its subject */
    tls_server_show(&s, "localhost");
    denied(tls_server_url(&s, "&tls_name=localhost"),
           "not for localhost: it has no subject alternative name");
    denied(tls_server_url(&s, ""), "not for 127.0.0.1: it has no subject");
}

TEST(tls_cert, a_star_stands_for_one_whole_label)
{
    begin("no");
    certs_make(&s.certs, "star", "ca", "DNS:*.a.example,DNS:b*.a.test", 30);
    tls_server_show(&s, "star");
    works(tls_server_url(&s, "&tls_name=one.a.example"));
    denied(tls_server_url(&s, "&tls_name=two.one.a.example"), "not for two");
    denied(tls_server_url(&s, "&tls_name=bc.a.test"), "not for bc");
}

TEST(tls_cert, one_of_another_authority_is_denied)
{
    begin("no");
    certs_authority(&s.certs, "other");
    certs_make(&s.certs, "foreign", "other", CERTS_HERE, 30);
    tls_server_show(&s, "foreign");
    denied(tls_server_url(&s, ""), "not signed by an authority of tls_ca=");
}

TEST(tls_cert, one_that_signed_itself_is_denied)
{
    begin("no");
    certs_authority(&s.certs, "alone");
    tls_server_show(&s, "alone");
    denied(tls_server_url(&s, ""), "not signed by an authority of tls_ca=");
}

TEST(tls_cert, the_systems_store_is_used_where_none_is_named)
{
    char url[64];
    begin("no");
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d", s.port);
    denied(url, "authority that we trust");
    setenv("SSL_CERT_FILE", s.ca, 1); /* OpenSSL's own word for the store */
    works(url);
    unsetenv("SSL_CERT_FILE");
}

TEST(tls_cert, unverified_must_be_asked_for_and_is_warned_of_once)
{
    begin("no");
    certs_authority(&s.certs, "other");
    certs_make(&s.certs, "foreign", "other", "DNS:nobody", -1);
    tls_server_show(&s, "foreign");
    works(tls_server_url(&s, "&tls_verify=off"));
    CHECK_INT(atomic_load(&heard.warnings), 1);
    denied(tls_server_url(&s, "&tls_verify=on"), "certificate");
    CHECK_INT(atomic_load(&heard.warnings), 1);
}

TEST(tls_cert, one_that_becomes_good_is_believed_by_who_was_denied)
{
    struct hf_error err = {0};
    begin("no");
    certs_make(&s.certs, "old", "ca", CERTS_HERE, -1);
    tls_server_show(&s, "old");
    hf_lock *l = rig_lock(client_at(tls_server_url(&s, "")), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_DENIED);
    tls_server_show(&s, "server");
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (rig_probe(l) != HF_OK) {
        CHECK(rig_now_ms() < end_ms);
        rig_pause_ms(20);
    }
}

TEST(tls_cert, no_password_goes_to_who_shows_a_bad_one)
{
    begin("no");
    CHECK_STR(redis_say(&s.redis, "ACL SETUSER bob on >pw ~* &* +@all"), "OK");
    certs_make(&s.certs, "old", "ca", CERTS_HERE, -1);
    tls_server_show(&s, "old");
    CHECK_STR(redis_say(&s.redis, "CONFIG RESETSTAT"), "OK");
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.user = "bob";
    o.password = "pw";
    hf_lock *l = rig_lock(rig_client_at(tls_server_url(&s, ""), &o), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_DENIED);
    CHECK(!strstr(redis_say(&s.redis, "INFO commandstats"), "cmdstat_auth"));
}

/* ---- ours --------------------------------------------------------------- */

static char ours[700];

static const char *ours_are(const char *cert, const char *key,
                            const char *password_file)
{
    int n = snprintf(ours, sizeof ours, "&tls_cert=%s/%s", s.certs.dir, cert);
    if (key)
        n += snprintf(ours + n, sizeof ours - (size_t)n, "&tls_key=%s/%s",
                      s.certs.dir, key);
    if (password_file)
        snprintf(ours + n, sizeof ours - (size_t)n,
                 "&tls_key_password_file=%s/%s", s.certs.dir, password_file);
    return tls_server_url(&s, ours);
}

TEST(tls_cert, a_server_that_asks_for_ours_gets_it)
{
    begin("yes");
    certs_make(&s.certs, "me", "ca", "DNS:me", 30);
    works(ours_are("me.crt", "me.key", NULL));
}

TEST(tls_cert, without_ours_a_server_that_asks_for_it_denies_us)
{
    begin("yes");
    denied(tls_server_url(&s, ""), "tls_cert=");
}

TEST(tls_cert, ours_of_an_authority_it_does_not_know_is_denied)
{
    begin("yes");
    certs_authority(&s.certs, "other");
    certs_make(&s.certs, "me", "other", "DNS:me", 30);
    denied(ours_are("me.crt", "me.key", NULL), "our certificate");
}

TEST(tls_cert, ours_that_has_expired_is_denied)
{
    begin("yes");
    certs_make(&s.certs, "me", "ca", "DNS:me", -1);
    denied_by_alert(ours_are("me.crt", "me.key", NULL),
                    "our certificate has expired");
}

TEST(tls_cert, a_locked_key_is_opened_by_the_password_in_a_file)
{
    begin("yes");
    certs_make(&s.certs, "me", "ca", "DNS:me", 30);
    certs_lock_key(&s.certs, "me", "locked", SECRET);
    certs_write(&s.certs, "secret", SECRET "\n", 0600);
    works(ours_are("me.crt", "locked.key", "secret"));
    CHECK_INT(atomic_load(&heard.secrets), 0);
}

/* Opening such a client fails, in these words. */
static void refused(const char *url, int status, const char *word)
{
    struct hf_error err = {0};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    o.log = on_log;
    int got = hf_client_open(url, &o, &c, &err);
    if (got != status || !strstr(err.text, word))
        TEST_FAIL("%s: %s: %s (not \"%s\")", url, hf_status_name(got), err.text,
                  word);
    CHECK(strstr(err.text, SECRET) == NULL);
    CHECK(c == NULL);
}

TEST(tls_cert, a_key_that_cannot_be_used_is_refused_at_once)
{
    begin("no");
    certs_make(&s.certs, "me", "ca", "DNS:me", 30);
    certs_lock_key(&s.certs, "me", "locked", SECRET);
    certs_write(&s.certs, "secret", "not " SECRET, 0600);
    refused(ours_are("me.crt", "server.key", NULL), HF_INVALID,
            "server.key: it does not belong");
    refused(ours_are("me.crt", "me.crt", NULL), HF_INVALID, "no private key");
    refused(ours_are("me.crt", NULL, NULL), HF_INVALID, "no private key");
    refused(ours_are("me.key", "me.key", NULL), HF_INVALID, "no certificate");
    refused(ours_are("me.crt", "no.key", NULL), HF_INVALID, "no.key: No such");
    refused(ours_are("no.crt", "me.key", NULL), HF_INVALID, "no.crt: No such");
    refused(ours_are("me.crt", "locked.key", NULL), HF_INVALID, "is encrypted");
    refused(ours_are("me.crt", "locked.key", "secret"), HF_INVALID,
            "does not open it");
    refused(ours_are("me.crt", "locked.key", "none"), HF_INVALID,
            "tls_key_password_file: ");
    CHECK_INT(atomic_load(&heard.secrets), 0);
}

TEST(tls_cert, files_that_were_changed_are_read_at_the_next_connect)
{
    begin("yes");
    certs_authority(&s.certs, "new");
    certs_make(&s.certs, "renewed", "new", CERTS_HERE, 30);
    certs_make(&s.certs, "me", "ca", "DNS:me", 30);
    certs_make(&s.certs, "me2", "new", "DNS:me", 30);
    certs_write(&s.certs, "trust.crt", "", 0600);
    certs_replace(&s.certs, "ca.crt", "trust.crt");
    snprintf(s.ca, sizeof s.ca, "%s/trust.crt", s.certs.dir);
    hf_lock *l = rig_lock(client_at(ours_are("me.crt", "me.key", NULL)), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    /* All change at once: the server's, its idea of ours, and both of ours. */
    CHECK_STR(redis_say(&s.redis,
                        "CONFIG SET tls-cert-file %s tls-key-file %s "
                        "tls-ca-cert-file %s",
                        certs_path(&s.certs, "renewed.crt"),
                        certs_path(&s.certs, "renewed.key"),
                        certs_path(&s.certs, "new.crt")),
              "OK");
    certs_replace(&s.certs, "new.crt", "trust.crt");
    certs_replace(&s.certs, "me2.crt", "me.crt");
    certs_replace(&s.certs, "me2.key", "me.key");
    tls_server_kick(&s);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}
