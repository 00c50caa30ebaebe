/*
 * zookeeper_end_test.c: a lock and a value that were changed some 2^31 times,
 * so that the server's numbers for them are at their end.  One rule: numbers
 * that stick or go round never let two in, and never lose a write.
 */
#include <stdio.h>

#include "lab/zookeeper_age.h"
#include "lib/lab_check.h"
#include "lib/rig_number.h"
#include "lib/rig_zookeeper.h"

static struct lab_zookeeper server;

static void begin(void)
{
    char url[160];
    zookeeper_begin(&server);
    snprintf(url, sizeof url, "%s/t?chroot=create&session=48h", server.url);
    rig_begin_at(url);
}

static int32_t age(const char *node, enum lab_age which, int32_t number)
{
    int32_t was = 0;
    LAB_CHECK(lab_zookeeper_kill(&server));
    LAB_CHECK(lab_zookeeper_restart(&server, 1)); /* makes a snapshot */
    LAB_CHECK(lab_zookeeper_kill(&server));
    LAB_CHECK(lab_zookeeper_age(&server, node, which, number, &was));
    LAB_CHECK(lab_zookeeper_restart(&server, 1));
    return was;
}

static hf_client *patient_client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 3000;
    o.patience_ms = RIG_PATIENCE_MS;
    return rig_client(&o);
}

/* From there on every node has the last number, or one below zero. */
TEST(zookeeper_end, of_the_sequence_numbers_lets_nobody_in_twice)
{
    hf_hold *g = NULL, *next = NULL;
    begin();
    hf_lock *l = rig_lock(patient_client(), "a");
    hf_lock *other = rig_lock(patient_client(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    (void)age("/t/a", LAB_AGE_CHILDREN, INT32_MAX);
    for (int i = 0; i < 3; i++)
        CHECK_INT(rig_acquire(other, 0, 400, &next), HF_TIMEOUT);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    /* One attempt deletes the lock's node, the next makes it anew. */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > hf_hold_fence(g));
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

/* The node is made anew, in the same multi that writes it. */
TEST(zookeeper_end, of_a_values_versions_loses_no_write)
{
    begin();
    hf_client *c = patient_client();
    CHECK_INT(number_add(c), HF_OK);
    CHECK_INT(age("/t/.cells/n", LAB_AGE_DATA, INT32_MAX - 1002), 0);
    for (long n = 1; n < 6; n++) {
        CHECK_INT(number_of(c), n);
        CHECK_INT(number_add(c), HF_OK);
    }
    CHECK_INT(number_of(c), 6);
    CHECK(age("/t/.cells/n", LAB_AGE_DATA, 9) < 9);
    CHECK_INT(number_add(c), HF_OK);
    CHECK_INT(number_of(c), 7);
}
