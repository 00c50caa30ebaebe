/*
 * postgres_restart_test.c: the PostgreSQL server goes away and comes back.  One
 * rule: a holder keeps its lock, and all other clients go on without help.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_postgres.h"
#include "lib/lab_check.h"

static struct lab_postgres server;

static void restart_begin(void)
{
    postgres_begin(&server, NULL, NULL);
    rig_begin_at(server.url);
}

static hf_client *client_patient(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 2000;
    o.patience_ms = RIG_WAIT_MS; /* a restart takes a moment */
    return rig_client(&o);
}

static void stays_held(hf_lock *l, hf_hold *g, hf_lock *other)
{
    for (int i = 0; i < 5; i++) {
        CHECK(rig_until_renewed(l, 0, 1));
        CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
}

static void kept_over(int in_order)
{
    hf_hold *g = NULL, *next = NULL;
    restart_begin();
    hf_lock *l = rig_lock(client_patient(), "a");
    hf_lock *other = rig_lock(client_patient(), "a");
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    LAB_CHECK(lab_postgres_shutdown(&server, in_order));
    LAB_CHECK(lab_postgres_restart(&server));
    stays_held(l, g, other);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > fence);
}

TEST(postgres_restart, in_order_leaves_the_holder_its_lock)
{
    kept_over(1);
}

TEST(postgres_restart, of_a_crashed_server_leaves_the_holder_its_lock)
{
    kept_over(0);
}

struct waiter {
    hf_lock *lock;
    atomic_int ended;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, RIG_PATIENCE_MS, NULL);
    atomic_store(&w->ended, 1);
}

static int is_waited_for(void *arg)
{
    (void)arg;
    const char *said = lab_postgres_say(
        &server, "SELECT waits_us > 0 FROM holdfast_lock WHERE name = 'a'");
    return !strcmp(said, "t");
}

/* Its subscription is gone with the server, and made anew. */
TEST(postgres_restart, leaves_a_waiter_waiting_until_the_release)
{
    static struct waiter w;
    hf_hold *g = NULL;
    restart_begin();
    hf_lock *l = rig_lock(client_patient(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    w.lock = rig_lock(client_patient(), "a");
    rig_spawn(waiter_run, &w);
    CHECK(rig_until(is_waited_for, NULL));
    LAB_CHECK(lab_postgres_shutdown(&server, 0));
    LAB_CHECK(lab_postgres_restart(&server));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(rig_until_equal(&w.ended, 1));
    CHECK_INT(w.status, HF_OK);
}

TEST(postgres_restart, is_noticed_by_a_try_as_unavailable)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    restart_begin();
    o.timeout_ms = o.patience_ms = 500;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    LAB_CHECK(lab_postgres_shutdown(&server, 0));
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "postgres://") == err.text);
    LAB_CHECK(lab_postgres_restart(&server));
}

/* A server that is silent: the connection is given up, and the next one, which
 * the kernel accepts, says nothing either. */
TEST(postgres_restart, is_not_needed_by_a_server_that_was_paused)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *g = NULL;
    restart_begin();
    o.timeout_ms = o.patience_ms = 500;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    hf_lock *other = rig_lock(client_patient(), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    LAB_CHECK(lab_postgres_pause(&server));
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    LAB_CHECK(lab_postgres_resume(&server));
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* A backup was restored, or an operator has emptied the table. */
TEST(postgres_restart, without_its_rows_is_told_to_the_holder)
{
    hf_hold *g = NULL, *next = NULL;
    restart_begin();
    hf_lock *l = rig_lock(client_patient(), "a");
    hf_lock *other = rig_lock(client_patient(), "a");
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    LAB_CHECK(lab_postgres_do(&server, "DELETE FROM holdfast_lock"));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > hf_hold_fence(g));
}
