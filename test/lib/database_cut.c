/*
 * database_cut.c: the line to a database server breaks in the middle of an
 * exchange, or carries it late.  One rule: wherever it breaks, the call ends by
 * its deadline with a true answer, no lock is left behind beyond its lease, and
 * fences rise.
 */
#include "lib/database_cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig.h"

#define LEASE_MS 1500
#define WAIT_MS 5000
#define LATE_MS 1000

struct cut_rig {
    const struct database *db;
    struct lab_proxy proxy;
    char url[96];
    hf_lock *direct; /* of a client that nobody cuts */
    uint64_t fence;  /* the highest so far */
    int granted, unavailable;
};

static struct cut_rig rig_of_cuts;

static struct cut_rig *cut_begin(const struct database *db)
{
    struct cut_rig *r = &rig_of_cuts;
    r->db = db;
    rig_begin_on(db->kind);
    proxy_begin(&r->proxy, db->port());
    snprintf(r->url, sizeof r->url, db->format, r->proxy.port);
    r->direct = rig_lock(rig_client(NULL), "a");
    r->fence = 0;
    r->granted = r->unavailable = 0;
    return r;
}

static hf_client *client_of_line(struct cut_rig *r)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = LEASE_MS;
    o.timeout_ms = 1000;
    o.patience_ms = 3000;
    return rig_client_at(r->url, &o);
}

static void fence_rises(struct cut_rig *r, uint64_t fence)
{
    CHECK(rig_fence_rises(r->fence, fence));
    r->fence = fence;
}

/* Acquire and release over the line: each call ends in time, and its status is
 * true. */
static void exchange(struct cut_rig *r, hf_lock *l, long n)
{
    struct hf_error err = {0};
    hf_hold *g;
    struct hf_acquire_options a = rig_options(WAIT_MS, 0, 0);
    int64_t began_ms = rig_now_ms();
    int status = hf_lock_acquire(l, &a, &g, &err);
    if (status == HF_OK) {
        r->granted++;
        fence_rises(r, hf_hold_fence(g));
        status = hf_hold_release(g, &err);
    }
    if (status == HF_UNAVAILABLE) r->unavailable++;
    /* Doubt may outlast the short lease on a busy machine. */
    if (status != HF_OK && status != HF_UNAVAILABLE && status != HF_EXPIRED)
        TEST_FAIL("cut after %ld: %s: %s", n, hf_status_name(status), err.text);
    CHECK(rig_now_ms() - began_ms < WAIT_MS + 30000);
}

/* No client holds it, unless a grant was lost: then until its lease is over. */
static void nothing_is_left(struct cut_rig *r)
{
    hf_hold *g;
    CHECK_INT(rig_acquire(r->direct, 0, RIG_WAIT_MS, &g), HF_OK);
    fence_rises(r, hf_hold_fence(g));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

static void cut_once(struct cut_rig *r, enum lab_way way, long n, int connected)
{
    if (!connected) proxy_arm(&r->proxy, way, n, n % 2 == 0);
    hf_client *c = client_of_line(r);
    hf_lock *l = rig_lock(c, "a");
    int is_locked;
    if (connected) {
        CHECK_INT(hf_lock_is_locked(l, &is_locked, NULL), HF_OK);
        proxy_arm(&r->proxy, way, n, n % 2 == 0);
    }
    exchange(r, l, n);
    rig_close(c);
}

void cut_along(const struct database *db, enum lab_way way, long cuts_wanted,
               int connected)
{
    struct cut_rig *r = cut_begin(db);
    cut_once(r, way, -1, connected);
    long len = atomic_load(&r->proxy.bytes[way]);
    long step = len / cuts_wanted + 1;
    int cuts = 0;
    CHECK(len > 10);
    CHECK_INT(r->granted, 1);
    for (long n = 1; n <= len; n += step) {
        cut_once(r, way, n, connected);
        cuts += atomic_load(&r->proxy.cuts);
        nothing_is_left(r);
    }
    proxy_arm(&r->proxy, way, -1, 0);
    printf("    %ld bytes, %d cuts: %d granted, %d unavailable\n", len, cuts,
           r->granted, r->unavailable);
    CHECK(cuts > len / step / 2);
    CHECK(r->granted > 0);
}

/* A held lock outlives the line as long as it is mended within the lease. */
void cut_keeps_a_holder(const struct database *db)
{
    hf_hold *g = NULL;
    struct cut_rig *r = cut_begin(db);
    struct hf_acquire_options a = rig_renewed(RIG_TRY);
    hf_lock *l = rig_lock(client_of_line(r), "a");
    CHECK_INT(hf_lock_acquire(l, &a, &g, NULL), HF_OK);
    for (int i = 0; i < 8; i++) {
        proxy_arm(&r->proxy, i % 2 ? LAB_UP : LAB_DOWN, 5 + 11 * i, i % 2);
        CHECK(rig_until_equal(&r->proxy.cuts, 1));
        CHECK(rig_until_renewed(l, 0, 1));
        CHECK_INT(hf_lock_try(r->direct, NULL, NULL), HF_TAKEN);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(r->direct), HF_OK);
}

struct waiter {
    hf_lock *lock;
    atomic_int ended;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
    if (w->status == HF_OK) hf_lock_release(w->lock, NULL, NULL);
    atomic_store(&w->ended, 1);
}

static int is_waited_for(void *arg)
{
    const struct database *db = arg;
    return db->waits(db->ask);
}

/* The notification is lost with the line: a client that reconnects asks again.
 */
void cut_keeps_a_waiter(const struct database *db)
{
    static struct waiter w;
    struct cut_rig *r = cut_begin(db);
    w.lock = rig_lock(rig_client_at(r->url, NULL), "a");
    for (int i = 0; i < 4; i++) {
        atomic_store(&w.ended, 0);
        db->waits_begin(db->ask);
        CHECK_INT(hf_lock_try(r->direct, NULL, NULL), HF_OK);
        rig_spawn(waiter_run, &w);
        CHECK(rig_until(is_waited_for, (void *)db));
        proxy_arm(&r->proxy, LAB_DOWN, i * 9, i % 2);
        CHECK_INT(hf_lock_release(r->direct, NULL, NULL), HF_OK);
        CHECK(rig_until_equal(&w.ended, 1));
        CHECK_INT(w.status, HF_OK);
        CHECK(rig_until_equal(&r->proxy.cuts, 1));
        proxy_arm(&r->proxy, LAB_DOWN, -1, 0);
    }
}

static int is_free(void *arg)
{
    const struct database *db = arg;
    return !strcmp(db->ask("SELECT count(*) FROM holdfast_lock"
                           " WHERE owner <> '' AND name = 'a'"),
                   "0");
}

struct mark {
    const struct database *db;
    long long counter; /* when the proposal was sent */
};

static long long counter_now(const struct database *db)
{
    return strtoll(db->ask(db->counter), NULL, 10);
}

/* Until the release has raised the counter, a proposal may still come first. */
static int is_refused_later(void *arg)
{
    const struct mark *m = arg;
    if (m->db->counter && counter_now(m->db) <= m->counter) return 0;
    return is_free((void *)m->db);
}

/* A statement that is carried out long after its client has given up, and has
 * sent a release over another connection, takes no lock. */
void cut_late_copy_takes_nothing(const struct database *db)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct cut_rig *r = cut_begin(db);
    int is_locked;
    o.timeout_ms = LATE_MS / 4;
    o.patience_ms = LATE_MS / 2;
    hf_client *c = rig_client_at(r->url, &o);
    hf_lock *l = rig_lock(c, "a");
    for (int i = 0; i < 100; i++)
        if (hf_lock_is_locked(l, &is_locked, NULL) == HF_OK) break;
    struct hf_acquire_options a = rig_options(RIG_TRY, 30000, 0);
    struct mark m = {db, db->counter ? counter_now(db) : 0};
    proxy_delay(&r->proxy, LAB_UP, LATE_MS);
    CHECK_INT(hf_lock_acquire(l, &a, NULL, NULL), HF_UNAVAILABLE);
    long sent = atomic_load(&r->proxy.bytes[LAB_UP]);
    proxy_delay(&r->proxy, LAB_UP, 0);
    /* The release comes by itself; the lease alone would be too long. */
    CHECK(rig_until(is_refused_later, &m));
    rig_close(c);
    CHECK(atomic_load(&r->proxy.bytes[LAB_UP]) >= sent);
    nothing_is_left(r);
    CHECK(is_free((void *)db));
}
