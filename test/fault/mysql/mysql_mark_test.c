/*
 * mysql_mark_test.c: the mark of a waiter in its row, by which a release tells
 * whether others may wait.
 */
#include <stdatomic.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_mysql.h"

#define MARKED                                                                 \
    "SELECT waits_us > 0 FROM holdfast.holdfast_lock WHERE name = 'a'"
#define UNMARK "UPDATE holdfast.holdfast_lock SET waits_us = 0"

static struct lab_mariadb server;

static void begin(void)
{
    mysql_begin(&server, NULL);
    rig_begin_at(server.url);
}

static void waiter_run(void *arg)
{
    hf_hold *g;
    if (rig_acquire(arg, 0, RIG_PATIENCE_MS, &g) == HF_OK)
        (void)hf_hold_release(g, NULL);
}

static int is_marked(void *arg)
{
    (void)arg;
    return !strcmp(lab_mariadb_say(&server, MARKED), "1");
}

TEST(mysql_mark, of_a_waiter_is_set_and_set_again)
{
    hf_hold *g;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(!is_marked(NULL));
    rig_spawn(waiter_run, rig_lock(rig_client(NULL), "a"));
    CHECK(rig_until(is_marked, NULL));
    LAB_CHECK(lab_mariadb_do(&server, UNMARK));
    CHECK(rig_until(is_marked, NULL));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(mysql_mark, is_not_set_where_nobody_waits)
{
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 3; i++) CHECK_INT(rig_probe(l), HF_OK);
    CHECK(!is_marked(NULL));
}

static atomic_int is_over;

/* Another program, whose transaction keeps the row while two marks are due. */
static void row_keep(void *arg)
{
    static struct lab_mariadb other; /* a place for its answer */
    (void)arg;
    other.port = server.port;
    (void)lab_mariadb_ask(&other, "SET autocommit=0;" UNMARK
                                  ";SELECT SLEEP(7);ROLLBACK");
    atomic_store(&is_over, 1);
}

TEST(mysql_mark, that_cannot_be_set_leaves_the_waiter_looking)
{
    hf_hold *g;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    rig_spawn(waiter_run, other);
    CHECK(rig_until(is_marked, NULL));
    rig_spawn(row_keep, NULL);
    CHECK(rig_until_equal(&is_over, 1));
    LAB_CHECK(lab_mariadb_do(&server, UNMARK));
    CHECK(rig_until(is_marked, NULL));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}
