/*
 * etcd_cell_test.c: the kinds that are kept in cells, while holders die, stop
 * and race, the line breaks, and the server stops.  One rule: no share outlives
 * its lease for others, none ends before its holder knows, and no write is lost
 * or made twice.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/lab_check.h"
#include "lib/proc.h"
#include "lib/proxy.h"
#include "lib/rig_etcd.h"
#include "lib/rig_semaphore.h"

#define LEASE_MS 2000
#define LONG_MS 60000

static struct lab_etcd server;

/* ---- processes ----------------------------------------------------------- */

static hf_client *child_client(struct lab_proc *self)
{
    char url[PROC_LINE_MAX];
    hf_client *c = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = RIG_PATIENCE_MS;
    if (!proc_hear(self, url, RIG_PATIENCE_MS)) return NULL;
    return hf_client_open(url, &o, &c, NULL) == HF_OK ? c : NULL;
}

/* Holds a side of a read/write lock with a lease that is renewed; asked, it
 * says what has become of it. */
static int child_writes(struct lab_proc *self, const void *arg)
{
    char line[PROC_LINE_MAX];
    struct hf_lock_options kind = HF_LOCK_OPTIONS_INIT;
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    hf_client *c = child_client(self);
    hf_lock *l;
    hf_hold *hold;
    (void)arg;
    kind.kind = HF_KIND_WRITE;
    o.lease_ms = LEASE_MS;
    if (!c || hf_lock_open_as(c, "a", &kind, &l, NULL) != HF_OK) return 1;
    if (hf_lock_acquire(l, &o, &hold, NULL) != HF_OK) return 2;
    proc_say(self, "held %llu", (unsigned long long)hf_hold_fence(hold));
    while (proc_hear(self, line, 10 * RIG_PATIENCE_MS))
        proc_say(self, hf_hold_valid_ms(hold) > 0 ? "valid" : "over");
    return 0;
}

static uint64_t writer_start(struct lab_proc *p)
{
    char line[PROC_LINE_MAX];
    unsigned long long fence = 0;
    proc_start(p, child_writes, NULL);
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    proc_say(p, "%s", server.url);
    CHECK(proc_hear(p, line, RIG_PATIENCE_MS));
    CHECK_INT(sscanf(line, "held %llu", &fence), 1);
    return fence;
}

static hf_lock *side(int kind)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.kind = kind;
    return rig_lock_as(rig_client(NULL), "a", &o);
}

TEST(etcd_cell, of_a_killed_writer_is_free_after_its_lease)
{
    static struct lab_proc p;
    hf_hold *hold;
    uint64_t fence = writer_start(&p);
    hf_lock *l = side(HF_KIND_READ);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &hold), HF_OK);
    CHECK(hf_hold_fence(hold) > fence);
}

/* The time goes on where no client lives that counts it. */
static int is_free_to_a_new_client(void *arg)
{
    hf_client *c = rig_client(NULL);
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    (void)arg;
    o.kind = HF_KIND_WRITE;
    int status = hf_lock_try(rig_lock_as(c, "a", &o), NULL, NULL);
    rig_close(c);
    return status == HF_OK;
}

TEST(etcd_cell, of_a_killed_writer_is_free_to_clients_that_only_try)
{
    static struct lab_proc p;
    (void)writer_start(&p);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK(rig_until(is_free_to_a_new_client, NULL));
}

TEST(etcd_cell, of_a_stopped_writer_is_taken_only_when_its_hold_is_over)
{
    static struct lab_proc p;
    hf_hold *hold;
    uint64_t fence = writer_start(&p);
    hf_lock *l = side(HF_KIND_WRITE);
    proc_signal(&p, SIGSTOP);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &hold), HF_OK);
    CHECK(hf_hold_fence(hold) > fence);
    proc_signal(&p, SIGCONT);
    proc_say(&p, "well?");
    CHECK(proc_hears(&p, "over", RIG_PATIENCE_MS));
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
}

/* ---- a counter ----------------------------------------------------------- */

#define TURNS 20

/* One more, if nobody else was faster: the status. */
static int value_add(hf_client *c)
{
    struct hf_value v = HF_VALUE_INIT;
    char text[32];
    int status = hf_value_read(c, "n", &v, NULL);
    if (status != HF_OK) return status;
    uint64_t version = v.version;
    snprintf(text, sizeof text, "%ld",
             (version ? strtol(v.data, NULL, 10) : 0) + 1);
    hf_value_free(c, &v);
    return hf_value_write(c, "n", version, text, strlen(text), 0, NULL, NULL);
}

static long value_of(hf_client *c)
{
    struct hf_value v = HF_VALUE_INIT;
    CHECK_INT(hf_value_read(c, "n", &v, NULL), HF_OK);
    long n = v.version ? strtol(v.data, NULL, 10) : 0;
    hf_value_free(c, &v);
    return n;
}

static int child_counts(struct lab_proc *self, const void *arg)
{
    hf_client *c = child_client(self);
    (void)arg;
    if (!c) return 1;
    for (int done = 0; done < TURNS;) {
        int status = value_add(c);
        if (status != HF_OK && status != HF_CHANGED) return 2;
        done += status == HF_OK;
    }
    proc_say(self, "done");
    hf_client_close(c);
    return 0;
}

TEST(etcd_cell, counts_each_write_of_racing_processes_once)
{
    enum { PROCESSES = 3 };
    static struct lab_proc p[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) proc_start(&p[i], child_counts, NULL);
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    for (int i = 0; i < PROCESSES; i++) proc_say(&p[i], "%s", server.url);
    for (int i = 0; i < PROCESSES; i++)
        CHECK(proc_hears(&p[i], "done", 2 * RIG_PATIENCE_MS));
    CHECK_INT(value_of(rig_client(NULL)), PROCESSES * TURNS);
}

/* ---- the line ------------------------------------------------------------ */

/* Cut at many places of the exchange: what was told as written is there, once,
 * and nothing that nobody was in doubt about. */
static void cut_along_writes(enum lab_way way)
{
    static struct lab_proxy proxy;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[64];
    long done = 0, doubt = 0, cuts = 0;
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    proxy_begin(&proxy, server.port);
    snprintf(url, sizeof url, "etcd://127.0.0.1:%d/", proxy.port);
    o.timeout_ms = 1000;
    o.patience_ms = 3000;
    hf_client *c = rig_client_at(url, &o), *direct = rig_client(NULL);
    CHECK_INT(value_add(c), HF_OK);
    long before = 1;
    for (long n = 1; n < 1200; n += 75) {
        proxy_arm(&proxy, way, n, n % 2 == 0);
        int status = value_add(c);
        if (status != HF_OK && status != HF_UNAVAILABLE && status != HF_CHANGED)
            TEST_FAIL("cut after %ld: %s", n, hf_status_name(status));
        cuts += atomic_load(&proxy.cuts);
        done += status == HF_OK;
        doubt += status != HF_OK;
        long now = value_of(direct);
        CHECK(now >= before + (status == HF_OK) && now <= before + 1);
        before = now;
    }
    proxy_arm(&proxy, way, -1, 0);
    printf("    %ld cuts: %ld written, %ld in doubt\n", cuts, done, doubt);
    CHECK(cuts > 4);
    CHECK(done > 0);
}

TEST(etcd_cell, is_written_once_all_along_the_calls)
{
    cut_along_writes(LAB_UP);
}

TEST(etcd_cell, is_written_once_all_along_the_replies)
{
    cut_along_writes(LAB_DOWN);
}

/* ---- the server ---------------------------------------------------------- */

static int is_whole(void *arg)
{
    struct hf_semaphore_state state = HF_SEMAPHORE_STATE_INIT;
    return hf_semaphore_state(arg, &state, NULL) == HF_OK
           && state.available == 2;
}

/* A swap that the server carries out late is of an old generation. */
TEST(etcd_cell, is_not_changed_by_what_an_old_connection_sent)
{
    struct hf_client_options hasty = HF_CLIENT_OPTIONS_INIT, patient = hasty;
    struct hf_acquire_options o = rig_options(RIG_TRY, LONG_MS, 0);
    hasty.timeout_ms = hasty.patience_ms = 400;
    patient.patience_ms = RIG_PATIENCE_MS;
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    hf_semaphore *watch = rig_semaphore_set(rig_client(&patient), "s", 2);
    hf_semaphore *s;
    CHECK_INT(hf_semaphore_open(rig_client(&hasty), "s", NULL, &s, NULL),
              HF_OK);
    for (int i = 0; i < 6; i++) {
        int64_t began_ms = rig_now_ms();
        (void)is_whole(s);
        LAB_CHECK(lab_etcd_pause(&server));
        CHECK(hf_semaphore_acquire(s, &o, NULL, NULL) != HF_OK);
        LAB_CHECK(lab_etcd_resume(&server));
        CHECK(rig_until(is_whole, watch));
        CHECK(rig_now_ms() - began_ms < LONG_MS);
    }
}

/* A new leader gives each lease its whole time again: the clock is another one,
 * and goes on where the last one was. */
TEST(etcd_cell, keeps_what_is_held_over_a_restart_and_ends_what_is_not)
{
    struct hf_client_options patient = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options keep = rig_options(RIG_TRY, LONG_MS, 0);
    struct hf_acquire_options drop =
        rig_options(RIG_TRY, LEASE_MS, HF_ACQUIRE_FIXED);
    hf_hold *kept, *lost;
    char first[256];
    patient.patience_ms = RIG_PATIENCE_MS;
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    hf_semaphore *s = rig_semaphore_set(rig_client(&patient), "s", 2);
    CHECK_INT(hf_semaphore_acquire(s, &keep, &kept, NULL), HF_OK);
    CHECK_INT(hf_semaphore_acquire(s, &drop, &lost, NULL), HF_OK);
    snprintf(first, sizeof first, "%.200s",
             lab_etcd_say(&server, "get holdfast//clock"));
    LAB_CHECK(lab_etcd_kill(&server));
    LAB_CHECK(lab_etcd_restart(&server));
    hf_semaphore *other = rig_semaphore(rig_client(&patient), "s", 2);
    CHECK_INT(rig_take(other, 1, RIG_PATIENCE_MS, NULL), HF_OK);
    CHECK_INT(rig_take(other, 1, 0, NULL), HF_TAKEN);
    CHECK(strcmp(first, lab_etcd_say(&server, "get holdfast//clock")) != 0);
    CHECK_INT(hf_hold_release(kept, NULL), HF_OK);
}
