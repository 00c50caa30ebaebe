/*
 * mixed_quorum_test.c: a quorum whose members are of different kinds: two Redis
 * servers, a PostgreSQL server, a file of SQLite and a directory.  One rule:
 * what is stored on a member is asked by a client of that member alone, never
 * of the quorum.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/folder.h"
#include "lib/lab_check.h"
#include "lib/nodes.h"
#include "lib/proc.h"
#include "lib/redlock.h"
#include "lib/rig_postgres.h"
#include "lib/storm.h"

#define LEASE_MS 4000 /* where the end of a quarantine is waited for */
#define LONG_MS 30000 /* where it is not */

enum member { REDIS, OTHER_REDIS, POSTGRES, SQLITE, DIRECTORY, MEMBERS };

static struct {
    struct lab_server redis[2];
    struct lab_postgres postgres;
    struct lab_proc locker;
    char dir[128]; /* of the database and of the directory */
    char urls[MEMBERS][192];
    char url[1024];
    int64_t lease_ms;
} m;

/* ---- the members -------------------------------------------------------- */

static void folder_end(void *arg)
{
    (void)arg;
    lab_folder_remove(m.dir);
}

static void members_make(const char *const *postgres_args)
{
    for (int i = 0; i < 2; i++) {
        redis_begin(&m.redis[i], NULL);
        snprintf(m.urls[i], sizeof m.urls[i], "%s", m.redis[i].url);
    }
    postgres_begin(&m.postgres, postgres_args, NULL);
    snprintf(m.urls[POSTGRES], sizeof m.urls[0], "%s", m.postgres.url);
    LAB_CHECK(lab_folder_make(m.dir, sizeof m.dir, "mixed"));
    test_cleanup(folder_end, NULL);
    char path[160];
    snprintf(path, sizeof path, "%s/db", m.dir);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(m.urls[SQLITE], sizeof m.urls[0], "sqlite:%s/locks.db", path);
    snprintf(m.urls[DIRECTORY], sizeof m.urls[0], "file:%s/locks", m.dir);
    size_t len = (size_t)snprintf(m.url, sizeof m.url, "quorum:");
    for (int i = 0; i < MEMBERS; i++)
        len += (size_t)snprintf(m.url + len, sizeof m.url - len, "%s%s",
                                i ? "|" : "", m.urls[i]);
}

/* Told a path, keeps the lock that a writer of SQLite needs: byte 120 of the
 * index of its log, as the description of the WAL format says. */
static int child_locks(struct lab_proc *self, const void *arg)
{
    struct flock lock = {.l_type = F_WRLCK, .l_start = 120, .l_len = 1};
    char path[PROC_LINE_MAX];
    (void)arg;
    if (!proc_hear(self, path, RIG_PATIENCE_MS)) return 1;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fcntl(fd, F_SETLKW, &lock) != 0) return 2;
    proc_say(self, "locked");
    for (;;) pause();
}

static void begin_with(int64_t lease_ms, const char *const *postgres_args)
{
    struct hf_quorum_node nodes[MEMBERS];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    int len = 0;
    CHECK_INT(MEMBERS, REDLOCK_NODES);        /* whose helpers are used */
    proc_start(&m.locker, child_locks, NULL); /* before there are threads */
    members_make(postgres_args);
    m.lease_ms = o.max_lease_ms = lease_ms;
    o.timeout_ms = RIG_WAIT_MS;
    if (nodes_init(m.url, &o, nodes, MEMBERS, &len, &err) != HF_OK)
        TEST_FAIL("init: %s", err.text);
    rig_begin_at(m.url);
}

static void begin(int64_t lease_ms)
{
    begin_with(lease_ms, NULL);
}

/* A client that knows all members, each of which may vote. */
static hf_client *client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = m.lease_ms;
    o.patience_ms = RIG_WAIT_MS;
    hf_client *c = rig_client_at(m.url, &o);
    CHECK(redlock_until_voters(c, MEMBERS));
    return c;
}

/* Is the lock stored there? */
static int has(int member, const char *name)
{
    int is_locked = -1;
    struct hf_error err = {0};
    hf_client *c = rig_client_at(m.urls[member], NULL);
    if (hf_lock_is_locked(rig_lock(c, name), &is_locked, &err) != HF_OK)
        TEST_FAIL("%s: %s", m.urls[member], err.text);
    rig_close(c);
    return is_locked;
}

struct storing {
    int member;
    const char *name;
    int wanted;
};

static int is_stored(void *arg)
{
    const struct storing *s = arg;
    return has(s->member, s->name) == s->wanted;
}

static void until_has(int member, const char *name, int wanted)
{
    struct storing s = {member, name, wanted};
    if (!rig_until(is_stored, &s))
        TEST_FAIL("%s: %s is %sthere", m.urls[member], name,
                  wanted ? "not " : "");
}

/* ---- faults ------------------------------------------------------------- */

/* A server is killed; a database is locked by another process for ever. */
static void away(int member)
{
    if (member <= OTHER_REDIS) {
        redis_shutdown(&m.redis[member], 0);
    } else if (member == POSTGRES) {
        LAB_CHECK(lab_postgres_shutdown(&m.postgres, 0));
    } else {
        CHECK_INT(member, SQLITE);
        proc_say(&m.locker, "%s-shm", m.urls[SQLITE] + strlen("sqlite:"));
        CHECK(proc_hears(&m.locker, "locked", RIG_PATIENCE_MS));
    }
}

/* It loses all that is stored, and its marker with it. */
static void empty(int member)
{
    char path[160];
    if (member <= OTHER_REDIS) {
        redis_shutdown(&m.redis[member], 0);
        redis_start(&m.redis[member]);
    } else if (member == POSTGRES) {
        LAB_CHECK(lab_postgres_do(&m.postgres,
                                  "DROP TABLE holdfast_lock, holdfast_meta"));
        postgres_install(m.postgres.url);
    } else {
        snprintf(path, sizeof path, "%s/%s", m.dir,
                 member == SQLITE ? "db" : "locks");
        lab_folder_clear(path);
        if (member == SQLITE) CHECK_INT(mkdir(path, 0700), 0);
    }
}

/* ---- exclusion ---------------------------------------------------------- */

TEST(mixed_quorum, two_clients_exclude_each_other_and_fences_rise)
{
    hf_hold *g = NULL;
    uint64_t fence = 0;
    begin(LONG_MS);
    hf_lock *locks[2] = {rig_lock(client(), "a"), rig_lock(client(), "a")};
    for (int i = 0; i < 6; i++) {
        hf_lock *l = locks[i % 2], *other = locks[(i + 1) % 2];
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
        CHECK(hf_hold_fence(g) > fence);
        fence = hf_hold_fence(g);
        CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

TEST(mixed_quorum, grant_is_stored_on_every_member_and_given_back_there)
{
    hf_hold *g = NULL;
    begin(LONG_MS);
    CHECK_INT(rig_acquire(rig_lock(client(), "a"), 0, RIG_WAIT_MS, &g), HF_OK);
    for (int i = 0; i < MEMBERS; i++) until_has(i, "a", 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    for (int i = 0; i < MEMBERS; i++) until_has(i, "a", 0);
}

/* Processes, for the kernel's locks do not tell threads apart. */
TEST(mixed_quorum, processes_contend_while_members_go)
{
    static struct storm s;
    begin(LONG_MS);
    storm_begin(&s, m.url, 4);
    storm_until_moving(&s);
    away(OTHER_REDIS);
    storm_until_moving(&s);
    away(POSTGRES);
    storm_until_moving(&s);
    LAB_CHECK(lab_postgres_restart(&m.postgres));
    storm_until_moving(&s);
    storm_end(&s);
}

/* ---- away --------------------------------------------------------------- */

static hf_lock *newcomer(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = m.lease_ms;
    return rig_lock(rig_client_at(m.url, &o), "a");
}

/* Two of five may be away; with the third nothing is granted. */
static void goes_on_without(int one, int two, int third)
{
    hf_hold *g = NULL;
    begin(LONG_MS);
    hf_lock *l = rig_lock(client(), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    away(one);
    away(two);
    hf_lock *other = newcomer();
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    redlock_use(l, redlock_use(other, hf_hold_fence(g)));
    away(third);
    CHECK(rig_acquire(other, 0, 1000, NULL) != HF_OK);
    CHECK(rig_acquire(newcomer(), 0, 1000, NULL) != HF_OK);
}

TEST(mixed_quorum, goes_on_without_its_servers)
{
    goes_on_without(REDIS, POSTGRES, OTHER_REDIS);
}

TEST(mixed_quorum, goes_on_without_its_databases)
{
    goes_on_without(POSTGRES, SQLITE, REDIS);
}

/* ---- emptied ------------------------------------------------------------ */

struct waiting {
    hf_client *client;
    int member;
};

/* A member that was emptied while it ran is found out by a proposal. */
static int is_quarantined(void *arg)
{
    const struct waiting *w = arg;
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(w->client, "asked", &l, NULL), HF_OK);
    redlock_use(l, 0);
    hf_lock_close(l);
    return redlock_node(w->client, w->member).quarantine_left_ms > 0;
}

static void until_quarantined(hf_client *c, int member)
{
    struct waiting w = {c, member};
    if (!rig_until(is_quarantined, &w))
        TEST_FAIL("%s: no quarantine", m.urls[member]);
}

/* Neither a client that knew it nor a new client asks it for a vote. */
static void does_not_vote_yet(hf_client *c, int member)
{
    until_quarantined(c, member);
    hf_client *newcomer = rig_client_at(m.url, NULL);
    until_quarantined(newcomer, member);
    hf_client *both[] = {c, newcomer};
    for (int i = 0; i < 2; i++) {
        hf_lock *l = rig_lock(both[i], i ? "newcomers" : "regulars");
        struct hf_acquire_options o =
            rig_options(RIG_WAIT_MS, m.lease_ms, HF_ACQUIRE_FIXED);
        hf_hold *g = NULL;
        CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
        CHECK_INT(has(member, hf_lock_name(l)), 0);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

static void sits_out(int member)
{
    begin(LONG_MS);
    hf_client *c = client();
    uint64_t fence = redlock_use(rig_lock(c, "a"), 0);
    empty(member);
    does_not_vote_yet(c, member);
    redlock_use(rig_lock(c, "a"), fence);
}

TEST(mixed_quorum, redis_that_was_emptied_does_not_vote_yet)
{
    sits_out(REDIS);
}

TEST(mixed_quorum, postgres_that_was_emptied_does_not_vote_yet)
{
    sits_out(POSTGRES);
}

TEST(mixed_quorum, sqlite_that_was_emptied_does_not_vote_yet)
{
    sits_out(SQLITE);
}

TEST(mixed_quorum, directory_that_was_emptied_does_not_vote_yet)
{
    sits_out(DIRECTORY);
}

static void votes_again(int member)
{
    hf_hold *g = NULL;
    begin(LEASE_MS);
    hf_client *c = client();
    hf_lock *l = rig_lock(c, "a");
    uint64_t fence = redlock_use(l, 0);
    empty(member);
    until_quarantined(c, member);
    CHECK(redlock_until_voters(c, MEMBERS));
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence);
    until_has(member, "a", 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(mixed_quorum, postgres_that_was_emptied_votes_after_its_quarantine)
{
    votes_again(POSTGRES);
}

TEST(mixed_quorum, sqlite_that_was_emptied_votes_after_its_quarantine)
{
    votes_again(SQLITE);
}

TEST(mixed_quorum, directory_that_was_emptied_votes_after_its_quarantine)
{
    votes_again(DIRECTORY);
}

/* ---- crashed ------------------------------------------------------------ */

static const char *const syncs[] = {"-c", "fsync=on", "-c",
                                    "full_page_writes=on", NULL};
static const char *const recovers[] = {"-c", "fsync=on",
                                       "-c", "full_page_writes=on",
                                       "-c", "restore_command=false",
                                       NULL};

static hf_client *crash_begin(const char *const *args)
{
    begin_with(LONG_MS, args);
    hf_client *c = client();
    redlock_use(rig_lock(c, "a"), 0);
    LAB_CHECK(lab_postgres_shutdown(&m.postgres, 0));
    CHECK(redlock_until_voters(c, MEMBERS - 1));
    return c;
}

TEST(mixed_quorum, postgres_that_syncs_votes_at_once_after_a_crash)
{
    hf_client *c = crash_begin(syncs);
    LAB_CHECK(lab_postgres_restart(&m.postgres));
    CHECK(redlock_until_voters(c, MEMBERS));
    CHECK_INT(redlock_node(c, POSTGRES).quarantine_left_ms, 0);
}

TEST(mixed_quorum, postgres_that_does_not_sync_sits_out_after_a_crash)
{
    hf_client *c = crash_begin(NULL);
    LAB_CHECK(lab_postgres_restart(&m.postgres));
    does_not_vote_yet(c, POSTGRES);
}

/* As after a restore, or if a standby takes its place: it goes on from another
 * timeline, and may lack what was answered last. */
TEST(mixed_quorum, postgres_of_another_timeline_sits_out)
{
    char path[192];
    hf_client *c = crash_begin(syncs);
    snprintf(path, sizeof path, "%s/data/recovery.signal", m.postgres.dir);
    FILE *f = fopen(path, "we");
    CHECK(f != NULL);
    fclose(f);
    m.postgres.args = recovers;
    LAB_CHECK(lab_postgres_restart(&m.postgres));
    does_not_vote_yet(c, POSTGRES);
}
