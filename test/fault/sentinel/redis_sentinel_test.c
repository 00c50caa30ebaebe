/*
 * redis_sentinel_test.c: finding the primary by its Sentinels.  One rule: what
 * some Sentinels do not know, or cannot say, the others do; and when none does
 * the error text says so.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"
#include "lib/sentinel_rig.h"

static struct lab_sentinels g;

#define SHORT_MS 1500 /* where nothing is to answer */

static hf_client *client_for(const char *url, int64_t patience_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = patience_ms;
    return rig_client_at(url, &o);
}

static hf_client *client_at(const char *url)
{
    return client_for(url, RIG_PATIENCE_MS);
}

/* A try fails with this status, and the error text has the words. */
static void client_says(hf_client *c, int status, const char *words)
{
    struct hf_error err = {0};
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, &err), status);
    if (!strstr(err.text, words))
        TEST_FAIL("\"%s\" lacks \"%s\"", err.text, words);
    rig_close(c);
}

static void try_says(const char *url, int status, const char *words)
{
    client_says(client_at(url), status, words);
}

static int open_status(const char *url, struct hf_error *err)
{
    hf_client *c = NULL;
    int status = hf_client_open(url, NULL, &c, err);
    hf_client_close(c);
    return status;
}

TEST(redis_sentinel, a_lock_is_taken_on_the_primary)
{
    char url[256];
    hf_hold *grant;
    sentinel_begin(&g);
    snprintf(url, sizeof url, "%s?wait=all", g.url);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_try(l, &grant, NULL), HF_OK);
    CHECK_INT(hf_hold_replicas(grant), 2);
    CHECK_INT(redis_number(&g.servers[0], "EXISTS a"), 1);
    CHECK_INT(redis_number(&g.servers[1], "EXISTS a"), 1);
    CHECK_INT(hf_hold_release(grant, NULL), HF_OK);
    CHECK_INT(redis_number(&g.servers[0], "EXISTS a"), 0);
}

TEST(redis_sentinel, seeds_that_do_not_exist_are_passed_over)
{
    char url[256];
    sentinel_begin(&g);
    snprintf(url, sizeof url,
             "redis-sentinel://no-such-host.invalid,127.0.0.1:%d,127.0.0.1:%d/"
             "%s",
             redis_dead_port(), g.sentinels[2].port, SENTINEL_MASTER);
    hf_client *c = client_at(url);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

TEST(redis_sentinel, an_unknown_master_is_said_at_once)
{
    char url[256];
    struct hf_error err = {0};
    sentinel_begin(&g);
    snprintf(url, sizeof url, "redis-sentinel://%s/nobody", g.hosts);
    try_says(url, HF_INVALID, "no master of the name \"nobody\"");
    hf_client *c = client_at(url);
    int64_t start_ms = rig_now_ms();
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    CHECK_INT(hf_lock_acquire(rig_lock(c, "a"), &o, NULL, &err), HF_INVALID);
    CHECK(rig_now_ms() - start_ms < RIG_WAIT_MS / 2);
}

TEST(redis_sentinel, a_server_that_is_no_sentinel_says_so)
{
    static struct lab_server r;
    char url[128];
    redis_begin(&r, NULL);
    rig_begin_on("memory:");
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d/x", r.port);
    try_says(url, HF_INVALID, "it is no Sentinel");
}

TEST(redis_sentinel, a_sentinel_that_is_taken_for_a_server_says_so)
{
    static struct lab_server r;
    redis_begin_sentinel(&r, "");
    rig_begin_on("memory:");
    try_says(r.url, HF_INVALID, "it is a Sentinel: write redis-sentinel://");
}

TEST(redis_sentinel, nobody_there_is_unavailable_within_the_patience)
{
    char url[128];
    rig_begin_on("memory:");
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d,127.0.0.1:%d/x",
             redis_dead_port(), redis_dead_port());
    int64_t start_ms = rig_now_ms();
    client_says(client_for(url, SHORT_MS), HF_UNAVAILABLE,
                "no Sentinel tells where the primary is");
    CHECK(rig_now_ms() - start_ms < RIG_PATIENCE_MS);
}

TEST(redis_sentinel, bad_urls_are_refused_when_opened)
{
    static const struct {
        const char *url, *words;
    } bad[] = {
        {"redis-sentinel://h1,h2", "the master's name is missing"},
        {"redis-sentinel://h1,h2/", "the master's name is missing"},
        {"redis-sentinel:///x", "url: host"},
        {"redis-sentinel://h1,,h2/x", "url: host"},
        {"redis-sentinel://h1:99999/x", "url: port"},
        {"redis-sentinel://h1/x/y", "url: database"},
        {"redis-sentinel://h1/x?wait=few", "url: wait"},
        {"redis-sentinel://h1/x?sentinel_password_file=/nonexistent/f",
         "sentinel_password_file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_error err = {0};
        CHECK(open_status(bad[i].url, &err) != HF_OK);
        if (!strstr(err.text, bad[i].words))
            TEST_FAIL("%s: \"%s\" lacks \"%s\"", bad[i].url, err.text,
                      bad[i].words);
    }
}

/* ---- passwords ---------------------------------------------------------- */

static void password_write(char *path, size_t size, const char *password)
{
    snprintf(path, size, "%s/password", g.sentinels[0].dir);
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    fprintf(out, "%s\n", password);
    CHECK_INT(fclose(out), 0);
}

TEST(redis_sentinel, sentinels_have_a_password_of_their_own)
{
    char url[512], path[200];
    sentinel_begin_with(&g, "requirepass sesame\n"
                            "sentinel sentinel-pass sesame\n");
    try_says(g.url, HF_DENIED, "a password is needed");
    password_write(path, sizeof path, "sesame");
    snprintf(url, sizeof url, "%s?sentinel_password_file=%s", g.url, path);
    hf_lock *l = rig_lock(client_at(url), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    password_write(path, sizeof path, "wrong-secret");
    struct hf_error err = {0};
    hf_client *c = client_at(url);
    CHECK_INT(hf_lock_try(rig_lock(c, "b"), NULL, &err), HF_DENIED);
    CHECK(strstr(err.text, "wrong-secret") == NULL);
    CHECK(strstr(err.text, "password") != NULL);
}

TEST(redis_sentinel, their_password_may_come_from_the_environment)
{
    sentinel_begin_with(&g, "requirepass sesame\n"
                            "sentinel sentinel-pass sesame\n");
    setenv("HOLDFAST_SENTINEL_PASSWORD", "sesame", 1);
    hf_lock *l = rig_lock(client_at(g.url), "a");
    unsetenv("HOLDFAST_SENTINEL_PASSWORD");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}
