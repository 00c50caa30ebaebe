/*
 * zookeeper_election.c: Curator's LeaderSelector and LeaderLatch, and our
 * elections.  One rule: a LeaderSelector and our candidates are one election,
 * for both stand in the queue of the lock of that name; a LeaderLatch does not
 * see that queue.
 */
#include "candidate.h"
#include "zookeeper_beside.h"

static struct zookeeper_beside *begin(void)
{
    struct zookeeper_beside *t =
        zookeeper_beside_begin("curator", "session=4m");
    zookeeper_beside_open(t);
    return t;
}

TEST(curator_election, while_its_selector_leads_we_do_not)
{
    struct zookeeper_beside *t = begin();
    struct hf_info info = HF_INFO_INIT;
    hf_election *e = candidate_open("a");
    CHECK_STR(peer_ask(&t->there, "lead.selector a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(candidate_campaign(e, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_inspect(t->lock, &info, NULL), HF_OK);
    CHECK_INT(info.foreign, 1);
    CHECK_STR(info.host, "java-candidate"); /* the id that it was given */
    CHECK_STR(peer_ask(&t->there, "lead.resign a"), "ok");
    CHECK_INT(candidate_campaign(e, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(curator_election, while_we_lead_its_selector_does_not)
{
    struct zookeeper_beside *t = begin();
    hf_election *e = candidate_open("a");
    CHECK_INT(candidate_campaign(e, RIG_TRY, NULL), HF_OK);
    peer_say(&t->there, "lead.selector a %d", PEER_LEASE_MS);
    CHECK(lock_until_queued(t->lock, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_election_resign(e, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_STR(peer_ask(&t->there, "lead.leader a"), "java-candidate");
    CHECK_INT(candidate_campaign(e, RIG_TRY, NULL), HF_TAKEN);
}

TEST(curator_election, candidates_of_both_lead_in_their_order)
{
    static struct campaigner ours;
    struct zookeeper_beside *t = begin();
    ours.election = candidate_open("a");
    CHECK_STR(peer_ask(&t->there, "lead.selector a %d", PEER_LEASE_MS), "ok");
    campaigner_start(&ours);
    CHECK(lock_until_queued(t->lock, 1));
    CHECK_STR(peer_ask(&t->there, "lead.resign a"), "ok");
    peer_say(&t->there, "lead.selector a %d", PEER_LEASE_MS);
    rig_join();
    CHECK_INT(ours.status, HF_OK);
    CHECK(lock_until_queued(t->lock, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_election_resign(ours.election, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
}

/* docs/how-to/zookeeper.md warns of it. */
TEST(curator_election, its_latch_leads_beside_our_leader)
{
    struct zookeeper_beside *t = begin();
    hf_election *e = candidate_open("a");
    CHECK_INT(candidate_campaign(e, RIG_TRY, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "lead.latch a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_election_resign(e, NULL), HF_OK);
}
