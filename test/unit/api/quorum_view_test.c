/*
 * quorum_view_test.c: what a quorum says of its locks and its nodes when they
 * do not agree.
 */
#include <string.h>

#include "lib/nodes.h"
#include "lib/trio.h"

static const char *const urls[] = {"memory:la", "memory:lb", "memory:lc"};

static hf_lock *held_at(int node)
{
    hf_lock *l = rig_lock(rig_client_at(urls[node], NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    return l;
}

/* One try with this wait, at nodes that answer after this delay. */
static int delayed_status(int delay_ms, int64_t wait_ms, struct hf_error *err)
{
    struct hf_acquire_options o = rig_options(wait_ms, 0, 0);
    char url[128];
    hf_lock *l = NULL;
    snprintf(url, sizeof url,
             "quorum:memory:la?delay_ms=%d|memory:lb?delay_ms=%d|"
             "memory:lc?delay_ms=%d",
             delay_ms, delay_ms, delay_ms);
    hf_client *c = trio_client(url);
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, &o, NULL, err);
    hf_client_close(c);
    return status;
}

/* They answer long after the wait.  Were it soon after, a test that was held up
 * would read the answers before it looks at the clock, and the client would
 * know how slow they are. */
static int slow_status(int64_t wait_ms, struct hf_error *err)
{
    return delayed_status(30000, wait_ms, err);
}

/* Nobody has it, and nobody is away. */
TEST(quorum_view, a_wait_without_time_to_ask_is_told_as_that)
{
    struct hf_error err = {0};
    trio_begin(0);
    CHECK_INT(slow_status(1, &err), HF_TIMEOUT);
    CHECK(strstr(err.text, "no time to ask") != NULL);
    CHECK(err.unasked);
}

/* The clocks are known when it ends, but nobody was asked for the lock.  That
 * it is granted at the last moment is rare. */
TEST(quorum_view, a_wait_that_ends_with_the_first_answers_is_told_as_that)
{
    struct hf_error err = {0};
    trio_begin(0);
    int status = delayed_status(1, 1, &err);
    if (status == HF_OK) return;
    CHECK_INT(status, HF_TIMEOUT);
    CHECK(strstr(err.text, "no time to ask") != NULL);
}

TEST(quorum_view, a_wait_with_time_to_ask_blames_the_silent_nodes)
{
    struct hf_error err = {0};
    trio_begin(0);
    CHECK_INT(slow_status(40, &err), HF_UNAVAILABLE);
}

TEST(quorum_view, a_lock_that_one_node_has_is_free)
{
    struct hf_info info = HF_INFO_INIT;
    trio_begin(0);
    held_at(0);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 0);
    CHECK_STR(info.owner, "");
}

/* Each owner has one node: the one that is counted last is not the holder. */
TEST(quorum_view, a_lock_that_three_have_one_node_each_of_is_free)
{
    struct hf_info info = HF_INFO_INIT;
    trio_begin(0);
    for (int i = 0; i < TRIO_NODES; i++) held_at(i);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 0);
}

TEST(quorum_view, a_lock_that_two_of_three_have_is_held)
{
    struct hf_info info = HF_INFO_INIT;
    hf_hold *hold = NULL;
    trio_begin(0);
    hf_lock *odd = held_at(0);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, &hold), HF_OK);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(hf_lock_release(odd, NULL, NULL), HF_OK);
    CHECK(info.locked && info.mine);
    CHECK(info.fence >= hf_hold_fence(hold));
}

static void broken_at(int node)
{
    hf_lock *l = rig_lock(rig_client_at(urls[node], NULL), "a");
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
}

/* A node on which it is free has a higher counter. */
TEST(quorum_view, the_fence_of_a_held_lock_is_its_holders)
{
    struct hf_info info = HF_INFO_INIT;
    hf_hold *hold = NULL;
    trio_begin(0);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, &hold), HF_OK);
    broken_at(0);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.locked);
    CHECK(info.fence == hf_hold_fence(hold));
}

static struct hf_info seen = HF_INFO_INIT;

static int all_agree(void *lock)
{
    return hf_lock_inspect(lock, &seen, NULL) == HF_OK
           && seen.nodes_agree == TRIO_NODES;
}

/* It has the lock under a number of its own, since it was healed. */
TEST(quorum_view, a_node_that_was_healed_changes_neither_fence_nor_since)
{
    struct hf_info before = HF_INFO_INIT;
    hf_hold *hold = NULL;
    trio_begin(0);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, &hold), HF_OK);
    CHECK(rig_until(all_agree, l));
    before = seen;
    broken_at(0);
    CHECK_INT(hf_lock_inspect(l, &seen, NULL), HF_OK);
    CHECK_INT(seen.nodes_agree, TRIO_NODES - 1);
    CHECK(rig_until(all_agree, l));
    CHECK(seen.fence == hf_hold_fence(hold));
    CHECK_INT(seen.since_ms, before.since_ms);
}

/* Two of three nodes are away, and could have decided otherwise. */
TEST(quorum_view, what_the_rest_could_decide_is_not_called_free)
{
    struct hf_info info = HF_INFO_INIT;
    trio_begin(0);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    hf_client *c = trio_client("quorum:memory:la|memory:lb|memory:lc?down=1");
    hf_lock *other = NULL;
    CHECK_INT(hf_lock_open(c, "a", &other, NULL), HF_OK);
    int status = hf_lock_inspect(other, &info, NULL);
    hf_client_close(c);
    CHECK_INT(status, HF_OK);
    CHECK_INT(info.locked, 1);
}

/* One has it, another does not, the third is away. */
static void holder_is_believed(int node)
{
    struct hf_info info = HF_INFO_INIT;
    trio_begin(0);
    held_at(node);
    hf_client *c = trio_client("quorum:memory:la|memory:lb|memory:lc?down=1");
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_inspect(l, &info, NULL);
    hf_client_close(c);
    CHECK_INT(status, HF_OK);
    CHECK_INT(info.locked, 1);
}

TEST(quorum_view, a_holder_is_believed_while_the_third_could_decide)
{
    holder_is_believed(0);
}

TEST(quorum_view, a_holder_is_believed_also_if_nobody_was_told_of_first)
{
    holder_is_believed(1);
}

/* Three of five answer: one has it, two do not; the rest could decide. */
TEST(quorum_view, a_holder_is_believed_although_more_nodes_say_free)
{
    struct hf_info info = HF_INFO_INIT;
    trio_begin(0);
    held_at(1);
    hf_client *c = trio_client("quorum:memory:la|memory:lb|memory:lc|"
                               "memory:ld?down=1|memory:le?down=1");
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_inspect(l, &info, NULL);
    hf_client_close(c);
    CHECK_INT(status, HF_OK);
    CHECK_INT(info.nodes_heard, 3);
    CHECK_INT(info.locked, 1);
}

static int row_count(const struct hf_list_row *row, void *user)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

/* The first of them has forgotten everything. */
TEST(quorum_view, a_list_is_of_a_node_that_may_vote)
{
    int rows = 0;
    trio_begin(0);
    trio_wipe(0);
    hf_client *c = trio_client(TRIO_URL);
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = rig_acquire(l, 0, RIG_WAIT_MS, NULL);
    int listed = hf_client_list(c, NULL, row_count, &rows, NULL);
    hf_client_close(c);
    CHECK_INT(status, HF_OK);
    CHECK_INT(listed, HF_OK);
    CHECK_INT(rows, 1);
}

static int node_is_up(void *client)
{
    struct hf_node node;
    nodes_of(client, &node, 1);
    return node.up && node.status != HF_OK;
}

/* It refuses every number as too old, and another one may not vote. */
TEST(quorum_view, a_clock_that_is_far_ahead_is_named)
{
    struct hf_error err = {0};
    struct hf_node nodes[TRIO_NODES];
    struct hf_acquire_options o = rig_options(1500, 0, 0);
    hf_lock *l = NULL;
    trio_begin(0);
    rig_client_at("memory:la?clock_ms=5000", NULL);
    trio_wipe(2);
    hf_client *c = trio_client(TRIO_URL);
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, &o, NULL, &err);
    int is_told = rig_until(node_is_up, c);
    nodes_of(c, nodes, TRIO_NODES);
    hf_client_close(c);
    CHECK(status != HF_OK);
    CHECK(strstr(err.text, "ms ahead of the other nodes'") != NULL);
    CHECK(is_told);
    CHECK(strstr(nodes[0].text, "it grants nothing") != NULL);
    CHECK_INT(nodes[0].link, HF_LINK_CLOCK);
}
