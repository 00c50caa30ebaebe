/*
 * zookeeper_refused_test.c: URLs, users and nodes that will not do.  One rule:
 * each mistake has a status of its own and a sentence that says what to do.
 */
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/refused.h"
#include "lib/rig.h"
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
