/*
 * quorum_outside_test.c: a client of one server that is a member of a quorum of
 * three.  One rule: what the quorum decides is not granted past it, and nothing
 * on the server changes when a client is refused.
 */
#include <stdio.h>
#include <string.h>

#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/rig_semaphore.h"

#define NODES 3

static struct lab_server servers[NODES];
static struct hf_error err;
static char quorum_url[256];

/* Three members; the quorum's holder has "a". */
static hf_hold *begin(void)
{
    struct hf_quorum_node nodes[NODES];
    int len = 0;
    for (int i = 0; i < NODES; i++) redis_begin(&servers[i], NULL);
    memset(&err, 0, sizeof err);
    snprintf(quorum_url, sizeof quorum_url,
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             servers[0].port, servers[1].port, servers[2].port);
    CHECK_INT(nodes_init(quorum_url, NULL, nodes, NODES, &len, &err), HF_OK);
    hf_client *c = rig_client_at(quorum_url, NULL);
    CHECK(rig_until_settled(c, NODES));
    hf_hold *g = NULL;
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, RIG_WAIT_MS, &g), HF_OK);
    return g;
}

/* One try for "b" with this URL. */
static int try_with(const char *url)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    hf_client *client = NULL;
    hf_lock *l = NULL;
    int status = hf_client_open(url, NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "b", &l, &err);
    if (status == HF_OK) status = hf_lock_acquire(l, &o, NULL, &err);
    hf_client_close(client);
    return status;
}

static void is_refused(const char *url)
{
    int64_t keys = redis_number(&servers[0], "DBSIZE");
    CHECK_INT(try_with(url), HF_CONFLICT);
    CHECK(strstr(err.text, "one of 3 members of a quorum") != NULL);
    CHECK(strstr(err.text, "use redis://HOST?member=ok if") != NULL);
    CHECK(strstr(err.text, "DEL holdfast:boot") != NULL);
    CHECK_INT(redis_number(&servers[0], "DBSIZE"), keys);
}

TEST(quorum_outside, redis_url_of_a_member_is_refused)
{
    begin();
    is_refused(servers[0].url);
}

TEST(quorum_outside, redlock_url_of_one_member_is_refused)
{
    char url[64];
    begin();
    snprintf(url, sizeof url, "redlock://127.0.0.1:%d", servers[0].port);
    is_refused(url);
}

/* It is not stored on that member, but it is the quorum's to give. */
TEST(quorum_outside, what_the_quorum_has_is_not_granted_beside_it)
{
    hf_hold *g = begin();
    redis_say(&servers[1], "DEL a");
    hf_client *outside = rig_client_at(servers[1].url, NULL);
    CHECK_INT(rig_probe(rig_lock(outside, "a")), HF_CONFLICT);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
}

/* Kept on that member alone, it would be the quorum's to give again. */
TEST(quorum_outside, ticket_of_the_quorum_is_not_taken_over_past_it)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 20000, HF_ACQUIRE_DETACHED);
    char ticket[HF_TICKET_MAX];
    hf_hold *g = NULL;
    begin();
    hf_client *inside = rig_client_at(quorum_url, NULL);
    CHECK(rig_until_settled(inside, NODES));
    hf_lock *l = rig_lock(inside, "t");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    for (int i = 0; i < NODES; i++) {
        hf_client *outside = rig_client_at(servers[i].url, NULL);
        hf_lock *there = rig_lock(outside, "t");
        CHECK_INT(hf_lock_attach(there, ticket, 20000, &g, &err), HF_CONFLICT);
        CHECK(strstr(err.text, "one of 3 members of a quorum") != NULL);
    }
    CHECK_INT(hf_lock_attach(l, ticket, 20000, &g, NULL), HF_OK);
}

static int is_refused_by_now(void *lock)
{
    return rig_probe(lock) == HF_CONFLICT;
}

/* One mistyped URL of another client must not end it: its record is there. */
TEST(quorum_outside, hold_from_before_is_kept_after_the_next_connect)
{
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    hf_hold *g = NULL;
    redis_begin(&servers[0], NULL);
    hf_client *c = rig_client_at(servers[0].url, NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    redis_say(&servers[0], "SET holdfast:boot 'v1 0123456789abcdef-3 x 0'");
    redis_say(&servers[0], "CLIENT KILL TYPE normal SKIPME yes");
    CHECK(rig_until(is_refused_by_now, rig_lock(c, "b")));
    CHECK_INT(hf_hold_extend(g, 0, &err), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, &err), HF_OK);
    CHECK_INT(redis_number(&servers[0], "EXISTS a"), 0);
    CHECK_INT(rig_probe(l), HF_CONFLICT);
}

TEST(quorum_outside, url_that_says_so_is_granted)
{
    char url[96];
    begin();
    snprintf(url, sizeof url, "%s?member=ok", servers[0].url);
    CHECK_INT(try_with(url), HF_OK);
}

TEST(quorum_outside, the_word_is_not_for_a_quorum)
{
    char url[96];
    begin();
    snprintf(url, sizeof url, "redlock://127.0.0.1:%d?member=ok",
             servers[0].port);
    CHECK_INT(try_with(url), HF_INVALID);
    CHECK(strstr(err.text, "option member") != NULL);
    snprintf(url, sizeof url, "%s?member=yes", servers[0].url);
    CHECK_INT(try_with(url), HF_INVALID);
    CHECK(strstr(err.text, "\"yes\" is neither no nor ok") != NULL);
}

static int row_count(const struct hf_list_row *row, void *user)
{
    *(int *)user += row->name_len == 1 && row->name[0] == 'a';
    return 0;
}

/* An operator who mends a quorum looks at its members one by one. */
TEST(quorum_outside, it_may_look_and_break)
{
    int is_locked = 0, rows = 0;
    begin();
    hf_client *c = rig_client_at(servers[0].url, NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_is_locked(l, &is_locked, NULL), HF_OK);
    CHECK_INT(is_locked, 1);
    CHECK_INT(hf_client_list(c, NULL, row_count, &rows, NULL), HF_OK);
    CHECK_INT(rows, 1);
    CHECK_INT(hf_lock_break(l, &is_locked, NULL), HF_OK);
    CHECK_INT(is_locked, 1);
    CHECK_INT(redis_number(&servers[0], "EXISTS a"), 0);
}

/* Semaphores and the like are asked for in the same way. */
TEST(quorum_outside, other_kinds_are_refused_too)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    begin();
    o.kind = HF_KIND_WRITE;
    hf_client *c = rig_client_at(servers[0].url, NULL);
    CHECK_INT(rig_probe(rig_lock_as(c, "rw", &o)), HF_CONFLICT);
    CHECK_INT(redis_number(&servers[0], "EXISTS rw"), 0);
}

static void is_refused_as(int status)
{
    CHECK_INT(status, HF_CONFLICT);
    CHECK(strstr(err.text, "one of 3 members of a quorum") != NULL);
    CHECK_INT(redis_number(&servers[0], "EXISTS n"), 0);
    memset(&err, 0, sizeof err);
}

/* A number that one member has under the name of a lock has no expiry: the
 * quorum's lock of that name would be a conflict there for ever. */
TEST(quorum_outside, number_of_a_semaphore_is_not_changed)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_semaphore_state state = HF_SEMAPHORE_STATE_INIT;
    hf_hold *permit;
    begin();
    for (int plain = 0; plain < 2; plain++) {
        o.flags = plain ? HF_SEMAPHORE_PLAIN : 0;
        o.permits = 3;
        hf_semaphore *sem =
            rig_semaphore_as(rig_client_at(servers[0].url, NULL), "n", &o);
        is_refused_as(hf_semaphore_try_set(sem, 3, NULL, &err));
        is_refused_as(hf_semaphore_set(sem, 3, 0, NULL, &err));
        is_refused_as(hf_semaphore_add(sem, 3, 0, NULL, &err));
        is_refused_as(hf_semaphore_delete(sem, NULL, &err));
        is_refused_as(hf_semaphore_try(sem, &permit, &err));
        CHECK(hf_semaphore_state(sem, &state, &err) != HF_CONFLICT);
    }
}

TEST(quorum_outside, latch_is_not_changed)
{
    hf_latch *latch = NULL;
    int64_t left = -1;
    begin();
    hf_client *c = rig_client_at(servers[0].url, NULL);
    CHECK_INT(hf_latch_open(c, "n", &latch, &err), HF_OK);
    is_refused_as(hf_latch_set(latch, 2, &err));
    is_refused_as(hf_latch_down(latch, &left, &err));
    is_refused_as(hf_latch_delete(latch, NULL, &err));
    CHECK_INT(hf_latch_count(latch, &left, &err), HF_OK);
    CHECK_INT(left, 0);
    hf_latch_close(latch);
}

/* They are data under a key of the client's own, and grant nothing. */
TEST(quorum_outside, value_may_be_written)
{
    begin();
    hf_client *c = rig_client_at(servers[0].url, NULL);
    CHECK_INT(hf_value_write(c, "v", 0, "x", 1, 0, NULL, &err), HF_OK);
}

/* A quorum of one is the server itself. */
TEST(quorum_outside, one_server_that_was_declared_new_is_used_either_way)
{
    struct hf_quorum_node nodes[NODES];
    char url[64];
    int len = 0;
    redis_begin(&servers[0], NULL);
    snprintf(url, sizeof url, "redlock://127.0.0.1:%d", servers[0].port);
    (void)nodes_init(url, NULL, nodes, NODES, &len, NULL);
    CHECK_INT(try_with(url), HF_OK);
    CHECK_INT(try_with(servers[0].url), HF_OK);
}

/* Once per connect, and never for a lock. */
TEST(quorum_outside, no_lock_pays_for_it)
{
    redis_begin(&servers[0], NULL);
    hf_client *c = rig_client_at(servers[0].url, NULL);
    hf_lock *l = rig_lock(c, "a");
    for (int i = 0; i < 5; i++) {
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    }
    const char *stats = redis_say(&servers[0], "INFO commandstats");
    CHECK(strstr(stats, "cmdstat_get:calls=1,") != NULL);
}

/* A user without the right to read the marker gets its locks as before. */
TEST(quorum_outside, user_that_may_not_read_the_marker_gets_its_lock)
{
    char url[96];
    redis_begin(&servers[0], NULL);
    redis_say(&servers[0], "ACL SETUSER few on >pw ~b ~*{b}* &* +@all -config");
    snprintf(url, sizeof url, "redis://few:pw@127.0.0.1:%d", servers[0].port);
    CHECK_INT(try_with(url), HF_OK);
}
