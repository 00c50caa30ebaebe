/*
 * redisson_kinds.c: Redisson's other locks under the name of one of ours.  One
 * rule: only what docs/redis-layout.md promises for them is claimed here.
 */
#include "peer.h"

static struct redis server;
static struct peer java;

static const char *const kinds[] = {"fair", "spin", "read", "write"};
#define KINDS_LEN (sizeof kinds / sizeof kinds[0])

TEST(redisson_kinds, what_java_holds_by_any_of_its_locks_we_cannot_take)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        hf_lock *l = rig_lock(c, kind);
        CHECK_STR(peer_ask(&java, "%s.lock %s %d", kind, kind, PEER_LEASE_MS),
                  "ok");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kind, kind), "ok");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    }
}

TEST(redisson_kinds, what_we_hold_java_cannot_take_by_a_fair_or_spin_lock)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < 2; i++) {
        const char *kind = kinds[i];
        hf_lock *l = rig_lock(c, kind);
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "%s.try %s 0", kind, kind), "false");
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kind, kind), "not owner");
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "%s.try %s 0", kind, kind), "true");
    }
}

/* They publish nothing that concerns us: the time left is what we go by. */
TEST(redisson_kinds, our_waiter_gets_it_by_the_end_of_their_lease)
{
    static struct waiter waiters[KINDS_LEN];
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        CHECK_STR(peer_ask(&java, "%s.lock %s 6000", kind, kind), "ok");
        waiter_start(&waiters[i], &server, rig_lock(c, kind));
    }
    for (size_t i = 0; i < KINDS_LEN; i++)
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kinds[i], kinds[i]), "ok");
    rig_join();
    for (size_t i = 0; i < KINDS_LEN; i++) CHECK_INT(waiters[i].status, HF_OK);
}
