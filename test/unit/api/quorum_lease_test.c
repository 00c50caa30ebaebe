/*
 * quorum_lease_test.c: how long the leases of a quorum may be, and which
 * clients and nodes know of it.
 */
#include <string.h>

#include "lib/nodes.h"
#include "lib/trio.h"

/* The longest lease that the marker of node `i` tells of; 0: no marker. */
static int64_t node_lease_ms(int i)
{
    struct hf_quorum_node nodes[TRIO_NODES];
    int len = 0;
    CHECK_INT(nodes_init(TRIO_URL, NULL, nodes, TRIO_NODES, &len, NULL),
              HF_CONFLICT);
    return nodes[i].max_lease_ms;
}

/* A quarantine begins when a lock is asked for. */
static int64_t quarantine_left_ms(hf_client *c, int node)
{
    struct hf_node nodes[TRIO_NODES] = {{.up = 0}};
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "q", &l, NULL), HF_OK);
    (void)rig_probe(l);
    for (int i = 0; i < RIG_PATIENCE_MS; i++) {
        nodes_of(c, nodes, TRIO_NODES);
        if (nodes[node].quarantine_left_ms > 0) break;
        rig_pause_ms(1);
    }
    return nodes[node].quarantine_left_ms;
}

static int status_of(hf_client *c, int64_t lease_ms, struct hf_error *err)
{
    struct hf_acquire_options o = rig_options(0, lease_ms, 0);
    hf_lock *l = rig_lock(c, "a");
    int status = hf_lock_acquire(l, &o, NULL, err);
    if (status == HF_OK) CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    return status;
}

TEST(quorum_lease, one_that_init_made_short_is_kept_to)
{
    struct hf_error err = {0};
    trio_begin(5000);
    hf_client *c = rig_client(NULL);
    CHECK_INT(status_of(c, 5000, NULL), HF_OK);
    CHECK_INT(status_of(c, 5001, &err), HF_INVALID);
    CHECK(strstr(err.text, "the longest lease of these nodes is 5000 ms"));
}

/* The client that connects to it first has seen no other node. */
TEST(quorum_lease, a_node_that_was_wiped_hears_of_the_others)
{
    trio_begin(600000);
    trio_wipe(2);
    hf_client *c = trio_client(TRIO_URL);
    int64_t left_ms = quarantine_left_ms(c, 2);
    hf_client_close(c);
    CHECK(left_ms > 590000);
    CHECK_INT(node_lease_ms(2), 600000);
}

TEST(quorum_lease, nodes_that_nobody_declared_new_have_the_default)
{
    trio_begin(TRIO_BLANK);
    hf_client *c = trio_client(TRIO_URL);
    int64_t left_ms = quarantine_left_ms(c, 0);
    hf_client_close(c);
    CHECK(left_ms > 29000 && left_ms < 31000);
    CHECK_INT(node_lease_ms(0), 30000);
}

/* The client has been connected since before the members were changed. */
TEST(quorum_lease, a_client_with_the_old_members_is_refused_at_once)
{
    struct hf_quorum_node nodes[TRIO_NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    int len = 0;
    trio_begin(0);
    hf_client *c = rig_client(NULL);
    CHECK_INT(status_of(c, 0, NULL), HF_OK);
    o.flags = HF_QUORUM_FORCE; /* the old member still answers */
    CHECK_INT(nodes_replace(TRIO_URL, "memory:lc", "memory:ld", &o, nodes,
                            TRIO_NODES, &len, NULL),
              HF_OK);
    CHECK_INT(status_of(c, 0, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "a member of another quorum") != NULL);
}

TEST(quorum_lease, the_quarantine_of_a_replacement_has_the_urls_drift)
{
    struct hf_quorum_node nodes[TRIO_NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    int len = 0;
    trio_begin(0);
    o.flags = HF_QUORUM_FORCE;
    CHECK_INT(nodes_replace("quorum:drift=20%|memory:la|memory:lb|"
                            "memory:lc",
                            "memory:lc", "memory:ld", &o, nodes, TRIO_NODES,
                            &len, NULL),
              HF_OK);
    CHECK(nodes[2].left_ms > 36000 && nodes[2].left_ms <= 36010);
}

/* All nodes grant it, and its lease is over when the client knows. */
TEST(quorum_lease, one_that_is_too_short_for_the_answers_is_said)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1500, 100, 0);
    trio_begin(0);
    hf_lock *l = NULL;
    hf_client *c = trio_client("quorum:memory:la?delay_ms=120|"
                               "memory:lb?delay_ms=120|memory:lc?delay_ms=120");
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, &o, NULL, &err);
    hf_client_close(c);
    CHECK(status == HF_TIMEOUT || status == HF_UNAVAILABLE);
    CHECK(strstr(err.text, "a lease of 100 ms is too short") != NULL);
}
