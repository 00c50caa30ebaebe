/*
 * settings_contract.c: what a client says of itself, on every store.
 */
#include "lib/nodes.h"
#include "lib/rig_semaphore.h"

TEST(settings, tell_the_lease_that_an_acquire_gets)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_client_options now = HF_CLIENT_OPTIONS_INIT;
    hf_hold *hold;
    rig_begin();
    o.lease_ms = 20000;
    hf_client *c = rig_client(&o);
    CHECK_INT(hf_client_settings(c, &now, NULL), HF_OK);
    CHECK_INT(now.lease_ms, 20000);
    CHECK_INT(now.fallback, HF_FALLBACK_FAIL);
    CHECK(now.password == NULL);
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, RIG_WAIT_MS, &hold), HF_OK);
    if (hf_hold_valid_ms(hold) != INT64_MAX)
        CHECK_INT(hf_hold_lease_ms(hold), now.lease_ms);
}

TEST(settings, a_server_that_answered_has_its_link_up)
{
    struct hf_node nodes[HF_QUORUM_NODES_MAX];
    int up = 0;
    rig_begin();
    hf_client *c = rig_client(NULL);
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, RIG_WAIT_MS, NULL), HF_OK);
    int len = nodes_of(c, nodes, HF_QUORUM_NODES_MAX);
    for (int i = 0; i < len; i++) up += nodes[i].link == HF_LINK_UP;
    CHECK(2 * up > len);
}

TEST(settings, a_permit_leads_to_the_lock_that_has_it)
{
    hf_hold *p;
    int is_locked = 0;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 2);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    hf_lock *lock = rig_has(HF_CAP_PERMIT) ? hf_semaphore_lock(s)
                                           : rig_lock(c, hf_hold_name(p));
    CHECK_STR(hf_lock_name(lock), hf_hold_name(p));
    CHECK_INT(hf_lock_is_locked(lock, &is_locked, NULL), HF_OK);
    CHECK_INT(is_locked, 1);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_lock_is_locked(lock, &is_locked, NULL), HF_OK);
    CHECK_INT(is_locked, 0);
}
