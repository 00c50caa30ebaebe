/*
 * tls_line_test.c: lines that break or are slow while TLS is set up, and
 * servers that come back with another certificate.  One rule: every call ends
 * by its deadline with a true answer, and a client goes on without help when
 * the server is back.
 */
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/tls_server.h"

#define LEASE_MS 1500
#define WAIT_MS 5000
#define STEP 13 /* between two cuts; all records are longer */

static struct lab_tls s;
static struct lab_proxy proxy;

static void begin(void)
{
    tls_server_begin(&s, "no");
    rig_begin_at("");
    proxy_begin(&proxy, s.port);
}

static hf_client *client_by_proxy(int64_t timeout_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[1024];
    o.lease_ms = LEASE_MS;
    o.timeout_ms = timeout_ms;
    o.patience_ms = 3000;
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d?tls_ca=%s", proxy.port,
             s.ca);
    return rig_client_at(url, &o);
}

/* ---- lines that break --------------------------------------------------- */

/* Connect, acquire and release; the bytes that went that way. */
static long exchange(enum lab_way way, long cut_at, int with_reset)
{
    struct hf_error err = {0};
    proxy_arm(&proxy, way, cut_at, with_reset);
    hf_client *c = client_by_proxy(1000);
    hf_lock *l = rig_lock(c, "a");
    int64_t began_ms = rig_now_ms();
    struct hf_acquire_options a = rig_options(WAIT_MS, 0, 0);
    int status = hf_lock_acquire(l, &a, NULL, &err);
    if (status == HF_OK) status = hf_lock_release(l, NULL, &err);
    if (status != HF_OK && status != HF_UNAVAILABLE)
        TEST_FAIL("cut at %ld: %s: %s", cut_at, hf_status_name(status),
                  err.text);
    CHECK(rig_now_ms() - began_ms < WAIT_MS + 10000);
    long bytes = atomic_load(&proxy.bytes[way]);
    rig_close(c);
    return bytes;
}

static void cut_everywhere(enum lab_way way, int with_reset)
{
    begin();
    long whole = exchange(way, -1, 0);
    CHECK(whole > 200);
    int granted = 0;
    for (long at = 1 + with_reset; at < whole; at += STEP) {
        exchange(way, at, with_reset);
        granted++;
    }
    CHECK(granted > 10);
    /* Nothing stays, except until the lease of a grant whose answer was lost is
     * over. */
    hf_lock *l = rig_lock(rig_client_at(tls_server_url(&s, ""), NULL), "a");
    CHECK_INT(rig_acquire(l, 0, LEASE_MS + 10000, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&s.redis, "EXISTS a"), 0);
}

TEST(tls_line, may_break_at_any_byte_of_what_the_server_says)
{
    cut_everywhere(PROXY_DOWN, 0);
}

TEST(tls_line, may_break_at_any_byte_of_what_we_say)
{
    cut_everywhere(PROXY_UP, 0);
}

TEST(tls_line, may_be_reset_at_any_byte_of_what_the_server_says)
{
    cut_everywhere(PROXY_DOWN, 1);
}

TEST(tls_line, that_is_set_up_again_resumes_its_session)
{
    begin();
    proxy_arm(&proxy, PROXY_DOWN, -1, 0);
    hf_lock *l = rig_lock(client_by_proxy(2000), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    long first = atomic_load(&proxy.bytes[PROXY_DOWN]);
    proxy_arm(&proxy, PROXY_DOWN, -1, 0);
    tls_server_kick(&s);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    /* Another greeting, but no certificate. */
    long second = atomic_load(&proxy.bytes[PROXY_DOWN]);
    if (second + 300 > first) TEST_FAIL("%ld, then %ld", first, second);
}

/* ---- lines that are slow ------------------------------------------------ */

TEST(tls_line, that_is_slower_than_the_deadline_ends_the_handshake_in_time)
{
    struct hf_error err = {0};
    begin();
    proxy_delay(&proxy, PROXY_DOWN, 60000);
    hf_lock *l = rig_lock(client_by_proxy(400), "a");
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < 15000);
    began_ms = rig_now_ms();
    struct hf_acquire_options a = rig_options(20000, 0, 0);
    CHECK_INT(hf_lock_acquire(l, &a, NULL, &err), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < 15000);
    CHECK(strstr(err.text, "tls: handshake: no answer within") != NULL);
    CHECK_INT(redis_number(&s.redis, "EXISTS a"), 0);
}

TEST(tls_line, that_is_slow_but_fast_enough_works)
{
    begin();
    proxy_delay(&proxy, PROXY_DOWN, 150);
    hf_lock *l = rig_lock(client_by_proxy(2000), "a");
    CHECK_INT(rig_acquire(l, 0, 10000, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

TEST(tls_line, to_a_stopped_server_ends_by_the_deadline_and_works_again)
{
    begin();
    hf_client *c = client_by_proxy(1500);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_probe(l), HF_OK);
    redis_pause(&s.redis);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    CHECK_INT(rig_acquire(l, 0, 800, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < 15000);
    redis_resume(&s.redis);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (rig_acquire(l, 0, 5000, NULL) != HF_OK) CHECK(rig_now_ms() < end_ms);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

/* ---- servers that come back --------------------------------------------- */

TEST(tls_line, a_restart_with_a_new_certificate_is_survived_by_a_hold)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    tls_server_begin(&s, "no");
    certs_make(&s.certs, "next", "ca", CERTS_HERE, 30);
    rig_begin_at("");
    hf_lock *l = rig_lock(rig_client_at(tls_server_url(&s, ""), NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    redis_shutdown(&s.redis, 1);
    tls_server_show_later(&s, "next");
    redis_start(&s.redis);
    CHECK(rig_until_renewed(l, 0, 5));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(tls_line, a_restart_with_a_bad_certificate_is_denied_until_it_is_good)
{
    struct hf_error err = {0};
    tls_server_begin(&s, "no");
    certs_authority(&s.certs, "other");
    certs_make(&s.certs, "foreign", "other", CERTS_HERE, 30);
    rig_begin_at("");
    hf_lock *l = rig_lock(rig_client_at(tls_server_url(&s, ""), NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    redis_shutdown(&s.redis, 0);
    tls_server_show_later(&s, "foreign");
    redis_start(&s.redis);
    struct hf_acquire_options a = rig_options(30000, 0, 0);
    CHECK_INT(hf_lock_acquire(l, &a, NULL, &err), HF_DENIED);
    CHECK(strstr(err.text, "authority of tls_ca=") != NULL);
    tls_server_show(&s, "server");
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (rig_probe(l) != HF_OK) {
        CHECK(rig_now_ms() < end_ms);
        rig_pause_ms(20);
    }
}
