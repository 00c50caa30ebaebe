/*
 * zookeeper_end_test.c: a lock and a value that were changed some 2^31 times,
 * so that the server's numbers for them are at their end.  One rule: numbers
 * that stick or go round never let two in, and never lose a write.
 */
#include <stdatomic.h>
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

static int is_told(void *arg)
{
    int is_locked = 0;
    return hf_lock_is_locked(arg, &is_locked, NULL) == HF_OK && is_locked;
}

#define WAITERS 3

static atomic_int inside, served, overlaps;

static void waits(void *arg)
{
    hf_hold *g = NULL;
    if (rig_acquire(arg, 0, RIG_PATIENCE_MS, &g) != HF_OK) return;
    overlaps += atomic_fetch_add(&inside, 1) != 0;
    rig_pause_ms(20);
    atomic_fetch_sub(&inside, 1);
    if (hf_hold_release(g, NULL) == HF_OK) atomic_fetch_add(&served, 1);
}

/* From there on every node has the last number, or one below zero, and the
 * numbers do not tell which node is the first. */
TEST(zookeeper_end, of_the_sequence_numbers_lets_all_in_one_at_a_time)
{
    hf_hold *g = NULL;
    begin();
    hf_lock *l = rig_lock(patient_client(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    atomic_store(&inside, 1);
    (void)age("/t/a", LAB_AGE_CHILDREN, INT32_MAX);
    for (int i = 0; i < WAITERS; i++) {
        hf_lock *other = rig_lock(patient_client(), "a");
        CHECK(rig_until(is_told, other));
        rig_spawn(waits, other);
    }
    rig_pause_ms(1000);
    CHECK_INT(atomic_load(&served), 0);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    atomic_fetch_sub(&inside, 1);
    /* Its node is deleted by one attempt, and made anew by the next. */
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    rig_join();
    CHECK_INT(atomic_load(&served), WAITERS);
    CHECK_INT(atomic_load(&overlaps), 0);
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
