/*
 * quorum_init_test.c: the calls that make a quorum's members, on spaces of this
 * process; test/cli/init.sh does it on real servers.
 */
#include <string.h>

#include "holdfast/holdfast.h"
#include "test.h"
#include "lib/nodes.h"

static struct hf_quorum_node nodes[HF_QUORUM_NODES_MAX];
static struct hf_error err;
static int len;
static hf_client *kept[4];

static void kept_close(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++) {
        if (kept[i]) hf_client_close(kept[i]);
        kept[i] = NULL;
    }
}

/* A space lives as long as somebody has it open. */
static void begin(void)
{
    static const char *const urls[] = {"memory:qa", "memory:qb", "memory:qc",
                                       "memory:qd"};
    test_cleanup(kept_close, NULL);
    for (int i = 0; i < 4; i++)
        CHECK_INT(hf_client_open(urls[i], NULL, &kept[i], &err), HF_OK);
    len = -1;
    memset(&err, 0, sizeof err);
}

#define ABC "quorum:memory:qa|memory:qb|memory:qc"
#define ABC_DOWN "quorum:memory:qa|memory:qb|memory:qc?down=1"

static int init(const char *url, unsigned flags)
{
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    o.flags = flags;
    o.timeout_ms = 1500;
    return nodes_init(url, &o, nodes, HF_QUORUM_NODES_MAX, &len, &err);
}

static int replace(const char *url, const char *old_url, const char *new_url,
                   unsigned flags)
{
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    o.flags = flags;
    o.timeout_ms = 1500;
    return nodes_replace(url, old_url, new_url, &o, nodes, HF_QUORUM_NODES_MAX,
                         &len, &err);
}

TEST(quorum_init, new_nodes_are_ready_at_once)
{
    begin();
    CHECK_INT(init(ABC, 0), HF_OK);
    CHECK_INT(len, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(nodes[i].status, HF_OK);
        CHECK(nodes[i].changed && nodes[i].left_ms == 0);
        CHECK_INT(nodes[i].max_lease_ms, 30000);
    }
    CHECK_STR(nodes[1].url, "memory:qb");
}

TEST(quorum_init, they_are_new_only_once)
{
    begin();
    CHECK_INT(init(ABC, 0), HF_OK);
    CHECK_INT(init(ABC, 0), HF_CONFLICT);
    CHECK(!nodes[0].changed);
    CHECK_STR(err.text, "memory:qa: it is a member of a quorum already, by "
                        "init or by a first client: --force is safe only while "
                        "no client holds a lock there");
    CHECK_INT(init(ABC, HF_QUORUM_FORCE), HF_OK);
}

TEST(quorum_init, a_node_that_does_not_answer_leaves_all_unchanged)
{
    begin();
    CHECK_INT(init(ABC_DOWN, 0), HF_UNAVAILABLE);
    CHECK_INT(nodes[2].status, HF_UNAVAILABLE);
    CHECK(!nodes[0].changed && !nodes[1].changed);
    CHECK_INT(init(ABC, 0), HF_OK);
}

TEST(quorum_init, a_held_lock_leaves_all_unchanged)
{
    static hf_lock *l;
    begin();
    CHECK_INT(hf_lock_open(kept[2], "job", &l, &err), HF_OK);
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, &err), HF_OK);
    CHECK_INT(init(ABC, 0), HF_CONFLICT);
    CHECK_INT(nodes[2].status, HF_CONFLICT);
    CHECK_INT(hf_lock_release(l, NULL, &err), HF_OK);
    CHECK_INT(init(ABC, 0), HF_OK);
}

TEST(quorum_init, what_is_no_quorum_is_refused)
{
    begin();
    CHECK_INT(init("memory:qa", 0), HF_INVALID);
    CHECK_INT(init(NULL, 0), HF_INVALID);
    CHECK_INT(init("quorum:memory:qa|memory:qa", 0), HF_INVALID);
    CHECK_INT(len, -1);
}

TEST(quorum_init, bad_options_are_refused)
{
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    begin();
    o.max_lease_ms = -1;
    CHECK_INT(nodes_init(ABC, &o, nodes, 16, &len, &err), HF_INVALID);
}

TEST(quorum_replace, the_new_node_waits_and_the_others_vote)
{
    begin();
    CHECK_INT(init(ABC, 0), HF_OK);
    CHECK_INT(replace(ABC_DOWN, "memory:qc?down=1", "memory:qd", 0), HF_OK);
    CHECK_INT(len, 3);
    CHECK_INT(nodes[0].left_ms, 0);
    CHECK_STR(nodes[2].url, "memory:qd");
    CHECK(nodes[2].left_ms > 30000);
}

TEST(quorum_replace, an_old_node_that_answers_leaves_all_unchanged)
{
    begin();
    CHECK_INT(init(ABC, 0), HF_OK);
    CHECK_INT(replace(ABC, "memory:qc", "memory:qd", 0), HF_CONFLICT);
    CHECK_STR(err.text,
              "memory:qc: the old member answers: stop it first, for it must "
              "not vote beside the new one");
    CHECK_INT(init("quorum:memory:qd|memory:qe|memory:qf", 0), HF_OK);
}

TEST(quorum_replace, it_may_be_repeated)
{
    begin();
    CHECK_INT(init(ABC, 0), HF_OK);
    CHECK_INT(replace(ABC_DOWN, "memory:qc?down=1", "memory:qd", 0), HF_OK);
    CHECK_INT(replace(ABC_DOWN, "memory:qc?down=1", "memory:qd", 0), HF_OK);
    CHECK_INT(nodes[0].left_ms, 0);
}

TEST(quorum_replace, a_survivor_of_another_quorum_is_refused)
{
    begin();
    CHECK_INT(init("quorum:memory:qa|memory:qx", 0), HF_OK);
    CHECK_INT(replace(ABC_DOWN, "memory:qc?down=1", "memory:qd", 0),
              HF_CONFLICT);
    CHECK(!nodes[2].changed);
}

TEST(quorum_replace, by_force_a_survivor_that_is_down_is_left_as_it_is)
{
    begin();
    CHECK_INT(init(ABC, 0), HF_OK);
    CHECK_INT(replace("quorum:memory:qa|memory:qb?down=1|memory:qc?down=1",
                      "memory:qc?down=1", "memory:qd", 0),
              HF_UNAVAILABLE);
    CHECK_INT(replace("quorum:memory:qa|memory:qb?down=1|memory:qc?down=1",
                      "memory:qc?down=1", "memory:qd", HF_QUORUM_FORCE),
              HF_OK);
    CHECK_INT(nodes[1].status, HF_UNAVAILABLE);
    CHECK(!nodes[1].changed && nodes[0].changed && nodes[2].changed);
}

TEST(quorum_replace, a_member_that_the_url_does_not_name_is_refused)
{
    begin();
    CHECK_INT(replace(ABC, "memory:qx", "memory:qy", 0), HF_INVALID);
    CHECK_INT(len, -1);
}
