/*
 * lock_file_deleted_test.c: somebody deletes the lock file of a living holder.
 * The kernel still locks the old file, but the next to come locks another one:
 * the holder must be told.
 */
#include <stdio.h>
#include <unistd.h>

#include "lib/rig.h"
#include "test.h"

TEST(lock_file_deleted, holder_is_told_at_the_next_renewal)
{
    hf_hold *g = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char path[4096];
    rig_begin_on("file:");
    o.lease_ms = 300;
    hf_lock *l = rig_lock(rig_client(&o), "job");
    CHECK_INT(rig_acquire(l, 0, 0, &g), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    snprintf(path, sizeof path, "%s/job.lock", rig_dir());
    CHECK(unlink(path) == 0);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
}

TEST(lock_file_deleted, holder_that_is_left_alone_is_not)
{
    hf_hold *g = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    rig_begin_on("file:");
    o.lease_ms = 300;
    hf_lock *l = rig_lock(rig_client(&o), "job");
    CHECK_INT(rig_acquire(l, 0, 0, &g), HF_OK);
    rig_pause_ms(1500);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}
