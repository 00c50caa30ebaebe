/*
 * zookeeper_session_test.c: sessions that end, and holders that do not know it
 * yet.  One rule: by the time another client has the lock, its former holder
 * has been told, or will be before it does anything else.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/holder.h"
#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_zookeeper.h"

#define SLOWLY "patience=60s" /* Java begins slowly, on a busy machine */

static struct lab_zookeeper server;
static struct lab_proxy proxy;
static char url[160], line_url[160];

static void begin(const char *session)
{
    zookeeper_begin(&server);
    snprintf(url, sizeof url, "%s/t?chroot=create&session=%s&" SLOWLY,
             server.url, session);
    rig_begin_at(url);
}

static hf_client *client_of_line(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1000;
    o.patience_ms = RIG_WAIT_MS;
    return rig_client_at(line_url, &o);
}

static void line_begin(const char *session)
{
    begin(session);
    proxy_begin(&proxy, server.port);
    snprintf(line_url, sizeof line_url,
             "zookeeper://127.0.0.1:%d/t?chroot=create&session=%s&" SLOWLY,
             proxy.port, session);
}

/* The holder is cut off: the session ends at the server some time after the
 * hold has ended here, never before. */
TEST(zookeeper_session, that_ends_behind_a_cut_is_lost_before_others_have_it)
{
    hf_hold *g = NULL, *next = NULL;
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, 0);
    line_begin("4s");
    for (int i = 0; i < 2; i++) {
        hf_lock *l = rig_lock(client_of_line(), "a");
        hf_lock *other = rig_lock(rig_client(NULL), "a");
        CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
        CHECK(rig_until_renewed(l, 0, 2));
        lab_proxy_sever(&proxy, 1);
        CHECK_INT(rig_acquire(other, 0, RIG_PATIENCE_MS, &next), HF_OK);
        CHECK_INT(hf_hold_state(g), HF_STATE_LOST);
        CHECK(hf_hold_fence(next) > hf_hold_fence(g));
        lab_proxy_sever(&proxy, 0);
        CHECK_INT(hf_hold_release(next, NULL), HF_OK);
    }
}

/* Stopped for longer than its session: awake again, it holds nothing, and what
 * it sends then changes nothing. */
TEST(zookeeper_session, of_a_stopped_process_ends_and_it_is_told)
{
    static struct lab_proc p;
    hf_hold *next = NULL;
    begin("4s");
    struct holder h = {.url = url, .name = "a", .lease_ms = 1500};
    uint64_t fence = holder_start(&p, &h);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    proc_signal(&p, SIGSTOP);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > fence);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    proc_say(&p, "release");
    CHECK(rig_until_renewed(l, 0, 3));
    CHECK_INT(hf_hold_state(next), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

/* A process that is killed says nothing: its session ends. */
TEST(zookeeper_session, of_a_killed_process_ends)
{
    static struct lab_proc p;
    hf_hold *next = NULL;
    begin("4s");
    struct holder h = {.url = url, .name = "a", .lease_ms = 1500};
    uint64_t fence = holder_start(&p, &h);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    proc_signal(&p, SIGKILL);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > fence);
}

/* The same session over another connection: locks and places stay. */
TEST(zookeeper_session, outlives_its_connections)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    line_begin("1h");
    hf_lock *l = rig_lock(client_of_line(), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    for (int i = 0; i < 5; i++) {
        lab_proxy_sever(&proxy, 1);
        rig_pause_ms(20);
        lab_proxy_sever(&proxy, 0);
        CHECK(rig_until_renewed(l, 0, 1));
        CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

/* All that the server knew is gone: the sessions with it. */
TEST(zookeeper_session, is_lost_with_the_data_of_the_server)
{
    hf_hold *g = NULL, *next = NULL;
    struct hf_acquire_options o = rig_options(RIG_TRY, 1000, 0);
    begin("2s");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    LAB_CHECK(lab_zookeeper_kill(&server));
    LAB_CHECK(lab_zookeeper_forget(&server));
    LAB_CHECK(lab_zookeeper_restart(&server, 1));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    hf_hold_release(g, NULL);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &next), HF_OK);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

/* A lease of half the session is the longest; a default one is made shorter. */
TEST(zookeeper_session, bounds_the_leases)
{
    hf_hold *g = NULL;
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(RIG_TRY, 5001, 0);
    begin("10s");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), 5000);
    CHECK_INT(hf_hold_extend(g, 5001, &err), HF_INVALID);
    if (!strstr(err.text, "half of")) TEST_FAIL("%s", err.text);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, &g, &err), HF_INVALID);
    if (!strstr(err.text, "half of")) TEST_FAIL("%s", err.text);
    o.lease_ms = 5000;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

#define MANY 500

/* One heartbeat answers for all locks of a client. */
TEST(zookeeper_session, carries_many_locks_with_few_requests)
{
    static hf_hold *holds[MANY];
    hf_lock *last = NULL;
    struct hf_acquire_options o = rig_options(RIG_TRY, 6000, 0);
    long before, after;
    o.renew_ms = 500;
    line_begin("60s");
    hf_client *c = client_of_line();
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "n-%d", i);
        last = rig_lock(c, name);
        CHECK_INT(hf_lock_acquire(last, &o, &holds[i], NULL), HF_OK);
    }
    CHECK(rig_until_renewed(last, 0, 4)); /* the nodes are watched by now */
    before = atomic_load(&proxy.bytes[LAB_UP]);
    CHECK(rig_until_renewed(last, 0, 4));
    after = atomic_load(&proxy.bytes[LAB_UP]);
    /* Four renewals of each would be 2000 requests of 60 bytes and more. */
    CHECK(after - before < 60000);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(hf_hold_state(holds[i]), HF_STATE_HELD);
}
