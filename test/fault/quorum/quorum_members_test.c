/*
 * quorum_members_test.c: which real servers can be the members of a quorum, and
 * what becomes of those that cannot.  One rule: a set of members that is
 * refused, or that no lock was asked of, has left no marker on any of them.
 */
#include <stdio.h>
#include <string.h>

#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define NODES 3

static struct lab_server servers[NODES];
static char url[512];
static struct hf_error err;

static void begin(void)
{
    for (int i = 0; i < NODES; i++) redis_begin(&servers[i], NULL);
    memset(&err, 0, sizeof err);
}

/* One try with the quorum of these hosts. */
static int try_with(const char *a, const char *b, const char *c)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    hf_client *client = NULL;
    hf_lock *l = NULL;
    snprintf(url, sizeof url, "redlock://%s:%d,%s:%d,%s:%d", a, servers[0].port,
             b, servers[1].port, c, servers[2].port);
    int status = hf_client_open(url, NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "a", &l, &err);
    if (status == HF_OK) status = hf_lock_acquire(l, &o, NULL, &err);
    hf_client_close(client);
    return status;
}

static int markers(void)
{
    int n = 0;
    for (int i = 0; i < NODES; i++)
        if (servers[i].pid)
            n += (int)redis_number(&servers[i], "EXISTS holdfast:boot");
    return n;
}

#define HOST "127.0.0.1"

TEST(quorum_members, the_same_server_by_two_names_is_refused)
{
    begin();
    servers[2].port = servers[1].port;
    int status = try_with(HOST, HOST, "localhost");
    CHECK_INT(status, HF_INVALID);
    CHECK(strstr(err.text, "the same server as") != NULL);
    redis_shutdown(&servers[2], 0);
    CHECK_INT(markers(), 0);
}

static int is_linked(void *server)
{
    return strstr(redis_say(server, "INFO replication"),
                  "master_link_status:up")
           != NULL;
}

TEST(quorum_members, a_replica_of_a_member_is_refused)
{
    begin();
    redis_say(&servers[2], "REPLICAOF 127.0.0.1 %d", servers[0].port);
    CHECK(rig_until(is_linked, &servers[2]));
    CHECK_INT(try_with(HOST, HOST, HOST), HF_INVALID);
    CHECK(strstr(err.text, "a replica, and only a primary can vote"));
    CHECK_INT(markers(), 0);
}

/* Its usual second port, 10000 above the first, may not exist. */
static void cluster_begin(struct lab_server *r, const char *args[5],
                          char port[16])
{
    snprintf(port, 16, "%d", redis_free_port());
    args[0] = "--cluster-enabled";
    args[1] = "yes";
    args[2] = "--cluster-port";
    args[3] = port;
    args[4] = NULL;
    redis_begin(r, args);
}

TEST(quorum_members, nodes_of_a_cluster_are_refused)
{
    static const char *args[2][5];
    static char ports[2][16];
    memset(&err, 0, sizeof err);
    redis_begin(&servers[0], NULL);
    for (int i = 0; i < 2; i++)
        cluster_begin(&servers[1 + i], args[i], ports[i]);
    CHECK_INT(try_with(HOST, HOST, HOST), HF_INVALID);
    CHECK(strstr(err.text, "cluster") != NULL);
    CHECK_INT(redis_number(&servers[0], "EXISTS holdfast:boot"), 0);
}

TEST(quorum_members, members_of_another_quorum_are_refused)
{
    struct hf_quorum_node nodes[NODES];
    char two[128];
    int len = 0;
    begin();
    snprintf(two, sizeof two, "redlock://127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port);
    CHECK_INT(nodes_init(two, NULL, nodes, NODES, &len, &err), HF_OK);
    CHECK_INT(try_with(HOST, HOST, HOST), HF_CONFLICT);
    CHECK(strstr(err.text, "a member of another quorum") != NULL);
    CHECK_INT(redis_number(&servers[2], "EXISTS holdfast:boot"), 0);
}

static int row_ignore(const struct hf_list_row *row, void *user)
{
    (void)row;
    (void)user;
    return 0;
}

struct look {
    hf_client *client;
    hf_lock *lock;
};

static int all_are_blank(void *arg)
{
    const struct look *look = arg;
    struct hf_node nodes[NODES];
    int is_locked = -1, blanks = 0;
    CHECK_INT(hf_lock_is_locked(look->lock, &is_locked, &err), HF_OK);
    CHECK_INT(is_locked, 0);
    nodes_of(look->client, nodes, NODES);
    for (int i = 0; i < NODES; i++)
        blanks +=
            strstr(nodes[i].text, "it is new, or has lost its data") != NULL;
    return blanks == NODES;
}

static int all_are_marked(void *lock)
{
    CHECK_INT(rig_acquire(lock, 0, 100, NULL), HF_UNAVAILABLE);
    return markers() == NODES;
}

/* A marker would keep the clients of that server alone out. */
TEST(quorum_members, a_look_leaves_no_marker)
{
    struct look look;
    begin();
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port, servers[2].port);
    look.client = rig_client_at(url, NULL);
    look.lock = rig_lock(look.client, "a");
    CHECK(rig_until(all_are_blank, &look));
    CHECK_INT(hf_client_list(look.client, NULL, row_ignore, NULL, &err), HF_OK);
    CHECK_INT(markers(), 0);
    /* A lock that is asked for begins the quarantine. */
    CHECK(rig_until(all_are_marked, look.lock));
}

/* Two of the three names are wrong, or their servers are away. */
TEST(quorum_members, a_server_that_is_reached_alone_gets_no_marker)
{
    begin();
    redis_shutdown(&servers[1], 0);
    redis_shutdown(&servers[2], 0);
    CHECK_INT(try_with(HOST, HOST, HOST), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "1 of 3 nodes can be reached, 2 are needed"));
    CHECK_INT(markers(), 0);
    rig_begin_at(servers[0].url);
    CHECK_INT(
        rig_acquire(rig_lock(rig_client(NULL), "a"), 0, RIG_WAIT_MS, NULL),
        HF_OK);
}

static int two_are_marked(void *lock)
{
    /* On a busy machine there may be no time to ask: HF_TIMEOUT. */
    CHECK(rig_acquire(lock, 0, 100, NULL) != HF_OK);
    return markers() == 2;
}

/* They can give locks once their quarantine is over. */
TEST(quorum_members, a_majority_that_is_reached_gets_markers)
{
    begin();
    redis_shutdown(&servers[2], 0);
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port, servers[2].port);
    CHECK(rig_until(two_are_marked, rig_lock(rig_client_at(url, NULL), "a")));
}

/* The others have said that leases last ten minutes. */
TEST(quorum_members, a_server_that_was_flushed_learns_the_longest_lease)
{
    struct hf_quorum_node nodes[NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    int len = 0;
    begin();
    o.max_lease_ms = 600000;
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port, servers[2].port);
    CHECK_INT(nodes_init(url, &o, nodes, NODES, &len, &err), HF_OK);
    redis_say(&servers[2], "FLUSHALL");
    CHECK_INT(try_with(HOST, HOST, HOST), HF_OK);
    for (int i = 0; i < RIG_PATIENCE_MS && markers() < NODES; i++) {
        CHECK_INT(try_with(HOST, HOST, HOST), HF_OK);
        rig_pause_ms(1);
    }
    CHECK(strstr(redis_say(&servers[2], "GET holdfast:boot"), " 600000"));
}

/* A client reads the clock of a member, but does not scan its keys, of which
 * there may be a million. */
TEST(quorum_members, a_client_does_not_look_for_locks)
{
    struct hf_quorum_node nodes[NODES];
    int len = 0;
    begin();
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port, servers[2].port);
    CHECK_INT(nodes_init(url, NULL, nodes, NODES, &len, &err), HF_OK);
    for (int i = 0; i < NODES; i++) redis_say(&servers[i], "CONFIG RESETSTAT");
    CHECK_INT(try_with(HOST, HOST, HOST), HF_OK);
    for (int i = 0; i < NODES; i++)
        CHECK(!strstr(redis_say(&servers[i], "INFO commandstats"),
                      "cmdstat_scan:"));
}

static int third_is_refused(void *client)
{
    struct hf_node nodes[NODES];
    nodes_of(client, nodes, NODES);
    return !nodes[2].settled && nodes[2].status == HF_INVALID;
}

/* Its connection stays, and so would its vote: with what data, if it is made a
 * primary again, only a look can tell. */
TEST(quorum_members, a_member_that_was_made_a_replica_loses_its_vote)
{
    hf_hold *g = NULL;
    struct hf_quorum_node nodes[NODES];
    int len = 0;
    begin();
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port, servers[2].port);
    CHECK_INT(nodes_init(url, NULL, nodes, NODES, &len, &err), HF_OK);
    rig_begin_at(url);
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK(rig_until_settled(c, NODES)); /* or two had it, and one left */
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    redis_say(&servers[2], "REPLICAOF 127.0.0.1 %d", servers[0].port);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK(rig_until(third_is_refused, c));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}
