/*
 * etcd_lease_test.c: leases that end otherwise than they should, and programs
 * that use etcdctl.  One rule: a holder is told before its local validity ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/lab_check.h"
#include "lib/proc.h"
#include "lib/rig.h"
#include "lib/rig_etcd.h"

static struct lab_etcd server;

static void begin(void)
{
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
}

/* The lease of the first key, as etcdctl writes it. */
static int lease_revoke_all(void)
{
    char leases[8192], *rest = NULL;
    int n = 0;
    snprintf(leases, sizeof leases, "%.8000s",
             lab_etcd_say(&server, "lease list"));
    for (char *word = strtok_r(leases, "\n", &rest); word;
         word = strtok_r(NULL, "\n", &rest)) {
        if (strspn(word, "0123456789abcdef") != strlen(word)) continue;
        lab_etcd_say(&server, "lease revoke %s", word);
        n++;
    }
    return n;
}

TEST(etcd_lease, that_was_revoked_is_told_to_the_holder)
{
    hf_hold *g, *next;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(lease_revoke_all() >= 1);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > hf_hold_fence(g));
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
    /* And the client goes on, with other leases. */
    CHECK(hf_hold_release(g, NULL) != HF_OK);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* Its place in the queue is lost, and taken again. */
TEST(etcd_lease, of_a_waiter_that_was_revoked_costs_it_its_place_only)
{
    hf_hold *g;
    struct hf_lock_options fair = HF_LOCK_OPTIONS_INIT;
    fair.order = HF_ORDER_FAIR;
    begin();
    hf_lock *l = rig_lock_as(rig_client(NULL), "a", &fair);
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    CHECK(lease_revoke_all() >= 1);
    CHECK_INT(rig_acquire(rig_lock_as(rig_client(NULL), "a", &fair), 0,
                          RIG_WAIT_MS, NULL),
              HF_OK);
}

TEST(etcd_lease, that_is_too_short_is_refused_with_a_reason)
{
    struct hf_error err = {0};
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 300, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "etcd counts in seconds") != NULL);
    CHECK(lab_etcd_say(&server, "get --prefix --keys-only holdfast/a/")[0]
          == '\0');
}

TEST(etcd_lease, below_the_servers_least_is_refused_with_a_reason)
{
    static const char *const args[] = {"--heartbeat-interval", "500",
                                       "--election-timeout", "5000", NULL};
    struct hf_error err = {0};
    etcd_begin(&server, args);
    rig_begin_at(server.url);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 2000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "whose least is 8 s") != NULL);
    o.lease_ms = 20000;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_OK);
}

/* ---- beside etcdctl ---- */

static int foreign_count(void)
{
    struct hf_info info = HF_INFO_INIT;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    return info.locked && info.foreign;
}

static int is_foreign(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.locked
           && info.foreign;
}

static FILE *etcdctl_lock(const char *command)
{
    char line[300];
    snprintf(line, sizeof line,
             "ETCDCTL_API=3 exec etcdctl --endpoints=127.0.0.1:%d lock "
             "holdfast/a %s",
             server.port, command);
    FILE *in = popen(line, "re");
    CHECK(in != NULL);
    return in;
}

TEST(etcd_lease, etcdctl_that_holds_a_lock_is_waited_for_and_shown)
{
    hf_hold *g;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    FILE *in = etcdctl_lock("sleep 3");
    CHECK(rig_until(is_foreign, l));
    CHECK_INT(foreign_count(), 1);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &g), HF_OK);
    pclose(in);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

static int is_queued(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.queued == 1;
}

TEST(etcd_lease, etcdctl_waits_for_our_holder)
{
    char said[64] = "";
    hf_hold *g;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    FILE *in = etcdctl_lock("echo mine");
    CHECK(rig_until(is_queued, l));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(fgets(said, sizeof said, in) != NULL);
    CHECK_STR(said, "mine\n");
    pclose(in);
    CHECK(rig_until_free(l));
}
