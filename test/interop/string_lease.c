/*
 * string_lease.c: which side renews a lock, and what happens when none does.
 * One rule: a live holder keeps it for many leases, a dead holder for one.
 */
#include <signal.h>

#include "lib/holder.h"
#include "library.h"

#define LEASE_MS 2000
#define MANY_LEASES_MS (2 * LEASE_MS + LEASE_MS / 2)
#define SLACK_MS 20 /* the server's clock and ours are not one */

LIBRARY_TEST(lease, what_it_extends_we_do_not_get_by_its_first_lease)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", LEASE_MS), "ok");
    CHECK_STR(peer_ask(&t->there, "extend a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(rig_acquire(l, 0, MANY_LEASES_MS, NULL), HF_TIMEOUT);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}

LIBRARY_TEST(lease, what_we_extend_it_does_not_get_by_our_first_lease)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o =
        rig_options(RIG_TRY, LEASE_MS, HF_ACQUIRE_FIXED);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(g, PEER_LEASE_MS, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a %d 1000", MANY_LEASES_MS), "false");
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

LIBRARY_TEST(lease, our_watchdog_keeps_it_out)
{
    hf_hold *g = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = LEASE_MS;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a %d 1000", MANY_LEASES_MS), "false");
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 1000"), "true");
}

LIBRARY_TEST(lease, of_a_killed_one_ends_and_we_get_the_lock)
{
    static struct waiter w;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", LEASE_MS), "ok");
    waiter_start_polling(&w, l, HF_BACKOFF_NONE);
    peer_kill(&t->there);
    int64_t now_ms = rig_now_ms(), ttl_ms = redis_number(&t->server, "PTTL a");
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms >= now_ms + ttl_ms - SLACK_MS);
}

LIBRARY_TEST(lease, of_our_killed_process_ends_and_it_gets_the_lock)
{
    static struct lab_proc p;
    static struct holder h;
    h = (struct holder){rig_url(), "a", LEASE_MS, 0};
    holder_start(&p, &h);
    peer_say(&t->there, "try a %d %d", PEER_LEASE_MS, PEER_LEASE_MS);
    CHECK(peer_hear(&t->there, 300) == NULL);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    int64_t now_ms = rig_now_ms(), ttl_ms = redis_number(&t->server, "PTTL a");
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "true");
    CHECK(rig_now_ms() >= now_ms + ttl_ms - SLACK_MS);
}
