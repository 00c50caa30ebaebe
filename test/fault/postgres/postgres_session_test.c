/*
 * postgres_session_test.c: session=on: locks that end with their connection.
 * One rule: a hold has a lease that no test outlives, unless the lease is what
 * the test is about; what ends it sooner is the connection.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lab/pooler.h"
#include "lib/holder.h"
#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_postgres.h"

#define LONG_MS 3600000
#define KEY "hashtextextended('a', 0)"

static struct lab_postgres server;
static char url[128];

static void session_url(int port)
{
    snprintf(url, sizeof url,
             "postgres://postgres@127.0.0.1:%d/postgres?session=on", port);
}

static void server_end(void *arg)
{
    lab_postgres_stop(arg);
}

/* A server without tables: none are needed. */
static void begin(void)
{
    LAB_CHECK(lab_postgres_start(&server, NULL));
    test_cleanup(server_end, &server);
    session_url(server.port);
    rig_begin_at(url);
}

static hf_client *client_at(const char *at, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    o.patience_ms = RIG_WAIT_MS;
    return rig_client_at(at, &o);
}

static hf_hold *hold_of(hf_lock *l)
{
    hf_hold *g = NULL;
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    return g;
}

/* ---- held --------------------------------------------------------------- */

TEST(postgres_session, excludes_other_clients_and_other_programs)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hf_hold *g = hold_of(l);
    CHECK_INT(hf_hold_fence(g), 0);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_STR(lab_postgres_say(&server, "SELECT pg_try_advisory_lock(" KEY ")"),
              "f");
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_STR(lab_postgres_say(&server, "SELECT pg_try_advisory_lock(" KEY ")"),
              "t");
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(postgres_session, another_client_sees_that_it_is_held)
{
    struct hf_info info = HF_INFO_INIT;
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(l);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.foreign, 0);
    CHECK_STR(info.layout, "advisory");
    CHECK_STR(info.host, "127.0.0.1");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.mine, 1);
}

TEST(postgres_session, has_plain_locks_only)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_acquire_options a = rig_options(RIG_TRY, 0, HF_ACQUIRE_DETACHED);
    hf_lock *l = NULL;
    struct hf_error err = {0};
    begin();
    hf_client *c = client_at(url, LONG_MS);
    CHECK_INT(hf_client_caps(c), HF_CAP_LEASE | HF_CAP_WATCH);
    o.kind = HF_KIND_WRITE;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &l, &err), HF_UNSUPPORTED);
    o.kind = HF_KIND_PLAIN;
    o.order = HF_ORDER_FAIR;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &l, &err), HF_UNSUPPORTED);
    CHECK_INT(hf_lock_acquire(rig_lock(c, "a"), &a, NULL, &err),
              HF_UNSUPPORTED);
}

static int is_nothing_held(void *arg)
{
    (void)arg;
    return !strcmp(lab_postgres_ask(&server, "SELECT count(*) FROM pg_locks"
                                             " WHERE locktype = 'advisory'"),
                   "0");
}

/* A statement that is cancelled when it has got the lock: the server does not
 * give it back.  Here a function of the same name is found first. */
TEST(postgres_session, a_try_that_fails_leaves_no_lock)
{
    begin();
    LAB_CHECK(lab_postgres_do(
        &server,
        "CREATE SCHEMA s; CREATE FUNCTION s.pg_try_advisory_lock(k bigint)"
        " RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_catalog.pg_try_advisory_lock(k);"
        " RAISE EXCEPTION 'cancelled' USING ERRCODE = '57014'; END $$;"
        "ALTER ROLE postgres SET search_path = s, pg_catalog"));
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_UNAVAILABLE);
    CHECK(rig_until(is_nothing_held, NULL));
    LAB_CHECK(lab_postgres_do(&server, "DROP SCHEMA s CASCADE"));
    CHECK_INT(hf_hold_release(hold_of(l), NULL), HF_OK);
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* ---- its connection ends ------------------------------------------------ */

TEST(postgres_session, lock_of_a_killed_holder_is_free_at_once)
{
    static struct lab_proc p;
    begin();
    struct holder h = {url, "a", LONG_MS, 0};
    holder_start(&p, &h);
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    proc_signal(&p, SIGKILL);
    hold_of(other);
}

TEST(postgres_session, session_that_the_server_ends_is_lost_at_once)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "b");
    hf_hold *g = hold_of(l);
    CHECK_INT(rig_probe(other), HF_OK);
    LAB_CHECK(lab_postgres_do(&server,
                              "SELECT pg_terminate_backend(pid) FROM pg_locks"
                              " WHERE locktype = 'advisory'"));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    hf_lock *next = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(next);
    CHECK(hf_hold_release(g, NULL) != HF_OK);
    CHECK_INT(rig_probe(l), HF_TAKEN);
}

/* A hold with a fixed lease asks for nothing by itself. */
TEST(postgres_session, server_that_goes_is_told_though_it_does_not_come_back)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, LONG_MS, HF_ACQUIRE_FIXED);
    begin();
    hf_client *c = client_at(url, LONG_MS);
    hf_lock *kept = rig_lock(c, "kept"), *fixed = rig_lock(c, "fixed");
    hold_of(kept);
    CHECK_INT(hf_lock_acquire(fixed, &o, NULL, NULL), HF_OK);
    LAB_CHECK(lab_postgres_shutdown(&server, 0));
    CHECK(rig_until_state(kept, 0, HF_STATE_LOST));
    CHECK(rig_until_state(fixed, 0, HF_STATE_LOST));
}

TEST(postgres_session, line_that_is_cut_is_lost_at_once)
{
    static struct lab_proxy proxy;
    begin();
    proxy_begin(&proxy, server.port);
    session_url(proxy.port);
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(l);
    proxy_sever(&proxy, 1);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    session_url(server.port);
    hold_of(rig_lock(client_at(url, LONG_MS), "a"));
}

/* Past its lease: the server knows of none. */
TEST(postgres_session, paused_holder_keeps_it_until_it_wakes)
{
    static struct lab_proc p;
    begin();
    struct holder h = {url, "a", 4000, 0};
    holder_start(&p, &h);
    proc_signal(&p, SIGSTOP);
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    rig_pause_ms(5000);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    hold_of(other);
}

/* ---- its line is silent ------------------------------------------------- */

/* Nothing is proved any more: the hold ends with its lease, and the server,
 * which stands still, has not given it to anybody. */
TEST(postgres_session, silent_server_ends_it_with_its_lease)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, 1500), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(l);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    LAB_CHECK(lab_postgres_pause(&server));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    LAB_CHECK(lab_postgres_resume(&server));
    hold_of(other);
}

/* ---- refused ------------------------------------------------------------ */

static void pooler_end(void *arg)
{
    lab_pooler_stop(arg);
}

/* Two clients would get the same lock there. */
TEST(postgres_session, is_refused_behind_a_pooler)
{
    static struct lab_pooler pooler;
    struct hf_error err = {0};
    begin();
    LAB_CHECK(lab_pooler_start(&pooler, &server));
    test_cleanup(pooler_end, &pooler);
    session_url(pooler.port);
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "a pooler answers there") != NULL);
}

static int opens(const char *text, const char *words)
{
    hf_client *c = NULL;
    struct hf_error err = {0};
    int status = hf_client_open(text, NULL, &c, &err);
    hf_client_close(c);
    if (status != HF_OK && !strstr(err.text, words))
        TEST_FAIL("\"%s\" is not in: %s", words, err.text);
    return status;
}

TEST(postgres_session, urls_that_contradict_themselves_are_invalid)
{
    CHECK_INT(opens("postgres://127.0.0.1:1/a?session=yes", "neither on nor"),
              HF_INVALID);
    CHECK_INT(opens("postgres://127.0.0.1:1/a?session=on&schema=create",
                    "session=on needs no tables"),
              HF_INVALID);
    CHECK_INT(opens("quorum:postgres://127.0.0.1:1/a?session=on|memory:x",
                    "cannot be a member of a quorum"),
              HF_UNSUPPORTED);
}
