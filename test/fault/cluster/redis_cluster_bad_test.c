/*
 * redis_cluster_bad_test.c: servers that are no cluster, and clusters with
 * missing parts.  One rule: each has an error text of its own, and every call
 * ends in time.
 */
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"

static struct lab_cluster c;
static struct lab_server r;

static void refused_as(int status, const char *url, const char *words)
{
    struct hf_error err = {0};
    hf_client *client = NULL;
    CHECK_INT(hf_client_open(url, NULL, &client, &err), status);
    CHECK(client == NULL);
    if (!strstr(err.text, words)) TEST_FAIL("\"%s\" lacks %s", err.text, words);
}

static void refused(const char *url, const char *words)
{
    refused_as(HF_INVALID, url, words);
}

static void works(const char *url)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(8000, 0, 0);
    hf_client *client = rig_client_at(url, NULL);
    if (hf_lock_acquire(rig_lock(client, "job"), &o, NULL, &err) != HF_OK)
        TEST_FAIL("%s: %s", url, err.text);
    rig_close(client);
}

/* The first call of a client of `url` fails with this status and these
 * words. */
static void fails(const char *url, int status, const char *words)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(10000, 0, 0);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "job");
    int64_t began = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), status);
    CHECK(rig_now_ms() - began < 15000);
    if (!strstr(err.text, words)) TEST_FAIL("\"%s\" lacks %s", err.text, words);
}

TEST(redis_cluster_bad, a_database_other_than_0_is_invalid)
{
    refused("redis-cluster://127.0.0.1/3", "only database 0");
    refused("redis-cluster://127.0.0.1?db=1", "only database 0");
}

TEST(redis_cluster_bad, hosts_and_options_that_make_no_sense_are_invalid)
{
    refused("redis-cluster://", "host");
    refused("redis-cluster://a,,b", "empty");
    refused("redis-cluster://a,b,", "empty");
    refused("redis-cluster://a:0", "port");
    refused("redis-cluster://a,b c", "byte");
    refused("redis-cluster://a?pubsub=loud", "pubsub");
    refused("redis-cluster://a?fence=off", "format=string");
    refused("redis-cluster://a?nonsense=1", "nonsense");
}

TEST(redis_cluster_bad, a_quorum_takes_no_cluster_for_a_member)
{
    refused_as(HF_UNSUPPORTED, "quorum:redis-cluster://a|redis://b|redis://c",
               "its slots may move");
}

TEST(redis_cluster_bad, a_server_that_is_in_no_cluster_says_so)
{
    char url[80];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", r.port);
    fails(url, HF_INVALID, "not in cluster mode");
}

TEST(redis_cluster_bad, a_cluster_that_serves_nothing_is_unavailable)
{
    static char bus[8];
    static const char *const args[] = {"--cluster-enabled", "yes",
                                       "--cluster-port", bus, NULL};
    char url[80];
    snprintf(bus, sizeof bus, "%d", redis_free_port());
    redis_begin(&r, args);
    rig_begin_at(r.url);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", r.port);
    fails(url, HF_UNAVAILABLE, "CLUSTER SLOTS");
}

TEST(redis_cluster_bad, seeds_of_which_none_is_there_are_unavailable)
{
    char url[128];
    rig_begin_at("memory:");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d",
             redis_dead_port(), redis_dead_port());
    fails(url, HF_UNAVAILABLE, "none of 2 hosts");
    fails(url, HF_UNAVAILABLE, "Connection refused");
}

TEST(redis_cluster_bad, a_wait_that_ends_before_any_answer_names_the_hosts)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(300, 0, 0);
    char url[80], host[32];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    snprintf(host, sizeof host, "127.0.0.1:%d", r.port);
    snprintf(url, sizeof url, "redis-cluster://%s", host);
    redis_pause(&r);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "job");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_UNAVAILABLE);
    redis_resume(&r);
    if (!strstr(err.text, host)) TEST_FAIL("\"%s\" lacks %s", err.text, host);
}

TEST(redis_cluster_bad, one_seed_that_is_there_is_enough)
{
    char url[256];
    cluster_rig_begin(&c, 3, 0);
    snprintf(url, sizeof url,
             "redis-cluster://127.0.0.1:%d,no-such-host.invalid,127.0.0.1:%d,"
             "127.0.0.1:%d",
             redis_dead_port(), redis_dead_port(), c.nodes[2].port);
    /* Whichever it begins with. */
    for (int i = 0; i < 8; i++) works(url);
}

TEST(redis_cluster_bad, a_seed_outside_of_the_cluster_does_no_harm)
{
    char url[128];
    cluster_rig_begin(&c, 3, 0);
    redis_begin(&r, NULL);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d",
             r.port, c.nodes[0].port);
    for (int i = 0; i < 4; i++) works(url);
}

TEST(redis_cluster_bad, a_seed_that_does_not_answer_does_not_hold_it_up)
{
    char url[128];
    cluster_rig_begin(&c, 3, 0);
    redis_begin(&r, NULL);
    redis_pause(&r);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d,127.0.0.1:%d",
             r.port, c.nodes[0].port);
    for (int i = 0; i < 4; i++) works(url);
}

TEST(redis_cluster_bad, a_seed_given_by_its_name_is_as_good)
{
    char url[128];
    cluster_rig_begin(&c, 3, 0);
    snprintf(url, sizeof url, "redis-cluster://localhost:%d", c.nodes[1].port);
    hf_client *client = rig_client_at(url, NULL);
    CHECK_INT(rig_probe(rig_lock(client, "a")), HF_OK);
    CHECK_INT(rig_probe(rig_lock(client, "b")), HF_OK);
    CHECK_INT(rig_probe(rig_lock(client, "c")), HF_OK);
}

/* It cannot WAIT, and need not. */
TEST(redis_cluster_bad, a_seed_that_is_a_replica_leads_to_its_master)
{
    char url[128];
    cluster_rig_begin(&c, 1, 1);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", c.nodes[1].port);
    works(url);
    redis_say(&c.nodes[0], "DEL job");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?wait=1",
             c.nodes[1].port);
    works(url);
    redis_say(&c.nodes[0], "DEL job");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?wait=all",
             c.nodes[1].port);
    works(url);
}

TEST(redis_cluster_bad, a_wrong_password_is_denied)
{
    char url[128];
    cluster_rig_begin(&c, 1, 0);
    redis_say(&c.nodes[0], "CONFIG SET requirepass right");
    snprintf(url, sizeof url, "redis-cluster://:wrong@127.0.0.1:%d",
             c.nodes[0].port);
    fails(url, HF_DENIED, "password");
    snprintf(url, sizeof url, "redis-cluster://:right@127.0.0.1:%d",
             c.nodes[0].port);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "job")), HF_OK);
}

TEST(redis_cluster_bad, a_single_server_url_names_the_other_one)
{
    int at;
    struct hf_error err = {0};
    cluster_rig_begin(&c, 3, 0);
    at = cluster_rig_at(&c, "job");
    hf_client *client = rig_client_at(c.nodes[(at + 1) % 3].url, NULL);
    CHECK_INT(hf_lock_try(rig_lock(client, "job"), NULL, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "redis-cluster://") != NULL);
}

TEST(redis_cluster_bad, a_user_who_may_not_ask_who_serves_what_is_denied)
{
    char url[128];
    cluster_rig_begin(&c, 1, 0);
    redis_say(&c.nodes[0], "ACL SETUSER joe on >pw ~* &* +@all -cluster");
    snprintf(url, sizeof url, "redis-cluster://joe:pw@127.0.0.1:%d",
             c.nodes[0].port);
    fails(url, HF_DENIED, "CLUSTER SLOTS: not permitted");
}

struct waiter {
    hf_lock *lock;
    int status;
};

static void wait_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, 4000, NULL); /* nobody looks earlier */
}

static int has_waiter(void *arg)
{
    (void)arg;
    return redis_number(&c.nodes[0], "EVAL \"return #redis.call('PUBSUB',"
                                     "'SHARDCHANNELS')\" 0")
           == 1;
}

TEST(redis_cluster_bad, a_user_of_few_rights_locks_and_is_woken)
{
    static struct waiter w;
    char url[128];
    cluster_rig_begin(&c, 1, 0);
    redis_say(&c.nodes[0],
              "ACL SETUSER joe on >pw ~job ~redisson_lock_token:{job} "
              "&redisson_lock__channel:{job} -@all +evalsha +eval +time +pttl "
              "+get +set +hget +hset +hmget +pexpire +del +exists +spublish "
              "+ssubscribe +sunsubscribe +ping +cluster|slots +asking");
    snprintf(url, sizeof url, "redis-cluster://joe:pw@127.0.0.1:%d",
             c.nodes[0].port);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "job");
    w = (struct waiter){rig_lock(rig_client_at(url, NULL), "job"), -1};
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(wait_run, &w);
    CHECK(rig_until(has_waiter, NULL));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

/* ---- one master of three is gone ---- */

static int row_count(const struct hf_list_row *row, void *user)
{
    (void)row;
    (*(int *)user)++;
    return 0;
}

TEST(redis_cluster_bad, a_list_tells_what_the_other_masters_have)
{
    struct hf_error err = {0};
    char name[8], gone[32];
    int others = 0, seen = 0;
    cluster_rig_begin(&c, 3, 0);
    hf_client *client = rig_client(NULL);
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "n%d", i);
        CHECK_INT(hf_lock_try(rig_lock(client, name), NULL, NULL), HF_OK);
        others += cluster_rig_at(&c, name) != 0;
    }
    CHECK(others > 0 && others < 12);
    /* Otherwise the two live masters would refuse to answer, too. */
    for (int i = 0; i < 3; i++)
        redis_say(&c.nodes[i], "CONFIG SET cluster-require-full-coverage no");
    cluster_rig_kill(&c, 0);
    CHECK_INT(hf_client_list(client, NULL, row_count, &seen, &err),
              HF_UNAVAILABLE);
    CHECK_INT(seen, others);
    snprintf(gone, sizeof gone, "127.0.0.1:%d", c.nodes[0].port);
    if (!strstr(err.text, gone)) TEST_FAIL("\"%s\" lacks %s", err.text, gone);
}
