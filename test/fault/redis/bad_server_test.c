/*
 * bad_server_test.c: servers that cannot or will not be used.  One rule: each
 * has its own status and error text, in time, and nothing is changed there.
 */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define SOON_MS 20000

static hf_client *impatient_client(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1500;
    o.patience_ms = 2500;
    return rig_client_at(url, &o);
}

/* One try at `url` ends in time with `status` and an error text with `word`. */
static void try_says(const char *url, int status, const char *word)
{
    struct hf_error err = {0};
    struct hf_info info = HF_INFO_INIT;
    int64_t began_ms = rig_now_ms();
    hf_client *c = impatient_client(url);
    hf_lock *l = rig_lock(c, "a");
    int got = hf_lock_try(l, NULL, &err);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    if (got != status || !strcasestr(err.text, word))
        TEST_FAIL("%s: %s: %s (not %s, \"%s\")", url, hf_status_name(got),
                  err.text, hf_status_name(status), word);
    CHECK_INT(err.status, status);
    CHECK(strstr(err.text, "geheim") == NULL);
    got = hf_lock_inspect(l, &info, NULL); /* reading may be possible */
    CHECK(got == status || got == HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    rig_close(c);
}

/* ---- rights ------------------------------------------------------------- */

static const char *user_url(const struct lab_server *r, const char *user)
{
    static char url[128];
    snprintf(url, sizeof url, "redis://%s127.0.0.1:%d", user, r->port);
    return url;
}

TEST(bad_server, a_wrong_password_is_denied)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    CHECK_STR(redis_say(&r, "ACL SETUSER bob on >secret ~* &* +@all"), "OK");
    try_says(user_url(&r, "bob:geheim@"), HF_DENIED, "password");
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
    hf_lock *l = rig_lock(impatient_client(user_url(&r, "bob:secret@")), "a");
    CHECK_INT(rig_probe(l), HF_OK);
}

static int last_is_refused(void *client)
{
    struct hf_node nodes[3];
    nodes_of(client, nodes, 3);
    return nodes[2].link == HF_LINK_REFUSED && nodes[2].status == HF_DENIED;
}

TEST(bad_server, a_member_with_a_wrong_password_has_its_link_refused)
{
    static struct lab_server r;
    char url[256];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    CHECK_STR(redis_say(&r, "ACL SETUSER bob on >secret ~* &* +@all"), "OK");
    snprintf(url, sizeof url, "quorum:memory:w1|memory:w2|%s",
             user_url(&r, "bob:geheim@"));
    CHECK(rig_until(last_is_refused, impatient_client(url)));
}

TEST(bad_server, a_missing_password_is_denied)
{
    static const char *const args[] = {"--requirepass", "secret", NULL};
    static struct lab_server r;
    redis_begin(&r, args);
    rig_begin_at(r.url);
    try_says(r.url, HF_DENIED, "password");
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.password = "secret";
    CHECK_INT(rig_probe(rig_lock(rig_client(&o), "a")), HF_OK);
}

TEST(bad_server, a_password_where_none_is_set_is_denied_or_ignored)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(impatient_client(user_url(&r, ":geheim@")), "a");
    int status = hf_lock_try(l, NULL, NULL);
    CHECK(status == HF_DENIED || status == HF_OK);
}

TEST(bad_server, missing_rights_are_denied)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    redis_say(&r, "ACL SETUSER noeval on >pw ~* &* +@all -eval -evalsha");
    redis_say(&r, "ACL SETUSER nohash on >pw ~* &* +@all -@hash");
    redis_say(&r, "ACL SETUSER nokey on >pw ~other:* &* +@all");
    try_says(user_url(&r, "noeval:pw@"), HF_DENIED, "permi");
    try_says(user_url(&r, "nokey:pw@"), HF_DENIED, "permi");
    try_says(user_url(&r, "nohash:pw@"), HF_DENIED, "permi");
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
}

TEST(bad_server, a_database_that_does_not_exist_is_invalid)
{
    static struct lab_server r;
    char url[128];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    snprintf(url, sizeof url, "%s/99", r.url);
    try_says(url, HF_INVALID, "database");
}

/* ---- what is stored there ----------------------------------------------- */

static void conflicts(struct lab_server *r, const char *make, const char *read,
                      const char *value)
{
    int was = 77;
    redis_say(r, "FLUSHALL");
    redis_say(r, "%s", make);
    try_says(r->url, HF_CONFLICT, "no lock");
    hf_lock *l = rig_lock(impatient_client(r->url), "a");
    CHECK_INT(rig_acquire(l, 0, 10000, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_break(l, &was, NULL), HF_CONFLICT);
    CHECK_INT(was, 77);
    CHECK_STR(redis_say(r, "%s", read), value);
    CHECK_INT(redis_number(r, "PTTL a"), -1);
    CHECK_INT(redis_number(r, "DBSIZE"), 1);
}

TEST(bad_server, something_else_under_the_name_is_a_conflict)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    conflicts(&r, "SET a precious", "GET a", "precious");
    conflicts(&r, "RPUSH a x y", "LRANGE a 0 -1", "x\ny\n");
    conflicts(&r, "SADD a member", "SMEMBERS a", "member\n");
    conflicts(&r, "ZADD a 1 member", "ZRANGE a 0 -1", "member\n");
}

TEST(bad_server, a_lock_that_became_something_else_is_lost)
{
    static struct lab_server r;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    o.lease_ms = 900;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    redis_say(&r, "SET a precious");
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK(hf_lock_release(l, NULL, NULL) != HF_OK);
    CHECK_STR(redis_say(&r, "GET a"), "precious");
}

/* ---- servers that take no writes ---------------------------------------- */

TEST(bad_server, a_replica_says_so)
{
    static struct lab_server r, replica;
    static char port[16];
    static const char *args[] = {"--replicaof", "127.0.0.1", port, NULL};
    redis_begin(&r, NULL);
    snprintf(port, sizeof port, "%d", r.port);
    redis_begin(&replica, args);
    rig_begin_at(replica.url);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (!strstr(redis_say(&replica, "INFO replication"),
                   "master_link_status:up"))
        CHECK(rig_now_ms() < end_ms);
    try_says(replica.url, HF_UNAVAILABLE, "it is a replica of");
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
}

TEST(bad_server, a_full_one_says_so_and_can_still_be_unlocked)
{
    hf_hold *g = NULL;
    static struct lab_server r;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    o.lease_ms = 4000;
    hf_lock *l = rig_lock(rig_client(&o), "held");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    try_says(r.url, HF_UNAVAILABLE, "memory");
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    rig_pause_ms(6000);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD); /* it is renewed */
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS held"), 0);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 0"), "OK");
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(bad_server, one_that_is_loading_says_so_and_works_when_it_is_done)
{
    static const char *const args[] = {
        "--enable-debug-command",
        "yes",
        "--key-load-delay",
        "2000",
        "--loading-process-events-interval-bytes",
        "1024",
        NULL};
    static struct lab_server r;
    redis_begin(&r, args);
    rig_begin_at(r.url);
    CHECK_STR(redis_say(&r, "DEBUG POPULATE 3000"), "OK");
    redis_shutdown(&r, 1);
    redis_start_loading(&r);
    CHECK(strstr(redis_say(&r, "PING"), "LOADING") != NULL);
    try_says(r.url, HF_UNAVAILABLE, "loading");
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = 30000;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(rig_acquire(l, 0, 60000, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

/* ---- no Redis at all ---------------------------------------------------- */

TEST(bad_server, nobody_there_is_unavailable)
{
    char url[64];
    rig_begin_at("");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", redis_dead_port());
    try_says(url, HF_UNAVAILABLE, "refused");
}

TEST(bad_server, an_unknown_host_is_unavailable)
{
    rig_begin_at("");
    try_says("redis://no-such-host.invalid", HF_UNAVAILABLE,
             "no-such-host.invalid");
}

TEST(bad_server, a_socket_that_does_not_exist_is_unavailable)
{
    char url[200];
    rig_begin_on("file:");
    snprintf(url, sizeof url, "redis+unix://%s/no.sock", rig_dir());
    try_says(url, HF_UNAVAILABLE, "no.sock");
}
