/*
 * zookeeper_refused_test.c: URLs, users and nodes that will not do.  One rule:
 * each mistake has a status of its own and a sentence that says what to do.
 */
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/refused.h"
#include "lib/rig_gate.h"
#include "lib/rig_number.h"
#include "lib/rig_zookeeper.h"

static struct lab_zookeeper server;

static const char *url_of(const char *user, const char *rest)
{
    static char url[256];
    snprintf(url, sizeof url, "zookeeper://%s127.0.0.1:%d%s", user, server.port,
             rest);
    return url;
}

TEST(zookeeper_refused, options_that_make_no_sense_are_named)
{
    url_is_bad("zookeeper://h/a//b", "can be no node");
    url_is_bad("zookeeper://h/zookeeper/a", "can be no node");
    url_is_bad("zookeeper://h/?chroot=make", "is not create");
    url_is_bad("zookeeper://h/?session=1ms", "no time between");
    url_is_bad("zookeeper://h/?tls_ca=x", "needs tls=on");
    url_is_bad("zookeeper://:secret@h/", "a password needs one");
    url_is_bad("zookeeper:///a", "host");
}

TEST(zookeeper_refused, a_missing_root_is_named_and_not_made)
{
    zookeeper_begin(&server);
    rig_begin_at(server.url);
    url_is_refused(url_of("", "/no/where"), HF_INVALID, "chroot=create");
    url_is_refused(url_of("", "/no/where"), HF_INVALID, "/no/where is missing");
    hf_lock *l = rig_lock(
        rig_client_at(url_of("", "/no/where?chroot=create&patience=60s"), NULL),
        "a");
    CHECK_INT(rig_probe(l), HF_OK);
    hf_lock *again =
        rig_lock(rig_client_at(url_of("", "/no/where"), NULL), "a");
    CHECK_INT(rig_probe(again), HF_OK);
}

/* What a user makes after a login is that user's alone. */
TEST(zookeeper_refused, nodes_of_another_user_are_denied)
{
    zookeeper_begin(&server);
    rig_begin_at(server.url);
    hf_lock *l = rig_lock(
        rig_client_at(url_of("u:right@", "/own?chroot=create&patience=60s"),
                      NULL),
        "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    url_is_refused(url_of("u:wrong@", "/own"), HF_DENIED, "another ACL");
    url_is_refused(url_of("", "/own"), HF_DENIED, "another ACL");
    hf_lock *other =
        rig_lock(rig_client_at(url_of("u:right@", "/own"), NULL), "a");
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
}

/* What a latch would delete, to be alone with its name, is another's. */
TEST(zookeeper_refused, a_node_with_data_is_a_conflict_and_stays)
{
    struct hf_error err = {0};
    zookeeper_begin(&server);
    rig_begin_at(server.url);
    hf_client *c = rig_client_at(url_of("", "/a?chroot=create"), NULL);
    CHECK_INT(number_add(c), HF_OK);
    hf_client *inner = rig_client_at(url_of("", "/a/.cells"), NULL);
    hf_latch *latch = rig_latch(inner, "n");
    CHECK_INT(hf_latch_set(latch, 1, &err), HF_CONFLICT);
    if (!strstr(err.text, "data of another")) TEST_FAIL("%s", err.text);
    CHECK_INT(number_of(c), 1);
}

/* Values are a user's alone, too. */
TEST(zookeeper_refused, values_of_another_user_are_denied)
{
    struct hf_value v = HF_VALUE_INIT;
    struct hf_error err = {0};
    zookeeper_begin(&server);
    rig_begin_at(server.url);
    hf_client *c = rig_client_at(url_of("", "/all?chroot=create"), NULL);
    CHECK_INT(number_add(c), HF_OK);
    hf_client *one = rig_client_at(url_of("u:right@", "/all"), NULL);
    CHECK_INT(hf_value_write(one, "own", 0, "x", 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_value_read(c, "own", &v, &err), HF_DENIED);
    if (!strstr(err.text, "another ACL")) TEST_FAIL("%s", err.text);
    CHECK_INT(hf_value_write(c, "own", 1, "y", 1, 0, NULL, &err), HF_DENIED);
    CHECK_INT(hf_value_read(one, "own", &v, NULL), HF_OK);
    CHECK_INT(v.len, 1);
    hf_value_free(one, &v);
}

/* The lock a/b is the node a%2Fb, so nothing of ours is ever in a queue but its
 * places: a root inside another lock's node is. */
TEST(zookeeper_refused, a_node_that_is_in_no_queue_is_a_conflict)
{
    struct hf_error err = {0};
    zookeeper_begin(&server);
    rig_begin_at(server.url);
    hf_lock *inner =
        rig_lock(rig_client_at(url_of("", "/a?chroot=create"), NULL), "stray");
    CHECK_INT(rig_probe(inner), HF_OK);
    hf_lock *l = rig_lock(rig_client_at(url_of("", "/"), NULL), "a");
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "is of no queue") != NULL);
    CHECK_INT(rig_probe(inner), HF_OK);
}
