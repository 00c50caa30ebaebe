/*
 * member_alone_test.c: a client of one database that is a member of a quorum of
 * three: a PostgreSQL server, a MariaDB server and a file of SQLite.  One rule:
 * what the quorum decides is not granted past it, and nothing is stored when a
 * client is refused.
 */
#include <stdio.h>
#include <string.h>

#include "lab/folder.h"
#include "lib/lab_check.h"
#include "lib/nodes.h"
#include "lib/refused.h"
#include "lib/rig.h"
#include "lib/rig_mysql.h"
#include "lib/rig_postgres.h"
#include "lib/rig_semaphore.h"

#define LEASE_MS 30000
#define MARKER "v1 0123456789abcdef-3 x 0 30000"

enum member { POSTGRES, MYSQL, SQLITE, MEMBERS };

static struct {
    struct lab_postgres postgres;
    struct lab_mariadb mariadb;
    char dir[128];
    char urls[MEMBERS][192];
    char url[600];
} m;

static struct hf_error err;

static void folder_end(void *arg)
{
    (void)arg;
    lab_folder_remove(m.dir);
}

static void members_make(void)
{
    postgres_begin(&m.postgres, NULL, NULL);
    mysql_begin(&m.mariadb, NULL);
    LAB_CHECK(lab_folder_make(m.dir, sizeof m.dir, "alone"));
    test_cleanup(folder_end, NULL);
    snprintf(m.urls[POSTGRES], sizeof m.urls[0], "%s", m.postgres.url);
    snprintf(m.urls[MYSQL], sizeof m.urls[0], "%s", m.mariadb.url);
    snprintf(m.urls[SQLITE], sizeof m.urls[0], "sqlite:%s/locks.db", m.dir);
    snprintf(m.url, sizeof m.url, "quorum:%s|%s|%s", m.urls[0], m.urls[1],
             m.urls[2]);
    memset(&err, 0, sizeof err);
}

/* Three members, which may vote at once. */
static hf_client *begin(void)
{
    struct hf_quorum_node nodes[MEMBERS];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    int len = 0;
    members_make();
    o.timeout_ms = RIG_WAIT_MS;
    if (nodes_init(m.url, &o, nodes, MEMBERS, &len, &err) != HF_OK)
        TEST_FAIL("init: %s", err.text);
    rig_begin_at(m.url);
    hf_client *c = rig_client_at(m.url, NULL);
    CHECK(rig_until_settled(c, MEMBERS));
    return c;
}

static hf_client *outside(int member)
{
    return rig_client_at(m.urls[member], NULL);
}

static int is_locked(hf_client *c, const char *name)
{
    int locked = -1;
    CHECK_INT(hf_lock_is_locked(rig_lock(c, name), &locked, NULL), HF_OK);
    return locked;
}

/* The other two are enough for a grant: it may come a moment later here. */
static int is_a_locked(void *client)
{
    return is_locked(client, "a");
}

static void is_refused(int status)
{
    CHECK_INT(status, HF_CONFLICT);
    CHECK(strstr(err.text, "it is one of 3 members of a quorum") != NULL);
    CHECK(strstr(err.text, "add member=ok to the URL") != NULL);
    CHECK(strstr(err.text, "delete 'boot' from holdfast_meta") != NULL);
    memset(&err, 0, sizeof err);
}

TEST(member_alone, grants_no_lock_and_stores_none)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    begin();
    for (int i = 0; i < MEMBERS; i++) {
        hf_client *c = outside(i);
        is_refused(hf_lock_acquire(rig_lock(c, "b"), &o, NULL, &err));
        CHECK_INT(is_locked(c, "b"), 0);
    }
    CHECK_STR(
        lab_postgres_say(&m.postgres, "SELECT count(*) FROM holdfast_lock"),
        "0");
    CHECK_STR(lab_mariadb_say(&m.mariadb,
                              "SELECT COUNT(*) FROM holdfast.holdfast_lock"),
              "0");
}

TEST(member_alone, grants_no_other_kind_and_changes_no_number)
{
    struct hf_lock_options lock = HF_LOCK_OPTIONS_INIT;
    struct hf_semaphore_options semaphore = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    begin();
    lock.kind = HF_KIND_WRITE;
    semaphore.permits = 3;
    for (int i = 0; i < MEMBERS; i++) {
        hf_client *c = outside(i);
        hf_lock *l = rig_lock_as(c, "rw", &lock);
        is_refused(hf_lock_acquire(l, &o, NULL, &err));
        hf_semaphore *sem = rig_semaphore_as(c, "n", &semaphore);
        is_refused(hf_semaphore_try_set(sem, 3, NULL, &err));
        is_refused(hf_semaphore_delete(sem, NULL, &err));
    }
}

/* Kept on one member alone, it would be the quorum's to give again. */
TEST(member_alone, takes_over_no_ticket_of_the_quorum)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, LEASE_MS, HF_ACQUIRE_DETACHED);
    char ticket[HF_TICKET_MAX];
    hf_hold *g = NULL;
    hf_lock *l = rig_lock(begin(), "t");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    for (int i = 0; i < MEMBERS; i++)
        is_refused(hf_lock_attach(rig_lock(outside(i), "t"), ticket, LEASE_MS,
                                  &g, &err));
    CHECK_INT(hf_lock_attach(l, ticket, LEASE_MS, &g, NULL), HF_OK);
}

/* An operator who mends a quorum looks at its members one by one. */
TEST(member_alone, lets_look_break_and_write_values)
{
    hf_hold *g = NULL;
    hf_lock *l = rig_lock(begin(), "a");
    for (int i = 0; i < MEMBERS; i++) {
        int was_locked = 0;
        hf_client *c = outside(i);
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
        CHECK(rig_until(is_a_locked, c));
        CHECK_INT(hf_lock_break(rig_lock(c, "a"), &was_locked, NULL), HF_OK);
        CHECK_INT(was_locked, 1);
        CHECK_INT(is_locked(c, "a"), 0);
        CHECK_INT(hf_value_write(c, "v", 0, "x", 1, 0, NULL, &err), HF_OK);
        (void)hf_hold_release(g, NULL);
    }
}

TEST(member_alone, grants_where_the_url_says_so)
{
    char url[256];
    begin();
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(url, sizeof url, "%s?member=ok", m.urls[i]);
        CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "b")), HF_OK);
        snprintf(url, sizeof url, "%s?member=yes", m.urls[i]);
        url_is_bad(url, "\"yes\" is neither no nor ok");
    }
}

static int is_refused_by_now(void *lock)
{
    return rig_probe(lock) == HF_CONFLICT;
}

/* One mistyped URL of another client must not end it: its row is there. */
TEST(member_alone, keeps_a_hold_from_before)
{
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    hf_hold *g = NULL;
    members_make();
    rig_begin_at(m.url);
    hf_client *c = outside(POSTGRES);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    LAB_CHECK(lab_postgres_do(
        &m.postgres,
        "INSERT INTO holdfast_meta VALUES ('boot', '" MARKER "');"
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"));
    CHECK(rig_until(is_refused_by_now, rig_lock(c, "b")));
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(is_locked(c, "a"), 0);
    CHECK_INT(rig_probe(l), HF_CONFLICT);
}
