/*
 * quorum_client_test.c: a client of several nodes, here spaces of this process.
 */
#include <string.h>

#include "lib/nodes.h"
#include "lib/rig.h"

#define NODES 3

/* How often a warning was logged that has the wanted words in it; other lines
 * may come from other threads. */
static atomic_int warnings;

static void log_count(int level, const char *line, void *user)
{
    if (level == HF_LOG_WARN && strstr(line, user)) warnings++;
}

static void client_warn(const char *url, char *words)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.log = log_count;
    o.log_user = words;
    rig_begin_at(url);
    warnings = 0;
    rig_client(&o);
}

static int open_status(const char *url, struct hf_error *err)
{
    hf_client *c = NULL;
    int status = hf_client_open(url, NULL, &c, err);
    hf_client_close(c);
    return status;
}

static int is_quarantined(hf_client *c)
{
    struct hf_node node = {0};
    for (int i = 0; i < RIG_PATIENCE_MS && !node.quarantine_left_ms; i++) {
        rig_pause_ms(1);
        nodes_of(c, &node, 1);
    }
    return node.quarantine_left_ms > 0 && !node.settled;
}

TEST(quorum_client, same_node_twice_is_refused)
{
    struct hf_error err = {0};
    CHECK_INT(open_status("quorum:memory:t1|memory:t2|memory:t1", &err),
              HF_INVALID);
    CHECK(strstr(err.text, "the same server twice") != NULL);
}

TEST(quorum_client, unknown_option_of_a_member_is_refused)
{
    struct hf_error err = {0};
    CHECK_INT(open_status("quorum:memory:t1?frob=1|memory:t2|memory:t3", &err),
              HF_INVALID);
    CHECK(strstr(err.text, "member 1: option frob") != NULL);
}

TEST(quorum_client, two_nodes_are_warned_of_once)
{
    client_warn("quorum:memory:w1|memory:w2",
                "2 nodes: no lock can be had while one of them is away");
    CHECK_INT(warnings, 1);
}

TEST(quorum_client, one_node_is_warned_of_once)
{
    client_warn("quorum:memory:w1",
                "1 node: no lock can be had while it is away");
    CHECK_INT(warnings, 1);
}

TEST(quorum_client, even_number_is_warned_of_once)
{
    client_warn("quorum:memory:e1|memory:e2|memory:e3|memory:e4",
                "4 nodes survive the loss of 1, as 3 do");
    CHECK_INT(warnings, 1);
}

TEST(quorum_client, three_nodes_are_not_warned_of)
{
    client_warn("quorum:memory:w1|memory:w2|memory:w3", "be had while");
    CHECK_INT(warnings, 0);
}

TEST(quorum_client, new_nodes_are_waited_for_and_it_is_said)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    rig_begin_at("quorum:memory:n1|memory:n2|memory:n3");
    hf_client *c = NULL;
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, &o, NULL, &err);
    hf_client_close(c);
    CHECK_INT(status, HF_UNAVAILABLE);
    CHECK(strstr(err.text, "3 of 3 nodes are new") != NULL);
}

TEST(quorum_client, majority_that_is_away_is_said)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    hf_client *c = NULL;
    hf_lock *l = NULL;
    rig_begin_at("quorum:memory:d1|memory:d2?down=1|memory:d3?down=1");
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, &o, NULL, &err);
    hf_client_close(c);
    CHECK_INT(status, HF_UNAVAILABLE);
    CHECK(strstr(err.text, "1 of 3 nodes can be reached") != NULL);
}

TEST(quorum_client, lease_beyond_the_longest_is_invalid)
{
    struct hf_error err = {0};
    rig_begin_on("quorum:");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 24 * 3600000 + 1, 0);
    int status = hf_lock_acquire(l, &o, NULL, &err);
    CHECK_INT(status, HF_INVALID);
}

TEST(quorum_client, tells_of_its_nodes)
{
    struct hf_node nodes[NODES];
    rig_begin_on("quorum:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_client_nodes(c, NULL, NULL), NODES);
    CHECK_INT(nodes_of(c, nodes, NODES), NODES);
    CHECK(!strncmp(nodes[0].url, "memory:", 7));
    CHECK(nodes[0].up && nodes[0].settled && nodes[0].identity[0]);
    CHECK_INT(nodes[0].status, HF_OK);
}

/* Each would be stored on one node, and be lost with it. */
TEST(quorum_client, keeps_neither_values_nor_guards)
{
    hf_client *c = NULL;
    CHECK_INT(
        hf_client_open("quorum:memory:v1|memory:v2|memory:v3", NULL, &c, NULL),
        HF_OK);
    unsigned caps = hf_client_caps(c);
    hf_client_close(c);
    CHECK(caps & HF_CAP_BALLOT);
    CHECK_INT(caps & (HF_CAP_VALUE | HF_CAP_GUARD | HF_CAP_STOCK), 0);
}

TEST(quorum_client, of_one_server_tells_of_that)
{
    struct hf_node node;
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(nodes_of(c, &node, 1), 1);
    CHECK_STR(node.url, rig_url());
    CHECK(node.settled);
}

TEST(quorum_client, clock_set_forward_takes_the_nodes_vote)
{
    char url[300];
    struct hf_node nodes[NODES];
    hf_hold *hold = NULL;
    rig_begin_on("quorum:");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, 0, &hold), HF_OK);
    nodes_of(c, nodes, NODES);
    snprintf(url, sizeof url, "%s?clock_ms=120000", nodes[0].url);
    rig_client_at(url, NULL);
    CHECK_INT(hf_hold_extend(hold, 0, NULL), HF_OK);
    CHECK(is_quarantined(c));
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

TEST(quorum_client, clock_set_back_costs_no_vote)
{
    char url[300];
    struct hf_node nodes[NODES];
    hf_hold *hold = NULL;
    rig_begin_on("quorum:");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, 0, &hold), HF_OK);
    nodes_of(c, nodes, NODES);
    snprintf(url, sizeof url, "%s?clock_ms=-1000", nodes[0].url);
    rig_client_at(url, NULL);
    CHECK_INT(hf_hold_extend(hold, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(hold, 0, NULL), HF_OK);
    CHECK(rig_until_settled(c, NODES));
}

TEST(quorum_client, of_one_node_is_that_node)
{
    hf_hold *hold = NULL;
    rig_begin_at("quorum:memory:o1");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, &hold), HF_OK);
    CHECK(hf_hold_fence(hold) > 0);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}
