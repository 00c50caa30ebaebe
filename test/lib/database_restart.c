/*
 * database_restart.c: a database server goes away and comes back.  One rule: a
 * holder keeps its lock, and all other clients go on without help.
 */
#include "lib/database_restart.h"

#include <string.h>

#include "lib/lab_check.h"
#include "lib/rig.h"

static void restart_begin(const struct database *db)
{
    rig_begin_at(db->begin());
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

void restart_keeps_a_holder(const struct database *db, int in_order)
{
    hf_hold *g = NULL, *next = NULL;
    restart_begin(db);
    hf_lock *l = rig_lock(client_patient(), "a");
    hf_lock *other = rig_lock(client_patient(), "a");
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    LAB_CHECK(db->shutdown(in_order));
    LAB_CHECK(db->restart());
    stays_held(l, g, other);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > fence);
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
    const struct database *db = arg;
    return db->waits(db->say);
}

/* Its subscription is gone with the server, and made anew. */
void restart_keeps_a_waiter(const struct database *db)
{
    static struct waiter w;
    hf_hold *g = NULL;
    restart_begin(db);
    hf_lock *l = rig_lock(client_patient(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, &g), HF_OK);
    w.lock = rig_lock(client_patient(), "a");
    db->waits_begin(db->say);
    rig_spawn(waiter_run, &w);
    CHECK(rig_until(is_waited_for, (void *)db));
    LAB_CHECK(db->shutdown(0));
    LAB_CHECK(db->restart());
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(rig_until_equal(&w.ended, 1));
    CHECK_INT(w.status, HF_OK);
}

void restart_is_noticed_by_a_try(const struct database *db)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    restart_begin(db);
    o.timeout_ms = o.patience_ms = 500;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    LAB_CHECK(db->shutdown(0));
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    CHECK(strncmp(err.text, db->kind, strcspn(db->kind, "-")) == 0);
    LAB_CHECK(db->restart());
}

/* A server that is silent: the connection is given up, and the next one, which
 * the kernel accepts, says nothing either. */
void restart_is_not_needed_after_a_pause(const struct database *db)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *g = NULL;
    restart_begin(db);
    o.timeout_ms = o.patience_ms = 500;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    hf_lock *other = rig_lock(client_patient(), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    LAB_CHECK(db->pause());
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    LAB_CHECK(db->resume());
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* A backup was restored, or an operator has emptied the table. */
void restart_without_rows_is_told(const struct database *db)
{
    hf_hold *g = NULL, *next = NULL;
    restart_begin(db);
    hf_lock *l = rig_lock(client_patient(), "a");
    hf_lock *other = rig_lock(client_patient(), "a");
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(db->say("DELETE FROM holdfast_lock")[0] == '\0');
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(hf_hold_fence(next) > hf_hold_fence(g));
}
