/*
 * etcd_election.c: Go's Election, and ours.  One rule: both are one election,
 * for a candidate of either stands in the queue of the lock of that name; what
 * a leader publishes only its own side reads.
 */
#include <string.h>

#include "candidate.h"
#include "etcd_beside.h"

static struct etcd_beside *begin(void)
{
    return etcd_beside_begin("etcd-go");
}

TEST(etcd_go_election, while_it_leads_we_do_not)
{
    struct etcd_beside *t = begin();
    struct hf_leader leader = HF_LEADER_INIT;
    hf_election *e = candidate_open("post");
    CHECK_STR(peer_ask(&t->there, "campaign post %d go:80", PEER_LEASE_MS),
              "ok");
    CHECK_INT(candidate_campaign(e, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_election_look(e, &leader, NULL), HF_OK);
    CHECK_INT(leader.is_led, 1);
    CHECK_INT(leader.is_me, 0);
    CHECK(!leader.data);
    hf_leader_free(e, &leader);
    CHECK_STR(peer_ask(&t->there, "resign post"), "ok");
    CHECK_INT(candidate_campaign(e, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(etcd_go_election, while_we_lead_it_does_not)
{
    struct etcd_beside *t = begin();
    hf_election *e = candidate_open("post");
    hf_lock *l = rig_lock(rig_client(NULL), "post");
    CHECK_INT(candidate_campaign(e, RIG_TRY, "ours:80"), HF_OK);
    peer_say(&t->there, "campaign post %d go:80", PEER_LEASE_MS);
    CHECK(lock_until_queued(l, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_election_resign(e, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_STR(peer_ask(&t->there, "leader post"), "go:80");
    CHECK_INT(candidate_campaign(e, RIG_TRY, NULL), HF_TAKEN);
}

TEST(etcd_go_election, candidates_of_both_lead_in_their_order)
{
    static struct campaigner ours;
    struct etcd_beside *t = begin();
    hf_lock *l = rig_lock(rig_client(NULL), "post");
    ours.election = candidate_open("post");
    CHECK_STR(peer_ask(&t->there, "campaign post %d go:80", PEER_LEASE_MS),
              "ok");
    campaigner_start(&ours);
    CHECK(lock_until_queued(l, 1));
    CHECK_STR(peer_ask(&t->there, "resign post"), "ok");
    peer_say(&t->there, "campaign post %d go:81", PEER_LEASE_MS);
    rig_join();
    CHECK_INT(ours.status, HF_OK);
    CHECK(lock_until_queued(l, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_election_resign(ours.election, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_STR(peer_ask(&t->there, "leader post"), "go:81");
}

/* Its value is in the key itself, and there our client says what it is. */
TEST(etcd_go_election, it_reads_no_value_of_our_leader)
{
    struct etcd_beside *t = begin();
    hf_election *e = candidate_open("post");
    CHECK_STR(peer_ask(&t->there, "leader post"), "none");
    CHECK_INT(candidate_campaign(e, RIG_TRY, "ours:80"), HF_OK);
    const char *said = peer_ask(&t->there, "leader post");
    CHECK(strcmp(said, "none") != 0);
    if (strstr(said, "ours:80")) TEST_FAIL("it reads %s", said);
}
