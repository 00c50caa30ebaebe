/*
 * quorum_foreign_test.c: nodes that are members of another quorum.  One rule:
 * as long as the others are enough, they are only missing.
 */
#include <stdatomic.h>
#include <string.h>

#include "lib/nodes.h"
#include "lib/trio.h"

static atomic_int warnings;
static struct hf_error err;

static void log_count(int level, const char *line, void *user)
{
    (void)user;
    if (level == HF_LOG_WARN && strstr(line, "memory:lc: it has no vote: ")
        && strstr(line, "a member of another quorum: repeat holdfast init"))
        warnings++;
}

static int init(const char *url, unsigned flags)
{
    struct hf_quorum_node nodes[TRIO_NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    int len = 0;
    o.flags = flags;
    return nodes_init(url, &o, nodes, TRIO_NODES, &len, NULL);
}

static void client_close(void *arg)
{
    hf_client **c = arg;
    hf_client_close(*c);
}

/* The rig's own would wait until all its nodes vote. */
static hf_client *client(void)
{
    static hf_client *c;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    warnings = 0;
    memset(&err, 0, sizeof err);
    o.log = log_count;
    CHECK_INT(hf_client_open(TRIO_URL, &o, &c, NULL), HF_OK);
    test_cleanup(client_close, &c);
    return c;
}

static int status_of(hf_client *c, int64_t wait_ms)
{
    struct hf_acquire_options o = rig_options(wait_ms, 0, 0);
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_acquire(l, &o, NULL, &err);
    if (status == HF_OK) CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    return status;
}

static int last_is_refused(void *c)
{
    struct hf_node nodes[TRIO_NODES];
    nodes_of(c, nodes, TRIO_NODES);
    return nodes[2].status == HF_CONFLICT && nodes[2].link == HF_LINK_REFUSED
           && strstr(nodes[2].text, "a member of another quorum") != NULL;
}

TEST(quorum_foreign, a_minority_costs_only_its_votes)
{
    trio_begin(0);
    CHECK_INT(init("quorum:memory:lc|memory:lx", HF_QUORUM_FORCE), HF_OK);
    hf_client *c = client();
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
    CHECK(rig_until(last_is_refused, c));
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
}

TEST(quorum_foreign, a_minority_is_warned_of_once)
{
    trio_begin(0);
    CHECK_INT(init("quorum:memory:lc|memory:lx", HF_QUORUM_FORCE), HF_OK);
    hf_client *c = client();
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
    CHECK(rig_until_equal(&warnings, 1));
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
    CHECK_INT(warnings, 1);
}

/* It becomes one while the client knows it as a member. */
TEST(quorum_foreign, a_minority_that_was_ours_costs_only_its_votes)
{
    trio_begin(0);
    hf_client *c = client();
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
    CHECK_INT(init("quorum:memory:lc|memory:lx", HF_QUORUM_FORCE), HF_OK);
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
    CHECK(rig_until(last_is_refused, c));
    CHECK_INT(status_of(c, RIG_TRY), HF_OK);
}

TEST(quorum_foreign, a_majority_is_refused_at_once)
{
    trio_begin(0);
    CHECK_INT(init("quorum:memory:lb|memory:lc", HF_QUORUM_FORCE), HF_OK);
    hf_client *c = client();
    CHECK_INT(status_of(c, RIG_NO_LIMIT), HF_CONFLICT);
    CHECK(strstr(err.text, "a member of another quorum") != NULL);
    CHECK_INT(status_of(c, RIG_NO_LIMIT), HF_CONFLICT);
}

/* No node confirms that the URL is right, so most likely it is not. */
TEST(quorum_foreign, one_among_new_nodes_is_refused_and_they_stay_new)
{
    trio_begin(TRIO_BLANK);
    CHECK_INT(init("quorum:memory:lc|memory:lx", 0), HF_OK);
    CHECK_INT(status_of(client(), RIG_NO_LIMIT), HF_CONFLICT);
    CHECK_INT(init("quorum:memory:la|memory:lb", 0), HF_OK);
}
