/*
 * redisson_lease.c: which side renews a lock, and what happens when none does.
 * One rule: a live holder keeps it for many leases, a dead holder for one.
 */
#include <signal.h>

#include "lib/holder.h"
#include "peer.h"

#define LEASE_MS 3000
#define MANY_LEASES_MS (3 * LEASE_MS)
#define SLACK_MS 20 /* the server's clock and ours are not one */

static struct lab_server server;
static struct peer java;

TEST(redisson_lease, javas_watchdog_keeps_it_from_us)
{
    peer_begin(&java, &server, LEASE_MS);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a"), "ok");
    CHECK_INT(rig_acquire(l, 0, MANY_LEASES_MS, NULL), HF_TIMEOUT);
    CHECK_INT(peer_number(&java, "count a"), 1);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(redisson_lease, our_watchdog_keeps_it_from_java)
{
    hf_hold *g = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    peer_begin(&java, &server, 30000);
    o.lease_ms = LEASE_MS;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "try a %d", MANY_LEASES_MS), "false");
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "try a 0"), "true");
}

TEST(redisson_lease, the_watchdog_of_javas_fenced_lock_keeps_it_from_us)
{
    peer_begin(&java, &server, LEASE_MS);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK(peer_number(&java, "fencedlock a") > 0);
    CHECK_INT(rig_acquire(l, 0, MANY_LEASES_MS, NULL), HF_TIMEOUT);
    CHECK_STR(peer_ask(&java, "fencedunlock a"), "ok");
}

TEST(redisson_lease, javas_watchdog_does_not_touch_what_we_took_by_a_break)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    int64_t ttl_ms = 0;
    peer_begin(&java, &server, LEASE_MS);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a"), "ok");
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    rig_pause_ms(LEASE_MS); /* three renewals of Java's */
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    CHECK(ttl_ms > LEASE_MS); /* its renewal would have set that */
    CHECK_INT(peer_number(&java, "count a"), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

/* Java takes it for itself, so that a lease of ours cannot be found again. */
TEST(redisson_lease, we_are_told_when_java_forces_our_lock_open)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_event ev = HF_EVENT_INIT;
    peer_begin(&java, &server, 30000);
    o.lease_ms = 12000;
    hf_client *c = rig_client(&o);
    CHECK(hf_client_event_fd(c) >= 0);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "force a"), "true");
    CHECK_STR(peer_ask(&java, "lock a"), "ok");
    int64_t began_ms = rig_now_ms();
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK(rig_now_ms() - began_ms < 11000); /* before the lease's own end */
    CHECK(rig_until_readable(hf_client_event_fd(c), RIG_PATIENCE_MS));
    CHECK_INT(hf_client_next_event(c, &ev), HF_OK);
    CHECK_INT(ev.state, HF_STATE_LOST);
    CHECK_INT(ev.status, HF_LOST);
    CHECK_INT(peer_number(&java, "count a"), 1);
}

TEST(redisson_lease, we_get_a_killed_javas_lock_when_its_lease_ends)
{
    static struct waiter w;
    peer_begin(&java, &server, LEASE_MS);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a"), "ok");
    waiter_start(&w, &server, l);
    peer_kill(&java);
    int64_t now_ms = rig_now_ms(), ttl_ms = redis_number(&server, "PTTL a");
    CHECK(ttl_ms > 0 && ttl_ms <= LEASE_MS);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms >= now_ms + ttl_ms - SLACK_MS);
}

TEST(redisson_lease, java_gets_our_killed_processs_lock_when_its_lease_ends)
{
    static struct lab_proc p;
    static struct holder h;
    peer_begin(&java, &server, 30000);
    h = (struct holder){server.url, "a", LEASE_MS, 0};
    holder_start(&p, &h);
    peer_say(&java, "try a %d", PEER_LEASE_MS);
    CHECK(peer_until_waiters(&server, "a", 1));
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    int64_t now_ms = rig_now_ms(), ttl_ms = redis_number(&server, "PTTL a");
    CHECK(ttl_ms > 0 && ttl_ms <= LEASE_MS);
    CHECK_STR(peer_hear(&java, RIG_PATIENCE_MS), "true");
    CHECK(rig_now_ms() >= now_ms + ttl_ms - SLACK_MS);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
}
