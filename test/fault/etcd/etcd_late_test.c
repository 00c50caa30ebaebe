/*
 * etcd_late_test.c: a stopped server that goes on reads what a connection has
 * sent before its client gave it up.  One rule: nothing of that takes a lock,
 * while the client lives and keeps its lease.
 */
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_etcd.h"

#define ROUNDS 12
#define LEASE_MS 60000

static struct lab_etcd server;

static hf_client *hasty_client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = 400;
    return rig_client(&o);
}

static hf_client *patient_client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = RIG_PATIENCE_MS;
    return rig_client(&o);
}

/* A free lock is had before the lease of what was left could end. */
static void is_free_soon(hf_lock *l)
{
    hf_hold *g;
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(l, 0, LEASE_MS / 2, &g), HF_OK);
    CHECK(rig_now_ms() - began_ms < LEASE_MS / 2);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(etcd_late, proposals_of_an_old_connection_take_no_lock)
{
    hf_hold *kept;
    struct hf_acquire_options keep = rig_renewed(RIG_WAIT_MS);
    struct hf_acquire_options try = rig_options(RIG_TRY, LEASE_MS, 0);
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    hf_client *c = hasty_client();
    hf_lock *a = rig_lock(c, "a");
    hf_lock *other = rig_lock(patient_client(), "a");
    CHECK_INT(hf_lock_acquire(rig_lock(c, "b"), &keep, &kept, NULL), HF_OK);
    CHECK_INT(rig_until_free(a), 1);
    for (int i = 0; i < ROUNDS; i++) {
        LAB_CHECK(lab_etcd_pause(&server));
        CHECK(hf_lock_acquire(a, &try, NULL, NULL) != HF_OK);
        LAB_CHECK(lab_etcd_resume(&server));
        is_free_soon(other);
        CHECK(rig_until_renewed(rig_lock(c, "b"), 0, 1));
        is_free_soon(other);
    }
    CHECK_INT(hf_hold_state(kept), HF_STATE_HELD);
}

/* What is sent in a generation that is over is refused; it is sent again in a
 * new one, and the key is written again. */
TEST(etcd_late, proposal_of_another_generation_is_refused)
{
    char key[128];
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    hf_lock *a = rig_lock(patient_client(), "a");
    CHECK_INT(rig_probe(a), HF_OK);
    snprintf(key, sizeof key, "%.100s",
             lab_etcd_say(&server, "get --prefix --keys-only holdfast//gen/"));
    key[strcspn(key, "\n")] = '\0';
    CHECK(strncmp(key, "holdfast//gen/", 14) == 0);
    lab_etcd_say(&server, "put %s another", key);
    CHECK_INT(rig_probe(a), HF_OK);
    CHECK(strstr(lab_etcd_say(&server, "get %s", key), "another") == NULL);
    lab_etcd_say(&server, "del %s", key);
    CHECK_INT(rig_probe(a), HF_OK);
}
