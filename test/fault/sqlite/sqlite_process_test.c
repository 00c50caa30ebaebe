/*
 * sqlite_process_test.c: processes that share a file of SQLite, are killed, or
 * keep it locked.  One rule: whatever happens to one, the others are never two
 * holders, and lose nothing.
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig.h"

#define TURNS 40

static hf_client *child_client(struct lab_proc *self, char url[PROC_LINE_MAX])
{
    hf_client *c = NULL;
    if (!proc_hear(self, url, RIG_PATIENCE_MS)) return NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = RIG_WAIT_MS;
    return hf_client_open(url, &o, &c, NULL) == HF_OK ? c : NULL;
}

/* Adds to a number in a file, which only the lock makes safe. */
static int counter_add(const char *path)
{
    int n = 0;
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%d", &n) != 1) n = 0;
    if (f) fclose(f);
    f = fopen(path, "w");
    if (!f) return -1;
    fprintf(f, "%d\n", n + 1);
    fclose(f);
    return n + 1;
}

static int child_counts(struct lab_proc *self, const void *arg)
{
    char url[PROC_LINE_MAX], path[PROC_LINE_MAX + 16];
    const int *order = arg;
    hf_lock *l = NULL;
    hf_client *c = child_client(self, url);
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.order = *order;
    if (!c || hf_lock_open_as(c, "counter", &o, &l, NULL) != HF_OK) return 1;
    snprintf(path, sizeof path, "%s.count", url + strlen("sqlite:"));
    for (int i = 0; i < TURNS; i++) {
        hf_hold *hold = NULL;
        struct hf_acquire_options a = rig_options(RIG_PATIENCE_MS, 30000, 0);
        if (hf_lock_acquire(l, &a, &hold, NULL) != HF_OK) return 2;
        if (counter_add(path) < 0) return 3;
        if (hf_hold_release(hold, NULL) != HF_OK) return 4;
    }
    proc_say(self, "done");
    hf_lock_close(l);
    hf_client_close(c);
    return 0;
}

static void processes_count(int order)
{
    enum { PROCESSES = 4 };
    static struct lab_proc p[PROCESSES];
    static int given;
    char path[256];
    given = order;
    for (int i = 0; i < PROCESSES; i++) proc_start(&p[i], child_counts, &given);
    rig_begin_on("sqlite");
    for (int i = 0; i < PROCESSES; i++) proc_say(&p[i], "%s", rig_url());
    for (int i = 0; i < PROCESSES; i++)
        CHECK(proc_hears(&p[i], "done", 2 * RIG_PATIENCE_MS));
    snprintf(path, sizeof path, "%s.count", rig_url() + strlen("sqlite:"));
    CHECK_INT(counter_add(path), PROCESSES * TURNS + 1);
}

TEST(sqlite_process, processes_exclude_each_other)
{
    processes_count(HF_ORDER_ANY);
}

TEST(sqlite_process, processes_take_turns)
{
    processes_count(HF_ORDER_FAIR);
}

/* ---- killed ------------------------------------------------------------- */

static int child_holds(struct lab_proc *self, const void *arg)
{
    char url[PROC_LINE_MAX];
    hf_lock *l = NULL;
    const int *lease_ms = arg;
    hf_client *c = child_client(self, url);
    struct hf_acquire_options o = rig_options(RIG_TRY, *lease_ms, 0);
    hf_hold *hold = NULL;
    if (!c || hf_lock_open(c, "a", &l, NULL) != HF_OK) return 1;
    if (hf_lock_acquire(l, &o, &hold, NULL) != HF_OK) return 2;
    proc_say(self, "held %llu", (unsigned long long)hf_hold_fence(hold));
    for (;;) pause();
}

TEST(sqlite_process, the_lock_of_a_killed_holder_ends_with_its_lease)
{
    static struct lab_proc p;
    static const int lease_ms = 1500;
    unsigned long long fence = 0;
    char line[PROC_LINE_MAX];
    hf_hold *hold = NULL;
    proc_start(&p, child_holds, &lease_ms);
    rig_begin_on("sqlite");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    proc_say(&p, "%s", rig_url());
    CHECK(proc_hear(&p, line, RIG_PATIENCE_MS));
    CHECK_INT(sscanf(line, "held %llu", &fence), 1);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, &hold), HF_OK);
    CHECK(hf_hold_fence(hold) > fence);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

/* ---- locked ------------------------------------------------------------- */

/* Keeps the file locked for some seconds, as a long transaction does. */
static int child_blocks(struct lab_proc *self, const void *arg)
{
    char line[PROC_LINE_MAX];
    sqlite3 *db = NULL;
    (void)arg;
    if (!proc_hear(self, line, RIG_PATIENCE_MS)) return 1;
    if (sqlite3_open(line + strlen("sqlite:"), &db) != SQLITE_OK) return 2;
    sqlite3_busy_timeout(db, RIG_WAIT_MS);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return 3;
    proc_say(self, "locked");
    if (!proc_hear(self, line, RIG_PATIENCE_MS)) return 4;
    if (sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK) return 5;
    sqlite3_close(db);
    proc_say(self, "free");
    return 0;
}

static void block(struct lab_proc *p)
{
    proc_say(p, "%s", rig_url());
    CHECK(proc_hears(p, "locked", RIG_PATIENCE_MS));
}

static void unblock(struct lab_proc *p)
{
    proc_say(p, "end");
    CHECK(proc_hears(p, "free", RIG_PATIENCE_MS));
}

TEST(sqlite_process, a_locked_file_is_waited_for_until_the_deadline)
{
    static struct lab_proc p;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *hold = NULL;
    proc_start(&p, child_blocks, NULL);
    rig_begin_on("sqlite");
    o.timeout_ms = o.patience_ms = 300;
    hf_lock *hasty = rig_lock(rig_client(&o), "a");
    CHECK_INT(rig_probe(hasty), HF_OK);
    block(&p);
    CHECK_INT(hf_lock_try(hasty, NULL, NULL), HF_UNAVAILABLE);
    unblock(&p);
    CHECK_INT(rig_acquire(hasty, 0, RIG_PATIENCE_MS, &hold), HF_OK);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

static atomic_int taken;

static void take(void *arg)
{
    hf_hold *hold = NULL;
    if (rig_acquire(arg, 0, RIG_PATIENCE_MS, &hold) != HF_OK) return;
    if (hf_hold_release(hold, NULL) == HF_OK) atomic_fetch_add(&taken, 1);
}

/* What is held is renewed, what is asked for is granted, once it is free. */
TEST(sqlite_process, nothing_is_lost_while_the_file_is_locked)
{
    static struct lab_proc p;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *hold = NULL;
    proc_start(&p, child_blocks, NULL);
    rig_begin_on("sqlite");
    atomic_store(&taken, 0);
    o.timeout_ms = o.patience_ms = RIG_WAIT_MS;
    hf_client *c = rig_client(&o);
    hf_lock *held = rig_lock(c, "held");
    struct hf_acquire_options renewed = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(held, &renewed, &hold, NULL), HF_OK);
    block(&p);
    rig_spawn(take, rig_lock(c, "a"));
    rig_spawn(take, rig_lock(c, "b"));
    rig_pause_ms(2000);
    CHECK_INT(atomic_load(&taken), 0);
    unblock(&p);
    CHECK(rig_until_equal(&taken, 2));
    rig_join();
    CHECK(rig_until_renewed(held, 0, 1));
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

/* ---- replaced ----------------------------------------------------------- */

TEST(sqlite_process, a_file_that_is_deleted_takes_its_locks_with_it)
{
    char file[300];
    hf_hold *hold = NULL;
    static const char *const ends[] = {"", "-wal", "-shm"};
    rig_begin_on("sqlite");
    hf_lock *mine = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(mine, 0, RIG_TRY, &hold), HF_OK);
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", rig_url() + strlen("sqlite:"),
                 ends[i]);
        CHECK_INT(unlink(file), 0);
    }
    hf_lock *others = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_probe(others), HF_OK);
    CHECK(hf_hold_release(hold, NULL) != HF_OK);
}
