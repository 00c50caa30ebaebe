/*
 * quorum_nodes_test.c: what a client tells of the nodes of its quorum.  Here
 * they are spaces of this process.
 */
#include <stdatomic.h>
#include <string.h>

#include "lib/nodes.h"
#include "lib/rig.h"

#define NODES 3

static atomic_int warnings; /* that nodes are new */

static void log_count(int level, const char *line, void *user)
{
    (void)level;
    (void)user;
    if (strstr(line, "nodes are new")) warnings++;
}

/* The new node answers first, and the others are enough. */
TEST(quorum_nodes, minority_that_is_new_is_not_warned_of)
{
    static const char url[] = "quorum:memory:y1|memory:y2|memory:y3";
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_quorum_node nodes[NODES];
    int len;
    warnings = 0;
    rig_begin_at(url);
    rig_client_at("memory:y2", NULL);
    rig_client_at("memory:y3", NULL); /* nobody keeps y1: it is wiped */
    CHECK_INT(nodes_init(url, NULL, nodes, NODES, &len, NULL), HF_OK);
    o.log = log_count;
    hf_client *c = NULL;
    hf_lock *l = NULL;
    CHECK_INT(hf_client_open(url, &o, &c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, NULL, NULL, NULL);
    hf_client_close(c);
    CHECK_INT(status, HF_OK);
    CHECK_INT(warnings, 0);
}

TEST(quorum_nodes, inspect_counts_the_nodes_that_agree)
{
    struct hf_info info = HF_INFO_INIT;
    rig_begin_on("quorum:");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK(rig_until_settled(c, NODES));
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(!info.locked);
    CHECK_INT(info.nodes_agree, NODES);
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.locked);
    CHECK_INT(info.nodes, NODES);
    CHECK_INT(info.nodes_heard, NODES);
    CHECK_INT(info.nodes_agree, NODES);
}

TEST(quorum_nodes, inspect_counts_a_node_that_has_no_hold)
{
    struct hf_info info = HF_INFO_INIT;
    struct hf_node nodes[NODES];
    rig_begin_on("quorum:");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK(rig_until_settled(c, NODES));
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    nodes_of(c, nodes, NODES);
    hf_lock *one = rig_lock(rig_client_at(nodes[1].url, NULL), "a");
    CHECK_INT(hf_lock_break(one, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.locked);
    CHECK_INT(info.nodes_agree, NODES - 1);
}

static int rows_count(const struct hf_list_row *row, void *user)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

/* It may have been away when the lock was taken. */
TEST(quorum_nodes, list_has_what_any_node_has_once)
{
    struct hf_node nodes[NODES];
    int rows = 0;
    rig_begin_on("quorum:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, 0, NULL), HF_OK);
    CHECK_INT(rig_acquire(rig_lock(c, "b"), 0, 0, NULL), HF_OK);
    nodes_of(c, nodes, NODES);
    hf_lock *one = rig_lock(rig_client_at(nodes[0].url, NULL), "a");
    CHECK_INT(hf_lock_break(one, NULL, NULL), HF_OK);
    CHECK_INT(hf_client_list(c, NULL, rows_count, &rows, NULL), HF_OK);
    CHECK_INT(rows, 2);
}
